"""What a killed crawl leaves is mended before anything is added.

Only files that were still open can be damaged: a complete one is on the disk before it gets its
final name. In an open file every whole record is kept and everything else is dropped, which after a
killed process is at most the torn end of the last page. A power cut may also leave a hole, with
whole records behind it; they are kept too.
"""

from __future__ import annotations

import mmap
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trailhound.counting import counted
from trailhound.errors import StorageError
from trailhound.records import header_value
from trailhound.storage.cdxj import (
    INDEX_NAME,
    PART_SUFFIX,
    CdxEntry,
    cdx_line,
    has_line,
    merge_index,
    mime_type,
    write_part,
)
from trailhound.storage.files import (
    OPEN_SUFFIX,
    PARTIAL_SUFFIX,
    explaining,
    rename_file,
    replace_file,
)
from trailhound.storage.locks import Ownership
from trailhound.storage.warc_records import digest_of

WARC_SUFFIX = ".warc.gz"
_SERIAL = re.compile(rf"-([0-9]{{5,}})(?:\.s[0-9]{{3,}})?{re.escape(WARC_SUFFIX)}")
_GATHERED = re.compile(rf"\.s[0-9]{{3,}}{re.escape(WARC_SUFFIX)}")

# Ours have neither names nor comments in front, so the flags are 0.
_TARGET = re.compile(rb"\r\nWARC-Target-URI:", re.IGNORECASE)
_MAGIC = b"\x1f\x8b\x08\0"
_READ_BYTES = 256 * 1024
_FIRST_BYTES = 1024
"""Read where a record may begin: behind damage, what looks like a beginning is often none."""
_SEARCHES = 64
"""Behind damage at most so many times the file's size is read: a page may hold thousands of
beginnings without an end."""
# WARC and HTTP headers are at the beginning of a record; servers' headers are far shorter.
_HEAD_BYTES = 1024 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_LAST_BYTES = 64 * 1024


def serial_of(path: Path) -> int:
    """The number of one of our WARC files, which rises from file to file; 0 for others."""
    found = _SERIAL.search(path.name)
    return int(found[1]) if found else 0


def gathered_name(name: str, shard: str) -> str:
    """What a shard's file ``….warc.gz``, or the index of it, is called in the whole crawl."""
    stem, dot, ending = name.partition(WARC_SUFFIX if WARC_SUFFIX in name else PART_SUFFIX)
    return f"{stem}.s{shard}{dot}{ending}"


def is_gathered(path: Path) -> bool:
    """Whether a file came from a shard."""
    return _GATHERED.search(path.name) is not None


class Repair(NamedTuple):
    """What was done to one file."""

    file_name: str
    """Its final name; it is gone if no record was whole."""
    records: int
    """Whole records, all kept."""
    dropped_bytes: int
    """What belonged to no whole record."""

    def __str__(self) -> str:
        if not self.records:
            return f"{self.file_name}: removed, with {counted(self.dropped_bytes, 'byte')}"
        if not self.dropped_bytes:
            return f"{self.file_name}: whole, {counted(self.records, 'record')}"
        kept, dropped = counted(self.records, "record"), counted(self.dropped_bytes, "byte")
        return f"{self.file_name}: {kept} kept, {dropped} dropped"


class Span(NamedTuple):
    """A whole record's place in its file, and the beginning of its content."""

    start: int
    end: int
    head: bytes


@dataclass
class KeptRecords:
    """What a file will hold when nothing is left between these records."""

    spans: list[tuple[int, int]]
    """Where each begins and ends in the file as it is."""
    index_lines: list[bytes]
    size: int = 0
    """Bytes of all of them together."""
    dropped: int = 0
    """Whole records that do not stay."""
    of_pages: int = 0
    """Those that stay and are about an address; others describe the file itself."""


def repair_archive(folder: Path | str) -> list[Repair]:
    """Mend an archive that no crawl is writing to, and complete its index."""
    folder = Path(folder)
    with own_archive(folder):
        repairs = repair_open_files(folder)
        merge_index(folder)
    return repairs


