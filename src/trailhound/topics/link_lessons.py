"""What a topic's strategy has learned about links: from the sessions, and in a crawl."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from trailhound.config.settings import Settings
from trailhound.records import Page
from trailhound.sessions.shown_pages import page_from_source
from trailhound.storage.results_reading import Results
from trailhound.strategies.base import Lesson, Telling
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.marking import archived_sources
from trailhound.topics.opinions import strategy_of
from trailhound.topics.strategy_memory import StrategyMemory

MAX_PAGES_READ = 200
"""Archived pages in which the words are looked for that were learned, in a second or two."""
MAX_LOOKED_BACK = 3_000
"""Pages of a crawl whose links may have taught something."""


class LinkLessons(msgspec.Struct, frozen=True):
    """The lessons of one strategy, the strongest first."""

    strategy: str
    from_sessions: Sequence[Lesson]
    after_crawl: Sequence[Lesson] = ()
    """Empty when there was none."""


def lessons_about_links(
    folder: CrawlFolder, settings: Settings, pages: Iterable[Page]
) -> LinkLessons | None:
    """What the crawl's strategy has learned, or the one in ``settings`` before the first crawl.

    ``pages`` are those of the sessions; ``None`` when the strategy cannot tell.
    """
    was_crawled = folder.exists()
    settings = folder.read().settings if was_crawled else settings
    strategy = strategy_of(folder, settings)
    if strategy is None or not isinstance(strategy, Telling):
        return None
    before = strategy.lessons(pages)
    if not (was_crawled and folder.strategy.is_file()):
        return LinkLessons(strategy.name, before)
    StrategyMemory(strategy, folder.strategy).restore(lambda _: None)
    return LinkLessons(strategy.name, before, strategy.lessons([*pages, *_linking_pages(folder)]))


def _linking_pages(folder: CrawlFolder) -> list[Page]:
    """Archived pages on which the newest links were found that the crawl has followed."""
    with Results(folder.results) as results:
        events = results.since(results.summary().pages - MAX_LOOKED_BACK)
    parents = dict.fromkeys(event.parent for event in reversed(events) if event.parent)
    sources = archived_sources(folder.archive, list(parents)[:MAX_PAGES_READ])
    return [page_from_source(source, address) for address, source in sources.items()]
