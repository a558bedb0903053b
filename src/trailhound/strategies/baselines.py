"""What every other strategy is compared with: three simple orders, and the bound from above."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from trailhound.errors import UsageError
from trailhound.records import Candidate, CrawledPage, Link, Page, ScoredLink
from trailhound.strategies.base import Briefing, Pursuit
from trailhound.strategies.parts import BackCrawling, back_crawling
from trailhound.text.tfidf import TargetSimilarity


class RandomStrategy:
    """Every link gets a random priority."""

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "links in random order: the floor"
    paper: ClassVar[str] = ""
    reads_surroundings: ClassVar[bool] = False

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> RandomStrategy:
        """Take only the seed."""
        return cls(briefing.seed)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Draw a number per link."""
        return [ScoredLink(link, self._random.random()) for link in crawled.page.links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing."""


class BreadthFirstStrategy:
    """The fewer links from a seed, the sooner."""

    name: ClassVar[str] = "breadth-first"
    summary: ClassVar[str] = "links in order of their distance from the seeds"
    paper: ClassVar[str] = ""
    reads_surroundings: ClassVar[bool] = False
    learns_online: ClassVar[bool] = False

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> BreadthFirstStrategy:
        """Ignore the session."""
        del briefing
        return cls()

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Minus the depth."""
        depth = crawled.candidate.depth + 1
        return [ScoredLink(link, -depth) for link in crawled.page.links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing."""


class BestFirstStrategy:
    """All links of a page inherit its largest cosine to a target page."""

    name: ClassVar[str] = "best-first"
    summary: ClassVar[str] = "links of the pages most similar to a target page first"
    paper: ClassVar[str] = "Cho, Garcia-Molina, Page 1998; as in Liu, Janssen, Milios 2006"
    reads_surroundings: ClassVar[bool] = False

    def __init__(
        self, similarity: TargetSimilarity, *, back_crawl: BackCrawling | None = None
    ) -> None:
        self._similarity = similarity
        self._back_crawl = back_crawl

    @classmethod
    def from_briefing(cls, briefing: Briefing, *, back_crawl: int = 0) -> BestFirstStrategy:
        """Weigh terms over all visited pages and remember the targets.

        ``back_crawl`` pages that link to each find are queued as well.
        """
        return cls(briefing.similarity, back_crawl=back_crawling(briefing, back_crawl))

    @property
    def learns_online(self) -> bool:
        """Whether a source is asked on the way, which only one process may do."""
        return self._back_crawl is not None

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """One priority for the whole page."""
        return self._scored(crawled, crawled.page.links)

    async def ask(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """The pages that link to a find get its priority as well."""
        if self._back_crawl is None or not crawled.relevance.relevant:
            return ()
        return self._scored(crawled, await self._back_crawl.parents_of(crawled))

    def _scored(self, crawled: CrawledPage, links: Iterable[Link]) -> list[ScoredLink]:
        priority = self._similarity.to_nearest(crawled.page.terms)
        return [ScoredLink(link, priority) for link in links]

    def observe(self, crawled: CrawledPage) -> None:
        """Learn nothing: the targets stay as they were."""


class OracleStrategy:
    """Answers as they come in sight; without one, the way on which most finds come per request.

    Only what is wanted now is queued: whatever waits would be fetched while the host of something
    better wants to be left alone. When all of it has been fetched, the crawl asks for more, and
    gets the first page of the best way, by what is left to find then.

    It is greedy, close to the best possible crawl along links and not exactly it.
    """

    name: ClassVar[str] = "oracle"
    summary: ClassVar[str] = (
        "lab only: knows what is still to be found and what leads there, the upper bound"
    )
    paper: ClassVar[str] = ""
    lab_only: ClassVar[bool] = True
    reads_surroundings: ClassVar[bool] = False

    def __init__(self, pursuit: Pursuit, session: Iterable[Page] = ()) -> None:
        self._pursuit = pursuit
        self._session = session
        """Pages that were seen before: they and their links are in reach from the beginning."""
        self._known: dict[str, Candidate] = {}
        """Pages in reach that have not been queued."""
        self._in_sight: set[int] = set()
        """Answers that have been queued."""

    @classmethod
    def from_briefing(cls, briefing: Briefing) -> OracleStrategy:
        """Take the ground truth, which only the lab has."""
        if briefing.answers is None:
            raise UsageError(
                "The strategy 'oracle' needs ground truth, which only the lab has. "
                "Choose another for a live crawl: see 'trailhound strategies'."
            )
        return cls(briefing.answers.pursuit(), briefing.graph.pages)

    def entrances(self, in_scope: Callable[[str], bool]) -> Iterable[Candidate]:
        """Answers to which the session's pages have links: what these have shown is known."""
        found = []
        for page in self._session:
            if in_scope(page.url):
                self._known.setdefault(page.url, Candidate(page.url, 0.0))
            links = [link for link in page.links if in_scope(link.url)]
            news = self._news_among(links, page.url, 0)
            found += [Candidate(link.url, 1.0, b"", page.url) for link in news]
        return found

    def observe(self, crawled: CrawledPage) -> None:
        """What has arrived is found, and so are its copies."""
        self._pursuit.arrived(crawled.page.url)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Links to answers that nothing has led to so far."""
        page, depth = crawled.page, crawled.candidate.depth + 1
        return [ScoredLink(link, 1.0) for link in self._news_among(page.links, page.url, depth)]

    def _news_among(self, links: Iterable[Link], parent: str, depth: int) -> Iterator[Link]:
        """Those to answers that nothing has led to so far; the others are remembered."""
        for link in links:
            answer = self._pursuit.answer(link.url)
            if answer is not None and answer not in self._in_sight:
                self._in_sight.add(answer)
                yield link
            elif link.url not in self._known:
                self._known[link.url] = Candidate(link.url, 0.0, b"", parent, depth)

    def restock(self) -> Iterable[Candidate]:
        """The first page of the best way. An answer that was queued in vain may be had by it."""
        self._in_sight.clear()
        worth = {url: self._pursuit.worth(url) for url in self._known}
        # Nothing new will ever lead from the others: answers only become fewer.
        self._known = {url: known for url, known in self._known.items() if worth[url] > 0}
        if not self._known:
            return []
        return [self._known.pop(max(self._known, key=worth.__getitem__))]
