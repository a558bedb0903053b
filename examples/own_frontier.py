"""A frontier of your own: pages leave in the order in which they were found.

Name it in ``trailhound.toml``, without installing anything::

    [crawl]
    frontier = "examples/own_frontier.py"

To ship it, put the class into a package and register it::

    [project.entry-points."trailhound.frontiers"]
    arrivals = "your_package.arrivals:ArrivalFrontier"

It stores URLs as the built-in one does, so that its crawls can be resumed. A frontier needs no base
class; everything that it must do is in ``trailhound.frontier.base.Frontier``.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from trailhound.frontier.base import Rescore
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate


class ArrivalFrontier(SqliteFrontier):
    """First in, first out, whatever the strategy says; hosts are still left to rest."""

    summary = "URLs in the order in which they were found"

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Queue unseen URLs, all with the same priority."""
        return super().add(replace(each, priority=0.0) for each in candidates)

    def requeue(self, candidates: Iterable[Candidate]) -> None:
        """Queue URLs again, behind all others."""
        super().requeue(replace(each, priority=0.0) for each in candidates)

    def rescore(self, score: Rescore, limit: int | None = None) -> int:
        """Nothing changes its place."""
        del score, limit
        return 0
