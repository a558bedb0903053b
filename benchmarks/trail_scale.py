"""What trail costs a page, however much waits: CPU from a thousand to a million candidates.

    python -m benchmarks.trail_scale [--candidates 1000000]

A made-up crawl of pages with a hundred new links each, all of which wait in a frontier file. The
watch is on what the strategy is asked (``observe``, ``score_links``) and on ranking anew, the
frontier's part of it included. Exits with 1 when a page costs more than one and a half times as
much with all candidates waiting as with the first few thousand.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from threadpoolctl import threadpool_limits

from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.trail.strategy import TrailStrategy

LINKS = 100
PAGES_MEASURED = 300
MAX_RATIO = 1.5
HOSTS = 200

_WORDS = [f"{first}{last}" for first in "bdfgklmnprstvz" for last in ("ato", "eri", "ino", "ulu")]


def crawled_pages(seed: int = 1) -> Iterator[CrawledPage]:
    """Pages without end; every link is new, and some words go with relevant pages."""
    rng = random.Random(seed)
    url, number = "http://h0.test/", 0
    while True:
        topic = rng.random() < 0.2
        words = _WORDS[:10] if topic else _WORDS
        links = []
        for place in range(LINKS):
            said = " ".join(rng.choices(words, k=3))
            target = f"http://h{rng.randrange(HOSTS)}.test/{rng.choice(_WORDS)}/{number}-{place}"
            around = " ".join(rng.choices(_WORDS, k=8))
            links.append(Link(target, said, before=around, after=around, tag_path="div/ul/li"))
        page = Page(url, title=said, links=tuple(links), language="en")
        relevance = Relevance(0.9 if topic else 0.1, topic)
        yield CrawledPage(page, relevance, Candidate(url, 0.0))
        url, number = links[rng.randrange(LINKS)].url, number + 1


def measure(path: Path, sizes: list[int]) -> Iterator[tuple[int, float]]:
    """Candidates that wait, and CPU milliseconds a page from there on."""
    strategy = TrailStrategy(PageGraph((), (), frozenset()))
    frontier, spent = SqliteFrontier(path), 0.0
    marks = [size // LINKS for size in sizes]
    for number, crawled in enumerate(crawled_pages()):
        if number in marks:
            spent = 0.0
        started = time.process_time()
        strategy.observe(crawled)
        scored = list(strategy.score_links(crawled))
        spent += time.process_time() - started
        frontier.add(Candidate(each.link.url, each.priority, each.memory) for each in scored)
        if number % strategy.rescore_every == 0:
            started = time.process_time()
            frontier.rescore(strategy.rescore)
            spent += time.process_time() - started
        if number - PAGES_MEASURED in marks:
            yield (number - PAGES_MEASURED) * LINKS, 1000 * spent / PAGES_MEASURED
        if number > marks[-1] + PAGES_MEASURED:
            break
    frontier.close()


def main(arguments: list[str] | None = None) -> int:
    """Measure, and compare the most with the fewest."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trail_scale", description=__doc__)
    parser.add_argument("--candidates", type=int, default=1_000_000, help="waiting in the end")
    last = parser.parse_args(arguments).candidates
    sizes = [size for size in (1_000, 40_000, 100_000, 300_000) if size < last] + [last]
    costs = []
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(limits=1):
        for waiting, cost in measure(Path(folder) / "frontier.db", sizes):
            print(f"{waiting:>9,} candidates wait: {cost:6.3f} ms a page", flush=True)
            costs.append(cost)
    ratio = costs[-1] / costs[0]
    print(f"the most to the fewest: {ratio:.2f}{'  EXCEEDED' * (ratio > MAX_RATIO)}")
    return int(ratio > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
