"""What a crawl's strategy and judge think, asked afterwards: of links and pages, and in general.

The strategy also tells what it has learned about links: from the sessions, and in a crawl.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property

import msgspec

from trailhound.config.settings import Settings
from trailhound.crawling.build import Guides, Knowledge, make_guides
from trailhound.crawling.driving import run_alone
from trailhound.errors import ModelError, SourceError, TrailhoundError, UsageError, plugin_faults
from trailhound.judges.base import WordingJudge
from trailhound.records import Candidate, Page
from trailhound.sessions.shown_pages import page_from_source
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.strategies.base import (
    Explaining,
    FoundLink,
    Lesson,
    Reason,
    Reasoning,
    Strategy,
    Telling,
)
from trailhound.strategies.choosing import declares
from trailhound.text.tokens import commonest_forms
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import archived_sources
from trailhound.topics.runs.plan import knowledge_of
from trailhound.topics.runs.sources import open_sources
from trailhound.topics.runs.strategy_memory import StrategyMemory

_log = logging.getLogger(__name__)

MOST_WORDS = 6
"""That are told to speak for a page, and against it."""
LEAST_MOVED = 0.05
"""In log odds: less is no reason."""


class Opinions:
    """The crawl's strategy, with what it has learned on the way; made when first asked."""

    def __init__(self, folder: CrawlFolder, results: Results) -> None:
        self._folder = folder
        self._results = results

    def belief(self, memory: bytes) -> Mapping[str, float]:
        """What the strategy kept of a link, in named figures, as far as it can tell."""
        if not memory or (strategy := self._strategy) is None:
            return {}
        return strategy.explain(memory) if isinstance(strategy, Explaining) else {}

    def reasons(self, place: Candidate | StoredPage) -> Sequence[Reason]:
        """What moved the priority of a link, by what was known when it was queued."""
        if place.parent is None or (strategy := self._strategy) is None:
            return ()
        if not isinstance(strategy, Reasoning):
            return ()
        page, outcomes = self._page_and_outcomes(place.parent, place.depth)
        return strategy.reasons(FoundLink(place.url, place.memory, page, outcomes))

    def _page_and_outcomes(self, parent: str, depth: int) -> tuple[Page | None, dict[str, bool]]:
        """Where a link was found, and what had been fetched by then."""
        if depth == 0:  # the strategy knew of it before the first page was fetched
            return self._session_pages.get(parent), {}
        events = self._results.events_of(parent)
        outcomes = self._results.outcomes_until(events[0].number) if events else {}
        return self._page(parent), outcomes

    def words(self, address: str) -> tuple[list[str], list[str]]:
        """Words of a page that speak for it and against it, the strongest first."""
        page, judge = self._page(address), self._judge
        if page is None or judge is None:
            return [], []
        try:
            moved = sorted(judge.words(page).items(), key=lambda each: -abs(each[1]))
        except plugin_faults():  # of a plug-in, which costs itself
            _log.exception("The judge cannot tell which words of %s count", address)
            return [], []
        told = [
            [term for term, part in moved if sign * part >= LEAST_MOVED][:MOST_WORDS]
            for sign in (1, -1)
        ]
        forms = commonest_forms([page], [term for terms in told for term in terms])
        wanted, unwanted = ([forms[term] for term in terms] for terms in told)
        return wanted, unwanted

    def _page(self, address: str) -> Page | None:
        source = archived_sources(self._folder.archive, {address}).get(address)
        return None if source is None else page_from_source(source, address)

    @cached_property
    def _judge(self) -> WordingJudge | None:
        try:
            judge: object = self._guides.judge if self._guides is not None else None
        except TrailhoundError:  # such as: nothing was ever learned for the topic
            return None
        return judge if isinstance(judge, WordingJudge) and callable(judge.words) else None

    @cached_property
    def _session_pages(self) -> dict[str, Page]:
        pages = self._knowledge.graph.pages if self._knowledge is not None else ()
        return {page.url: page for page in pages}

    @cached_property
    def _knowledge(self) -> Knowledge | None:
        try:
            return knowledge_of(self._folder.topic)
        except (ModelError, UsageError):
            return None

    @cached_property
    def _guides(self) -> Guides | None:
        if self._knowledge is None:
            return None
        return guides_of(self._folder, self._folder.read().settings, self._knowledge)

    @cached_property
    def _strategy(self) -> Strategy | None:
        strategy = self._guides.strategy if self._guides is not None else None
        if strategy is not None and isinstance(strategy, Reasoning):
            StrategyMemory(strategy, self._folder.strategy).restore(lambda _: None)
        return strategy


def strategy_of(folder: CrawlFolder, settings: Settings) -> Strategy | None:
    """A crawl's strategy as it is before its first page; ``None`` if it cannot be had any more."""
    guides = guides_of(folder, settings)
    return guides.strategy if guides is not None else None


def guides_of(
    folder: CrawlFolder, settings: Settings, known: Knowledge | None = None
) -> Guides | None:
    """The same with the judge; what is ``known`` of the topic need not be read again."""
    try:
        if not declares(settings.crawl.strategy, "needs_trace"):
            # Looking at a crawl is no time to read a log.
            settings = settings.changed({"sources.trace": ""})
        with closing(open_sources(folder, settings, lambda _: None)) as sources:
            return run_alone(make_guides(settings, known or knowledge_of(folder.topic), sources))
    except (ModelError, SourceError, UsageError):
        # The topic was learned again, in another way, or a source is gone.
        return None


MAX_PAGES_READ = 200
"""Archived pages in which the words are looked for that were learned, in a second or two."""
MAX_LOOKED_BACK = 3_000
"""Pages of a crawl whose links may have taught something."""


_FIELDS = {
    "anchor": "anchor",
    "address": "address",
    "context": "near the link",
    "heading": "heading above it",
    "title": "title of its page",
    "place": "place on its page",
    "meaning": "anchors that mean",
    "": "what else counts",
}
"""Of links, in the order in which they are told."""


class LinkLessons(msgspec.Struct, frozen=True):
    """The lessons of one strategy, the strongest first."""

    strategy: str
    from_sessions: Sequence[Lesson]
    after_crawl: Sequence[Lesson] = ()
    """Empty when there was none."""

    def told(self, most: int) -> dict[str, str]:
        """By field what was learned, the strongest first: ``jam +1.2 (+0.3), tax -0.8 (+0.1)``.

        In brackets what was known before: from the sessions when there was a crawl, otherwise
        nothing for words and a guess for what else counts.
        """
        known = {(each.field, each.name): each.weight for each in self.from_sessions}
        told: dict[str, list[str]] = {name: [] for name in _FIELDS.values()}
        for lesson in self.after_crawl or self.from_sessions:
            before = known.get((lesson.field, lesson.name)) if self.after_crawl else lesson.prior
            told.setdefault(_FIELDS.get(lesson.field, lesson.field), []).append(
                _told(lesson, before)
            )
        return {name: ", ".join(lines[:most]) for name, lines in told.items() if lines}


def _told(lesson: Lesson, before: float | None) -> str:
    is_word = bool(lesson.field)
    earlier = "" if not before and is_word else f" ({before or 0.0:+.1f})"
    return f"{lesson.name or '(nothing)'} {lesson.weight:+.1f}{earlier}"


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
