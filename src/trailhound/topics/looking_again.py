"""Pages that a crawl fetched and a strategy has forgotten, as the crawl met them."""

from __future__ import annotations

from collections.abc import Iterator

from trailhound.live.strategy_memory import KEEP_EVERY
from trailhound.records import Candidate, CrawledPage, Outcome, Relevance
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.text.extract import extract_page
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.marking import archived_sources

MAX_PAGES = 2 * KEEP_EVERY
"""The newest. There are more of them only when a snapshot was deleted or cannot be used."""


def pages_since(folder: CrawlFolder, number: int) -> Iterator[tuple[int, CrawledPage]]:
    """Fetched pages after the one with this number, in order; those that were archived."""
    with Results(folder.results) as results:
        events = [each for each in results.since(number) if each.outcome is Outcome.FETCHED]
    newest = events[-MAX_PAGES:]
    if not newest:
        return
    sources = archived_sources(folder.archive, {event.address for event in newest})
    for event in newest:
        if event.address in sources:
            yield event.number, _crawled(event, sources[event.address])


def _crawled(event: StoredPage, html: str) -> CrawledPage:
    body = html.encode("utf-8", "replace")
    return CrawledPage(
        extract_page(body, event.address, "text/html; charset=utf-8"),
        Relevance(event.score or 0.0, event.relevant),
        Candidate(event.url, event.priority, event.memory, event.parent, event.depth),
    )
