"""A workspace at a glance: its topics, their sessions and crawls, and what is new since last time.

Sessions are told without reading the pages that they hold. News are new finds and changed ones,
told apart; ``TOPIC/looked.json`` holds when a person last looked at them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from trailhound.errors import UNREADABLE, StorageError, TrailhoundError
from trailhound.sessions.events import Header
from trailhound.sessions.files import marks_in
from trailhound.storage.files import write_whole
from trailhound.storage.visit_reading import NewsPage, count_news, news_pages
from trailhound.topics.control.running import all_crawls, running_crawl
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import heed_marks, open_results
from trailhound.topics.crawls.status import CrawlState, RunningCrawl
from trailhound.topics.workspace import TopicFolder, Workspace
from trailhound.urls import canonicalize


class CrawlOverview(msgspec.Struct, frozen=True):
    """A topic's crawl."""

    ended: str
    """Why its last run ended; empty while it runs, or when it was killed."""
    pages: int
    """Different ones that were fetched."""
    finds: int
    """Relevant pages, without copies, and what a person has marked useful."""
    state: CrawlState = CrawlState.ENDED
    """Whether it runs, is paused, …"""


class TopicOverview(msgspec.Struct, frozen=True):
    """One topic."""

    topic: str
    sessions: int
    marked: int
    """Pages marked useful in all sessions."""
    learned: bool
    crawl: CrawlOverview | None = None
    problem: str = ""
    """What could not be read."""


def overview(workspace: Workspace) -> Iterator[TopicOverview]:
    """All topics by name; one that is damaged is told of, and hides no other."""
    for name in workspace.topics():
        folder = workspace.folder_for(name)
        if not folder.exists():
            with suppress(TrailhoundError):  # it may be gone by now
                workspace.topic(name)  # finishes a renaming
        sessions, learned = len(folder.session_names()), folder.is_learned()
        try:
            yield TopicOverview(name, sessions, _marked(folder), learned, _crawl(folder))
        except TrailhoundError as error:
            yield TopicOverview(name, sessions, 0, learned, problem=str(error))
    for folder, problem in workspace.damaged():
        sessions, learned = len(folder.session_names()), folder.is_learned()
        yield TopicOverview(folder.name, sessions, 0, learned, problem=problem)


def _marked(folder: TopicFolder) -> int:
    """The last mark on a page wins, as in learning."""
    paths = [folder.sessions_path / name for name in folder.session_names()]
    marks = sorted((mark for path in paths for mark in marks_in(path)), key=lambda mark: mark.time)
    verdicts = {(canonicalize(mark.url), mark.label): mark.useful for mark in marks}
    return len({url for (url, _), useful in verdicts.items() if useful})


def _crawl(topic: TopicFolder) -> CrawlOverview | None:
    folder = CrawlFolder(topic)
    if not folder.exists():
        return None
    ended = folder.read().ended
    try:
        with open_results(folder) as results:
            summary = results.summary()
    except StorageError:
        if folder.results.exists():
            raise
        return CrawlOverview(ended, 0, 0, _state(topic))  # it has only just begun
    return CrawlOverview(ended, summary.fetched, summary.relevant, _state(topic))


def crawls_of_now(workspace: Workspace) -> Iterator[RunningCrawl]:
    """The crawls of all topics, those that run first."""
    for crawl in all_crawls(workspace):
        yield with_finds_of_now(workspace.folder_for(crawl.topic), crawl)


def with_finds_of_now(topic: TopicFolder, crawl: RunningCrawl) -> RunningCrawl:
    """A crawl that has ended, with the finds that its results have by now: pages may have been
    marked or judged again since. Where they cannot be read, with those that it told of itself."""
    if crawl.is_alive:
        return crawl
    try:
        with open_results(CrawlFolder(topic)) as results:
            return msgspec.structs.replace(crawl, finds=results.n_finds())
    except TrailhoundError:
        return crawl


def _state(topic: TopicFolder) -> CrawlState:
    crawl = running_crawl(topic)
    return crawl.state if crawl is not None else CrawlState.ENDED


