"""The page graph of a topic's sessions, as it is drawn; kept in memory until a session changes.

Reading pages takes most of the time. What the model has read of sessions that are older is taken
from there, and what was read once is remembered.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from trailhound.errors import TrailhoundError
from trailhound.records import Page
from trailhound.sessions.events import Mark, Reached, Session, Visit
from trailhound.sessions.files import read_session
from trailhound.sessions.page_graph import PageGraph, graph_of, hop_levels, verdicts_of
from trailhound.sessions.shown_pages import (
    AddressBook,
    collect_pages,
    events_in_order,
    page_from_source,
)
from trailhound.topics.workspace import TopicFolder
from trailhound.urls import canonicalize
from trailhound.web.graph_layout import Places, lay_out

MOST_TOPICS = 4
"""Of which the graph is kept."""
MOST_PAGES = 6_000
"""That are remembered of all topics together."""
MOST_SESSIONS = 200
CONTENT = "content.json"
"""In a topic's folder: pages that came from elsewhere."""
ALL_LINKS = 1_500
"""Up to so many links are all drawn; of more, those that were followed or lead to a target."""

Link = tuple[int, int]


@dataclass(frozen=True)
class SessionGraph:
    """What there is to draw. Pages are numbers, as in the graph."""

    graph: PageGraph
    visits: Mapping[int, int]
    """How often each page was shown."""
    followed: tuple[Link, ...]
    """From page to page as she went, along links."""
    paths: Mapping[str, tuple[int, ...]]
    """By session, the pages in the order in which they were shown."""
    places: Places

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Of each page, by its address."""
        return {page.url: number for number, page in enumerate(self.graph.pages)}

    @cached_property
    def hops(self) -> list[int | None]:
        """Links from each page to the nearest target; nothing for dead ends."""
        beyond = len(self.graph.pages) + 1
        levels = hop_levels(self.graph, beyond + 1).tolist()
        return [level if level < beyond else None for level in levels]

    @cached_property
    def drawn(self) -> tuple[Link, ...]:
        """Links that are drawn."""
        edges = self.graph.edges
        if len(edges) <= ALL_LINKS:
            return edges
        onward: dict[int, Link] = {}
        for source, end in edges:
            here, there = self.hops[source], self.hops[end]
            if here is not None and there is not None and there < here:
                onward.setdefault(source, (source, end))
        return tuple(sorted({*self.followed, *onward.values()}))


@dataclass(frozen=True)
class _Shown:
    """What depends on the visits alone, whatever is marked."""

    visits: object
    """Which they were."""
    book: AddressBook
    unmarked: SessionGraph


class SessionGraphs:
    """Gives the graph of a topic; may be asked from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._graphs: OrderedDict[Path, tuple[object, SessionGraph]] = OrderedDict()
        self._shown: OrderedDict[Path, _Shown] = OrderedDict()
        self._sessions: OrderedDict[Path, tuple[object, Session]] = OrderedDict()
        self._pages: OrderedDict[tuple[str, int], Page] = OrderedDict()

    def of(self, topic: TopicFolder) -> SessionGraph:
        """The graph of all sessions that the topic has now."""
        with self._lock:
            while True:
                state = sessions_state(topic)
                known = self._graphs.pop(topic.path, None)
                try:
                    graph = known[1] if known and known[0] == state else self._read(topic)
                except TrailhoundError:
                    if sessions_state(topic) == state:
                        raise
                    continue  # a session was forgotten while it was read
                self._graphs[topic.path] = (state, graph)
                _forget_oldest(self._graphs, MOST_TOPICS)
                return graph

    @property
    def is_busy(self) -> bool:
        """Whether a graph is being read."""
        return self._lock.locked()

    def _read(self, topic: TopicFolder) -> SessionGraph:
        names = sorted(topic.session_names())
        sessions = {name: self._bare(topic.sessions_path / name) for name in names}
        events = events_in_order(sessions.values())
        visits = [
            _file_state(topic.path / CONTENT),
            *((name, found) for name, each in sessions.items() if (found := _visits(each))),
        ]
        shown = self._shown.pop(topic.path, None)
        if shown is None or shown.visits != visits:
            shown = _Shown(visits, *self._show(topic, sessions, events))
        self._shown[topic.path] = shown
        _forget_oldest(self._shown, MOST_TOPICS)
        useful, useless = verdicts_of(events, shown.book, topic.record().label)
        graph = replace(shown.unmarked.graph, targets=useful, rejected=useless)
        return replace(shown.unmarked, graph=graph)

    def _show(
        self, topic: TopicFolder, sessions: Mapping[str, Session], events: Sequence[Visit | Mark]
    ) -> tuple[AddressBook, SessionGraph]:
        content, known = topic.known_content(), self._known_pages(topic)
        book = AddressBook(collect_pages(events, lambda url: known.get(url) or content(url)))
        graph = graph_of(events, book)
        followed = _followed(events, book)
        paths = {
            name: tuple(_path(events_in_order([session]), book))
            for name, session in sessions.items()
        }
        return book, SessionGraph(
            graph,
            Counter(page for path in paths.values() for page in path),
            followed,
            {name: path for name, path in paths.items() if path},
            lay_out(len(graph.pages), followed or graph.edges),
        )

    def _bare(self, path: Path) -> Session:
        """A session without the sources of its pages, which are large."""
        state = _file_state(path)
        known = self._sessions.pop(path, None)
        session = known[1] if known and known[0] == state else _without_sources(read_session(path))
        self._sessions[path] = (state, session)
        _forget_oldest(self._sessions, MOST_SESSIONS)
        return session

    def _known_pages(self, topic: TopicFolder) -> dict[str, Page]:
        """Pages whose source a session holds, by address; the last source counts."""
        learned = _learned_pages(topic)
        sessions = topic.sessions()
        older = {name for name in sessions if _is_older(topic, name)} if learned else set()
        visits = [
            (event.time, event.url, event.html, name in older)
            for name, session in sessions.items()
            for event in session.events
            if isinstance(event, Visit) and event.html
        ]
        last = {
            canonicalize(url) or "": (source, is_older)
            for _, url, source, is_older in sorted(visits, key=itemgetter(0))
        }
        return {
            url: (learned.get(url) if is_older else None) or self._page(url, source)
            for url, (source, is_older) in last.items()
            if url
        }

    def _page(self, url: str, source: str) -> Page:
        key = (url, hash(source))
        page = self._pages.pop(key, None) or page_from_source(source, url)
        self._pages[key] = page
        _forget_oldest(self._pages, MOST_PAGES)
        return page


