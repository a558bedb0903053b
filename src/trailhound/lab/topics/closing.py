"""A session as it would have been without some pages."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from trailhound.sessions.events import Event, Mark, Reached, Session, Visit

_ONWARD = (Reached.LINK, Reached.FORM)


def without_pages(session: Session, is_closed: Callable[[str], bool]) -> Session:
    """Leave out visits to closed pages and marks on them.

    A page that was reached from a closed one takes its place: it comes from where that page came
    from, typed if that was typed. Links are read from pages, so this invents none.
    """
    left_out: dict[str, Visit] = {}
    events: list[Event] = []
    for event in session.events:
        if not isinstance(event, Visit | Mark):
            events.append(event)
            continue
        moved = _moved(event, left_out) if isinstance(event, Visit) else event
        if not is_closed(event.url):
            events.append(moved)
        elif isinstance(moved, Visit):
            left_out[moved.url] = moved
    return msgspec.structs.replace(session, events=tuple(events))


def _moved(visit: Visit, left_out: dict[str, Visit]) -> Visit:
    """The visit, from a page that exists."""
    before = left_out.get(visit.from_url or "")
    if before is None:
        return visit
    reached = before.reached if visit.reached in _ONWARD else visit.reached
    return msgspec.structs.replace(visit, from_url=before.from_url, reached=reached)
