"""Every archived page is judged again with what was learned, without asking anybody.

Page by page in the order of the crawl, which is that of its archive. What is said of a page by
looking at it alone may come from elsewhere, a cluster say: most judges go by the words of a page
that the results have kept; for others, and for a page that becomes a find, its content is read from
the archive. Copies, and what is written, are the business of one process. Score, verdict, copies
and what searches find follow. The results remember who judged which page, so that it can be stopped
at any page and goes on there, does nothing when all is done, and after another threshold was chosen
reads only the pages between the two.

A crawl may be running. Pages are read outside of transactions, some at a time, and what comes of
them is written in a few thousandths of a second; a page that the crawl fetches again meanwhile is
its own.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from trailhound.counting import counted
from trailhound.crawling.analysis import PageJob
from trailhound.crawling.digestion import DuplicateFinder
from trailhound.crawling.page_reading import GuardedReading
from trailhound.errors import StorageError
from trailhound.judges.base import needs_only_words
from trailhound.records import Candidate
from trailhound.storage.page_rows import pack_words, unpack_words
from trailhound.storage.verdicts import Changes, JudgedBy, PageToJudge, Ruling, Span, Verdicts
from trailhound.text.extract import EXTRACTION_VERSION
from trailhound.text.near_duplicates import fingerprint
from trailhound.topics.crawls.archived_pages import ArchivedContent
from trailhound.topics.crawls.folder import CrawlFolder, RejudgeLock
from trailhound.topics.crawls.gathering import gather_first
from trailhound.topics.crawls.marking import heed_marks
from trailhound.topics.runs.judging import TopicJudge, judge_of

Opinion = Ruling | str
"""What is to be written of a page, copies aside; or why it keeps its verdict: ``unarchived``,
``unread``."""


class WhatToJudgeBy(NamedTuple):
    """All that a process needs which judges pages of a crawl."""

    judge: TopicJudge
    archive: Path
    is_archived: bool
    """Whether there is an archive: not every crawl has one."""


class SomePages(NamedTuple):
    """Pages that are judged together."""

    span: Span
    """The rows that are done with then."""
    pages: list[PageToJudge]


def opinions_here(what: WhatToJudgeBy, pages: Iterable[SomePages]) -> Generator[Iterator[Opinion]]:
    """Opinions of this process, each made when it is asked for."""
    judging = _Judging(what)
    try:
        yield from map(judging.opinions, pages)
    finally:
        judging.close()


def judging_elsewhere(what: WhatToJudgeBy) -> Callable[[SomePages], list[Opinion]]:
    """Gives the opinions on some pages, in a process of a cluster.

    StorageError when its machine does not see the archive.
    """
    if what.is_archived and not what.archive.is_dir():
        raise StorageError(
            f"There is no folder {what.archive} there. Let all machines see the crawl's folder at "
            "the same place, or judge again without --cluster."
        )
    judging = _Judging(what)
    return lambda some: list(judging.opinions(some))


class _Judging:
    """Reads and judges one page at a time."""

    def __init__(self, what: WhatToJudgeBy) -> None:
        judge, self._tells_copies = what.judge.judge, what.judge.near_duplicates
        self._by_words = needs_only_words(judge)
        self._content = ArchivedContent(what.archive)
        self._reading = GuardedReading(
            judge, what.judge.limits, with_fingerprints=self._tells_copies
        )

    def close(self) -> None:
        self._reading.close()
        self._content.close()

    def opinions(self, some: SomePages) -> Iterator[Opinion]:
        return (self._opinion(page, some.span.threshold) for page in some.pages)

    def _opinion(self, page: PageToJudge, threshold: float | None) -> Opinion:
        if threshold is not None and page.score < threshold:
            return Ruling(page.id, page.score, relevant=False)
        return self._of_words(page) or self._of_content(page)

    def _of_words(self, page: PageToJudge) -> Ruling | None:
        """By what was kept for that; ``None`` when more is needed."""
        if page.words is None or not self._by_words:
            return None
        words = unpack_words(page.words, page.address, EXTRACTION_VERSION)
        verdict = None if words is None else self._reading.judged(words)
        if words is None or verdict is None:
            return None
        is_marked, said = page.useful is not None, page.fingerprint
        is_new = verdict.relevant and not page.relevant
        if (is_new or (is_marked and said is None)) and page.address in self._content:
            return None  # what is searched, and what copies are told by, is in its content
        said = said if verdict.relevant or is_marked else None
        score = min(verdict.score, 1.0)  # rounding may exceed 1
        return Ruling(page.id, score, verdict.relevant, words.title, "", said)

    def _of_content(self, page: PageToJudge) -> Opinion:
        answer = self._content.answer(page.address)
        if answer is None:
            return "unarchived"
        job = PageJob(Candidate(page.address, 0.0), page.address, answer.content_type, answer.body)
        found = self._reading.analyse(job)
        if found.page is None or found.relevance is None:
            return "unread"
        said = found.fingerprint
        if page.useful is not None and self._tells_copies:
            said = fingerprint(found.page)
        return Ruling(
            page.id,
            min(found.relevance.score, 1.0),
            found.relevance.relevant,
            found.page.title,
            found.page.text,
            said,
            words=pack_words(found.page, EXTRACTION_VERSION) if self._by_words else None,
        )


PAGES_TOGETHER = 50
"""Pages whose verdicts are written in one transaction."""

Progress = Callable[[int, int], object]
"""Told how many pages are done, and of how many."""
Ask = Callable[[WhatToJudgeBy, Iterable[SomePages]], Generator[Iterable[Opinion]]]
"""Gives an opinion on each page, in their order, some pages at a time."""


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
        """``12 pages joined the results, 3 left them.``"""
        told = f"{counted(self.joined, 'page')} joined the results, {self.left:,} left them"
        kept = []
        if self.unarchived:
            kept.append(f"{self.unarchived:,} that are not archived")
        if self.unread:
            kept.append(f"{self.unread:,} that could not be judged")
        return told + (f"; {' and '.join(kept)} keep their scores." if kept else ".")


def rejudge(
    folder: CrawlFolder,
    *,
    ask: Ask = opinions_here,
    progress: Progress = lambda *_: None,
    stop: Callable[[], bool] = lambda: False,
) -> Rejudged:
    """Judge the pages that another judge has judged, by the topic's own.

    Marks are heeded first. ``ask`` reads and judges pages, here unless it says otherwise. ``stop``
    is asked before each page, ``progress`` told after some; both are called in the thread that this
    runs in, which may be any. One at a time for each topic: StorageError when another is at it.
    """
    changes = heed_marks(gather_first(folder.require()))
    judge = judge_of(folder)
    with ExitStack() as stack:
        stack.enter_context(RejudgeLock(folder))
        verdicts = stack.enter_context(Verdicts(folder.results))
        spans = verdicts.waiting(judge.by)
        if not spans:
            return Rejudged(**changes._asdict())
        texts = DuplicateFinder(verdicts.fingerprints(spans)) if judge.near_duplicates else None
        again = _Rejudging(judge.by, verdicts, texts, changes)
        what = WhatToJudgeBy(judge, folder.archive, folder.archive.is_dir())
        return again.run(spans, partial(ask, what), progress, stop)


@dataclass
class _Rejudging:
    """One run: what needs the order of the pages."""

    by: JudgedBy
    verdicts: Verdicts
    texts: DuplicateFinder | None
    changes: Changes
    counts: Counter[str] = field(default_factory=Counter)
    asked: deque[SomePages] = field(default_factory=deque)
    """Pages whose opinions are still to come."""

    def run(
        self,
        spans: Sequence[Span],
        ask: Callable[[Iterable[SomePages]], Generator[Iterable[Opinion]]],
        progress: Progress,
        stop: Callable[[], bool],
    ) -> Rejudged:
        """All of it, or as far as ``stop`` lets it come."""
        total = sum(map(self.verdicts.count, spans))
        progress(0, total)
        with closing(ask(self._to_judge(spans))) as answers:
            for opinions in answers:
                if not self._settle(self.asked.popleft(), iter(opinions), stop):
                    return self._told(is_complete=False)
                progress(self.counts.total(), total)
        return self._told(is_complete=True)

    def _to_judge(self, spans: Sequence[Span]) -> Iterator[SomePages]:
        for span in spans:
            rest = span
            while rest.first <= rest.last:
                pages = self.verdicts.pages(rest, PAGES_TOGETHER)
                last = pages[-1].id if len(pages) == PAGES_TOGETHER else span.last
                self.asked.append(SomePages(rest._replace(last=last), pages))
                yield self.asked[-1]
                rest = rest._replace(first=last + 1)

    def _settle(
        self, some: SomePages, opinions: Iterator[Opinion], stop: Callable[[], bool]
    ) -> bool:
        """Write what comes of some pages; whether it came to the last of them."""
        span, last = some.span, some.span.last
        rulings: list[Ruling] = []
        for page in some.pages:
            if stop():
                last = page.id - 1
                break
            if (ruling := self._ruling(page, next(opinions))) is not None:
                rulings.append(ruling)
        if last >= span.first:
            self.changes += self.verdicts.write(rulings, span._replace(last=last), self.by)
        return last == span.last

    def _ruling(self, page: PageToJudge, opinion: Opinion) -> Ruling | None:
        """``None`` for a page that keeps its verdict."""
        if isinstance(opinion, str):
            self._copied(page.fingerprint, page)
            self.counts[opinion] += 1
            return None
        self.counts["judged"] += 1
        return opinion._replace(duplicate_of=self._copied(opinion.fingerprint, page))

    def _copied(self, said: int | None, page: PageToJudge) -> str | None:
        """An earlier page that says the same."""
        if self.texts is None or said is None:
            return None
        return self.texts.find_or_add(said, page.address, noindex=page.noindex)

    def _told(self, *, is_complete: bool) -> Rejudged:
        return Rejudged(**self.counts, **self.changes._asdict(), is_complete=is_complete)
