"""All topics of a workspace at a glance: what they were learned from, and what crawls found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from trailhound.errors import StorageError, TrailhoundError
from trailhound.sessions.files import marks_in
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.crawl_status import CrawlState, RunningCrawl
from trailhound.topics.heeding import open_results
from trailhound.topics.running import all_crawls, running_crawl
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
