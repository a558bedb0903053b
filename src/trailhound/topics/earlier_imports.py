"""What a topic has already of the browsing that is being imported.

A log grows, a history loses its oldest visits, a period is chosen anew: what was imported before
and what is imported now overlap. They are one session, in which each visit counts once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from trailhound.sessions.events import Session, Visit, event_in
from trailhound.sessions.files import header_of, read_session
from trailhound.topics.workspace import TopicFolder

_VisitKey = tuple[float, str]
"""When, and which address was asked for: the same whatever was learned of the visit since."""


class EarlierImports:
    """The sessions that a topic had when an import began.

    ``of`` finds those of the same importer that share visits with a session. The same person may
    have another name in them, when one of the imports kept addresses: then one of the two has to
    hold all visits of the other.
    """

    def __init__(self, folder: TopicFolder) -> None:
        self._by_user: defaultdict[tuple[str, str], list[Path]] = defaultdict(list)
        self._by_start: defaultdict[tuple[str, _VisitKey], list[Path]] = defaultdict(list)
        for name in sorted(folder.session_names()):
            path = folder.sessions_path / name
            header = header_of(path)
            self._by_user[header.recorder, header.user].append(path)
            if (start := _first_visit(path)) is not None:
                self._by_start[header.recorder, _key(start)].append(path)

    def of(self, session: Session) -> dict[Path, Session]:
        """Earlier copies of a session, or of a part of it, that are still there."""
        visits = _visits(session)
        own = self._by_user.get((session.recorder, session.user), [])
        if copies := {path: copy for path, copy in _read(own) if visits & _visits(copy)}:
            return copies
        start = next((event for event in session.events if isinstance(event, Visit)), None)
        if start is None:
            return {}
        others = _read(self._by_start.get((session.recorder, _key(start)), []))
        return {path: copy for path, copy in others if _holds_one_the_other(visits, copy)}


def united(session: Session, earlier: Iterable[Session]) -> Session:
    """The session with the contents and the visits that only earlier copies of it have."""
    before = {_key(visit): visit for copy in earlier for visit in _in(copy)}
    with_content = {key: visit for key, visit in before.items() if visit.html}
    events = tuple(
        with_content.get(_key(event), event)
        if isinstance(event, Visit) and event.html is None
        else event
        for event in session.events
    )
    own = _visits(session)
    lost = [visit for key, visit in before.items() if key not in own]
    if lost:
        events = tuple(sorted((*events, *lost), key=lambda event: event.time))
    return msgspec.structs.replace(session, events=events)


def _holds_one_the_other(visits: set[_VisitKey], copy: Session) -> bool:
    others = _visits(copy)
    return visits <= others or others <= visits


def _read(paths: Iterable[Path]) -> Iterator[tuple[Path, Session]]:
    return ((path, read_session(path, strict=False)) for path in paths if path.exists())


def _first_visit(path: Path) -> Visit | None:
    with path.open("rb") as file:
        file.readline()
        event = event_in(file.readline())
    return event if isinstance(event, Visit) else None


def _in(session: Session) -> Iterator[Visit]:
    return (event for event in session.events if isinstance(event, Visit))


def _visits(session: Session) -> set[_VisitKey]:
    return {_key(visit) for visit in _in(session)}


def _key(visit: Visit) -> _VisitKey:
    return visit.time, visit.requested_url or visit.url
