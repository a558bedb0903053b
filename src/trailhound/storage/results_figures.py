"""A crawl's results in figures: curves, what pages came to, what was refused, where finds are.

Everything is read in the order in which it was written, without a sort: 200,000 pages take a tenth
to a fifth of a second of CPU time, also while the crawl runs.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from trailhound.records import Outcome
from trailhound.storage.results import LISTED, RESULTS
from trailhound.urls import host_key

_STRETCH = f"""
    SELECT count(*), max(requests_total), max(at),
        total({LISTED}),
        count(score), total(score)
    FROM event WHERE id > ? AND id <= ?
"""  # noqa: S608
# Finds that were looked at again: where they were found, and their latest event, which is listed.
_MOVED = f"""
    SELECT min(CASE WHEN score IS NOT NULL THEN id END) AS first,
        max(CASE WHEN {LISTED} THEN id END) AS latest
    FROM event WHERE address IN
        (SELECT address FROM event WHERE NOT current AND score IS NOT NULL)
    GROUP BY address HAVING first < latest
"""  # noqa: S608
_FINDS = "SELECT address FROM event WHERE " + LISTED  # noqa: S608
_OUTCOMES = """
    SELECT o.outcome, o.times, e.address, e.why
    FROM (SELECT outcome, count(*) AS times, min(id) AS first FROM event GROUP BY outcome) AS o
    JOIN event AS e ON e.id = o.first ORDER BY o.times DESC
"""
_BY_RULE = """
    SELECT substr(reason, 1, instr(reason || ':', ':') - 1), count(*) FROM refusal
    GROUP BY 1 ORDER BY 2 DESC
"""


class CurvePoint(msgspec.Struct, frozen=True):
    """How a crawl stood after some of its pages."""

    requests: int
    pages: int
    finds: int
    """Of all pages so far."""
    mean_score: float | None
    """Of the pages since the point before; ``None`` when none of them was judged."""
    at: float


class OutcomeCount(msgspec.Struct, frozen=True):
    """What pages came to, and one of them."""

    outcome: Outcome
    times: int
    address: str
    why: str


class Refusal(msgspec.Struct, frozen=True):
    """A URL that a rule of the crawl's own kept away."""

    url: str
    rule: str
    """``calendar``, ``long-url``, …"""
    reason: str
    parent: str | None
    """The page that links to it."""


def curve(path: Path, points: int = 300) -> list[CurvePoint]:
    """The whole crawl, in at most ``points`` stretches of as many pages each.

    A find that was looked at again stays where it was found.
    """
    found: list[CurvePoint] = []
    with _reading(path) as connection:
        (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM event").fetchone()
        moved = connection.execute(_MOVED).fetchall()
        first, latest = sorted(row[0] for row in moved), sorted(row[1] for row in moved)
        stretches = min(points, last)
        pages = listed = 0
        for number in range(stretches):
            start, end = last * number // stretches, last * (number + 1) // stretches
            row = connection.execute(_STRETCH, (start, end)).fetchone()
            some, requests, at, new, judged, scores = row
            if some:  # forgotten pages leave gaps
                pages, listed = pages + some, listed + int(new)
                finds = listed + bisect_right(first, end) - bisect_right(latest, end)
                mean = scores / judged if judged else None
                found.append(CurvePoint(requests, pages, finds, mean, at))
    return found


def outcome_counts(path: Path) -> list[OutcomeCount]:
    """What all pages came to, the most frequent first, with the first page of each kind."""
    with _reading(path) as connection:
        rows = connection.execute(_OUTCOMES)
        return [OutcomeCount(Outcome(name), *others) for name, *others in rows]


def refusals(path: Path, limit: int, rule: str | None = None) -> list[Refusal]:
    """Some of what was refused, by address; only by one rule, when that is named."""
    query = "SELECT url, reason, parent FROM refusal"
    values: tuple[str | int, ...] = (limit,)
    if rule is not None:
        query, values = f"{query} WHERE reason = ? OR reason GLOB ?", (rule, f"{rule}:*", limit)
    with _reading(path) as connection:
        rows = connection.execute(f"{query} LIMIT ?", values)
        return [Refusal(url, _rule(why), why, parent) for url, why, parent in rows]


def refusal_counts(path: Path) -> dict[str, int]:
    """How much each rule has kept away, the strictest first."""
    with _reading(path) as connection:
        return dict(connection.execute(_BY_RULE).fetchall())


def finds_by_host(path: Path) -> Counter[str]:
    """On which hosts the finds are."""
    with _reading(path) as connection:
        rows = connection.execute(_FINDS)
        return Counter(host_key(address) for (address,) in rows)


def _rule(reason: str) -> str:
    return reason.partition(":")[0]


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """One view of the file throughout."""
    with RESULTS.explaining(path), closing(RESULTS.open_for_reading(path)) as connection:
        connection.execute("BEGIN")
        yield connection
