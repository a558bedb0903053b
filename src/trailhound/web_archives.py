"""Reading web archives, other people's and our own: WARC files, folders of them, WACZ packages."""

from __future__ import annotations

import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal, NamedTuple

from fastwarc.warc import ArchiveIterator, HeaderMap, WarcRecord, WarcRecordType

from trailhound.errors import CorpusError, UsageError
from trailhound.media_types import document_kind, is_html_type, looks_like_html

_WARC_ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".warc.lz4")

# Pages deflate to a fifth, WARC files that are compressed already not at all.
_MAX_UNPACKING = 200
_HARMLESS_BYTES = 50_000_000

# Larger records are videos and downloads, never pages.
MAX_RECORD_BYTES = 32 * 1024 * 1024

# Larger than any server's real headers; a smaller limit would end the whole archive at one record.
_MAX_HEADER_BYTES = 1 << 20

UNREADABLE_ARCHIVE = (
    OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
"""What damaged archives and packages raise, however they were compressed."""

_RENDERED = "urn:rendered:"
"""Before the address of a page that a browser has rendered, in archives of Trailhound's crawls."""
_KINDS = WarcRecordType.response | WarcRecordType.resource | WarcRecordType.revisit


class ServerAnswer(NamedTuple):
    """What a server said to one request."""

    url: str
    status: int
    content_type: str = ""
    location: str = ""
    """Where a redirect leads."""
    body: bytes = b""

    @property
    def is_page(self) -> bool:
        """A successful answer with HTML in it."""
        if not 200 <= self.status < 300 or document_kind(self.body, self.content_type) is not None:
            return False
        if self.content_type:
            return is_html_type(self.content_type)
        return looks_like_html(self.body)


@dataclass(frozen=True)
class Archive:
    """One WARC file, on disk or inside a package."""

    name: str
    """For messages."""
    open: Callable[[], IO[bytes]]


def find_archives(source: Path) -> Iterator[Archive]:
    """All archives at ``source``, in order of name."""
    if source.is_dir():
        endings = (*_WARC_ENDINGS, ".wacz")
        files = (path for path in sorted(source.rglob("*")) if path.is_file())
        paths = [path for path in files if path.name.lower().endswith(endings)]
        if not paths:
            raise CorpusError(
                f"The folder {source} holds no web archive (files ending in {', '.join(endings)}). "
                "Give a folder with such files, or one file."
            )
    elif source.is_file():
        paths = [source]
    else:
        raise UsageError(
            f"There is no file or folder {source}. Give a WARC file, a WACZ file, or a folder."
        )
    for path in paths:
        for member in _members(path) or [""]:
            name = f"{path.name}/{member}" if member else path.name
            yield Archive(name, partial(_opened, path, member))


def _members(path: Path) -> list[str]:
    """The WARC files inside a package; none when it is no package."""
    try:
        with zipfile.ZipFile(path) as package:
            names = package.namelist()
    except UNREADABLE_ARCHIVE:
        return []
    return sorted(name for name in names if name.lower().endswith(_WARC_ENDINGS))


def _opened(path: Path, member: str) -> IO[bytes]:
    if not member:
        return path.open("rb")
    package = zipfile.ZipFile(path)
    info = package.getinfo(member)
    if info.file_size > max(_HARMLESS_BYTES, _MAX_UNPACKING * info.compress_size):
        package.close()
        raise OSError("it would unpack to far more than any web archive does")
    # The open file keeps the package open until it is closed itself.
    return package.open(member)


class Capture(NamedTuple):
    """One record of a server's answer."""

    answer: ServerAnswer
    digest: str
    """The payload's checksum as the archive states it; "" without one."""
    is_revisit: bool = False
    """The body was the same as in an earlier capture and is not repeated."""
    original_url: str = ""
    """For a revisit: the URL of that earlier capture, when it is stated."""
    date: str = ""
    """When it was captured, as the archive writes it."""


class ArchiveDamageError(Exception):
    """An archive could not be read to its end; the message says why."""


_END = (
    b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:trailhound:end>\r\n"
    b"Content-Length: 0\r\n\r\n\r\n\r\n"
)
_ENDS = {b"WARC": _END, b"\x1f\x8b": gzip.compress(_END, mtime=0)}
"""A record to put behind an archive, by how that begins."""
_SKIPPED = tuple(bytes([0x50 + kind]) + b"\x2a\x4d\x18" for kind in range(16))
_STARTS = (*_ENDS, b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", *_SKIPPED, b"\r\n", b"\n")
"""Also those of Zstandard, of its dictionaries, and of LZ4; some begin with an empty line."""
_CUT = "it ends in the middle of a record"


class _WithEnd(io.RawIOBase):
    """An archive with a last record of ours, which can be read only if all before it is whole.

    The reader of archives tells nothing of one that is cut between two pages, or in a header.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._end: IO[bytes] | None = None
        self._start = b""
        self._size = 0

    def read(self, size: int = -1, /) -> bytes:
        """What comes next, of the archive and then of the end."""
        piece = self._file.read(size) if self._end is None else b""
        self._start = self._start or piece[:4]
        if self._start and not self._start.startswith(_STARTS):
            raise ValueError("it is no web archive")
        self._size += len(piece)
        if piece or size == 0:
            return piece
        if self._end is None:
            ends = (end for start, end in _ENDS.items() if self._start.startswith(start))
            self._end = io.BytesIO(next(ends, b""))
        return self._end.read(size)

    def tell(self) -> int:
        """Bytes that were read."""
        return self._size + (self._end.tell() if self._end else 0)

    def may_be_cut(self) -> bool:
        """Whether an end was put there at all: there is none for other ways of compressing."""
        return any(map(self._start.startswith, _ENDS))

    def is_end(self, record: WarcRecord) -> bool:
        """Whether a record is the end; one that was cut runs into it, and begins before."""
        return bool(self._end) and record.stream_pos == self._size

    def is_in(self, record: WarcRecord, block: bytes) -> bool:
        """Whether a record goes on in the end: nothing else shows that it was cut."""
        if self._end is None or not self._start.startswith(b"WARC"):
            return False
        may_be = any(block.endswith(_END[:length]) for length in range(1, len(_END) + 1))
        if block and not may_be:
            return False
        self._file.seek(record.stream_pos)
        while (line := self._file.readline()).strip():  # its header
            pass
        return not line or self._file.tell() + len(block) > self._size


def read_captures(archive: Archive) -> Iterator[Capture]:
    """All captures up to the end of the archive, or up to its damage."""
    try:
        with archive.open() as file:
            whole = _WithEnd(file)
            for record in ArchiveIterator(whole, parse_http=False):
                if whole.is_end(record):
                    return
                if record.record_type & _KINDS and record.content_length <= MAX_RECORD_BYTES:
                    block = _block(record)
                    if whole.is_in(record, block):
                        raise EOFError(_CUT)
                    yield _capture(record, block)
                else:
                    _check_length(record, record.reader.consume())
            if whole.may_be_cut():
                raise EOFError(_CUT)
    except UNREADABLE_ARCHIVE as error:
        raise ArchiveDamageError(str(error)) from error


def _block(record: WarcRecord) -> bytes:
    """Everything in the record, read at once."""
    block: bytes = record.reader.read()
    _check_length(record, len(block))
    return block


def _check_length(record: WarcRecord, length: int) -> None:
    """A block that is too short shows a cut file."""
    if "Content-Length" not in record.headers or length < record.content_length:
        raise EOFError(_CUT)


def _capture(record: WarcRecord, block: bytes) -> Capture:
    headers = record.headers
    url = (headers.get("WARC-Target-URI") or "").strip("<>")  # some writers put it in brackets
    url = url.removeprefix(_RENDERED)
    digest = headers.get("WARC-Payload-Digest") or ""
    date = headers.get("WARC-Date") or ""
    if record.record_type == WarcRecordType.resource:
        content_type = headers.get("Content-Type") or ""
        return Capture(ServerAnswer(url, 200, content_type, body=block), digest, date=date)
    http, body = _http_message(block)
    return Capture(
        answer=ServerAnswer(
            url=url,
            status=http.status_code or 0,
            content_type=http.get("Content-Type") or "",
            location=http.get("Location") or "",
            body=body,
        ),
        digest=digest,
        is_revisit=record.record_type == WarcRecordType.revisit,
        original_url=headers.get("WARC-Refers-To-Target-URI") or "",
        date=date,
    )


def _http_message(block: bytes) -> tuple[HeaderMap, bytes]:
    """Headers and decoded body; a body that is not encoded as its headers say stays as it is."""
    try:
        return _parsed(block, "all")
    except OSError:
        return _parsed(block, "none")


def _parsed(block: bytes, decoding: Literal["all", "none"]) -> tuple[HeaderMap, bytes]:
    # A record of our own: a failure while decoding must not disturb the reading of the archive.
    record = WarcRecord()
    record.set_bytes_content(block)
    record.is_http = True
    record.parse_http(auto_decode=decoding, max_header_len=_MAX_HEADER_BYTES)
    # A small record may unpack into gigabytes; what is larger than any record is cut.
    return record.http_headers, record.reader.read(MAX_RECORD_BYTES)
