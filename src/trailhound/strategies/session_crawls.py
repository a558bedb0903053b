"""A browsing session, told as a crawl: for strategies that learn on the way."""

from __future__ import annotations

from collections.abc import Iterator

from trailhound.records import Candidate, CrawledPage, Relevance
from trailhound.sessions.page_graph import PageGraph


def session_as_crawl(graph: PageGraph) -> Iterator[CrawledPage]:
    """The pages in the order of their visits; the targets were the relevant ones."""
    for number, page in enumerate(graph.pages):
        relevant = number in graph.targets
        yield CrawledPage(page, Relevance(float(relevant), relevant), Candidate(page.url, 0.0))
