"""What a crawl has found: listed, filtered, searched, explained, and shown as it was archived."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import msgspec

from trailhound.counting import counted
from trailhound.errors import UsageError
from trailhound.portal.listing import language_name
from trailhound.portal.searching import Segment, fts_expression, hit_of
from trailhound.storage.listed_pages import ListedPages, Passage
from trailhound.storage.results_browsing import Filter, Kind, Listed, Place, ResultsBrowser
from trailhound.storage.results_reading import Results
from trailhound.storage.text_index import index_for_search
from trailhound.text.encoding import decode
from trailhound.topics.crawls.archived_pages import ArchivedContent
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import fetched_page, open_results
from trailhound.topics.finds.explaining import Explainer, Explanation, shown_path
from trailhound.topics.finds.opinions import Opinions
from trailhound.urls import host_key
from trailhound.web.api import ConflictError, OneCrawl, Routes
from trailhound.web.plain_words import explained_in_app

if TYPE_CHECKING:
    from trailhound.web.jobs import Handle
    from trailhound.web.state import App

routes = Routes("Results")

INDEX_AT_ONCE = 1_000
"""Finds that are made searchable before an answer; more are a job."""
MAX_SHOWN_CHARS = 2_000_000
"""Of an archived page."""

Limit = Annotated[int, msgspec.Meta(ge=1, le=100)]
Score = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class Wanted(OneCrawl, frozen=True, kw_only=True):
    """Which results of a crawl are wanted."""

    kind: Kind = "all"
    """All relevant pages; the new ones, neither visited nor marked; those that have changed; those
    marked useful, or not (rejected); near misses (missed)."""
    q: str = ""
    """Words that they hold. Near misses cannot be searched."""
    host: str = ""
    language: str = ""
    since: float | None = None
    """Fetched then or later, in seconds since 1970."""
    until: float | None = None
    min_score: Score | None = None
    max_score: Score | None = None
    """Below this score."""


class WantedPage(Wanted, frozen=True, kw_only=True):
    """Some of them."""

    after: str = ""
    """Where the answer before ended: its ``after``."""
    limit: Limit = 20


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One page that a crawl fetched."""

    url: str
    host: str
    title: tuple[Segment, ...]
    """In pieces, each with whether it is what was searched for."""
    snippet: tuple[Segment, ...]
    score: float | None
    relevant: bool
    marked: bool | None
    """Useful, not useful, or nothing."""
    known: bool
    """Whether it was in the sessions learned from."""
    language: str
    at: float
    """When it was fetched, in seconds since 1970."""
    changed_at: float | None
    """When it was last seen to say something else."""
    path: list[str]
    """From the seed."""
    copies: list[str]
    """Other pages that say the same."""


class ResultsPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some results, best first."""

    results: list[Result]
    after: str = ""
    """Ask with it for what comes next; empty at the end."""
    unsearched: int = 0
    """In a search: finds that are being made searchable, and are missing here."""


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many results there are."""

    count: int


class FacetCount(msgspec.Struct, frozen=True, kw_only=True):
    """A value to filter by."""

    value: str
    name: str
    count: int


class ResultFacets(msgspec.Struct, frozen=True, kw_only=True):
    """What finds can be filtered by, the most frequent first."""

    hosts: list[FacetCount]
    languages: list[FacetCount]


class OnePage(OneCrawl, frozen=True, kw_only=True):
    """Of a route about one page of a crawl."""

    url: str


class ArchivedCopy(msgspec.Struct, frozen=True, kw_only=True):
    """A page as it was fetched."""

    url: str
    title: str
    text: str
    at: float
    content_type: str
    document: str
    """Where it can be seen as HTML, in a sandbox, for two minutes; empty when it is none."""


@routes.get("/api/topics/{topic}/results")
def list_results(app: App, asked: WantedPage) -> ResultsPage:
    """What was found, best first, some at a time."""
    folder, wanted = app.crawl(asked.topic, asked.crawl), _filter(asked)
    if asked.q.strip() and not wanted.expression:
        return ResultsPage(results=[])
    waiting = _make_searchable(app, folder) if wanted.expression else 0
    with open_results(folder) as stored, ResultsBrowser(folder.results) as browser:
        found = browser.page(wanted, asked.limit + 1, _place(asked.after))
        shown = found[: asked.limit]
        passages = _passages(folder, wanted.expression, shown)
        copies = browser.copies(each.page.address for each in shown)
        return ResultsPage(
            results=[
                _result(each, stored, passages.get(each.id), copies[each.page.address])
                for each in shown
            ],
            after=_after(shown) if len(found) > asked.limit else "",
            unsearched=waiting,
        )


