"""What the main process does with an analysed page, one page after the other.

Look for earlier copies of it, so that mirrors do not count twice, let the strategy learn and score,
ask the sources if the strategy wants to; then, in one go, take page and links into the frontier.
The order of pages matters here: it decides what is a duplicate, what is learned when, and what the
frontier has seen before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from msgspec.structs import replace

from trailhound.crawling.analysis import Analysis, note_failure
from trailhound.crawling.answers import LinkScore, checked_verdict, link_score, name_of
from trailhound.errors import SourceError, plugin_faults
from trailhound.frontier.base import Frontier
from trailhound.records import (
    Candidate,
    CrawledPage,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.strategies.base import Asking, Judging, Strategy
from trailhound.text.near_duplicates import NearDuplicates
from trailhound.urls import host_key


class DuplicateFinder:
    """Remembers what pages say. ``known`` are addresses and fingerprints of earlier pages."""

    def __init__(self, known: Iterable[tuple[str, int]] = ()) -> None:
        self._near = NearDuplicates()
        self._urls: list[str] = []
        for url, mark in known:
            self.find_or_add(mark, url)

    def find_or_add(self, fingerprint: int, url: str, *, noindex: bool = False) -> str | None:
        """An earlier page that says the same; without one, remember this page.

        One that asks not to be listed is not remembered: it would hide those that may be.
        """
        number = self._near.find(fingerprint)
        if number is None:
            if not noindex:
                self._near.add(fingerprint, len(self._urls))
                self._urls.append(url)
            return None
        # A page that was fetched before a crash, or is looked at again, is no copy of itself.
        earlier = self._urls[number]
        return earlier if earlier != url else None


_log = logging.getLogger(__name__)


_WAS_HERE = (Outcome.FETCHED, Outcome.BROKEN, Outcome.UNREADABLE, Outcome.TOO_COSTLY)
"""Outcomes of pages that came, whatever became of them."""


def leads_to_known(url: str) -> str:
    """Why a candidate that redirects to a page of the crawl brings nothing."""
    return f"it redirects to {url}, which was fetched before"


class KnownTexts(Protocol):
    """The pages so far by what they say."""

    def find_or_add(self, fingerprint: int, url: str, *, noindex: bool = False) -> str | None:
        """An earlier page that says the same; without one, remember this page.

        Not one that asks not to be listed.
        """
        ...


class Story:
    """What is known so far about one candidate's fate."""

    def __init__(self, candidate: Candidate, result: FetchResult) -> None:
        self.candidate = candidate
        self.result = result
        self.outcome = result.outcome
        self.page: Page | None = None
        self.relevance: Relevance | None = None
        self.fingerprint: int | None = None
        self.duplicate_of: str | None = None
        self.scores: list[LinkScore] = []
        self.links_added = 0
        self.links_outside = 0
        self.why = result.detail
        self.is_set_apart = False
        """Whether its analysis is left to the strong room; what the fetch cost is counted then."""

    @property
    def was_redirected(self) -> bool:
        """Whether the page is elsewhere than where it was looked for."""
        return self.result.final_url != self.candidate.url

    @property
    def ends_elsewhere(self) -> bool:
        """Whether another host than the one leased from has the last word."""
        result = self.result
        return self.was_redirected and host_key(result.final_url) != host_key(self.candidate.url)

    def fail(self, failure: str, trace: str) -> None:
        """An error of our own costs this page."""
        _log.error("Page %s could not be processed\n%s", self.result.final_url, trace)
        self.outcome, self.why, self.scores = Outcome.BROKEN, failure, []

    def give_up(self, why: str) -> None:
        """The page took more than it may."""
        _log.warning("Page %s was given up: %s", self.result.final_url, why)
        self.outcome, self.why, self.scores = Outcome.TOO_COSTLY, why, []

    def finished(self, number: int, requests_total: int, queries: int, at: float) -> FinishedPage:
        """All of it, for the sinks."""
        candidate, page = self.candidate, self.page
        event = PageEvent(
            number=number,
            url=candidate.url,
            final_url=self.result.final_url,
            outcome=self.outcome,
            parent=candidate.parent,
            depth=candidate.depth,
            priority=candidate.priority,
            requests=self.result.requests,
            requests_total=requests_total,
            relevance=self.relevance,
            links_found=len(page.links) if page and self.outcome is Outcome.FETCHED else 0,
            links_added=self.links_added,
            links_outside=self.links_outside,
            why=self.why,
            title=page.title if page else "",
            duplicate_of=self.duplicate_of,
            noindex=self.result.noindex or (page.noindex if page else False),
            at=at,
            queries=queries,
        )
        return FinishedPage(event, candidate, self.result, page, self.fingerprint)


