"""Where a crawl may start: pages of the sessions that led on to what was useful."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from trailhound.counting import counted
from trailhound.sessions.page_graph import PageGraph
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
