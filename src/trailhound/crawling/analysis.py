"""What can be said about a page by looking at it alone: the part of the work that needs no order.

Extraction, judgement, fingerprint and, where a strategy's opinion does not depend on what the crawl
has met before, the priorities of the page's links. All of it may happen in any process; the rest
is :mod:`trailhound.crawling.digestion`.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from trailhound.crawling.answers import LinkScore, checked_verdict, link_score, name_of
from trailhound.errors import plugin_faults
from trailhound.records import Candidate, CrawledPage, FetchResult, Page, Relevance
from trailhound.text.documents import UnreadableDocumentError
from trailhound.text.extract import extract_apart, extract_harmless
from trailhound.text.parse_guard import BEARABLE, ParseLimits

if TYPE_CHECKING:  # a strong room has neither, and starts in half the time without them
    from trailhound.judges.base import RelevanceJudge
    from trailhound.strategies.base import Strategy

JUDGE_FAILED = "the judge failed: "
"""What the reason begins with when it was the judge that raised."""


class PageJob(msgspec.Struct, frozen=True, array_like=True):
    """A fetched page on its way to an analyst."""

    candidate: Candidate
    url: str
    """Where the redirects ended."""
    content_type: str
    body: bytes
    page: Page | None = None
    """Set by a recorded web; there is nothing to extract then."""
    is_set_apart: bool = False
    """Whether it may be harmful: for a process that can be stopped."""

    @classmethod
    def of(cls, candidate: Candidate, result: FetchResult) -> PageJob:
        """What an analyst needs of a fetch."""
        return cls(candidate, result.final_url, result.content_type, result.body, result.page)


class Analysis(msgspec.Struct, array_like=True):
    """What an analyst found; as far as it came, when something failed."""

    page: Page | None = None
    relevance: Relevance | None = None
    fingerprint: int | None = None
    """What near duplicates are told by; ``None`` when nobody asked, the page is not relevant, or it
    says too little."""
    scores: list[LinkScore] | None = None
    """``None`` when the links are left to the main process."""
    failure: str = ""
    """The error, in words; empty when all went well."""
    trace: str = ""
    """Where in our own code it happened."""
    is_beyond: bool = False
    """Nothing was found, as the page could take too long: it has to be set apart."""
    is_too_costly: bool = False
    """It did take too long, or too much memory."""
    is_unreadable: bool = False
    """It is a document that cannot be read; ``failure`` says why."""


class Analyst:
    """Looks at one page at a time and remembers nothing of it.

    Without a ``judge`` it only extracts. A page that might be harmful is read when it is set apart
    and not before, up to the limits ``apart``; ``None`` for all of it.

    ``strategy`` is given only when it may score links here: when it does not learn while crawling
    (see :func:`trailhound.strategies.base.learns_online`). ``with_fingerprints`` is for crawls
    that look for near duplicates. ``surroundings`` says whether links come with what surrounds
    them (see :func:`trailhound.strategies.base.reads_surroundings`), ``feeds`` whether the feed of
    a page is one of its links.
    """

    def __init__(
        self,
        judge: RelevanceJudge | None,
        strategy: Strategy | None = None,
        *,
        with_fingerprints: bool = False,
        surroundings: bool = True,
        feeds: bool = False,
    ) -> None:
        self.apart: ParseLimits | None = BEARABLE
        self._judge = judge
        self._strategy = strategy
        self._fingerprint = _fingerprinter() if judge and with_fingerprints else None
        self._surroundings = surroundings
        self._feeds = feeds

    def analyse(self, job: PageJob) -> Analysis:
        """Everything that can be said about the page; our own errors are part of the answer."""
        analysis = Analysis()
        try:
            self._fill(analysis, job)
        except UnreadableDocumentError as error:
            analysis.failure, analysis.is_unreadable = str(error), True
        except plugin_faults() as error:
            is_judges = analysis.page is not None and analysis.relevance is None
            note_failure(analysis, error, JUDGE_FAILED if is_judges else "")
            analysis.is_too_costly = isinstance(error, MemoryError)
        return analysis

    def _fill(self, analysis: Analysis, job: PageJob) -> None:
        analysis.page = page = job.page or self._extract(job)
        if page is None:
            analysis.is_beyond = True
        if page is None or self._judge is None:
            return
        analysis.relevance = checked_verdict(self._judge.judge(page))
        # Copies matter where they would count as finds; reading every page for them costs 6 %.
        if self._fingerprint is not None and analysis.relevance.relevant:
            analysis.fingerprint = self._fingerprint(page)
        if self._strategy is not None:
            crawled = CrawledPage(page, analysis.relevance, job.candidate)
            try:
                analysis.scores = list(map(link_score, self._strategy.score_links(crawled)))
            except MemoryError:  # it is the page that is too much
                raise
            except plugin_faults() as error:
                note_failure(analysis, error, f"the strategy {name_of(self._strategy)} failed: ")

    def _extract(self, job: PageJob) -> Page | None:
        page = job.body, job.url, job.content_type
        if not job.is_set_apart:
            return extract_harmless(*page, surroundings=self._surroundings, feeds=self._feeds)
        return extract_apart(
            *page, surroundings=self._surroundings, feeds=self._feeds, limits=self.apart
        )


def _fingerprinter() -> Callable[[Page], int | None]:
    from trailhound.text.near_duplicates import fingerprint  # here: not every process loads NumPy

    return fingerprint


AnalystRecipe = Callable[[], Analyst]
"""Makes the analyst of a worker process; it is pickled on its way there."""


def note_failure(analysis: Analysis, error: BaseException, who: str = "") -> None:
    """Let the analysis tell of an error; ``who`` raised it, if known (``the judge failed: ``)."""
    analysis.failure = f"{who}{type(error).__name__}: {error}"
    analysis.trace = "".join(traceback.format_exception(error))
