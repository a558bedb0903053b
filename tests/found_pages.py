"""A topic with finds that a test names, on disk as a crawl leaves them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from trailhound.config.settings import Settings
from trailhound.records import (
    Candidate,
    Exchange,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.sessions.events import Mark, Session
from trailhound.sessions.files import write_session
from trailhound.storage.results import ResultsStore
from trailhound.storage.warc import ArchiveWriter
from trailhound.text.extract import extract_page
from trailhound.topics.crawls.folder import CrawlFolder, CrawlRecord
from trailhound.topics.crawls.marking import MARKS_FILE
from trailhound.topics.workspace import TopicFolder

NOON = 1772366400.0
"""1 March 2026, 12:00 UTC."""
DAY = 86_400.0


class Find(NamedTuple):
    """A page as a test tells it; ``html`` comes in place of title and text."""

    address: str
    title: str = ""
    text: str = ""
    html: str = ""
    score: float = 0.8
    relevant: bool = True
    language: str = "en"
    noindex: bool = False
    duplicate_of: str | None = None
    at: float = NOON
    parent: str | None = None
    content_type: str = "text/html; charset=utf-8"


def crawl_of(folder: Path, finds: Iterable[Find], *, topic: str = "bees") -> CrawlFolder:
    """A crawl of ``topic`` in a workspace, with results and, where there is HTML, an archive."""
    crawl = CrawlFolder(TopicFolder(folder / "topics" / topic, topic))
    crawl.topic.prepare()
    crawl.make()
    record = CrawlRecord(topic=topic, settings=Settings(), created_at=NOON, states=4, model="")
    crawl.write(record)
    add_finds(crawl, finds)
    return crawl


def add_finds(crawl: CrawlFolder, finds: Iterable[Find]) -> None:
    """Let the crawl go on."""
    with closing(ResultsStore(crawl.results)) as store:
        start = store.progress().pages
        pages = [_finished(find, start + number) for number, find in enumerate(finds, start=1)]
        for page in pages:
            store.keep(page)
    archived = [page for page in pages if page.result.exchanges]
    if archived:
        with ArchiveWriter(crawl.archive, "bees", started_at=NOON) as archive:
            for page in archived:
                archive.write(page.result.exchanges)


def reject(crawl: CrawlFolder, *addresses: str) -> None:
    """Mark pages as not useful."""
    events = [Mark(NOON, address, useful=False) for address in addresses]
    path = crawl.topic.sessions_path / MARKS_FILE
    write_session(Session(crawl.topic.name, tuple(events)), path)


def _finished(find: Find, number: int) -> FinishedPage:
    body = find.html.encode()
    page = Page(find.address, find.title, text=find.text, language=find.language)
    if body:
        page = extract_page(body, find.address, find.content_type)
    event = PageEvent(
        number=number,
        url=find.address,
        final_url=find.address,
        outcome=Outcome.FETCHED,
        parent=find.parent,
        depth=int(find.parent is not None),
        priority=0.5,
        requests=1,
        requests_total=number,
        relevance=Relevance(find.score, find.relevant),
        title=page.title,
        duplicate_of=find.duplicate_of,
        noindex=find.noindex or page.noindex,
        at=find.at,
    )
    result = FetchResult(find.address, Outcome.FETCHED, find.address, status=200)
    if body:
        result = _with_exchange(result, find, body)
    return FinishedPage(event, Candidate(find.address, 0.5), result, page)


def _with_exchange(result: FetchResult, find: Find, body: bytes) -> FetchResult:
    headers = (("Content-Type", find.content_type), ("Content-Length", str(len(body))))
    exchange = Exchange(find.address, find.at, (), 200, "OK", "1.1", headers, body)
    return FetchResult(
        find.address,
        Outcome.FETCHED,
        find.address,
        status=200,
        headers=headers,
        body=body,
        exchanges=(exchange,),
    )
