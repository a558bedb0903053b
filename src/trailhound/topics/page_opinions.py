"""What is to be said of an archived page by looking at it alone, in whatever process.

Most judges go by the words of a page that the results have kept; for others, and for a page that
becomes a find, its content is read from the archive. What needs the order of the pages is
:mod:`trailhound.topics.rejudging`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from trailhound.crawling.analysis import PageJob
from trailhound.crawling.guarded_reading import GuardedReading
from trailhound.errors import StorageError
from trailhound.judges.base import needs_only_words
from trailhound.records import Candidate
from trailhound.storage.kept_words import pack_words, unpack_words
from trailhound.storage.verdicts import PageToJudge, Ruling, Span
from trailhound.text.extract import EXTRACTION_VERSION
from trailhound.text.near_duplicates import fingerprint
from trailhound.topics.archived_pages import ArchivedContent
from trailhound.topics.judging import TopicJudge

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