class SessionOverview(msgspec.Struct, frozen=True, kw_only=True):
    """One recording."""

    name: str
    """Of its file."""
    recorder: str
    """What wrote it: ``extension 1.0``, ``har import``, ``demo`` …"""
    user: str
    started_at: float | None
    """In seconds since 1970; nothing when it holds no event."""
    ended_at: float | None
    submitted: bool
    """Whether it was handed in; otherwise it may still be going on."""
    visits: int
    pages: int
    """Different ones."""
    useful: int
    not_useful: int
    n_bytes: int


class _Event(msgspec.Struct):
    """Of an event only what is counted; a page's source is skipped over."""

    event: str
    time: float
    url: str = ""
    useful: bool | None = True


_decoder = msgspec.json.Decoder(_Event)


def session_overviews(topic: TopicFolder) -> list[SessionOverview]:
    """All sessions of the topic, the latest first."""
    paths = [topic.sessions_path / name for name in topic.session_names()]
    found = []
    for path in paths:
        try:
            state = path.stat()
            found.append(_overview(path, state.st_size, state.st_mtime_ns))
        except FileNotFoundError:  # forgotten meanwhile
            continue
        except OSError as error:
            raise StorageError(
                f"The session {path} cannot be read: {error.strerror or error}. "
                "Check that you may read it."
            ) from error
    return sorted(found, key=lambda each: (-(each.started_at or 0.0), each.name))


@lru_cache(maxsize=500)
def _overview(path: Path, n_bytes: int, changed: int) -> SessionOverview:
    """Remembered for as long as size and time of change stay the same."""
    del changed
    content = path.read_bytes()
    header, events = _header(content), list(_events(content))
    marks = {canonicalize(each.url): each.useful for each in events if each.event == "mark"}
    visits = [each for each in events if each.event == "visit"]
    times = [each.time for each in events]
    return SessionOverview(
        name=path.name,
        recorder=header.recorder if header else "",
        user=header.user if header else "",
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        submitted=any(each.event == "submit" for each in events),
        visits=len(visits),
        pages=len({canonicalize(each.url) for each in visits}),
        useful=sum(useful is True for useful in marks.values()),
        not_useful=sum(useful is False for useful in marks.values()),
        n_bytes=n_bytes,
    )


def _header(content: bytes) -> Header | None:
    try:
        return msgspec.json.decode(content[: content.find(b"\n") + 1], type=Header)
    except UNREADABLE:
        return None


def _events(content: bytes) -> Iterator[_Event]:
    """Lines that are damaged, as the header is here, tell nothing."""
    for line in content.split(b"\n"):
        try:
            yield _decoder.decode(line)
        except UNREADABLE:
            continue


LOOKED = "looked.json"


class News(NamedTuple):
    """What has happened to a topic's finds."""

    since: float
    """Seconds since 1970; 0 when she never looked."""
    new: int
    """Finds that are new since then; marked and visited ones are no news."""
    changed: int
    """Others that have changed."""
    pages: list[NewsPage]
    """The best of both, best first."""


class _Looked(msgspec.Struct):
    at: float


def news(folder: CrawlFolder, since: float | None = None, limit: int | None = 50) -> News:
    """What is new since a moment, by default since she last looked."""
    moment = last_looked(folder.topic) if since is None else since
    if not folder.results.is_file():
        return News(moment, 0, 0, [])
    with suppress(StorageError):
        heed_marks(folder)
    counts = count_news(folder.results, moment)
    return News(moment, *counts, news_pages(folder.results, moment, limit) if any(counts) else [])


def last_looked(topic: TopicFolder) -> float:
    """When somebody last looked at what is new; 0 for never."""
    with suppress(OSError, *UNREADABLE):
        return msgspec.json.decode((topic.path / LOOKED).read_bytes(), type=_Looked).at
    return 0.0


def note_looked(topic: TopicFolder, at: float | None = None) -> None:
    """She has seen what is new up to ``at``, or now."""
    moment = time.time() if at is None else at
    write_whole(topic.path / LOOKED, msgspec.json.encode(_Looked(moment)))