def _forget_oldest(kept: OrderedDict[Any, Any], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)


def sessions_state(topic: TopicFolder) -> object:
    """Another one when a session has changed."""
    paths = [topic.sessions_path / name for name in sorted(topic.session_names())]
    return [(path.name, _file_state(path)) for path in (*paths, topic.path / CONTENT)]


def _file_state(path: Path) -> object:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns


def _visits(session: Session) -> list[Visit]:
    return [event for event in session.events if isinstance(event, Visit)]


def _learned_pages(topic: TopicFolder) -> dict[str, Page]:
    try:
        return {page.url: page for page in topic.load().model.graph.pages}
    except TrailhoundError:
        return {}  # not learned yet, or damaged: the sessions hold the same


def _is_older(topic: TopicFolder, name: str) -> bool:
    """Whether a session has not changed since the model was learned."""
    learned_at = (topic.model_path / "model.json").stat().st_mtime_ns
    return (topic.sessions_path / name).stat().st_mtime_ns < learned_at


def _without_sources(session: Session) -> Session:
    events = tuple(
        msgspec.structs.replace(event, html=None) if isinstance(event, Visit) else event
        for event in session.events
    )
    return msgspec.structs.replace(session, events=events)


def _path(events: Sequence[Visit | Mark], book: AddressBook) -> Iterable[int]:
    """Pages as they came up; reloading shows nothing new."""
    last = -1
    for event in events:
        if isinstance(event, Visit) and event.frame_of is None:
            for page in sorted(book.linked_from(event.url))[:1]:
                if page != last:
                    yield page
                last = page


def _followed(events: Sequence[Visit | Mark], book: AddressBook) -> tuple[Link, ...]:
    links = {
        (source, end)
        for event in events
        if isinstance(event, Visit) and event.reached is Reached.LINK and event.from_url
        for source in book.linked_from(canonicalize(event.from_url) or "")
        for end in book.linked_from(event.url)
        if source != end
    }
    return tuple(sorted(links))