def own_archive(folder: Path) -> Ownership:
    """The right to write to an archive; StorageError when another process has it."""
    return Ownership(
        folder / "archive.lock",
        in_use=StorageError(
            f"The archive {folder} is in use by another process. Wait until that one has ended, or "
            "stop it, and try again."
        ),
        unwritable=lambda reason: StorageError(
            f"The archive {folder} cannot be written: {reason}. Check the folder's permissions and "
            "the space on its disk, then try again."
        ),
    )


def repair_open_files(folder: Path) -> list[Repair]:
    """Complete every open file of ``folder``, which the caller must own, and index it anew."""
    with explaining(folder):
        for leftover in folder.glob(f"*{PARTIAL_SUFFIX}"):
            leftover.unlink()
        opened = sorted(folder.glob(f"*{WARC_SUFFIX}{OPEN_SUFFIX}"))
        repairs = [_repair(path) for path in opened]
        # The index of a file that was complete but for this.
        for index in folder.glob(f"*{PART_SUFFIX}{OPEN_SUFFIX}"):
            index.unlink()
    return repairs


def _repair(path: Path) -> Repair:
    name = path.name.removesuffix(OPEN_SUFFIX)
    size = path.stat().st_size
    kept = kept_records(path, name)
    if kept.spans:
        _keep_only(path, kept.spans)
        write_part(_part_of(path.with_name(name)), kept.index_lines)
        rename_file(path, name)
    else:
        path.unlink()
    return Repair(name, len(kept.spans), size - kept.size)


def kept_records(
    path: Path, file_name: str, is_dropped: Callable[[Span], bool] = lambda _: False
) -> KeptRecords:
    """All whole records of a file but those to be dropped; ``file_name`` is for the index."""
    kept = KeptRecords([], [])
    for span in whole_records(path):
        if is_dropped(span):
            kept.dropped += 1
            continue
        length = span.end - span.start
        if line := _index_line(span.head, file_name, kept.size, length):
            kept.index_lines.append(line)
        kept.of_pages += _TARGET.search(span.head.partition(b"\r\n\r\n")[0]) is not None
        kept.spans.append((span.start, span.end))
        kept.size += length
    return kept


def whole_records(path: Path, start: int = 0) -> Iterator[Span]:
    """Every record of a file that can be read to its end and begins at ``start`` or behind it."""
    if path.stat().st_size == 0:  # which cannot be mapped
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        position, searched = data.find(_MAGIC, start) if start else 0, 0
        while position >= 0 and searched <= _SEARCHES * len(data):
            span, end = _record_at(data, position)
            if span is not None:
                yield span
            else:
                searched += end - position
            # Records follow each other; behind damage the next one is searched for.
            position = data.find(_MAGIC, end if span is not None else position + 1)


def _record_at(data: mmap.mmap, start: int) -> tuple[Span | None, int]:
    """The record that begins at ``start``, if it is whole: its checksum is verified.

    And where it ends, or how far it was read.
    """
    inflating = zlib.decompressobj(_GZIP)
    head = bytearray()
    position, size = start, _FIRST_BYTES
    try:
        while not inflating.eof:
            compressed = data[position : position + size]
            if not compressed:
                return None, position
            position, size = position + len(compressed), _READ_BYTES
            content = inflating.decompress(compressed)
            head += content[: _HEAD_BYTES - len(head)]
            if not b"WARC/".startswith(head[:5]):
                return None, position
    except zlib.error:
        return None, position
    end = position - len(inflating.unused_data)
    return Span(start, end, bytes(head)), end


def whole_content(path: Path, span: Span) -> bytes:
    """All of a record's content; the head has it, but for large ones."""
    if len(span.head) < _HEAD_BYTES:
        return span.head
    with path.open("rb") as file:
        file.seek(span.start)
        return zlib.decompress(file.read(span.end - span.start), _GZIP)


def digests_are_right(content: bytes) -> bool:
    """Whether a record is as long as it says, and says what it said when it was written."""
    head, _, rest = content.partition(b"\r\n\r\n")
    headers = headers_in(head.decode("utf-8", "replace"))
    length = header_value(headers, "content-length")
    block = rest[: int(length)] if length.isdecimal() else b""
    if not length.isdecimal() or len(block) != int(length):
        return False
    is_http = header_value(headers, "content-type").startswith("application/http")
    payload = block.partition(b"\r\n\r\n")[2] if is_http else block
    stated = {"warc-block-digest": block, "warc-payload-digest": payload}
    return all(
        header_value(headers, name) in ("", digest_of(each)) for name, each in stated.items()
    )


