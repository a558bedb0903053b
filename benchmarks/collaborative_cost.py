"""A trace of ten million accesses: time and memory to index it, and cost of an update.

::

    python -m benchmarks.collaborative_cost [--accesses 10000000] [--fetches 2000]

Pages are visited by Zipf's law; every user prefers one of fifty topics. The limits are 5 ms of CPU
for what the strategy does after a fetch, on average, and 1 GB; the exit code is 1 when one is
exceeded.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from trailhound.crawling.engine import SEED_PRIORITY
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import Candidate, CrawledPage, Outcome, Page, Relevance
from trailhound.sessions.importers.base import Tally
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import Sources
from trailhound.sources.traces.building import PageAccess, build_trace
from trailhound.sources.traces.index import TraceIndex
from trailhound.strategies.base import Briefing, Rescoring, Restocking
from trailhound.strategies.choosing import make_strategy

MAX_MILLISECONDS = 5.0
MAX_MEGABYTES = 1024.0
TOPICS = 50
ACCESSES_PER_USER = 100
SEEDS = 10
"""Well-known pages of the topic: in a small trace, random ones may all be of other topics."""
_BATCH = 100_000
_START = 1_772_366_400


def url_of(page: int) -> str:
    """An address that tells its topic."""
    return f"http://www{page % 997}.example.org/topic{page % TOPICS}/page-{page}.html"


def synthetic(n_accesses: int) -> Iterator[PageAccess]:
    """Accesses in order of time: a user reads twenty pages in a row, most of them of his topic."""
    rng = np.random.default_rng(7)
    n_users, n_pages = n_accesses // ACCESSES_PER_USER, n_accesses // 10
    for start in range(0, n_accesses, _BATCH):
        count = min(_BATCH, n_accesses - start)
        users = np.repeat(rng.integers(n_users, size=count // 20 + 1), 20)[:count]
        pages = (rng.zipf(1.3, count) - 1) % n_pages
        own = rng.random(count) < 0.7
        pages = np.where(own, pages - pages % TOPICS + users % TOPICS, pages)
        times = _START + (start + np.arange(count)) * 0.5
        for user, when, page in zip(users.tolist(), times.tolist(), pages.tolist(), strict=True):
            yield (
                b"10.%d.%d.%d" % (user >> 16, user >> 8 & 255, user & 255),
                when,
                url_of(page).encode(),
            )


def megabytes() -> float:
    """The most that this process has had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def user_key(client: bytes) -> int:
    """As a workspace does it, without its salt."""
    return int.from_bytes(hashlib.blake2b(client, digest_size=8).digest(), "little")


def build(folder: Path, n_accesses: int) -> None:
    """Index the trace; prints seconds and megabytes."""
    started, cpu = time.perf_counter(), time.process_time()
    header = build_trace(folder, synthetic(n_accesses), Tally("accesses"), user_key)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 2**20
    print(
        f"build: {header.accesses:,} accesses, {header.users:,} users, {header.pages:,} pages in "
        f"{time.perf_counter() - started:.1f} s ({time.process_time() - cpu:.1f} s of CPU), "
        f"{megabytes():.0f} MB in memory, {size:.0f} MB on disk"
    )


def update(folder: Path, n_fetches: int) -> bool:
    """Crawl for one topic on paper; prints the strategy's cost; whether it is within the limits."""
    index = TraceIndex.open(folder)
    strategy = make_strategy(
        "collaborative",
        Briefing(PageGraph((), (), frozenset()), sources=Sources.of(trace=index)),
    )
    assert isinstance(strategy, Restocking)
    assert isinstance(strategy, Rescoring)
    frontier = MemoryFrontier()
    frontier.add(Candidate(url_of(TOPICS * number), SEED_PRIORITY) for number in range(SEEDS))
    costs: list[float] = []
    refreshing = found = 0.0
    while len(costs) < n_fetches:
        leased = frontier.lease(1, 0.0)
        if not leased:
            if not frontier.add(strategy.restock()):
                break
            continue
        crawled = fetched(leased[0])
        found += crawled.relevance.relevant
        started = time.process_time()
        strategy.observe(crawled)
        links = list(strategy.score_links(crawled))
        costs.append(time.process_time() - started)
        frontier.add(Candidate(each.link.url, each.priority, each.memory) for each in links)
        frontier.finish(leased[0].url, Outcome.FETCHED)
        if len(costs) % 50 == 0:
            started = time.process_time()
            frontier.rescore(strategy.rescore)
            refreshing += time.process_time() - started
    spent = 1000 * np.array(costs)
    n_fetches = len(costs)
    mean = float(spent.mean()) + 1000 * refreshing / n_fetches
    print(
        f"update: {mean:.2f} ms of CPU per fetch ({1000 * refreshing / n_fetches:.2f} of them for "
        f"refreshing {frontier.stats().waiting:,} candidates), 95 % below "
        f"{np.quantile(spent, 0.95):.2f} ms, at most {spent.max():.1f} ms; "
        f"{found / n_fetches:.0%} of {n_fetches:,} pages relevant; {megabytes():.0f} MB in memory"
    )
    return mean <= MAX_MILLISECONDS and megabytes() <= MAX_MEGABYTES


def fetched(candidate: Candidate) -> CrawledPage:
    """A page of thirty words, three of them of its topic; topic 0 is what is wanted."""
    number = int(candidate.url.rsplit("-", 1)[1].removesuffix(".html"))
    rng = np.random.default_rng(number)
    topic = number % TOPICS
    words = [
        f"topic{topic}",
        f"word{topic}",
        f"term{topic}",
        *(f"w{n}" for n in rng.integers(5000, size=27)),
    ]
    page = Page(candidate.url, terms=dict.fromkeys(words, 1))
    return CrawledPage(page, Relevance(float(topic == 0), topic == 0), candidate)


def main() -> None:
    """Build and update, each in a process of its own, whose memory is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accesses", type=int, default=10_000_000)
    parser.add_argument("--fetches", type=int, default=2000)
    parser.add_argument("--part", nargs=2, metavar=("PART", "FOLDER"))
    given = parser.parse_args()
    if given.part:
        part, folder = given.part[0], Path(given.part[1])
        if part == "build":
            build(folder, given.accesses)
        elif not update(folder, given.fetches):
            sys.exit(1)
        return
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "benchmarks.collaborative_cost"]
        command += ["--accesses", str(given.accesses), "--fetches", str(given.fetches)]
        codes = [
            subprocess.run([*command, "--part", part, f"{place}/synthetic.trace"]).returncode
            for part in ("build", "update")
        ]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
