"""Takes pages out of what a crawl has kept: its archive, its results and its log.

In an archive the records of other pages stay as they were, byte for byte.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from trailhound.errors import UNREADABLE
from trailhound.records import header_value
from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, merge_index, parse_line, write_part
from trailhound.storage.files import explaining, replace_file
from trailhound.storage.results import (
    MARKS,
    PAGES,
    REFRESHING,
    REQUESTS,
    RESULTS,
    ROBOTS_REQUESTS,
    SAVE_STATE,
    SITEMAPS_READ,
    UNARCHIVED,
)
from trailhound.storage.sqlite import purge, transaction
from trailhound.storage.text_index import index_waiting
from trailhound.storage.warc_records import page_address
from trailhound.storage.warc_repair import (
    WARC_SUFFIX,
    KeptRecords,
    Span,
    cut_out,
    headers_in,
    kept_records,
    own_archive,
    repair_open_files,
    whole_records,
)
from trailhound.urls import canonicalize

Forgotten = Callable[[str], bool]
"""Whether a URL is to be forgotten."""
AS_ME = "as_me"
"""The setting that lists hosts, and not addresses, which were read as the person."""
CleanState = Callable[[bytes], bytes | None]
"""From what a part of the crawl has kept to what may stay of it."""

_COUNT = (
    "SELECT count(*) FROM event WHERE forgotten(url) OR forgotten(address)",
    "SELECT count(*) FROM refusal WHERE forgotten(url)",
)
# What was asked stays counted: a budget is for what sites have had to answer.
_KEEP_COUNT = (
    "INSERT OR REPLACE INTO state SELECT ?1, CAST(CAST(max(before, coalesce("
    "(SELECT CAST(CAST(data AS TEXT) AS INTEGER) FROM state WHERE name = ?1), 0)) AS TEXT) "
    "AS BLOB) FROM (SELECT coalesce(max(requests_total), 0) AS before FROM event)"
)
_REMOVE = (
    "DELETE FROM found WHERE rowid IN "
    "(SELECT id FROM event WHERE forgotten(url) OR forgotten(address))",
    "DELETE FROM words WHERE id IN "
    "(SELECT id FROM event WHERE forgotten(url) OR forgotten(address))",
    "DELETE FROM event WHERE forgotten(url) OR forgotten(address)",
    "UPDATE event SET parent = NULL, why = '' WHERE forgotten(parent)",
    "UPDATE event SET duplicate_of = NULL, why = '' WHERE forgotten(duplicate_of)",
    "UPDATE event SET why = '' WHERE why LIKE '%://%' AND tells_of_one(why)",
    "DELETE FROM marked WHERE forgotten(address)",
    "DELETE FROM unfolded WHERE forgotten(address) OR forgotten(duplicate_of)",
    "DELETE FROM visit WHERE forgotten(address)",
    "DELETE FROM refusal WHERE forgotten(url)",
    "UPDATE refusal SET parent = NULL WHERE forgotten(parent)",
    # The words of removed pages stay in the index until its parts are merged.
    "INSERT INTO found (found) VALUES ('optimize')",
)


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
    with own_archive(folder):
        repair_open_files(folder)
        merge_index(folder)
        dropped = 0
        for path in sorted(folder.glob(f"*{WARC_SUFFIX}")):
            kept = kept_records(path, path.name, lambda span: _tells_of(span, forgotten))
            if kept.dropped:
                _replace(path, kept)
            dropped += kept.dropped
        return dropped


def _replace(path: Path, kept: KeptRecords) -> None:
    """Out of the index first: a crash must not leave lines that point at the wrong place."""
    index = path.with_name(INDEX_NAME)
    if index.exists():
        replace_file(index, _lines(index, lambda line: parse_line(line)[1].filename != path.name))
    if not kept.of_pages:
        with explaining(path):
            path.unlink()
        return
    replace_file(path, cut_out(path, kept.spans))
    write_part(path.with_name(path.name.removesuffix(WARC_SUFFIX) + PART_SUFFIX), kept.index_lines)
    merge_index(path.parent)


def _lines(path: Path, chosen: Callable[[bytes], bool]) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from filter(chosen, file)


def _tells_of(span: Span, forgotten: Forgotten) -> bool:
    """Whether a record is of a forgotten page, leads to it, or came from it."""
    warc_head, _, block = span.head.partition(b"\r\n\r\n")
    warc = headers_in(warc_head.decode("utf-8", "replace"))
    url = page_address(header_value(warc, "warc-target-uri"))
    if not url:
        return False
    # Behind a line of its own: an HTTP message begins with one, the fields of metadata do not.
    block_head = block.partition(b"\r\n\r\n")[0].decode("utf-8", "replace")
    fields = headers_in("\r\n" + block_head)
    named = [header_value(fields, name) for name in ("via", "location", "referer")]
    linked = (canonicalize(each, url) for each in named if each)
    told = _addresses(header_value(fields, "detail"))
    return any(forgotten(each) for each in (url, *linked, *told) if each)


def leading_to(path: Path, forgotten: Forgotten) -> set[str]:
    """URLs that redirected to forgotten pages: their rows go with these."""
    if not path.is_file():
        return set()
    query = "SELECT url, address FROM event WHERE url <> address"
    with RESULTS.explaining(path), closing(RESULTS.open_for_reading(path)) as connection:
        return {url for url, address in connection.execute(query) if forgotten(address)}


def forget_results(
    path: Path,
    forgotten: Forgotten,
    *,
    clean_state: CleanState = bytes,
    dry_run: bool = False,
) -> int:
    """Remove forgotten pages from a file of results, traces included; how many there are.

    ``clean_state`` does so with what parts of a crawl have kept there in a form of their own.
    """
    if not path.is_file():
        return 0
    connection = RESULTS.open_for_reading(path) if dry_run else RESULTS.open(path)
    with closing(connection), RESULTS.explaining(path):
        connection.create_function("forgotten", 1, lambda url: bool(url) and forgotten(url))
        connection.create_function(
            "tells_of_one", 1, lambda why: any(map(forgotten, _addresses(why)))
        )
        found = sum(connection.execute(query).fetchone()[0] for query in _COUNT)
        if not dry_run:
            index_waiting(connection)
            with transaction(connection):
                _remove(connection, forgotten, clean_state)
            purge(connection)
    return int(found)


_IS_GATHERED = "SELECT 1 FROM sqlite_schema WHERE name = 'gathered'"


def _remove(connection: sqlite3.Connection, forgotten: Forgotten, clean_state: CleanState) -> None:
    connection.execute(_KEEP_COUNT, (REQUESTS,))
    for statement in _REMOVE:
        connection.execute(statement)
    if connection.execute(_IS_GATHERED).fetchone():  # it names a page of each shard
        connection.execute("UPDATE gathered SET url = '', looked = '', log = 0")
    # Else all sitemaps would be read again, and their pages wait again.
    lists = "SELECT data FROM state WHERE name = ?"
    for (data,) in connection.execute(lists, (SITEMAPS_READ,)).fetchall():
        seeds = [seed for seed in bytes(data).decode().split() if not forgotten(seed)]
        connection.execute(SAVE_STATE, (SITEMAPS_READ, "\n".join(seeds).encode()))
    kept_whole = (REQUESTS, ROBOTS_REQUESTS, PAGES, UNARCHIVED, MARKS, SITEMAPS_READ, REFRESHING)
    for name, data in connection.execute("SELECT name, data FROM state").fetchall():
        if name in kept_whole:
            continue
        connection.execute("DELETE FROM state WHERE name = ?", (name,))
        if (kept := clean_state(data)) is not None:
            connection.execute("INSERT INTO state VALUES (?, ?)", (name, kept))


def forget_lines(path: Path, forgotten: Forgotten, *, dry_run: bool = False) -> int:
    """Remove the lines of a JSON-lines file that name a forgotten URL; how many there are.

    A log's line about another page stays, without the name: that page is still in the results.
    """
    if not path.is_file():
        return 0
    with explaining(path), path.open("rb") as file:
        found = sum(_names_one(line, forgotten) for line in file)
    if found and not dry_run:
        replace_file(path, _clean_lines(path, forgotten))
    return found


def _clean_lines(path: Path, forgotten: Forgotten) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if not _names_one(line, forgotten):
                yield line
            elif (kept := _without_names(msgspec.json.decode(line), forgotten)) is not None:
                yield msgspec.json.encode(kept) + b"\n"


def _without_names(line: dict[str, Any], forgotten: Forgotten) -> dict[str, Any] | None:
    """A log's line about a page that is not forgotten itself, as far as it may stay."""
    if line.get("event") != "page":
        return None
    blank = {"parent": None, "duplicate_of": None, "why": "", "title": ""}
    named = {name for name, value in line.items() if any(map(forgotten, _addresses(value)))}
    return {**line, **{name: blank[name] for name in named}} if named <= blank.keys() else None


def _names_one(line: bytes, forgotten: Forgotten) -> bool:
    try:
        return any(map(forgotten, _addresses(msgspec.json.decode(line))))
    except UNREADABLE:
        return False


def _addresses(value: Any) -> Iterator[str]:
    """Everything in ``value`` that may be a URL, also inside sentences."""
    if isinstance(value, str):
        yield from (word.rstrip(".,;:)'\"") for word in value.split() if "://" in word)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from map(any_page_of, each) if name == AS_ME else _addresses(each)
    elif isinstance(value, list):
        for each in value:
            yield from _addresses(each)


def any_page_of(host: str) -> str:
    """An address that is forgotten with the host, and not with its first page alone."""
    return f"https://{host}/any-page-of-it"
