"""Takes pages out of an archive: their records go, the others stay as they were, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, merge_index, parse_line, write_part
from trailhound.storage.files import explaining, replace_file
from trailhound.storage.http_messages import header_value
from trailhound.storage.ownership import Ownership
from trailhound.storage.warc_repair import (
    WARC_SUFFIX,
    Span,
    cut_out,
    headers_in,
    index_line,
    repair_open_files,
    whole_records,
)
from trailhound.urls import canonicalize

Forgotten = Callable[[str], bool]
"""Whether a URL is to be forgotten."""


def forget_records(folder: Path, forgotten: Forgotten, *, dry_run: bool = False) -> int:
    """Remove every record of forgotten pages, or that names one; how many there are.

    The folder must not be in use by a crawl. A crash on the way leaves whole files, of which one
    may not be in the index.
    """
    if not folder.is_dir():
        return 0
    if dry_run:
        paths = sorted(folder.glob(f"*{WARC_SUFFIX}*"))
        return sum(_tells_of(span, forgotten) for path in paths for span in whole_records(path))
    ownership = Ownership(folder)
    try:
        repair_open_files(folder)
        merge_index(folder)
        return sum(_forget_in(path, forgotten) for path in sorted(folder.glob(f"*{WARC_SUFFIX}")))
    finally:
        ownership.release()


def _forget_in(path: Path, forgotten: Forgotten) -> int:
    kept: list[tuple[int, int]] = []
    lines: list[bytes] = []
    removed = position = 0
    for span in whole_records(path):
        if _tells_of(span, forgotten):
            removed += 1
            continue
        length = span.end - span.start
        line = index_line(span.head, path.name, position, length)
        lines += [line] if line is not None else []
        kept.append((span.start, span.end))
        position += length
    if removed:
        _replace(path, kept, lines)
    return removed


def _replace(path: Path, kept: list[tuple[int, int]], lines: list[bytes]) -> None:
    """Out of the index first: a crash must not leave lines that point at the wrong place."""
    index = path.with_name(INDEX_NAME)
    if index.exists():
        replace_file(index, list(_lines_of_others(index, path.name)))
    if not lines:
        with explaining(path):
            path.unlink()
        return
    replace_file(path, cut_out(path, kept))
    write_part(path.with_name(path.name.removesuffix(WARC_SUFFIX) + PART_SUFFIX), lines)
    merge_index(path.parent)


def _lines_of_others(index: Path, file_name: str) -> Iterator[bytes]:
    with explaining(index), index.open("rb") as file:
        for line in file:
            if parse_line(line)[1].filename != file_name:
                yield line


def _tells_of(span: Span, forgotten: Forgotten) -> bool:
    """Whether a record is of a forgotten page, leads to it, or came from it."""
    warc_head, _, block = span.head.partition(b"\r\n\r\n")
    warc = headers_in(warc_head.decode("utf-8", "replace"))
    url = header_value(warc, "warc-target-uri")
    if not url:
        return False
    # Behind a line of its own: an HTTP message begins with one, the fields of metadata do not.
    block_head = block.partition(b"\r\n\r\n")[0].decode("utf-8", "replace")
    fields = headers_in("\r\n" + block_head)
    named = [header_value(fields, name) for name in ("via", "location", "referer")]
    linked = (canonicalize(each, url) for each in named if each)
    return forgotten(url) or any(forgotten(each) for each in linked if each)
