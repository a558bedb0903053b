"""The sessions of a topic at a glance, without reading the pages that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from trailhound.errors import UNREADABLE, StorageError
from trailhound.sessions.events import Header
from trailhound.topics.workspace import TopicFolder
from trailhound.urls import canonicalize


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
