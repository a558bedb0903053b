"""A topic's crawl in curves and tables, while it runs and afterwards.

What a running crawl tells about itself is in :mod:`trailhound.topics.control.running`; this reads
its stores, all runs together. A crawl that has only just begun, or keeps its frontier elsewhere,
has empty tables.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import msgspec

from trailhound.frontier.reading import HostState, best_waiting, host_states
from trailhound.records import Candidate
from trailhound.storage.event_log import hosts_put_off
from trailhound.storage.results_figures import (
    CurvePoint,
    Refusal,
    curve,
    finds_by_host,
    outcome_counts,
    refusal_counts,
    refusals,
)
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.notices import ENDS, NOTHING_WRONG, Failure


class HostFigures(msgspec.Struct, frozen=True):
    """One host of a crawl."""

    host: str
    pages: int
    """Dealt with, whatever came of them."""
    finds: int
    waiting: int
    """URLs in the frontier."""
    rests_for: float
    """Seconds until it may be asked again."""


class RefusalFigures(msgspec.Struct, frozen=True):
    """What the crawl's own rules kept away."""

    by_rule: dict[str, int]
    some: list[Refusal]


def crawl_curve(folder: CrawlFolder, points: int = 300) -> list[CurvePoint]:
    """Finds and mean score against requests, over all runs, thinned to ``points``."""
    return curve(folder.results, points) if folder.results.is_file() else []


def crawl_hosts(folder: CrawlFolder, limit: int = 100) -> list[HostFigures]:
    """Hosts with most finds first, then most pages, then most that waits.

    The frontier is read as a whole: about a microsecond for each URL ever seen.
    """
    if not folder.frontier.is_file() or not folder.results.is_file():
        return []
    finds, now = finds_by_host(folder.results), time.time()
    hosts = [
        HostFigures(
            each.name, each.pages, finds[each.name], each.waiting, max(0.0, each.ready_at - now)
        )
        for each in host_states(folder.frontier)
    ]
    hosts.sort(key=lambda each: (-each.finds, -each.pages, -each.waiting, each.host))
    return hosts[:limit]


def crawl_errors(folder: CrawlFolder) -> list[Failure]:
    """What went wrong in all runs, in words, the most frequent first."""
    if not folder.results.is_file():
        return []
    return [
        Failure(
            ENDS[each.outcome],
            each.times,
            f"{each.address}: {each.why}" if each.why else each.address,
            each.outcome.value,
        )
        for each in outcome_counts(folder.results)
        if each.outcome not in NOTHING_WRONG
    ]


def crawl_frontier(folder: CrawlFolder, limit: int = 50) -> list[Candidate]:
    """What comes next, the best first, whenever its hosts are ready."""
    return best_waiting(folder.frontier, limit) if folder.frontier.is_file() else []


class RestingHost(NamedTuple):
    """A host that has something left, and is to be left alone for a while."""

    host: str
    why: str
    ready_at: float
    """In seconds since 1970."""


def resting_hosts(folder: CrawlFolder, now: float, limit: int) -> list[RestingHost]:
    """Those that may be asked again first, and why they rest; of a frontier of our own."""
    if not folder.frontier.is_file():
        return []
    resting = [each for each in host_states(folder.frontier) if each.waiting]
    resting = sorted((each for each in resting if each.ready_at > now), key=_ready_at)[:limit]
    reasons = hosts_put_off(folder.log, {each.name for each in resting})
    return [
        RestingHost(
            each.name, reasons[each.name].why if each.name in reasons else "", each.ready_at
        )
        for each in resting
    ]


def _ready_at(host: HostState) -> float:
    return host.ready_at


def crawl_refusals(
    folder: CrawlFolder, limit: int = 100, rule: str | None = None
) -> RefusalFigures:
    """What the crawl's own rules kept away, and how much of it; ``explain`` has the whole story."""
    if not folder.results.is_file():
        return RefusalFigures({}, [])
    return RefusalFigures(refusal_counts(folder.results), refusals(folder.results, limit, rule))
