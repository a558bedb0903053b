"""What one store of a crawl lacks is taken from the others.

For each page the archive is written first, then the results, the log and the frontier; each knows
the number of the last page that it has. A killed run leaves them apart by a page; a write-ahead log
that was lost, or a store that was put back from an older copy, by many. At every start the last
numbers are compared, which reads a little from the end of each store, and what is behind the
lowest is made up for. Nothing that was fetched is fetched again, unless no store has it.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from trailhound.counting import counted
from trailhound.crawling.digestion import DuplicateFinder, Story
from trailhound.crawling.engine import Crawler
from trailhound.frontier.base import CountingPages
from trailhound.frontier.reading import all_urls
from trailhound.judges.base import RelevanceJudge
from trailhound.records import (
    Candidate,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.storage import event_log
from trailhound.storage.archive_reading import ArchivedFetch, fetches_after, last_number, warc_files
from trailhound.storage.results import PAGES, UNARCHIVED
from trailhound.storage.results_reading import KeptEvent, Results
from trailhound.storage.warc_repair import index_files_anew
from trailhound.text.near_duplicates import fingerprint
from trailhound.topics.crawls.archived_pages import LostPage, PageSources, page_of, with_content
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.runs.stores import CrawlStores

_log = logging.getLogger(__name__)


@dataclass
class Mending:
    """Makes the stores of a crawl agree. ``thorough`` looks at all pages, not at the last ones."""

    folder: CrawlFolder
    stores: CrawlStores
    judge: RelevanceJudge
    near_duplicates: bool = True
    was_archived: bool = True
    """Whether the last run meant to archive what it fetched."""
    thorough: bool = False
    product: str = ""
    """By which name headers of archived answers may speak to this crawler."""
    sources: PageSources = field(default_factory=PageSources)
    done: Counter[str] = field(default_factory=Counter)
    """What was mended, in words with a place for the count, and how often."""
    lost: Counter[str] = field(default_factory=Counter)
    """What could not be, likewise."""

    def before_the_crawl(self) -> None:
        """Results, log and index; what is archived is known to be whole by now."""
        if self.stores.archive is not None:
            self._count("{} of the archive indexed again", index_files_anew(self.folder.archive))
        with self.sources:
            self._mend_results()
        self._mend_log()
        self._note_unarchived()

    def before_the_fetching(self, crawler: Crawler) -> None:
        """The frontier, whose links the strategy must rank."""
        frontier = self.stores.frontier
        if not isinstance(frontier, CountingPages):
            return
        known = frontier.last_page() if self.stores.frontier.stats().discovered else 0
        since = 0 if self.thorough else known
        reached = known or 0
        lacking = [kept for kept in self._events_after(since) if self._is_lacking(kept, reached)]
        fetches = self._fetches_after(since or 0) if lacking else {}
        with self.sources:
            for kept in lacking:
                self._take_in(crawler, kept, fetches, reached)
        if self.thorough or reached > self._reached:
            self._queue_what_is_lost()
        frontier.note_page(max(self._reached, reached))
        self.stores.frontier.commit()

    @property
    def told(self) -> str:
        """What was mended, in one line; empty when all was well."""
        told = []
        if mended := _in_words(self.done):
            told.append(f"The stores of the crawl did not agree, and were mended: {mended}.")
        if lost := _in_words(self.lost):
            told.append(f"Nothing could be done about this: {lost}.")
        return " ".join(told)

    @property
    def _reached(self) -> int:
        return self.stores.results.progress().pages

    def _count(self, what: str, count: int) -> None:
        self.done[what] += count

    # Results

    def _mend_results(self) -> None:
        results = self.stores.results
        pages = dict(sorted(self._lacking_pages().items()))
        if not pages:
            return
        texts = DuplicateFinder(results.fingerprints()) if self.near_duplicates else None
        requests, reached = results.promised[0], self._reached
        for (number, _), page in pages.items():
            finished = self._finished(number, page, requests, texts)
            results.keep(finished)
            requests = max(requests, finished.event.requests_total)
        results.promise(requests, results.promised[1])
        results.save_state(PAGES, str(max(reached, *(number for number, _ in pages))).encode())
        self._count("{} restored in the results", len(pages))

    def _lacking_pages(self) -> dict[tuple[int, str], LostPage]:
        """By number and URL."""
        reached = 0 if self.thorough else self._reached
        known = self._known_keys() if self.thorough else set()
        lacking: dict[tuple[int, str], LostPage] = {}
        for logged in event_log.pages_after(self.folder.log, reached):
            key = logged.event.number, logged.event.url
            if key not in known:
                lacking[key] = LostPage(logged)
        for fetch in fetches_after(self.folder.archive, reached):
            if fetch.number is None:
                continue
            key = fetch.number, fetch.url
            if key not in known:
                lacking.setdefault(key, LostPage()).fetch = fetch
        return lacking

    def _known_keys(self) -> set[tuple[int, str]]:
        with Results(self.folder.results) as results:
            return {(each.number, each.url) for each in results.event_keys()}

    def _finished(
        self, number: int, page: LostPage, requests: int, texts: DuplicateFinder | None
    ) -> FinishedPage:
        """All that can be said of a page again; its verdict is the old one, if that was kept."""
        event = page.event(number, requests)
        content = None
        if event.outcome is Outcome.FETCHED:
            content = page_of(page.fetch, self.sources, self.product)
        if content is not None and event.relevance is None:
            event = msgspec.structs.replace(event, relevance=self._judged(content))
        relevant = event.relevance is not None and event.relevance.relevant
        said = fingerprint(content) if content is not None and relevant and texts else None
        if content is not None and page.logged is None:
            copied = None
            if texts and said:
                copied = texts.find_or_add(said, event.final_url, noindex=content.noindex)
            event = with_content(event, content, copied)
        if content is None and relevant:  # a search finds it by its title, at least
            content = Page(event.final_url, title=event.title)
        return FinishedPage(event, self._candidate(event), page.result(event), content, said)

    def _candidate(self, event: PageEvent) -> Candidate:
        state = self.stores.frontier.state_of(event.url)
        memory = state.candidate.memory if state is not None and state.candidate else b""
        return Candidate(event.url, event.priority, memory, event.parent, event.depth)

    def _judged(self, page: Page) -> Relevance | None:
        try:
            return self.judge.judge(page)
        except Exception:
            _log.exception("Page %s could not be judged again", page.url)
            return None

    # Log and archive

    def _mend_log(self) -> None:
        log = self.stores.log
        if log is None:
            return
        known = set()
        reached = event_log.last_number(self.folder.log) or 0
        if self.thorough:
            pages = event_log.logged_pages(self.folder.log)
            known = {(each.event.number, each.event.url) for each in pages if each is not None}
            reached = 0
        lacking = [
            kept
            for kept in self._events_after(reached)
            if (kept.event.number, kept.event.url) not in known
        ]
        for kept in lacking:
            log.keep_again(kept.event, kept.status)
        if lacking:
            log.note_mended(self._reached)
            self._count("{} of the log written again", len(lacking))

    def _note_unarchived(self) -> None:
        """Remember which pages' contents are lost, so that it is told once."""
        reached = last_number(self.folder.archive)
        has_numbers = reached is not None or not warc_files(self.folder.archive)
        if self.stores.archive is None or not has_numbers:
            return
        reached = 0 if self.thorough else reached or 0
        archived = self._fetches_after(reached)
        asked = {fetch.url for fetch in archived.values() if fetch.number is None}
        with Results(self.folder.results) as results:
            noted = results.unarchived()
            lost = {
                kept.event.number
                for kept in results.events_after(reached)
                if kept.status is not None
                and kept.event.number not in archived
                and kept.event.final_url not in archived
                and kept.event.url not in asked
            }
        if lost - noted:
            data = msgspec.msgpack.encode(sorted(lost | noted))
            self.stores.results.save_state(UNARCHIVED, data)
            if self.was_archived:
                self.lost["the archived content of {} is lost"] += len(lost - noted)

    def _events_after(self, number: int | None) -> list[KeptEvent]:
        """Pages in the results behind this one; none when it is not known which that is."""
        if number is None:
            return []
        with Results(self.folder.results) as results:
            return results.events_after(number)

    # Frontier

    def _is_lacking(self, kept: KeptEvent, reached: int) -> bool:
        """A URL before the last page may wait because it is to be asked for news."""
        frontier, url = self.stores.frontier, kept.event.url
        if frontier.outcome_of(url) is not None:
            return False
        return kept.event.number > reached or frontier.state_of(url) is None

    def _fetches_after(self, number: int) -> dict[int | str, ArchivedFetch]:
        """By number, or else by address."""
        fetches = fetches_after(self.folder.archive, number)
        return {fetch.number or fetch.last.url: fetch for fetch in fetches}

    def _take_in(
        self,
        crawler: Crawler,
        kept: KeptEvent,
        fetches: Mapping[int | str, ArchivedFetch],
        reached: int,
    ) -> None:
        """Without its content the links of a page are lost: it is fetched again, then."""
        event = kept.event
        result = FetchResult(event.url, event.outcome, event.final_url, event.requests, kept.status)
        story = Story(kept.candidate, result)
        story.relevance = event.relevance
        if event.outcome is Outcome.FETCHED:
            # Archives of earlier versions know a page by its address alone.
            fetch = fetches.get(event.number) or fetches.get(event.final_url)
            story.page = page_of(fetch, self.sources, self.product)
            if story.page is None:
                self.stores.frontier.requeue([kept.candidate])
                self._count("{} whose content is not archived will be fetched again", 1)
                return
        crawler.take_in_again(story, max(event.number, reached))
        self._count("{} taken into the queue again", 1)

    def _queue_what_is_lost(self) -> None:
        """Pages that the frontier knows as fetched, and no other store has, are fetched again."""
        known = addresses_in(self.folder.results) | addresses_in(self.folder.whole_results)
        frontier = self.stores.frontier
        lost = [
            url
            for url, outcome in all_urls(self.folder.frontier)
            if outcome is Outcome.FETCHED and url not in known
        ]
        frontier.requeue(map(self._place_of, lost))
        self._count("{} that no store has will be fetched again", len(lost))

    def _place_of(self, url: str) -> Candidate:
        state = self.stores.frontier.state_of(url)
        return state.candidate if state is not None and state.candidate else Candidate(url, 0.0)


def addresses_in(results: Path | None) -> set[str]:
    """Of all pages in a file of results, asked for or redirected to; none without a file."""
    if results is None or not results.is_file():
        return set()
    with Results(results) as pages:
        return {url for key in pages.event_keys() for url in (key.url, key.address)}


def _in_words(counts: Counter[str]) -> str:
    return "; ".join(_told(what, count) for what, count in counts.items() if count)


def _told(what: str, count: int) -> str:
    nouns = {"log": "line", "archive indexed": "file"}
    noun = next((noun for word, noun in nouns.items() if word in what), "page")
    return what.format(counted(count, noun))
