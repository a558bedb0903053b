"""Web archives as browsing: WARC files, and WACZ packages such as archiveweb.page makes.

A WACZ lists the pages that were visited, with titles and times; then these are the visits. Without
such a list every archived HTML page is one, at the time of its capture.
"""

from __future__ import annotations

import zipfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import msgspec

from trailhound.counting import counted
from trailhound.errors import UNREADABLE, CorpusError, SessionError
from trailhound.sessions.events import Session, Visit
from trailhound.sessions.importers.base import Imported, Tally, in_succession, title_of, unix_time
from trailhound.text.encoding import decode
from trailhound.urls import canonicalize
from trailhound.web_archives import (
    UNREADABLE_ARCHIVE,
    Archive,
    ArchiveDamageError,
    Capture,
    find_archives,
    read_captures,
)

MAX_PAGES = 20_000
"""Of one import; more is no longer a person's browsing."""
MAX_LIST_BYTES = 64_000_000
_MAX_REDIRECTS = 20


class _ListedPage(msgspec.Struct):
    url: str
    ts: str | int | float
    title: str | None = None


@dataclass(frozen=True)
class _Shown:
    """An archived page."""

    url: str
    time: float
    html: str


@dataclass
class _Contents:
    """What the archives hold, by canonical URL."""

    pages: dict[str, list[_Shown]] = field(default_factory=dict)
    """In order of time once all archives have been read."""
    redirects: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, _Shown] = field(default_factory=dict)
    """By digest, for captures that do not repeat a body."""

    def end_of(self, url: str) -> str:
        """Where redirects lead from a canonical URL."""
        for _ in range(_MAX_REDIRECTS):
            if url in self.pages or url not in self.redirects:
                break
            url = self.redirects[url]
        return url

    def nearest(self, url: str, when: float) -> _Shown | None:
        """The capture of a canonical URL that is nearest in time."""
        captures = self.pages.get(url, [])
        place = bisect_left(captures, when, key=lambda each: each.time)
        near = captures[max(0, place - 1) : place + 1]
        return min(near, key=lambda each: abs(each.time - when), default=None)


class ArchiveImporter:
    """The extension ArchiveWeb.page records what you browse and downloads it as WACZ, with the list
    of the pages you visited. In a plain WARC file every HTML page counts as visited.

    Example:

      trailhound import wacz recording.wacz --topic bees --useful useful.txt
    """

    name = "warc"
    summary = "Import a web archive: a WARC file, a WACZ package, or a folder of them."
    reads = "A WARC or WACZ file, or a folder of them."

    def read(self, source: Path, topic: str) -> Imported:
        """The browsing in web archives, as one session."""
        try:
            archives = list(find_archives(source))
        except CorpusError as error:
            raise SessionError(str(error)) from error
        tally = Tally("record")
        contents = _contents(archives, tally)
        listed = _all_listed(source, archives, tally)
        visits = _visits_of_list(listed, contents, tally) if listed else _all_pages(contents)
        visits.sort(key=lambda visit: visit.time)
        return Imported([Session(topic, in_succession(visits), recorder="archive import")], tally)


def _all_listed(source: Path, archives: Iterable[Archive], tally: Tally) -> list[_ListedPage]:
    """What packages say was visited; nothing when something is there that says nothing of it."""
    if source.is_file():
        return list(_listed_pages(source, tally))
    if any("/" not in archive.name for archive in archives):  # in no package
        return []
    packages = sorted(path for path in source.rglob("*") if path.name.lower().endswith(".wacz"))
    lists = [list(_listed_pages(package, tally)) for package in packages]
    return [page for each in lists for page in each] if all(lists) else []


def _contents(archives: Iterable[Archive], tally: Tally) -> _Contents:
    contents = _Contents()
    for archive in archives:
        before = tally.read
        try:
            for capture in read_captures(archive):
                tally.read += 1
                _sort_in(capture, contents, tally)
        except ArchiveDamageError as damage:
            after = f"after {counted(tally.read - before, 'record')}"
            tally.notes.append(f"{archive.name} could not be read to its end, {after}: {damage}")
    for captures in contents.pages.values():
        captures.sort(key=lambda each: each.time)
    return contents


