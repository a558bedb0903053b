"""A browsing session, told as a crawl: for strategies that learn on the way."""

from __future__ import annotations

from collections.abc import Iterator

from trailhound.records import Candidate, CrawledPage, Page, Relevance
from trailhound.sessions.page_graph import PageGraph


def session_as_crawl(graph: PageGraph) -> Iterator[CrawledPage]:
    """The pages in the order of their visits; the targets were the relevant ones.

    Pages of which an import knows only the address were not read: they say nothing about what is
    relevant, and may well be worth a fetch. A mark does say something.
    """
    for number, page in enumerate(graph.pages):
        relevant = number in graph.targets
        if relevant or was_read(page):
            yield CrawledPage(page, Relevance(float(relevant), relevant), Candidate(page.url, 0.0))


def was_read(page: Page) -> bool:
    """Whether more than the address is known of a page of a session."""
    return bool(page.text or page.terms or page.links)
