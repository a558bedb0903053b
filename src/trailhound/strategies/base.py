"""What a crawl strategy is: the answer to "which link next?"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

from trailhound.records import CrawledPage, ScoredLink
from trailhound.sessions.page_graph import PageGraph


@dataclass(frozen=True)
class Briefing:
    """All that a strategy may learn from before the crawl starts."""

    graph: PageGraph
    """Pages, links and targets of the browsing session."""
    seed: int = 0
    """Seed of the strategy's random generator: same seed, same crawl."""
    relevant_urls: frozenset[str] = field(default=frozenset())
    """Ground truth, present only in the lab and used only by upper bounds such as ``oracle``."""


class Strategy(Protocol):
    """Ranks the links of fetched pages. No base class is needed, only these names.

    A strategy also has a class method ``from_briefing(briefing, *, option=default, ...)`` that
    learns from the session. Its keyword arguments are the strategy's options: the registry reads
    their names, types and defaults, and turns ``name:option=value`` into a call. It registers
    under the entry-point group ``trailhound.strategies``; ``examples/short_urls.py`` is a
    complete one.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for ``trailhound strategies``."""
    paper: ClassVar[str]
    """Where it was published; empty when it was not."""

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Give each link worth queueing a priority; leave out the others."""
        ...

    def observe(self, crawled: CrawledPage) -> None:
        """Learn from a fetched page. Called before its links are scored."""
        ...


@runtime_checkable
class Rescoring(Protocol):
    """Optional: a strategy whose opinion of waiting candidates changes as it learns."""

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """New priorities by URL, given each candidate's memory; ``None`` when nothing has moved."""
        ...
