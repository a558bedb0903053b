"""The page graph of a topic's sessions as a picture: kept on disk until a session changes.

Reading a large session takes a second; its picture is read in some milliseconds.
"""

from __future__ import annotations

import threading
from contextlib import suppress

import msgspec

from trailhound.errors import UNREADABLE, StorageError, TrailhoundError
from trailhound.storage.files import write_private
from trailhound.topics.workspace import TopicFolder, Workspace
from trailhound.web.graph_layout import ASPECT
from trailhound.web.session_graphs import MOST_TOPICS, SessionGraph, SessionGraphs, sessions_state

PICTURE_HEIGHT = 1000
VERSION = 1
"""Of the picture; another one is drawn anew."""


class PageNode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A visited page in the picture."""

    url: str
    title: str
    x: float
    y: float
    hops: int | None = None
    """Links to the nearest page marked useful; nothing for a dead end."""
    mark: bool | None = None
    """Whether it is marked useful, or not useful."""
    visits: int = 0
    start: bool = False
    """Whether browsing began here."""


class PathView(msgspec.Struct, frozen=True, kw_only=True):
    """Where one session went."""

    session: str
    steps: list[int]
    """Nodes in the order in which they were shown."""


class SessionPicture(msgspec.Struct, frozen=True, kw_only=True):
    """The page graph of all sessions of a topic, with a place for each page."""

    width: int
    height: int
    nodes: list[PageNode]
    links: list[tuple[int, int]]
    """Those to draw: all, or of very many those that were followed or lead to a useful page."""
    links_in_all: int
    followed: list[tuple[int, int]]
    paths: list[PathView]


class _KeptPicture(msgspec.Struct, frozen=True):
    state: str
    picture: SessionPicture


class SessionPictures:
    """Gives the picture of a topic's sessions; may be asked from any thread."""

    def __init__(self, graphs: SessionGraphs) -> None:
        self._graphs = graphs

    def of(self, topic: TopicFolder) -> SessionPicture:
        """The picture of all sessions that the topic has now."""
        state = _state(topic)
        kept = _read(topic)
        if kept is not None and kept.state == state:
            return kept.picture
        picture = _drawn(self._graphs.of(topic))
        with suppress(StorageError):  # a full disk, say: it is drawn again
            write_private(topic.picture_path, msgspec.json.encode(_KeptPicture(state, picture)))
            if _state(topic) != state:  # changed meanwhile: it may show what is to be forgotten
                topic.picture_path.unlink(missing_ok=True)
        return picture

    def prepare(self, topic: TopicFolder) -> None:
        """Begin to draw a topic that nobody has looked at yet: somebody is likely to, soon."""
        if not self._graphs.is_busy:
            threading.Thread(target=self._try, args=(topic,), daemon=True).start()

    def prepare_latest(self, workspace: Workspace) -> None:
        """Begin to draw the topics that were browsed for last, one after the other."""
        threading.Thread(target=self._try_latest, args=(workspace,), daemon=True).start()

    def _try_latest(self, workspace: Workspace) -> None:
        with suppress(TrailhoundError, OSError):
            topics = [workspace.folder_for(name) for name in workspace.topics()]
            topics.sort(key=lambda topic: -topic.sessions_path.stat().st_mtime)
            for topic in topics[:MOST_TOPICS]:
                self._try(topic)

    def _try(self, topic: TopicFolder) -> None:
        with suppress(TrailhoundError, OSError):  # whoever looks is told
            self.of(topic)
            self._graphs.of(topic)  # previews of pages need it


def mark_of(found: SessionGraph, number: int) -> bool | None:
    """Whether a page is marked useful, or not useful; nothing without a mark."""
    if number in found.graph.targets:
        return True
    return False if number in found.graph.rejected else None


def _state(topic: TopicFolder) -> str:
    return repr((VERSION, topic.record().label, sessions_state(topic)))


def _read(topic: TopicFolder) -> _KeptPicture | None:
    try:
        return msgspec.json.decode(topic.picture_path.read_bytes(), type=_KeptPicture)
    except (OSError, *UNREADABLE):
        return None


def _drawn(found: SessionGraph) -> SessionPicture:
    return SessionPicture(
        width=round(PICTURE_HEIGHT * ASPECT),
        height=PICTURE_HEIGHT,
        nodes=_nodes(found),
        links=list(found.drawn),
        links_in_all=len(found.graph.edges),
        followed=list(found.followed),
        paths=[PathView(session=name, steps=list(steps)) for name, steps in found.paths.items()],
    )


def _nodes(found: SessionGraph) -> list[PageNode]:
    starts = set(found.graph.starts)
    places = (found.places * PICTURE_HEIGHT).round(1).tolist()
    return [
        PageNode(
            url=page.url,
            title=page.title or page.url,
            x=places[number][0],
            y=places[number][1],
            hops=found.hops[number],
            mark=mark_of(found, number),
            visits=found.visits.get(number, 0),
            start=number in starts,
        )
        for number, page in enumerate(found.graph.pages)
    ]