def opinion_of(
    strategy: Strategy, crawled: CrawledPage, scores: list[LinkScore] | None = None
) -> tuple[list[LinkScore], Relevance]:
    """Let the strategy learn from a page; what it says of the links, and the verdict that counts.

    ``scores`` are those that an analyst has given the links already.
    """
    strategy.observe(crawled)
    if scores is None:
        scores = list(map(link_score, strategy.score_links(crawled)))
    own = strategy.verdict(crawled) if isinstance(strategy, Judging) else None
    return scores, crawled.relevance if own is None else checked_verdict(own, "a strategy")


class Digestion:
    """Takes pages into the crawl. See :class:`trailhound.crawling.engine.Crawler` for the parts."""

    def __init__(
        self,
        strategy: Strategy,
        frontier: Frontier,
        *,
        in_scope: Callable[[str], bool] | None,
        known_texts: KnownTexts | None,
        obey_nofollow: bool,
        left_out: Callable[[Page], Collection[str]] | None = None,
    ) -> None:
        """``left_out`` names links of a page that are not to be followed."""
        self._strategy = strategy
        self._asking = strategy if isinstance(strategy, Asking) else None
        self._frontier = frontier
        self._in_scope = in_scope
        self._known_texts = known_texts
        self._obey_nofollow = obey_nofollow
        self._left_out = left_out
        self.may_ask: Callable[[], bool] = lambda: True
        """Whether there is a request left for a question."""
        self.awaits_answer = False
        """Whether a source has been asked about a page and has not answered yet."""

    def is_known(self, story: Story) -> bool:
        """Whether the page has been fetched by now: under its own URL, or behind a redirect."""
        return self.has(story.result.final_url)

    def has(self, url: str) -> bool:
        """Whether the page at a URL has been fetched by now."""
        return self._frontier.outcome_of(url) is Outcome.FETCHED

    def is_new(self, story: Story) -> bool:
        """Whether there is a page to take in: one behind a redirect counts only once."""
        if story.outcome is not Outcome.FETCHED:
            return False
        if self.is_known(story):
            story.outcome = Outcome.DUPLICATE
            story.why = (
                leads_to_known(story.result.final_url)
                if story.was_redirected
                else "a redirect had led to it meanwhile"
            )
            return False
        return True

    def lasting_outcome(self, story: Story) -> Outcome:
        """How the candidate ends: a page that was fetched behind a redirect meanwhile stays so."""
        is_here = not story.was_redirected
        return Outcome.FETCHED if is_here and self.is_known(story) else story.outcome

    async def digest(self, story: Story, analysis: Analysis) -> None:
        """Learn from a new page, and hear what the strategy thinks of its links.

        The strategy may wait for a source here; the frontier is not touched.
        """
        story.page, story.relevance = analysis.page, analysis.relevance
        if not analysis.failure:
            try:
                crawled = self._crawled(story, analysis)
            except Exception as error:
                note_failure(analysis, error)
            else:
                await self._hear(story, crawled, analysis)
        if analysis.is_unreadable:
            story.outcome, story.why = Outcome.UNREADABLE, analysis.failure
        elif analysis.is_too_costly:
            story.give_up(analysis.failure)
        elif analysis.failure:
            story.fail(analysis.failure, analysis.trace)

    def _crawled(self, story: Story, analysis: Analysis) -> CrawledPage:
        page, relevance = analysis.page, analysis.relevance
        if page is None or relevance is None:
            raise ValueError("the analysis is incomplete")
        story.fingerprint = analysis.fingerprint
        if self._known_texts is not None and analysis.fingerprint is not None:
            story.duplicate_of = self._known_texts.find_or_add(
                analysis.fingerprint, page.url, noindex=page.noindex or story.result.noindex
            )
        return CrawledPage(page, relevance, story.candidate)

    async def _hear(self, story: Story, crawled: CrawledPage, analysis: Analysis) -> None:
        """What the strategy thinks of the page's links, or that it failed."""
        try:
            story.scores = await self._opinion(story, crawled, analysis.scores)
        except SourceError as error:
            note_failure(analysis, error)
        except plugin_faults() as error:
            note_failure(analysis, error, f"the strategy {name_of(self._strategy)} failed: ")

    async def _opinion(
        self, story: Story, crawled: CrawledPage, analysed: list[LinkScore] | None
    ) -> list[LinkScore]:
        scores, story.relevance = opinion_of(self._strategy, crawled, analysed)
        if self._asking is not None and self.may_ask():
            self.awaits_answer = True
            try:
                scores += map(link_score, await self._asking.ask(crawled))
            finally:
                self.awaits_answer = False
        return scores

    def take_in(self, story: Story) -> None:
        """Page and links enter the frontier; the lease's end must follow before anything else."""
        if story.was_redirected and story.outcome in _WAS_HERE:
            self._frontier.mark_seen(story.result.final_url, Outcome.FETCHED)
        try:
            if story.outcome is Outcome.POSTPONED:
                self._queue_redirect(story)
            elif story.page is not None and story.outcome is Outcome.FETCHED:
                self._queue_links(story, story.page)
        except plugin_faults() as error:
            analysis = Analysis()
            note_failure(analysis, error)
            story.fail(analysis.failure, analysis.trace)

    def _queue_redirect(self, story: Story) -> None:
        """The end of a redirect that was not followed waits under its own URL, in the same place.

        A run that is resumed with more requests goes on behind it.
        """
        url = story.result.final_url
        if story.was_redirected and (self._in_scope is None or self._in_scope(url)):
            story.links_added = self._wait_for([replace(story.candidate, url=url)])

    def _queue_links(self, story: Story, page: Page) -> None:
        if self._obey_nofollow and (page.nofollow or story.result.nofollow):
            story.why = "it asks not to follow its links"
            return
        allowed = self._scope_of(story, page)
        story.links_added = self._wait_for(self._candidates(story, page, allowed))

    def _wait_for(self, candidates: Iterable[Candidate]) -> int:
        added: object = self._frontier.add(candidates)
        if not isinstance(added, int):  # a stranger's; stores could not keep it
            raise TypeError(f"a frontier's add() says how many addresses were new, not {added!r}")
        return added

    def _candidates(
        self, story: Story, page: Page, allowed: Callable[[str], bool] | None
    ) -> Iterable[Candidate]:
        parent, depth = page.url, story.candidate.depth + 1
        left_out = self._left_out(page) if self._left_out is not None else ()
        return (
            Candidate(score.url, score.priority, score.memory, parent, depth)
            for score in story.scores
            if (allowed is None or allowed(score.url))
            and not (self._obey_nofollow and score.nofollow)
            and score.url not in left_out
        )

    def _scope_of(self, story: Story, page: Page) -> Callable[[str], bool] | None:
        """Tells which URLs the crawl may visit, the page's links looked up; ``None`` for all."""
        if self._in_scope is None:
            return None
        in_scope = self._in_scope
        links = {url: in_scope(url) for url in dict.fromkeys([link.url for link in page.links])}
        story.links_outside = sum(not links[link.url] for link in page.links)
        return lambda url: links[url] if url in links else in_scope(url)
