"""The index of an archive: one line per answer, sorted, so that replay tools find it.

A line is the URL's key, the time, and JSON that says where the record is::

    org,example)/bees 20260301120000 {"url":"https://example.org/bees","mime":"text/html",…}

While a WARC file grows, its lines are appended in order of arrival to a file beside it. When it is
complete they are sorted (``<name>.cdxj``), and when the crawl ends, all are merged into
``index.cdxj``.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

import msgspec

from trailhound.storage.files import explaining, replace_file

INDEX_NAME = "index.cdxj"
PART_SUFFIX = ".cdxj"

_WWW = re.compile(r"\Awww[0-9]*\.")
_SLASHES = re.compile(r"//+")
_ESCAPED = re.compile(rb"%[0-9a-fA-F]{2}")
_ESCAPES = re.compile(rb"(?:%[0-9a-fA-F]{2})++")  # possessive: nothing is kept to come back to
_ASPX_SESSION = re.compile(r"/\((?:(?:[a-z]\([0-9a-z]{24}\))++|[0-9a-z]{24})\)(?=/)")
_QUERY_SESSIONS = tuple(
    re.compile(rf"(^|.*&){session}(?:&(.*))?$")
    for session in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)
# What stays escaped: control characters, blanks, bytes beyond ASCII, and the two signs that would
# change the meaning of the key.
_KEPT_ESCAPES = {code: f"%{code:02x}" for code in (*range(0x21), *range(0x7F, 0x100), 0x23, 0x25)}


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
    replace_file(index, _merged_lines([*parts, index] if index.exists() else parts))
    with explaining(index):
        for part in parts:
            part.unlink()


def _merged_lines(paths: Iterable[Path]) -> Iterator[bytes]:
    """All lines in order. Files are closed after the last: Windows replaces no open file."""
    with ExitStack() as files:
        opened = [files.enter_context(path.open("rb")) for path in paths]
        yield from (line for line, _ in groupby(heapq.merge(*opened)))


def has_line(index: Path, line: bytes) -> bool:
    """Whether a sorted index holds exactly this line; twenty small reads, whatever its size."""
    if not index.is_file():
        return False
    with explaining(index), index.open("rb") as file:
        low, high = 0, file.seek(0, os.SEEK_END)
        while low < high:
            middle = (low + high) // 2
            if _next_line(file, middle) < line:
                low = middle + 1
            else:
                high = middle
        return _next_line(file, low) == line


def _next_line(file: BinaryIO, position: int) -> bytes:
    """The first line that begins at ``position`` or behind it; behind the last, the highest."""
    file.seek(max(0, position - 1))
    if position:
        file.readline()
    return file.readline() or b"\xff"


def surt_key(url: str) -> str:
    """The key under which an index files a canonical URL, as in ``com,example)/bees?page=2``.

    Replay tools look a URL up by its *sort-friendly URI reordering transform* (SURT): the host's
    names in reverse order, so that a domain's pages stand together, then path and query in a form
    that forgives what visitors get wrong (case, ``www.``, a slash at the end, the order of
    parameters, session ids). The key must be the one that the tool computes, so it follows the
    rules of the Internet Archive's tools; it serves for looking up only, and two pages may share
    one.
    """
    if url.startswith("urn:"):  # names have no host to reverse
        name, _, query = url.partition("?")
        plain_query = query and _plain_query(query)
        return _plain(name).rstrip("/") + (plain_query and f"?{plain_query}")
    rest = url.partition("://")[2]
    host, slash, tail = rest.partition("/")
    path, _, query = (slash + tail).partition("?")
    plain_query = query and _plain_query(query)
    return f"{_reversed_host(host)}){_plain_path(path)}" + (plain_query and f"?{plain_query}")


def _reversed_host(host: str) -> str:
    if host.startswith("["):
        return host.replace("[", "").replace("]", "")
    name, colon, port = _WWW.sub("", host).partition(":")
    return ",".join(reversed(name.rstrip(".").split("."))) + colon + port


def _plain_path(path: str) -> str:
    plain = _SLASHES.sub("/", _plain(path))
    if "/." in plain:
        plain = _without_dot_segments(plain)
    if ".aspx" in plain:
        plain = "?".join(map(_without_aspx_session, plain.split("?")))
    return plain.rstrip("/") or "/"


def _without_aspx_session(part: str) -> str:
    last_page = part.rfind(".aspx")
    return _ASPX_SESSION.sub(lambda found: "" if found.end() + 2 <= last_page else found[0], part)


def _without_dot_segments(path: str) -> str:
    """A canonical path has none, unless they were escaped more than once."""
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[max(1, len(kept) - 1) :]  # the first is the empty one before the first slash
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept)


def _plain_query(query: str) -> str:
    plain = _plain(query)
    for session in _QUERY_SESSIONS:
        if found := session.match(plain):
            plain = found[1] + (found[2] or "")
    return "&".join(sorted(plain.split("&"), key=lambda parameter: parameter.partition("=")))


def _unescaped(raw: bytes) -> bytes:
    """In one pass: of ``%252525…`` each further one would undo a single step."""
    kept = bytearray()
    for code in raw:
        kept.append(code)
        while _ESCAPED.match(kept, len(kept) - 3):
            kept[-3:] = bytes([int(kept[-2:], 16)])
    return bytes(kept)


def _unescaped_run(found: re.Match[bytes]) -> bytes:
    """A run of escapes as one piece; ``unquote_to_bytes`` would take 200 bytes for each."""
    return bytes.fromhex(found[0].decode("ascii").replace("%", ""))


def _plain(part: str) -> str:
    """Lower case, nothing escaped that need not be, however often it was."""
    raw = _ESCAPES.sub(_unescaped_run, part.encode("utf-8", "replace"))
    if _ESCAPED.search(raw):
        raw = _unescaped(raw)
    return raw.decode("latin-1").translate(_KEPT_ESCAPES).lower()
