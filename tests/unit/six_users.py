"""A trace of six people that fits on a sheet of paper, and a crawl of five of its pages."""

from __future__ import annotations

import math

from trailhound.sources.traces.building import trace_in_memory
from trailhound.sources.traces.index import TraceIndex
from trailhound.strategies.collaborative.statistics import Locality, VisitStatistics
from trailhound.strategies.intelligent.interest_rule import InterestRule

VISITS = {
    "u1": [("a", 0), ("b", 60), ("c", 120), ("d", 180)],
    "u2": [("a", 0), ("c", 60), ("e", 120)],
    "u3": [("b", 0), ("d", 60), ("f", 120)],
    "u4": [("e", 0), ("f", 60), ("g", 120)],
    "u5": [("a", 0), ("b", 60), ("g", 7260)],  # two hours' pause before g
    "u6": [("h", 0), ("g", 60)],
}
CRAWLED = [("a", True), ("b", False), ("e", True), ("f", False), ("h", False)]
SIGNATURES = {"a": (1, 2), "b": (2, 3), "e": (1,), "f": (3,), "h": (2,)}
U1, U2, U3, U4, U5, U6 = range(6)


def url(page: str) -> str:
    return f"http://h.test/{page}"


def six_user_trace() -> TraceIndex:
    """Users have the numbers 0 to 5."""
    accesses = [
        (user.encode(), 1e9 + seconds, url(page).encode())
        for user, visits in VISITS.items()
        for page, seconds in visits
    ]
    return trace_in_memory(accesses, lambda client: int(client[1:]))


def number(trace: TraceIndex, page: str) -> int:
    found = trace.page_number(url(page))
    assert found is not None
    return found


def crawl_of_five(
    trace: TraceIndex, *, literal: bool, significance: float, own_divisor: bool = False
) -> VisitStatistics:
    """K after a, b, e, f and h, of which a and e were relevant."""
    statistics = VisitStatistics(
        trace,
        InterestRule(significance, 4.0, literal),
        locality=Locality(2, math.inf if literal else 1800.0),
        own_divisor=own_divisor,
    )
    for page, relevant in CRAWLED:
        statistics.see(number(trace, page), relevant, SIGNATURES[page])
    return statistics