def _sort_in(capture: Capture, contents: _Contents, tally: Tally) -> None:
    answer, when = capture.answer, unix_time(capture.date)
    url = canonicalize(answer.url)
    if url is None:
        tally.skip("not on the web")
    elif when is None:
        tally.skip("record without a time")
    elif 300 <= answer.status < 400 and answer.location and not capture.is_revisit:
        contents.redirects[url] = canonicalize(answer.location, url) or url
        tally.skip("redirect (part of the visit it led to)")
    elif capture.is_revisit:  # its body was archived before
        known = contents.bodies.get(capture.digest) if capture.digest else None
        if known is None:
            tally.skip("revisit of something that is no page here")
        else:
            contents.pages.setdefault(url, []).append(_Shown(answer.url, when, known.html))
    elif not answer.is_page:
        tally.skip("not an HTML page")
    elif len(contents.pages) >= MAX_PAGES:
        tally.skip(f"beyond the first {MAX_PAGES:,} pages")
    else:
        shown = _Shown(answer.url, when, decode(answer.body, answer.content_type).text)
        contents.pages.setdefault(url, []).append(shown)
        contents.bodies.setdefault(capture.digest, shown)


def _all_pages(contents: _Contents) -> list[Visit]:
    title = cache(title_of)  # of captures that do not repeat a body
    asked = {contents.end_of(target): source for source, target in contents.redirects.items()}
    return [
        Visit(one.time, one.url, title(one.html), requested_url=asked.get(url), html=one.html)
        for url, captures in contents.pages.items()
        for one in captures
    ]


def _visits_of_list(
    listed: Iterable[_ListedPage], contents: _Contents, tally: Tally
) -> list[Visit]:
    visits, used, missing = [], 0, 0
    for page in listed:
        when, asked = _time_of(page.ts), canonicalize(page.url)
        if when is None or asked is None:
            tally.notes.append(f"a listed page has no usable time or address: {page.url[:200]}")
            continue
        end = contents.end_of(asked)
        shown = contents.nearest(end, when)
        used += shown is not None
        missing += shown is None
        url = page.url if end == asked else end
        requested = asked if end != asked else None
        html = shown.html if shown is not None else None
        visits.append(Visit(when, url, page.title or "", requested_url=requested, html=html))
    tally.skip("HTML that is not in the list of visited pages", max(0, tally.kept - used))
    if missing:
        tally.notes.append(f"{counted(missing, 'listed page')} not in the archive: titles only")
    return visits


def _time_of(stamp: str | int | float) -> float | None:
    """ISO dates, fourteen digits, or milliseconds since 1970."""
    if not isinstance(stamp, str):
        return stamp / 1000 if 0 < stamp < 1e15 else None
    if stamp.isdigit() and len(stamp) == 14:
        stamp = f"{stamp[:8]}T{stamp[8:]}"
    return unix_time(stamp)


def _listed_pages(path: Path, tally: Tally) -> Iterator[_ListedPage]:
    """The pages that a WACZ says were visited; none for other files."""
    try:
        with zipfile.ZipFile(path) as package:
            for name in ("pages/pages.jsonl", "pages/extraPages.jsonl"):
                if name in package.NameToInfo:
                    yield from _lines_of(package, name, tally)
    except UNREADABLE_ARCHIVE as error:
        if zipfile.is_zipfile(path):
            tally.notes.append(f"the list of visited pages cannot be read: {error}")


def _lines_of(package: zipfile.ZipFile, name: str, tally: Tally) -> Iterator[_ListedPage]:
    with package.open(name) as file:
        content = file.read(MAX_LIST_BYTES + 1)
    if len(content) > MAX_LIST_BYTES:
        tally.notes.append(f"{name} is cut after {MAX_LIST_BYTES // 1_000_000} MB")
        content = content[:MAX_LIST_BYTES]
    lines = [line for line in content.splitlines() if line.strip() and b'"format"' not in line]
    damaged = 0
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=_ListedPage)
        except UNREADABLE:
            damaged += 1
    if damaged:
        tally.notes.append(f"{name}: {counted(damaged, 'damaged line')}")