@routes.get("/api/topics/{topic}/results/count")
def count_results(app: App, asked: Wanted) -> Count:
    """How many there are in all."""
    wanted = _filter(asked)
    if asked.q.strip() and not wanted.expression:
        return Count(count=0)
    with ResultsBrowser(app.crawl(asked.topic, asked.crawl).results) as browser:
        return Count(count=browser.count(wanted))


@routes.get("/api/topics/{topic}/results/facets")
def show_facets(app: App, asked: OneCrawl) -> ResultFacets:
    """Hosts and languages of what was found."""
    with ResultsBrowser(app.crawl(asked.topic, asked.crawl).results) as browser:
        hosts, languages = browser.facets()
    return ResultFacets(
        hosts=[FacetCount(value=host, name=host, count=count) for host, count in hosts],
        languages=[
            FacetCount(value=code, name=language_name(code), count=count)
            for code, count in languages
        ],
    )


@routes.get("/api/topics/{topic}/results/why")
def explain_result(app: App, asked: OnePage) -> Explanation:
    """Why a page was followed when it was, and why it is relevant or not."""
    folder = app.crawl(asked.topic, asked.crawl)
    with open_results(folder) as results:
        said = Opinions(folder, results)
        explainer = Explainer(folder, results, said.belief, said.reasons, said.words)
        return explained_in_app(explainer.explain(asked.url))


@routes.get("/api/topics/{topic}/results/copy")
def show_copy(app: App, asked: OnePage) -> ArchivedCopy:
    """A page as it was archived: its text, and an address at which it is shown in a sandbox."""
    folder = app.crawl(asked.topic, asked.crawl)
    with Results(folder.results) as results:
        page = fetched_page(results, asked.url, folder.topic.name, "there is nothing to show")
    with ArchivedContent(folder.archive, frozenset({page.address})) as content:
        answer, read = content.answer(page.address), content.page(page.address)
    if answer is None or read is None:
        raise UsageError(
            f"The archive of '{folder.topic.name}' does not hold {page.address}. It was crawled "
            "without one, or the page was forgotten. "
            + ("Open the page itself." if asked.crawl else "Fetch it again: Look for changes.")
        )
    source = decode(answer.body, answer.content_type).text[:MAX_SHOWN_CHARS]
    return ArchivedCopy(
        url=page.address,
        title=read.title,
        text=read.text[:MAX_SHOWN_CHARS],
        at=page.at,
        content_type=answer.content_type,
        document=app.documents.address(source.encode("utf-8", "replace")) if answer.is_page else "",
    )


def _filter(asked: Wanted) -> Filter:
    for name in ("since", "until"):
        value = getattr(asked, name)
        if value is not None and not math.isfinite(value):
            raise UsageError(f"'{name}' is no time. Give seconds since 1970.")
    return Filter(
        kind=asked.kind,
        expression=fts_expression(asked.q),
        host=asked.host.strip().lower(),
        language=asked.language,
        since=asked.since,
        until=asked.until,
        min_score=asked.min_score,
        max_score=asked.max_score,
    )


def _place(after: str) -> Place | None:
    if not after:
        return None
    value, _, number = after.partition(":")
    with suppress(ValueError):
        if math.isfinite(float(value)) and 0 <= int(number) < 1 << 63:
            return Place(float(value), int(number))
    raise UsageError(f"'{after[:50]}' is not where an answer has ended. Leave 'after' out.")


def _after(shown: list[Listed]) -> str:
    place = shown[-1].place
    return f"{place.value!r}:{place.id}"


def _make_searchable(app: App, folder: CrawlFolder) -> int:
    """Let the words of new finds be found; how many are missing meanwhile."""
    with ResultsBrowser(folder.results) as browser:
        waiting = browser.unsearchable()
    if waiting <= INDEX_AT_ONCE:
        index_for_search(folder.results)
        return 0

    def work(handle: Handle) -> str:
        handle.report(f"Making {counted(waiting, 'page')} searchable")
        index_for_search(folder.results)
        return f"{counted(waiting, 'page')} can be searched."

    with suppress(ConflictError):
        app.jobs.start("index", folder.topic.name, work)
    return waiting


def _passages(folder: CrawlFolder, expression: str, shown: list[Listed]) -> dict[int, Passage]:
    if not expression or not shown:
        return {}
    with ListedPages(folder.results) as pages:
        return pages.passages(expression, [each.id for each in shown])


def _result(listed: Listed, stored: Results, passage: Passage | None, copies: list[str]) -> Result:
    page = listed.page
    hit = hit_of(page, passage)
    return Result(
        url=page.address,
        host=host_key(page.address),
        title=hit.title,
        snippet=hit.snippet,
        score=page.score,
        relevant=page.relevant,
        marked=page.marked,
        known=page.known,
        language=language_name(page.language),
        at=page.at,
        changed_at=listed.changed_at,
        path=shown_path(stored, page),
        copies=copies,
    )
