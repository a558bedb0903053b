"""Sitemaps and feeds of the seeds' sites as further places to start from."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from trailhound.counting import counted
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.sitemap_xml import SourceKind
from trailhound.fetching.sitemaps import ListedUrl, UrlSource, parse_url_source
from trailhound.records import Candidate, FetchResult, Outcome
from trailhound.urls import canonicalize, host_key

MAX_DOCUMENTS = 30
"""Sitemaps and feeds that are fetched for one site."""
MAX_URLS = 500
"""Pages taken from one site, the most recently changed first: a sitemap may list millions."""
PRIORITY = 1e17
"""Below the seeds, above everything that a strategy gives."""

Notify = Callable[[str], None]


async def sitemap_candidates(
    fetcher: HttpFetcher,
    seeds: Iterable[str],
    in_scope: Callable[[str], bool] | None,
    notify: Notify,
) -> tuple[list[Candidate], list[FetchResult]]:
    """Pages that the seeds' sites list, and what was fetched to learn it."""
    candidates: list[Candidate] = []
    results: list[FetchResult] = []
    sites = {host_key(seed): seed for seed in seeds}
    for host, seed in sites.items():
        listed, fetched = await _listed_by(fetcher, seed, in_scope)
        results += fetched
        chosen = sorted(listed, key=lambda entry: -(entry.modified_at or 0.0))[:MAX_URLS]
        candidates += [Candidate(entry.url, PRIORITY, parent=seed, depth=1) for entry in chosen]
        notify(
            f"The sitemaps and feeds of {host} list {counted(len(listed), 'page')}; "
            f"queued: {len(chosen)}."
        )
    return candidates, results


async def _listed_by(
    fetcher: HttpFetcher, seed: str, in_scope: Callable[[str], bool] | None
) -> tuple[list[ListedUrl], list[FetchResult]]:
    announced = await fetcher.sitemaps(seed)
    # robots.txt may spell them as it likes; without any, the usual place is worth a try.
    starts = [canonicalize(address, seed) for address in announced or ("/sitemap.xml",)]
    waiting = deque(dict.fromkeys(url for url in starts if url is not None))
    seen = set(waiting)
    found: dict[str, ListedUrl] = {}
    results: list[FetchResult] = []
    while waiting and len(results) < MAX_DOCUMENTS:
        source, result = await _read(fetcher, waiting.popleft())
        results.append(result)
        for entry in source.entries:
            if in_scope is not None and not in_scope(entry.url):
                continue
            if source.kind is not SourceKind.SITEMAP_INDEX:
                found.setdefault(entry.url, entry)
            elif entry.url not in seen:
                seen.add(entry.url)
                waiting.append(entry.url)
    return list(found.values()), results


async def _read(fetcher: HttpFetcher, url: str) -> tuple[UrlSource, FetchResult]:
    result = await fetcher.fetch(url, html_only=False)
    if result.outcome is not Outcome.FETCHED:
        return UrlSource(SourceKind.UNKNOWN), result
    return parse_url_source(result.body, result.final_url), result
