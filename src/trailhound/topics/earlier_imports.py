"""What a topic has already of the browsing that is being imported.

A log grows, a history loses its oldest visits, a period is chosen anew: what was imported before
and what is imported now overlap. They are one session, in which each visit counts once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from trailhound.sessions.events import Event, Mark, Session, Visit
from trailhound.sessions.files import header_of, read_session
from trailhound.topics.workspace import TopicFolder

_VisitKey = tuple[float, str]
"""When, and which address was asked for: the same whatever was learned of the visit since."""


class EarlierImports:
    """The sessions that a topic had when an import began.

    ``of`` finds those of the same importer and person that share visits with a session. A person
    whose address is kept by one of the imports has a pseudonym in the other: ``name_of`` it.
    """

    def __init__(self, folder: TopicFolder, name_of: Callable[[bytes], str]) -> None:
        self._name_of = name_of
        self._by_user: defaultdict[tuple[str, str], list[Path]] = defaultdict(list)
        for name in sorted(folder.session_names()):
            path = folder.sessions_path / name
            header = header_of(path)
            for user in self._names(header.user):
                self._by_user[header.recorder, user].append(path)

    def _names(self, user: str) -> set[str]:
        return {user, self._name_of(user.encode())} if user else {user}

    def of(self, session: Session) -> dict[Path, Session]:
        """Earlier copies of a session, or of a part of it, that are still there."""
        names = self._names(session.user)
        own = {path for user in names for path in self._by_user.get((session.recorder, user), ())}
        visits = _visits(session)
        return {path: copy for path, copy in _read(sorted(own)) if visits & _visits(copy)}


def united(session: Session, earlier: Collection[Session]) -> Session:
    """The session with all that only earlier copies of it know.

    That is contents, the page that a visit came from, and visits, with the marks on their pages.
    """
    before = {_key(visit): visit for copy in earlier for visit in _in(copy)}
    with_content = {key: visit for key, visit in before.items() if visit.html}
    events: list[Event] = []
    for event in session.events:
        if not isinstance(event, Visit):
            events.append(event)
            continue
        known = event if event.html is not None else with_content.get(_key(event), event)
        events.append(_with_way(known, before.get(_key(event))))
    own = _visits(session)
    lost = [visit for key, visit in before.items() if key not in own]
    pages = {visit.url for visit in lost} - {visit.url for visit in _in(session)}
    marks = {
        event.url: event
        for copy in earlier
        for event in copy.events
        if isinstance(event, Mark) and event.url in pages
    }
    if lost:
        events = sorted((*events, *lost, *marks.values()), key=lambda event: event.time)
    return msgspec.structs.replace(session, events=tuple(events))


def _with_way(visit: Visit, before: Visit | None) -> Visit:
    """The first lines of a file do not tell where their readers came from."""
    if before is None or visit.from_url is not None or before.from_url is None:
        return visit
    return msgspec.structs.replace(visit, from_url=before.from_url, reached=before.reached)


def _read(paths: Iterable[Path]) -> Iterator[tuple[Path, Session]]:
    for path in paths:
        if path.exists():
            yield path, read_session(path, strict=False)


def _in(session: Session) -> Iterator[Visit]:
    return (event for event in session.events if isinstance(event, Visit))


def _visits(session: Session) -> set[_VisitKey]:
    return {_key(visit) for visit in _in(session)}


def _key(visit: Visit) -> _VisitKey:
    return visit.time, visit.requested_url or visit.url
