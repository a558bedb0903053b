"""Where a run starts, beside seeds that were named: what sessions, searches and results know.

Pages of the sessions that led on to what was useful, the first results of a search, and pages of
earlier runs that may be stale, or open by now.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from trailhound.counting import counted
from trailhound.crawling.engine import SEED_PRIORITY
from trailhound.crawling.gate import REFRESH_PRIORITY
from trailhound.errors import SourceError
from trailhound.fetching.base import Validators
from trailhound.frontier.base import Frontier
from trailhound.models.topic_model import TopicModel
from trailhound.records import Candidate, Outcome
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import SearchSource
from trailhound.storage.results_reading import Results
from trailhound.storage.visit_reading import due_pages
from trailhound.strategies.choosing import parse_spec
from trailhound.topics.runs.refreshing import versions_of
from trailhound.topics.runs.turn_planning import cluster_queries
from trailhound.topics.workspace import TopicFolder
from trailhound.urls import asks_a_search, canonicalize, host_key, strip_tracking

MAX_HOPS = 3
"""Links before a useful page; further away a page says little about the topic."""
EACH_HOP = 0.5
"""What a useful page counts one link further away."""
MAX_PER_HOST = 3
USUAL_SEEDS = 5
"""Suggestions that a crawl starts from when nobody names a seed."""


class SuggestedSeed(NamedTuple):
    """A page to start from, and why."""

    url: str
    reason: str


def suggested_seeds(topic: TopicFolder, limit: int = 10) -> list[SuggestedSeed]:
    """General pages that led on, the best first; UsageError when nothing was learned."""
    return seeds_of(topic.load().model.graph, limit)


def seeds_of(
    graph: PageGraph, limit: int, in_scope: Callable[[str], bool] = lambda _: True
) -> list[SuggestedSeed]:
    """The same of a page graph, as far as they are in scope.

    A page counts by the useful pages within three links, nearer ones more; behind such pages come
    the entry pages of sites that hold useful ones, and these themselves when there is nothing else.
    """
    marked = [
        SuggestedSeed(graph.pages[page].url, "you marked it useful")
        for page in sorted(graph.targets)
    ]
    general = [*_pages_that_led_on(graph), *_entry_pages(graph)]
    found = [seed for seed in general if in_scope(seed.url)]
    found = found or [seed for seed in marked if in_scope(seed.url)]
    chosen: dict[str, SuggestedSeed] = {}
    per_host: Counter[str] = Counter()
    for seed in found:
        url, host = strip_tracking(seed.url), host_key(seed.url)  # as links to it are asked for
        if url not in chosen and per_host[host] < MAX_PER_HOST:
            chosen[url] = seed._replace(url=url)
            per_host[host] += 1
    return list(chosen.values())[:limit]


def _pages_that_led_on(graph: PageGraph) -> list[SuggestedSeed]:
    reached = _useful_within_reach(graph)
    worth = {
        page: sum(EACH_HOP**hops for hops in targets.values()) * (1.5 if page in starts else 1.0)
        for starts in [set(graph.starts)]
        for page, targets in reached.items()
        if page not in graph.targets | graph.rejected and not asks_a_search(graph.pages[page].url)
    }
    best = sorted(worth, key=lambda page: (-worth[page], page))
    return [SuggestedSeed(graph.pages[page].url, _reason(reached[page])) for page in best]


def _reason(targets: dict[int, int]) -> str:
    nearest, count = min(targets.values()), counted(len(targets), "useful page")
    return f"led to {count}, the nearest {counted(nearest, 'link')} away"


def _useful_within_reach(graph: PageGraph) -> dict[int, dict[int, int]]:
    """For each page the useful ones that links lead to, and how many links."""
    sources: dict[int, list[int]] = defaultdict(list)
    for source, destination in graph.edges:
        sources[destination].append(source)
    reached: dict[int, dict[int, int]] = defaultdict(dict)
    for target in sorted(graph.targets):
        seen, level = {target}, [target]
        for hops in range(1, MAX_HOPS + 1):
            level = sorted({page for each in level for page in sources[each]} - seen)
            seen.update(level)
            for page in level:
                reached[page][target] = hops
    return reached


def _entry_pages(graph: PageGraph) -> list[SuggestedSeed]:
    """Of sites with useful pages, those with most of them first."""
    sites = Counter(_entry(graph.pages[page].url) for page in sorted(graph.targets))
    return [
        SuggestedSeed(url, f"the entry page of a site with {counted(count, 'useful page')}")
        for url, count in sites.most_common()
        if url is not None
    ]


def _entry(url: str) -> str | None:
    parts = urlsplit(url)
    return canonicalize(f"{parts.scheme}://{parts.netloc}/")


FIRST_HITS = 10
"""Results of a search that are taken for seeds, as in the content-and-link paper."""
QUERY_WORDS = 4
MAY_BE_MENDED = frozenset(
    [
        Outcome.ADDRESS_REFUSED,
        Outcome.UNKNOWN_HOST,
        Outcome.UNREACHABLE,
        Outcome.TIMEOUT,
        Outcome.SERVER_ERROR,
        Outcome.BUSY,
        Outcome.BROKEN,
    ]
)
"""What the user, a server or a plug-in's author may have set right between two runs."""


