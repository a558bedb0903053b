"""CPU per page of judging archived pages again.

    python -m benchmarks.rejudge_cost [--pages 5_000] [--small]

A topic is learned from a session over 150 pages, a crawl of ``--pages`` pages by a judge that has
learned from another session is made up (results with words and full-text index, WARC archive), and
all of it is judged again. Pages are those of :mod:`benchmarks.measured_web` (of real size), each
with an address and some words of its own; ``--small`` takes the demo web's pages instead, and
``--from-archive`` does without the words that crawls keep, as after one of an earlier version.
Prints CPU time a page of the whole, and how long the longest transaction took, during which a crawl
would have had to wait. Exits with 1 when a page costs more than 1.5 ms, unless ``--from-archive``.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

from benchmarks.crawl_measures import TOPIC, Stopwatch
from benchmarks.measured_web import browsing_graph, load_web, measured_web
from trailhound.config.settings import Settings
from trailhound.crawling.analysis import Analysis, Analyst, PageJob
from trailhound.demo import DemoWeb
from trailhound.judges.base import RelevanceJudge
from trailhound.judges.calibration import calibrate_judges
from trailhound.judges.choosing import make_judge
from trailhound.models.topic_model import TopicModel, learn_topic
from trailhound.records import (
    Candidate,
    Exchange,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
)
from trailhound.storage import verdicts
from trailhound.storage.results import ResultsStore
from trailhound.storage.warc import ArchiveWriter
from trailhound.strategies.base import Briefing
from trailhound.text.extract import EXTRACTION_VERSION
from trailhound.topics.crawls.folder import CrawlFolder, CrawlRecord
from trailhound.topics.finds.rejudging import rejudge
from trailhound.topics.learned import LearnedTopic, Origin
from trailhound.topics.learning import KnownContent
from trailhound.topics.workspace import Workspace

LIMIT_MS = 1.5
HEADERS = (("Content-Type", "text/html; charset=utf-8"),)


def bodies(small: bool) -> dict[str, bytes]:
    """Pages by URL."""
    if not small:
        return load_web(measured_web()).at(80)
    answers = DemoWeb.generate().responses.items()
    return {url: each.body for url, each in answers if each.status == 200 and b"<p" in each.body}


def numbered(pages: dict[str, bytes], count: int) -> Iterator[tuple[str, bytes]]:
    """So many pages, each with an address and some words of its own."""
    endless = itertools.cycle(pages.values())
    for number, body in zip(range(count), endless, strict=False):
        own = " ".join(f"word{number * step % 9_973}" for step in range(1, 40))
        yield f"http://h{number % 500}.test/{number}", body + f"<p>{own}</p>".encode()


def make_crawl(
    folder: CrawlFolder, judge: RelevanceJudge, pages: Iterator[tuple[str, bytes]], *, words: bool
) -> int:
    """Results and archive, as a crawl with this judge leaves them; bytes of the latter."""
    folder.make()
    record = CrawlRecord(topic=TOPIC, settings=Settings(), created_at=0.0, states=0, model="")
    folder.write(record)
    store = ResultsStore(folder.results, extraction=EXTRACTION_VERSION if words else None)
    analyst = Analyst(judge, with_fingerprints=True, surroundings=False)
    written = 0
    with ArchiveWriter(folder.archive, TOPIC, started_at=1e9) as archive:
        for number, (url, body) in enumerate(pages, 1):
            exchange = Exchange(url, 1e9 + number, (), 200, "OK", "1.1", HEADERS, body)
            written += archive.write([exchange])
            analysis = analyst.analyse(PageJob(Candidate(url, 0.5), url, HEADERS[0][1], body))
            if analysis.page is not None:
                store.keep(_finished(number, analysis.page, analysis))
    store.close()
    return written


def _finished(number: int, page: Page, analysis: Analysis) -> FinishedPage:
    event = PageEvent(
        number=number,
        url=page.url,
        final_url=page.url,
        outcome=Outcome.FETCHED,
        parent=None,
        depth=1,
        priority=0.5,
        requests=1,
        requests_total=number,
        relevance=analysis.relevance,
        title=page.title,
    )
    result = FetchResult(page.url, Outcome.FETCHED, page.url, status=200)
    return FinishedPage(event, Candidate(page.url, 0.5), result, page, analysis.fingerprint)


class LongestWrite:
    """How long the longest transaction of the rejudging took, by the clock."""

    seconds = 0.0

    def watch(self) -> None:
        """From now on."""
        write: Callable[..., verdicts.Changes] = verdicts.Verdicts.write

        def timed(*arguments: object) -> verdicts.Changes:
            begun = time.perf_counter()
            try:
                return write(*arguments)
            finally:
                self.seconds = max(self.seconds, time.perf_counter() - begun)

        mock.patch.object(verdicts.Verdicts, "write", timed).start()


def topics(pages: dict[str, bytes]) -> tuple[LearnedTopic, LearnedTopic]:
    """Learned from a session, and from a longer one with a third more useful pages."""
    graph = browsing_graph(pages)
    shorter = graph.targets - frozenset(sorted(graph.targets)[::3])
    before, after = (
        learn_topic(replace(graph, targets=targets)) for targets in (shorter, graph.targets)
    )
    return _calibrated(before), _calibrated(after)


def _calibrated(model: TopicModel) -> LearnedTopic:
    judges = calibrate_judges(model)
    return LearnedTopic(model, judges["cosine"], Origin(TOPIC), judges)


def measure(count: int, *, small: bool, words: bool) -> float:
    """Milliseconds a page."""
    with tempfile.TemporaryDirectory() as place:
        pages = bodies(small)
        before, after = topics(pages)
        topic = Workspace(Path(place)).folder_for(TOPIC)
        folder = CrawlFolder(topic)
        judge = make_judge("auto", Briefing(before.model.graph, model=before.model))
        size = make_crawl(folder, judge, numbered(pages, count), words=words)
        topic.save(after, {}, KnownContent())
        longest = LongestWrite()
        longest.watch()
        watch = Stopwatch()
        done = rejudge(folder)
        cost = watch.cost(max(1, done.judged))
        print(f"{done.judged:,} pages, {size / 1e6:,.0f} MB of archive: {done.in_words()}")
        print(f"CPU {cost.cpu_ms_per_page:.2f} ms a page (limit {LIMIT_MS}), loading included")
        print(f"longest transaction {1000 * longest.seconds:.0f} ms by the clock")
        watch = Stopwatch()
        rejudge(folder)
        print(f"a second time {watch.cost(1).cpu_seconds:.2f} s of CPU in all")
    return cost.cpu_ms_per_page


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--small", action="store_true", help="the demo web's pages")
    parser.add_argument("--from-archive", action="store_true", help="no words were kept")
    options = parser.parse_args()
    words = not options.from_archive
    spent = measure(options.pages, small=options.small, words=words)
    return int(words and spent > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
