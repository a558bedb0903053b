"""What fetchers, importers, kinds of corpora and sinks promise: pages come and go through them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from inspect import isawaitable
from pathlib import Path

from msgspec.structs import replace

from trailhound.crawling.sinks import Sink
from trailhound.errors import TrailhoundError
from trailhound.fetching.base import Fetcher, always
from trailhound.lab.corpora import Corpus
from trailhound.lab.importers import corpus_kind, import_corpus
from trailhound.plugins import REQUIRED
from trailhound.records import (
    Candidate,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.sessions.events import Session
from trailhound.sessions.importers import options_of
from trailhound.sessions.importers.base import Imported, Importer
from trailhound.testing.promises import HOST, expect, never_raising, pages, raising_ours


def check_importer(importer: Importer, recording: Path, **options: object) -> None:
    """``importer`` finds at least one session in ``recording``, with these options."""
    for name in ("name", "summary", "reads"):
        said = getattr(importer, name, "")
        expect(bool(said) and "\n" not in said, f"An importer has a {name} of one line")
    for name, option in options_of(importer).items():
        expect(option.default is not REQUIRED, f"Option {name} has a default")
    with never_raising("A good recording can be read"):
        imported = importer.read(recording, "bees", **options)
        _check_sessions(imported)
    with tempfile.TemporaryDirectory() as folder:
        _check_bad_recordings(importer, Path(folder), options)


def _check_sessions(imported: Imported) -> None:
    expect(isinstance(imported, Imported), "read gives Imported")
    sessions = list(imported.sessions)
    expect(bool(sessions), "There is a session in the recording")
    expect(all(isinstance(each, Session) for each in sessions), "sessions are Sessions")
    expect(all(each.topic == "bees" for each in sessions), "A session has the topic it is for")
    expect(list(imported.sessions) == sessions, "sessions can be gone through several times")
    tally = imported.tally
    expect(tally.read >= tally.kept >= 0, "The tally: read is the sum of kept and skipped")
    expect(tally.kept > 0, "Something was kept")


def _check_bad_recordings(importer: Importer, folder: Path, options: dict[str, object]) -> None:
    with raising_ours("A recording that is not there is told"):
        list(importer.read(folder / "nowhere", "bees", **options).sessions)
    noise = folder / "noise"
    noise.write_bytes(bytes(range(256)) * 8)
    with never_raising("A file of another kind is a SessionError, or holds nothing"):
        try:
            found = list(importer.read(noise, "bees", **options).sessions)
        except TrailhoundError:
            found = []
    expect(not any(each.events for each in found), "Nothing is found in a file of another kind")


def check_corpus_kind(kind: str, source: Path, *, with_jobs: int = 2) -> None:
    """``kind``, a name or the path of a Python file, makes a corpus of ``source``."""
    found = corpus_kind(kind)
    expect(bool(found.name), "A corpus kind has a name")
    expect(bool(found.summary) and "\n" not in found.summary, "It has a summary of one line")
    with tempfile.TemporaryDirectory() as folder:
        _check_corpus(kind, source, Path(folder), with_jobs)
        if found.needs_source:
            with raising_ours("A source that is not there is told"):
                import_corpus(kind, Path(folder) / "nowhere", Path(folder) / "none.thc")
            expect(not (Path(folder) / "none.thc").exists(), "A failed import leaves nothing")


def _check_corpus(kind: str, source: Path, folder: Path, jobs: int) -> None:
    told: list[tuple[int, int | None, str]] = []
    with never_raising("A good source can be imported"):
        first = import_corpus(kind, source, folder / "a.thc", lambda *step: told.append(step))
        again = import_corpus(kind, source, folder / "b.thc", jobs=jobs)
    expect(first.fingerprint == again.fingerprint, "The same source gives the same corpus")
    expect(first.kind == corpus_kind(kind).name, "A corpus knows its kind by name")
    with Corpus.open(folder / "a.thc") as corpus:
        expect(len(corpus) >= 1, "There is a page in it")
        read = all(corpus.page(url) is not None for url in corpus.page_urls)
        expect(read, "Every page can be read")
    done = [step[0] for step in told]
    expect(done == sorted(done), "Progress only grows")
    within = all(total is None or number <= total for number, total, _ in told)
    expect(within, "Progress does not pass its total")


MakeFetcher = Callable[[], Fetcher]
OpenSink = Callable[[Path], Sink]


def check_fetcher(make: MakeFetcher, page: str, missing: str) -> None:
    """``make`` gives a fetcher that finds a page at ``page`` and none at ``missing``.

    Both are canonical URLs; the fetcher is used in an event loop of its own, and closed.
    """

    async def check() -> None:
        fetcher = make()
        try:
            await _check_fetches(fetcher, page, missing)
        finally:
            with never_raising("A fetcher can be closed"):
                await fetcher.close()

    asyncio.run(check())


async def _check_fetches(fetcher: Fetcher, page: str, missing: str) -> None:
    found = await _fetched(fetcher, page)
    expect(found.outcome is Outcome.FETCHED, f"{page} is fetched, not {found.outcome.value}")
    expect(bool(found.body) or found.page is not None, "What is fetched has a body or a page")
    lost = await _fetched(fetcher, missing)
    expect(lost.outcome is not Outcome.FETCHED, f"{missing} is not there, so it is not fetched")
    expect(not lost.body or bool(lost.status), "A body without an answer makes no sense")
    await _fetched(fetcher, "http://nowhere.invalid/")
    together = await asyncio.gather(*(_fetched(fetcher, page) for _ in range(3)))
    expect(
        all(each.outcome in (Outcome.FETCHED, Outcome.POSTPONED) for each in together),
        "Several fetches may go on at once",
    )


async def _fetched(fetcher: Fetcher, url: str) -> FetchResult:
    with never_raising(f"What the web does wrong is an outcome (of {url})"):
        result = await fetcher.fetch(url, may_go_on=always)
    expect(isinstance(result, FetchResult), "fetch gives a FetchResult")
    expect(result.url == url, "A result has the URL that was asked for")
    expect(isinstance(result.outcome, Outcome), "A result has an Outcome")
    expect(result.requests >= 1, "A fetch costs at least one request")
    if result.outcome is not Outcome.FETCHED:
        expect(bool(result.detail), f"Outcome {result.outcome.value} has its reason in detail")
    return result


def check_sink(open_sink: OpenSink, folder: Path) -> None:
    """``open_sink`` opens a sink that may keep its files in ``folder``.

    It is shown a page of each sort, closed, opened once more and shown them again: what a resumed
    crawl does. What it made of them is yours to look at afterwards.
    """

    async def check() -> None:
        for _ in range(2):
            sink = open_sink(folder)
            try:
                for finished in finished_pages():
                    with never_raising(f"A sink takes any page ({finished.event.outcome.value})"):
                        kept = sink.keep(finished)
                        if isawaitable(kept):
                            await kept
            finally:
                with never_raising("A sink can be closed"):
                    closed = sink.close()
                    if isawaitable(closed):
                        await closed

    asyncio.run(check())


def finished_pages() -> tuple[FinishedPage, ...]:
    """Relevant, irrelevant, copied, unlisted, missing, and broken: what a sink may get."""
    bees, cars, empty, german = pages()
    found = _finished(1, bees, Relevance(0.9, True))
    copy = _finished(4, german, Relevance(0.8, True))
    lost = _finished(6, empty, None, Outcome.NOT_FOUND)
    return (
        found,
        _finished(2, cars, Relevance(0.1, False)),
        replace(copy, event=replace(copy.event, duplicate_of=bees.url)),
        replace(found, event=replace(found.event, number=5, noindex=True)),
        replace(lost, page=None),
        _finished(7, empty, None, Outcome.BROKEN),
    )


def _finished(
    number: int, page: Page, relevance: Relevance | None, outcome: Outcome = Outcome.FETCHED
) -> FinishedPage:
    candidate = Candidate(page.url, 0.5, parent=HOST, depth=1)
    event = PageEvent(
        number=number,
        url=page.url,
        final_url=page.url,
        outcome=outcome,
        parent=HOST,
        depth=1,
        priority=0.5,
        requests=1,
        requests_total=number,
        relevance=relevance,
        links_found=len(page.links),
        title=page.title,
        at=float(number),
    )
    body = b"<title>a page</title>" if outcome is Outcome.FETCHED else b""
    result = FetchResult(page.url, outcome, page.url, content_type="text/html", body=body)
    return FinishedPage(event, candidate, result, page)