async def search_seeds(
    search: SearchSource, words: str, in_scope: Callable[[str], bool] | None
) -> tuple[str, ...]:
    """The first results for the topic's words, those in scope; SourceError when there are none."""
    hits = await search.search(words, FIRST_HITS)
    seeds = tuple(hit.url for hit in hits if in_scope is None or in_scope(hit.url))
    if not seeds:
        found = f"{counted(len(hits), 'page')}, none of them in scope" if hits else "no page"
        raise SourceError(
            f"The search names {found} for '{words}'. Try another --search, or name pages to start "
            "from: --seed URL"
        )
    return seeds


def topic_words(strategy: str, model: TopicModel | None, topic: str) -> str:
    """What to ask a search for: the strategy's own words, those of the targets, or the name."""
    options = parse_spec(strategy)[1]
    given = options.get("query") or options.get("keywords")
    if given or model is None:
        return given or re.sub(r"[\W_]+", " ", topic).strip()
    queries = cluster_queries(model, QUERY_WORDS, max_hops=0.0)
    return queries[0].text if queries else topic_words("", None, topic)


def queue_closed(results: Path, frontier: Frontier, hosts: Collection[str]) -> int:
    """Queue pages of these hosts again that asked to log in, and let the hosts be asked at once."""
    with Results(results) as stored:
        pages = [each for each in stored.that_asked_to_log_in() if host_key(each.url) in hosts]
    frontier.requeue(
        Candidate(page.url, page.priority, page.memory, page.parent, page.depth) for page in pages
    )
    return len(pages)


def queue_failed_seeds(frontier: Frontier, seeds: Iterable[str]) -> int:
    """Queue seeds again that came to nothing for a reason that may be gone by now."""
    failed = [url for url in seeds if frontier.outcome_of(url) in MAY_BE_MENDED]
    frontier.requeue(Candidate(url, SEED_PRIORITY) for url in failed)
    return len(failed)


def queue_refresh(
    results: Path, frontier: Frontier, due_by: float | None = None, limit: int | None = None
) -> dict[str, Validators]:
    """Queue the relevant pages again; which, and what their servers said of them.

    Only those that are due by then, and only the best of them, if that is said.
    """
    if due_by is not None:
        pages = due_pages(results, due_by, limit)
    else:
        with Results(results) as stored:
            pages = stored.ranked(limit)
    frontier.requeue(
        Candidate(page.address, REFRESH_PRIORITY, page.memory, page.parent, page.depth)
        for page in pages
    )
    return versions_of(pages)
