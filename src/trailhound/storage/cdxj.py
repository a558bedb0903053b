"""The index of an archive: one line per answer, sorted, so that replay tools find it.

A line is the URL's key, the time, and JSON that says where the record is::

    org,example)/bees 20260301120000 {"url":"https://example.org/bees","mime":"text/html",…}

While a WARC file grows, its lines are appended in order of arrival to a file beside it. When it is
complete they are sorted (``<name>.cdxj``), and when the crawl ends, all are merged into
``index.cdxj``.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

import msgspec

from trailhound.storage.files import explaining, replace_file
from trailhound.storage.surt import surt_key

INDEX_NAME = "index.cdxj"
PART_SUFFIX = ".cdxj"


class CdxEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where one answer is kept. Other tools expect all values to be text."""

    url: str
    mime: str
    status: str
    digest: str = ""
    length: str = ""
    """Compressed bytes of the record."""
    offset: str = ""
    """Where in the file it begins."""
    filename: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(CdxEntry).decode


def cdx_line(entry: CdxEntry, timestamp: str) -> bytes:
    """One line of an index."""
    key = surt_key(entry.url).encode("utf-8", "replace")
    return b"%b %b %b\n" % (key, timestamp.encode("ascii"), _encode(entry))


def parse_line(line: bytes) -> tuple[str, CdxEntry]:
    """Timestamp and entry of a line that :func:`cdx_line` wrote."""
    _, timestamp, entry = line.split(b" ", 2)
    return timestamp.decode("ascii"), _decode(entry)


def mime_type(content_type: str) -> str:
    """The bare media type; ``unk`` for an answer that does not say."""
    return content_type.partition(";")[0].strip().lower().replace(" ", "") or "unk"


def write_part(path: Path, lines: Iterable[bytes]) -> None:
    """Write the index of one WARC file, sorted."""
    replace_file(path, sorted(lines))


def merge_index(folder: Path) -> None:
    """Merge the indexes of all complete WARC files into one; equal lines become one.

    It is read line by line, and the parts are removed when the whole is safely on the disk: a crash
    in between costs nothing.
    """
    index = folder / INDEX_NAME
    parts = sorted(path for path in folder.glob(f"*{PART_SUFFIX}") if path != index)
    if not parts:
        return
    with ExitStack() as files, explaining(index):
        sources = [*parts, index] if index.exists() else parts
        opened = [files.enter_context(path.open("rb")) for path in sources]
        replace_file(index, _without_repeats(heapq.merge(*opened)))
    with explaining(index):
        for part in parts:
            part.unlink()


def _without_repeats(lines: Iterable[bytes]) -> Iterator[bytes]:
    return (line for line, _ in groupby(lines))
