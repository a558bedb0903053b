"""Pages of a crawl that never was, in a store of results, for tests of what is kept."""

from __future__ import annotations

from pathlib import Path

from trailhound.records import (
    Candidate,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.storage.results import ResultsStore
from trailhound.storage.results_reading import Results


def u(name: str) -> str:
    return f"http://h.test/{name}"


def keep(
    store: ResultsStore,
    name: str,
    *,
    score: float | None = None,
    relevant: bool | None = None,
    outcome: Outcome = Outcome.FETCHED,
    final: str | None = None,
    parent: str | None = None,
    depth: int | None = None,
    number: int = 1,
    duplicate_of: str | None = None,
    noindex: bool = False,
    text: str = "",
    headers: tuple[tuple[str, str], ...] = (),
    fingerprint: int | None = None,
    terms: dict[str, int] | None = None,
) -> None:
    url = u(name)
    address = u(final) if final else url
    page = None
    if outcome is Outcome.FETCHED:
        page = Page(address, title=f"Title of {name}", text=text, language="en", terms=terms or {})
    relevance = None
    if score is not None:
        relevance = Relevance(score, score >= 0.5 if relevant is None else relevant)
    event = PageEvent(
        number=number,
        url=url,
        final_url=address,
        outcome=outcome,
        parent=u(parent) if parent else None,
        depth=int(parent is not None) if depth is None else depth,
        priority=0.25,
        requests=1,
        requests_total=number,
        relevance=relevance,
        title=page.title if page else "",
        duplicate_of=duplicate_of,
        noindex=noindex,
        at=1000.0 + number,
        why="HTTP 404" if outcome is Outcome.NOT_FOUND else "",
    )
    result = FetchResult(url, outcome, address, headers=headers, status=200)
    candidate = Candidate(url, 0.25, b"belief")
    store.keep(FinishedPage(event, candidate, result, page, fingerprint))


def addresses(
    path: Path,
    min_score: float | None = None,
    everything: bool = False,
    only_new: bool = False,
) -> list[str]:
    with Results(path) as results:
        pages = results.ranked(min_score=min_score, everything=everything, only_new=only_new)
    return [page.address.rpartition("/")[2] for page in pages]
