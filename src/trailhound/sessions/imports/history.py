"""Browsers' histories: visits that name the visit they came from become a session.

A redirect is a visit of its own in a history; here a chain of them is one visit of the page at its
end, reached the way its beginning was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from trailhound.sessions.events import Reached, Visit
from trailhound.sessions.imports.imported import Tally


class HistoryVisit(NamedTuple):
    """One row of a history."""

    number: int
    url: str
    title: str
    time: float
    """Unix time in seconds."""
    from_number: int
    """The visit before; 0 without one."""
    opener_number: int
    """The visit whose page opened this one in a new tab; 0 without one."""
    reached: Reached
    redirected: bool
    """It came about by a redirect from the visit before."""
    unseen: str
    """Why nobody saw it as a page; empty when somebody did."""


class Bookmark(NamedTuple):
    """A page that somebody kept, and the folders it is in, outermost first."""

    url: str
    folders: tuple[str, ...]


def visits_of(rows: Iterable[HistoryVisit], tally: Tally) -> list[Visit]:
    """The visits somebody saw, in order of time."""
    by_number = {row.number: row for row in rows}
    passed = {row.from_number for row in by_number.values() if row.redirected}
    tally.read += len(by_number)
    visits = []
    for row in by_number.values():
        reason = _why_left_out(row, passed)
        if reason:
            tally.skip(reason)
        else:
            visits.append(_visit(row, by_number))
    return sorted(visits, key=lambda visit: visit.time)


def _why_left_out(row: HistoryVisit, passed: set[int]) -> str:
    if not row.url.startswith(("http://", "https://")):
        return "not on the web"
    if row.number in passed:
        return "redirect (part of the visit it led to)"
    return row.unseen


def _visit(row: HistoryVisit, by_number: dict[int, HistoryVisit]) -> Visit:
    first = _start_of_redirects(row, by_number)
    before = by_number.get(first.from_number) or by_number.get(first.opener_number)
    return Visit(
        time=row.time,
        url=row.url,
        title=row.title,
        reached=first.reached,
        from_url=before.url if before is not None else None,
        requested_url=first.url if first.url != row.url else None,
    )


def _start_of_redirects(row: HistoryVisit, by_number: dict[int, HistoryVisit]) -> HistoryVisit:
    """The visit that a chain of redirects began with; a damaged history may have circles."""
    met = {row.number}
    while row.redirected and row.from_number in by_number and row.from_number not in met:
        met.add(row.from_number)
        row = by_number[row.from_number]
    return row
