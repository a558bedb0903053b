"""What the main process does with an analysed page, one page after the other.

Claim its address, look for earlier copies of it, let the strategy learn, queue the links. The order
of pages matters here: it decides what is a duplicate, what is learned when, and what the frontier
has seen before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec.structs import replace

from trailhound.crawling.analysis import Analysis, LinkScore, link_scores, note_failure
from trailhound.crawling.story import Story
from trailhound.frontier.base import Frontier
from trailhound.records import Candidate, CrawledPage, Outcome, Page
from trailhound.strategies.base import Judging, Strategy

_log = logging.getLogger(__name__)


class KnownTexts(Protocol):
    """The pages so far by what they say."""

    def find_or_add(self, fingerprint: int, url: str) -> str | None:
        """An earlier page that says the same; without one, remember this page."""
        ...


class Digestion:
    """Takes pages into the crawl. See :class:`trailhound.crawling.engine.Crawler` for the parts."""

    def __init__(
        self,
        strategy: Strategy,
        frontier: Frontier,
        *,
        in_scope: Callable[[str], bool] | None,
        find_duplicate: Callable[[Page], str | None] | None,
        known_texts: KnownTexts | None,
        obey_nofollow: bool,
        in_thread: bool = False,
    ) -> None:
        self._strategy = strategy
        self._frontier = frontier
        self._in_scope = in_scope
        self._find_duplicate = find_duplicate
        self._known_texts = known_texts
        self._obey_nofollow = obey_nofollow
        self._in_thread = in_thread

    def is_known(self, story: Story) -> bool:
        """Whether a redirect led to a page that has been fetched by now."""
        if not story.was_redirected:
            return False
        return self._frontier.outcome_of(story.result.final_url) is Outcome.FETCHED

    def claim(self, story: Story) -> bool:
        """A page behind a redirect is fetched under its own URL, and only once."""
        final_url = story.result.final_url
        if self.is_known(story):
            story.outcome = Outcome.DUPLICATE
            story.why = f"it redirects to {final_url}, which was fetched before"
            return False
        if story.was_redirected:
            self._frontier.mark_seen(final_url, Outcome.FETCHED)
        return True

    def queue_redirect(self, story: Story) -> None:
        """The end of a redirect that was not followed waits under its own URL, in the same place.

        A run that is resumed with more requests goes on behind it.
        """
        url = story.result.final_url
        if url != story.candidate.url and (self._in_scope is None or self._in_scope(url)):
            story.links_added = self._frontier.add([replace(story.candidate, url=url)])

    async def digest(self, story: Story, analysis: Analysis) -> None:
        """Take in a claimed page. An error of our own costs that page, not the crawl."""
        story.page, story.relevance = analysis.page, analysis.relevance
        if not analysis.failure:
            try:
                await self._take_in(story, analysis)
            except Exception as error:
                note_failure(analysis, error)
        if analysis.failure:
            _log.error("Page %s could not be processed\n%s", story.result.final_url, analysis.trace)
            story.outcome = Outcome.BROKEN
            story.why = analysis.failure

    async def _take_in(self, story: Story, analysis: Analysis) -> None:
        page, relevance = analysis.page, analysis.relevance
        if page is None or relevance is None:
            raise ValueError("the analysis is incomplete")
        story.duplicate_of = self._earlier_copy(page, analysis.fingerprint)
        crawled = CrawledPage(page, relevance, story.candidate)
        opinion = await self._opinion(crawled, analysis.scores)
        if isinstance(self._strategy, Judging):
            story.relevance = self._strategy.verdict(crawled) or relevance
        self._queue(story, page, opinion)

    async def _opinion(
        self, crawled: CrawledPage, scores: list[LinkScore] | None
    ) -> Iterable[LinkScore]:
        """In a thread nothing but the strategy is touched."""
        if self._in_thread:
            return await asyncio.to_thread(lambda: list(self._asked(crawled, scores)))
        return self._asked(crawled, scores)

    def _asked(self, crawled: CrawledPage, scores: list[LinkScore] | None) -> Iterable[LinkScore]:
        self._strategy.observe(crawled)
        return link_scores(self._strategy, crawled) if scores is None else scores

    def _earlier_copy(self, page: Page, fingerprint: int | None) -> str | None:
        if self._known_texts is not None and fingerprint is not None:
            return self._known_texts.find_or_add(fingerprint, page.url)
        return self._find_duplicate(page) if self._find_duplicate is not None else None

    def _queue(self, story: Story, page: Page, scores: Iterable[LinkScore]) -> None:
        story.links_found = len(page.links)
        if self._obey_nofollow and (page.nofollow or story.result.nofollow):
            story.why = "it asks not to follow its links"
            return
        allowed = self._scope_of(story, page)
        parent, depth = page.url, story.candidate.depth + 1
        story.links_added = self._frontier.add(
            Candidate(score.url, score.priority, score.memory, parent, depth)
            for score in scores
            if (allowed is None or allowed(score.url))
            and not (self._obey_nofollow and score.nofollow)
        )

    def _scope_of(self, story: Story, page: Page) -> Callable[[str], bool] | None:
        """Tells which URLs the crawl may visit, the page's links looked up; ``None`` for all."""
        if self._in_scope is None:
            return None
        in_scope = self._in_scope
        links = {url: in_scope(url) for url in dict.fromkeys([link.url for link in page.links])}
        story.links_outside = sum(not links[link.url] for link in page.links)
        return lambda url: links[url] if url in links else in_scope(url)
