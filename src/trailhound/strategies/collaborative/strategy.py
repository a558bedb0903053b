"""The collaborative crawler: go where people went who had read relevant pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec
import numpy as np

from trailhound.errors import UsageError
from trailhound.records import Candidate, CrawledPage, Link, ScoredLink
from trailhound.sessions.files import read_topic_set
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import AccessTrace
from trailhound.strategies.base import RESCORE_EVERY, Briefing, News
from trailhound.strategies.collaborative.ranking import (
    CandidateRanking,
    PageSignatures,
    TopicSignatures,
    WordSignatures,
)
from trailhound.strategies.collaborative.statistics import (
    KeptStatistics,
    Limits,
    Locality,
    Pages,
    VisitStatistics,
)
from trailhound.strategies.intelligent.interest_rule import InterestRule
from trailhound.strategies.intelligent.link_interest import LinkInterest, make_news
from trailhound.strategies.parts import (
    FOUR_FACTORS,
    HeardPages,
    RescorePace,
    check_at_least,
    check_choice,
    explained_factors,
    kept_in,
    session_as_crawl,
)

SIGNATURES = ("words", "topics", "none")
DIVISORS = ("predicate", "user")


@dataclass(frozen=True)
class Habits:
    """How the crawl goes on, apart from the formulas."""

    threshold: float = 1.0
    """The interest ratio above which a page becomes a candidate."""
    min_pages: int = 100
    """Pages to crawl at least: until then, random pages of the trace fill an empty queue."""
    refresh: int = 100
    """Pages after which all waiting candidates are ranked again."""
    explore: float = 0.0
    """Share of fetches that go to random pages of the trace."""
    one_sample: bool = False
    """One random page at a time, as published."""


def needed_trace(trace: AccessTrace | None) -> AccessTrace:
    """The trace; UsageError when there is none."""
    if trace is None:
        raise UsageError(
            "The strategy 'collaborative' needs to know who visited what, and nothing here does. "
            "For a live crawl, name an access log with --trace FILE, or the topic's own sessions "
            "with --trace sessions. In the lab, take a recorded web with trails of many people, "
            "such as wikispeedia."
        )
    return trace


def page_signatures(kind: str, topics: str, limits: Limits) -> PageSignatures | None:
    """What the options ask for; ``None`` when pages are just pages."""
    if kind == "topics":
        if not topics:
            raise UsageError(
                "signatures=topics needs a set of topics: add topics=PATH, a folder of "
                "descriptions or a JSON file."
            )
        return TopicSignatures(read_topic_set(topics))
    return WordSignatures(limits.words) if kind == "words" else None


_EXPLORING = 1e6
"""Above every interest ratio, below the seeds."""
_NAMES = (
    "what its readers found before",
    "words that its readers had met",
    "read beside relevant pages",
    "links to it",
)
_MOVED = 1e-3
"""Smaller changes of a priority are not worth telling the queue."""


class _Snapshot(msgspec.Struct, frozen=True, array_like=True):
    """What outlives the process."""

    statistics: KeptStatistics
    fetched: int
    queued: tuple[bytes, bytes]
    links: bytes
    heard: list[str] = []


class _Seen(msgspec.Struct, frozen=True, array_like=True):
    """A page as others are told of it."""

    asked: str
    url: str
    relevant: bool
    signatures: list[int]
    child: bytes = b""
    """What links have to say of it, where they count."""


class CollaborativeStrategy:
    """Priority of a page: the logarithm of its composite interest ratio.

    Candidates are pages that the readers of a fetched page opened around it, whoever links to
    them; :attr:`_queued` remembers the priority with which each went to the queue last.
    """

    name: ClassVar[str] = "collaborative"
    summary: ClassVar[str] = "goes where the readers of relevant pages went; needs an access trace"
    paper: ClassVar[str] = "Aggarwal 2002"
    needs_trace: ClassVar[bool] = True
    reads_surroundings: ClassVar[bool] = False

    def __init__(
        self,
        statistics: VisitStatistics,
        signatures: PageSignatures | None,
        *,
        habits: Habits | None = None,
        page_words: bool = True,
        links: LinkInterest | None = None,
        seed: int = 0,
    ) -> None:
        self._statistics = statistics
        self._trace = statistics.trace
        self._signatures = signatures
        self._habits = habits or Habits()
        self._links = links
        self._ranking = CandidateRanking(statistics, page_words=page_words, links=links)
        self._least = math.log(self._habits.threshold) + 1e-9
        self._rng = np.random.default_rng(seed)
        self._queued = np.full(self._trace.n_pages, -np.inf, np.float32)
        self._touched: Pages = np.zeros(0, np.int64)
        self._session_waits = False
        self._fetched = 0
        self._heard = HeardPages()
        refresh = self._habits.refresh
        self._pace = RescorePace(refresh, refresh, bounded=not statistics.rule.literal)
        self.rescore_every = min(refresh, RESCORE_EVERY)

    @classmethod
    def from_briefing(
        cls,
        briefing: Briefing,
        *,
        significance: float = 2.0,
        smoothing: float = 4.0,
        signatures: str = "words",
        topics: str = "",
        divisor: str = "predicate",
        near: int = 2,
        gap: float = 1800.0,
        threshold: float = 1.0,
        min_pages: int = 100,
        refresh: int = 100,
        explore: float = 0.02,
        users: int = 20,
        session: bool = True,
        links: bool = False,
        literal: bool = False,
    ) -> CollaborativeStrategy:
        """Learn who of the trace has read the session's pages, or nothing as published."""
        trace = needed_trace(briefing.trace)
        rule = InterestRule(significance, smoothing, literal)
        check_choice("signatures", signatures, SIGNATURES)
        check_choice("divisor", divisor, DIVISORS)
        check_at_least(0, near=near, gap=gap, min_pages=min_pages, explore=explore)
        check_at_least(1, users=users, refresh=refresh)
        check_at_least(1e-6, threshold=threshold)
        limits = Limits.none() if literal else Limits(users)
        strategy = cls(
            VisitStatistics(
                trace,
                rule,
                locality=Locality(near, math.inf if literal else gap),
                limits=limits,
                own_divisor=literal or divisor == "user",
            ),
            page_signatures(signatures, topics, limits),
            habits=Habits(
                threshold, min_pages, refresh, 0.0 if literal else explore, one_sample=literal
            ),
            page_words=signatures == "words" and not literal,
            links=LinkInterest(rule) if links else None,
            seed=briefing.seed,
        )
        if session and not literal:
            strategy.learn_session(briefing.graph)
        return strategy

    def learn_session(self, graph: PageGraph) -> None:
        """Take the session for the beginning of the crawl: its targets were relevant."""
        touched = [self._touched]
        for crawled in session_as_crawl(graph):
            touched.append(self._see(crawled))
            if self._links is not None:
                self._links.observe(crawled)
        self._touched = np.unique(np.concatenate(touched))
        self._session_waits = True

    def observe(self, crawled: CrawledPage) -> None:
        """Update K, and find the pages that its users opened around it."""
        self._fetched += 1
        self._pace.page_done()
        touched = self._see(crawled)
        # What the session has brought waits for the first page to come along.
        self._touched = np.union1d(self._touched, touched) if self._session_waits else touched
        if self._links is not None:
            self._links.observe(crawled)

    def _see(self, crawled: CrawledPage) -> Pages:
        return self._count(self._seen(crawled))

    def _seen(self, crawled: CrawledPage) -> _Seen:
        page, asked = crawled.page, crawled.candidate.url
        signatures: Sequence[int] = ()
        is_known = self._number(page.url, asked) is not None
        if is_known and self._signatures is not None:
            signatures = self._signatures.of_page(page)
        return _Seen(asked, page.url, crawled.relevance.relevant, list(signatures))

    def _number(self, url: str, asked: str) -> int | None:
        number = self._trace.page_number(url)
        return number if number is not None else self._trace.page_number(asked)

    def _count(self, page: _Seen) -> Pages:
        number = self._number(page.url, page.asked)
        touched = self._statistics.see(number, page.relevant, page.signatures)
        asked = self._trace.page_number(page.asked)
        if asked is not None:
            self._statistics.mark_crawled(asked)
        return touched

    def join(self, owns: Callable[[str], bool]) -> None:
        """All have the same trace; others fetch what it does not own, which changes nothing."""

    def news(self, crawled: CrawledPage) -> News:
        """What K counts of the page; with ``links``, what those count as well."""
        seen = self._seen(crawled)
        if self._links is None:
            return News(msgspec.msgpack.encode(seen))
        by_links = make_news(crawled)
        seen = msgspec.structs.replace(seen, child=by_links.for_all)
        return News(msgspec.msgpack.encode(seen), by_links.for_owners)

    def heed(self, news: Sequence[News]) -> None:
        """Count pages of others in K; who has fetched them has queued what their readers opened."""
        for each in news:
            seen = kept_in(each.for_all, _Seen, "a page and its readers")
            if not self._heard.is_new(seen.url):
                continue
            self._fetched += 1
            self._pace.page_done()
            self._count(seen)
            if self._links is not None and seen.child:
                self._links.heed(News(seen.child, each.for_owners))

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Pages of the trace above the threshold, and with ``links`` those linked to as well."""
        found = list(self._candidates())
        if self._links is not None and crawled.relevance.relevant:
            found.extend(self._linked(crawled))
        if self._rng.random() < self._habits.explore:
            found.extend(ScoredLink(Link(url), _EXPLORING) for url in self._samples(1))
        return found

    def _candidates(self) -> Iterator[ScoredLink]:
        """(12) above the threshold, of pages not crawled yet whose priority has risen."""
        limits = self._statistics.limits
        limit = limits.first_candidates if self._session_waits else limits.candidates
        touched = self._touched
        self._touched, self._session_waits = touched[:0], False
        open_pages = touched[~self._statistics.is_crawled(touched)]
        if not len(open_pages):
            return
        self._ranking.renew()
        pages, factors = self._ranking.best(open_pages, limit)
        priorities = factors.sum(axis=1)
        told = (priorities > self._least) & (priorities > self._queued[pages] + _MOVED)
        self._queued[pages[told]] = priorities[told]
        for page, logs in zip(pages[told].tolist(), factors[told].tolist(), strict=True):
            link = Link(self._trace.page_url(page))
            yield ScoredLink(link, sum(logs), FOUR_FACTORS.pack(*logs))

    def _linked(self, crawled: CrawledPage) -> Iterator[ScoredLink]:
        """All links of a relevant page; I^C is 1 for those that nobody visited."""
        links = list({link.url: link for link in crawled.page.links}.values())
        numbers = [self._trace.page_number(link.url) for link in links]
        known = np.array([number for number in numbers if number is not None], np.int64)
        by_number = dict(zip(known.tolist(), self._ranking.factors(known).tolist(), strict=True))
        of_links = self._ranking.of_links([link.url for link in links]).tolist()
        for link, number, of_link in zip(links, numbers, of_links, strict=True):
            logs = (0.0, 0.0, 0.0, of_link) if number is None else by_number[number]
            yield ScoredLink(link, sum(logs), FOUR_FACTORS.pack(*logs))

    def restock(self) -> Iterable[Candidate]:
        """What the session brought in; then random pages, until enough have been crawled."""
        found = [
            Candidate(each.link.url, each.priority, each.memory) for each in self._candidates()
        ]
        if found:
            return found
        missing = self._habits.min_pages - self._fetched
        wanted = min(missing, 1) if self._habits.one_sample else missing
        return [Candidate(url, 0.0) for url in self._samples(max(0, wanted))]

    def _samples(self, count: int) -> Iterator[str]:
        """Random pages that have not been crawled; fewer when hardly any are left."""
        drawn: set[str] = set()
        for _ in range(20 * count):
            if len(drawn) == count:
                return
            url = self._trace.sample(self._rng)
            page = self._trace.page_number(url)
            if url in drawn or page is None or self._statistics.is_crawled(np.array([page]))[0]:
                continue
            drawn.add(url)
            yield url

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """Every ``refresh`` pages: the interest of waiting pages by what is known now."""
        if not self._pace.is_due(len(candidates)):
            return None
        if self._links is not None:
            self._links.refresh()
        self._ranking.renew()
        urls = [url for url, memory in candidates.items() if memory]
        numbers = {url: self._trace.page_number(url) for url in urls}
        visited = {url: page for url, page in numbers.items() if page is not None}
        others = [url for url in urls if url not in visited]
        pages = np.array(list(visited.values()), np.int64)
        priorities = self._ranking.factors(pages).sum(axis=1)
        self._queued[pages] = priorities
        by_links = self._ranking.of_links(others)
        return dict(zip((*visited, *others), (*priorities.tolist(), *by_links), strict=True))

    def explain(self, memory: bytes) -> Mapping[str, float]:
        """Interest ratios when the page was queued: 1 says nothing, 2 twice as likely."""
        return explained_factors(_NAMES, memory)

    def snapshot(self) -> bytes:
        """K, and what went to the queue."""
        queued = np.flatnonzero(np.isfinite(self._queued))
        return msgspec.msgpack.encode(
            _Snapshot(
                self._statistics.snapshot(),
                self._fetched,
                (queued.astype("<u4").tobytes(), self._queued[queued].tobytes()),
                self._links.snapshot() if self._links is not None else b"",
                self._heard.keep(),
            )
        )

    def restore(self, snapshot: bytes) -> None:
        """Go on from there; ValueError when it makes no sense."""
        kept = kept_in(snapshot, _Snapshot, "a collaborative crawl")
        queued, priorities = np.frombuffer(kept.queued[0], "<u4"), kept.queued[1]
        if len(priorities) != 4 * len(queued) or max(queued, default=0) >= len(self._queued):
            raise ValueError("it names pages that the trace has not")
        if self._links is not None:
            self._links.restore(kept.links)
        self._statistics.restore(kept.statistics)
        self._queued[:] = -np.inf
        self._queued[queued] = np.frombuffer(priorities, "<f4")
        self._fetched = kept.fetched
        self._heard = HeardPages(kept.heard)
        self._pace.go_on_from(kept.fetched)
        self._touched, self._session_waits = self._touched[:0], False
        # Not the numbers that were drawn before.
        self._rng = np.random.default_rng([self._fetched, self._statistics.crawled])