def _keep_only(path: Path, spans: list[tuple[int, int]]) -> None:
    """Leave nothing but ``spans`` in the file, on the disk."""
    end = spans[-1][1]
    if sum(stop - start for start, stop in spans) == end:
        with path.open("r+b") as file:
            file.truncate(end)
            os.fsync(file.fileno())
    else:
        replace_file(path, cut_out(path, spans))


def cut_out(path: Path, spans: list[tuple[int, int]]) -> Iterator[bytes]:
    """The bytes of some records, one after the other."""
    # The file is closed when the last piece has been taken: Windows replaces no open file.
    with path.open("rb") as file:
        for start, end in spans:
            file.seek(start)
            yield file.read(end - start)


def cut_damage_out(path: Path) -> Repair | None:
    """Keep those records of a complete file that are whole and unchanged; ``None`` if all are.

    A file without a record about a page goes: by it nobody knows how far the archive reaches.
    """
    size = path.stat().st_size
    kept = kept_records(
        path, path.name, lambda span: not digests_are_right(whole_content(path, span))
    )
    if kept.size == size and kept.of_pages:
        return None
    if not kept.of_pages:
        with explaining(path):
            path.unlink()
        return Repair(path.name, 0, size)
    _keep_only(path, kept.spans)
    return Repair(path.name, len(kept.spans), size - kept.size)


def index_files_anew(folder: Path) -> int:
    """Index again what an index that is lost or older does not know; how many files that were.

    The caller owns the folder, in which no file is open. Looking costs little: the last answer of
    the newest file is searched for, and only when it is not there those of the others.
    """
    files = sorted(folder.glob(f"*{WARC_SUFFIX}"), key=serial_of, reverse=True)
    lacking: list[Path] = []
    for path in files:
        if not _is_indexed(path):
            lacking.append(path)
        elif not lacking:
            break
    for path in lacking:
        index_file_anew(path)
    return len(lacking)


def index_file_anew(path: Path) -> None:
    """Write the index of one complete file, to be merged with the others."""
    write_part(_part_of(path), kept_records(path, path.name).index_lines)


def _part_of(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(WARC_SUFFIX) + PART_SUFFIX)


def _is_indexed(path: Path) -> bool:
    """Whether the last answer of a complete file can be found."""
    if _part_of(path).exists():
        return True
    line = _last_line(path)
    return line is None or has_line(path.with_name(INDEX_NAME), line)


def _last_line(path: Path) -> bytes | None:
    """The index line of the last answer in a file; ``None`` when there is none."""
    size, window = path.stat().st_size, _LAST_BYTES
    while True:
        start, line = max(0, size - window), None
        for span in whole_records(path, start):
            length = span.end - span.start
            line = _index_line(span.head, path.name, span.start, length) or line
        if line is not None or start == 0:
            return line
        window *= 8


def _index_line(head: bytes, file_name: str, offset: int, length: int) -> bytes | None:
    """The line for an answer or a rendered page; ``None`` for any other record."""
    warc_head, _, message = head.partition(b"\r\n\r\n")
    warc = headers_in(warc_head.decode("utf-8", "replace"))
    kind = header_value(warc, "warc-type")
    if kind not in ("response", "resource"):
        return None
    url, digest = header_value(warc, "warc-target-uri"), header_value(warc, "warc-payload-digest")
    mime, status = mime_type(header_value(warc, "content-type")), "200"
    if kind == "response":
        http_head = message.partition(b"\r\n\r\n")[0].decode("latin-1")
        mime = mime_type(header_value(headers_in(http_head), "content-type"))
        status = http_head.partition(" ")[2].partition(" ")[0]
    entry = CdxEntry(url, mime, status, digest, str(length), str(offset), file_name)
    return cdx_line(entry, re.sub("[^0-9]", "", header_value(warc, "warc-date"))[:14])


def headers_in(head: str) -> list[tuple[str, str]]:
    """Names and values behind the first line."""
    pairs = (line.partition(":") for line in head.split("\r\n")[1:])
    return [(name, value.strip()) for name, _, value in pairs]
