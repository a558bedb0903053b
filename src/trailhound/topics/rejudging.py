"""Every archived page is judged again with what was learned, without asking anybody.

Page by page in the order of the crawl, which is that of its archive. Most judges go by the words of
a page that the results have kept; for others, and for a page that becomes a find, its content is
read from the archive. Score, verdict, copies and what searches find follow. The results remember
who judged which page, so that it can be stopped at any page and goes on there, does nothing when
all is done, and after another threshold was chosen reads only the pages between the two.

A crawl may be running. Pages are read outside of transactions, some at a time, and what comes of
them is written in a few thousandths of a second; a page that the crawl fetches again meanwhile is
its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import msgspec

from trailhound.counting import counted
from trailhound.crawling.analysis import PageJob
from trailhound.crawling.duplicates import DuplicateFinder
from trailhound.crawling.guarded_reading import GuardedReading
from trailhound.errors import StorageError
from trailhound.judges.base import needs_only_words
from trailhound.records import Candidate
from trailhound.storage.kept_words import pack_words, unpack_words
from trailhound.storage.locks import Ownership
from trailhound.storage.verdicts import Changes, JudgedBy, PageToJudge, Ruling, Span, Verdicts
from trailhound.text.extract import EXTRACTION_VERSION
from trailhound.text.near_duplicates import fingerprint
from trailhound.topics.archived_pages import ArchivedContent
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.gathering import gather_first
from trailhound.topics.heeding import heed_marks
from trailhound.topics.judging import TopicJudge, judge_of

PAGES_TOGETHER = 50
"""Pages whose verdicts are written in one transaction."""

Progress = Callable[[int, int], object]
"""Told how many pages are done, and of how many."""


class Rejudged(msgspec.Struct, frozen=True):
    """What came of it."""

    judged: int = 0
    """Pages that have a new verdict, be it the same."""
    joined: int = 0
    """Pages that are in the results now and were not."""
    left: int = 0
    unarchived: int = 0
    """Pages that keep their score because neither content nor words were kept."""
    unread: int = 0
    """Pages that keep it because reading or judging them failed, or would take too long."""
    is_complete: bool = True
    """Whether it came to the end; else the next time goes on."""

    def in_words(self) -> str:
        """``12 pages joined the results, 3 left.``"""
        told = f"{counted(self.joined, 'page')} joined the results, {self.left:,} left"
        kept = []
        if self.unarchived:
            kept.append(f"{self.unarchived:,} that are not archived")
        if self.unread:
            kept.append(f"{self.unread:,} that could not be judged")
        return told + (f"; {' and '.join(kept)} keep their scores." if kept else ".")


def rejudge(
    folder: CrawlFolder,
    judge: TopicJudge | None = None,
    *,
    progress: Progress = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Rejudged:
    """Judge the pages that another judge has judged; by the topic's own unless ``judge`` is given.

    Marks are heeded first. ``stop`` is asked before each page, ``progress`` told after some; both
    are called in the thread that this runs in, which may be any. One at a time for each topic:
    StorageError when another is at it.
    """
    changes = heed_marks(gather_first(folder.require()))
    judge = judge or judge_of(folder)
    with ExitStack() as stack:
        stack.enter_context(_lock(folder))
        verdicts = stack.enter_context(Verdicts(folder.results))
        spans = verdicts.waiting(judge.by)
        if not spans:
            return Rejudged(**changes._asdict())
        content = stack.enter_context(ArchivedContent(folder.archive))
        reading = GuardedReading(judge.judge, judge.limits, with_fingerprints=judge.near_duplicates)
        stack.enter_context(reading)
        texts = DuplicateFinder(verdicts.fingerprints(spans)) if judge.near_duplicates else None
        by_words = needs_only_words(judge.judge)
        again = _Rejudging(judge.by, verdicts, content, reading, texts, changes, by_words)
        return again.run(spans, progress, stop)


def _lock(folder: CrawlFolder) -> Ownership:
    path, name = folder.path / "rejudge.lock", folder.topic.name
    in_use = StorageError(
        f"The pages of '{name}' are being judged again already. Wait until that has ended."
    )
    return Ownership(
        path,
        in_use=in_use,
        unwritable=lambda reason: StorageError(
            f"{path} cannot be written ({reason}). Check that you may write in that folder."
        ),
    )


@dataclass
class _Rejudging:
    """One run."""

    by: JudgedBy
    verdicts: Verdicts
    content: ArchivedContent
    reading: GuardedReading
    texts: DuplicateFinder | None
    changes: Changes
    by_words: bool
    """Whether the judge needs nothing else of a page."""
    counts: Counter[str] = field(default_factory=Counter)

    def run(self, spans: Sequence[Span], progress: Progress, stop: Callable[[], bool]) -> Rejudged:
        """All of it, or as far as ``stop`` lets it come."""
        total = sum(map(self.verdicts.count, spans))
        progress(0, total)
        for span in spans:
            rest = span
            while rest.first <= rest.last and not stop():
                rest = rest._replace(first=self._some(rest, stop) + 1)
                progress(self.counts.total(), total)
            if rest.first <= rest.last:
                return self._told(is_complete=False)
        return self._told(is_complete=True)

    def _some(self, span: Span, stop: Callable[[], bool]) -> int:
        """Judge the first pages of a span; the number of the last row that is done with."""
        pages = self.verdicts.pages(span, PAGES_TOGETHER)
        last = pages[-1].id if len(pages) == PAGES_TOGETHER else span.last
        rulings: list[Ruling] = []
        for page in pages:
            if stop():
                last = page.id - 1
                break
            if (ruling := self._ruling(page, span.threshold)) is not None:
                rulings.append(ruling)
        if last >= span.first:
            self.changes += self.verdicts.write(rulings, span._replace(last=last), self.by)
        return last

    def _ruling(self, page: PageToJudge, threshold: float | None) -> Ruling | None:
        """``None`` for a page that keeps its verdict."""
        if threshold is not None and page.score < threshold:
            self.counts["judged"] += 1
            return Ruling(page.id, page.score, relevant=False)
        return self._by_words(page) or self._by_content(page)

    def _by_words(self, page: PageToJudge) -> Ruling | None:
        """By what was kept for that; ``None`` when more is needed."""
        if page.words is None or not self.by_words:
            return None
        words = unpack_words(page.words, page.address, EXTRACTION_VERSION)
        verdict = None if words is None else self.reading.judged(words)
        if words is None or verdict is None:
            return None
        is_marked, said = page.useful is not None, page.fingerprint
        is_new = verdict.relevant and not page.relevant
        if (is_new or (is_marked and said is None)) and page.address in self.content:
            return None  # what is searched, and what copies are told by, is in its content
        self.counts["judged"] += 1
        said = said if verdict.relevant or is_marked else None
        score = min(verdict.score, 1.0)  # rounding may exceed 1
        copied = self._copied(said, page.address)
        return Ruling(page.id, score, verdict.relevant, words.title, "", said, copied)

    def _by_content(self, page: PageToJudge) -> Ruling | None:
        answer = self.content.answer(page.address)
        if answer is None:
            self._keep(page, "unarchived")
            return None
        job = PageJob(Candidate(page.address, 0.0), page.address, answer.content_type, answer.body)
        found = self.reading.analyse(job)
        if found.page is None or found.relevance is None:
            self._keep(page, "unread")
            return None
        said = found.fingerprint
        if page.useful is not None and self.texts is not None:
            said = fingerprint(found.page)
        self.counts["judged"] += 1
        return Ruling(
            page.id,
            min(found.relevance.score, 1.0),
            found.relevance.relevant,
            found.page.title,
            found.page.text,
            said,
            self._copied(said, page.address),
            pack_words(found.page, EXTRACTION_VERSION) if self.by_words else None,
        )

    def _keep(self, page: PageToJudge, why: str) -> None:
        self._copied(page.fingerprint, page.address)
        self.counts[why] += 1

    def _copied(self, said: int | None, address: str) -> str | None:
        """An earlier page that says the same."""
        if self.texts is None or said is None:
            return None
        return self.texts.find_or_add(said, address)

    def _told(self, *, is_complete: bool) -> Rejudged:
        return Rejudged(**self.counts, **self.changes._asdict(), is_complete=is_complete)
