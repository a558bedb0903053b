"""What a lab topic is: what was browsed, what should be found, where the crawl starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from trailhound.sessions.events import Session
from trailhound.sessions.page_graph import PageGraph


@dataclass(frozen=True)
class LabTopic:
    """One experiment's question, the same for every strategy."""

    name: str
    session: Session
    """The browsing that strategies may learn from."""
    graph: PageGraph
    """The session's page graph."""
    relevant: frozenset[str]
    """Ground truth: URLs of pages that count as found. None of them is a target of the session."""
    seed_sets: tuple[tuple[str, ...], ...]
    """Start pages of each run: general pages at least two hops from every relevant page."""
    findable: tuple[int, ...]
    """For each seed set, how many relevant pages can be reached from it by links."""
    off_limits: frozenset[str] = frozenset()
    """Recorded pages that the crawl may not visit: the site that was browsed, for instance."""
    closed: frozenset[str] = frozenset()
    """Those of them that nothing may be learned from either: for session, crawl, backlinks, trace
    and search they had never been recorded."""


class TopicSource(Protocol):
    """Makes topics for one corpus."""

    def names(self) -> tuple[str, ...]:
        """Topics that can be built, in a fixed order."""
        ...

    def build(self, name: str, n_seed_sets: int, seed: int) -> LabTopic:
        """Build one topic; the same arguments give the same topic.

        Raises TopicError with the reason when the topic has no targets, no seeds, or nothing to
        find.
        """
        ...
