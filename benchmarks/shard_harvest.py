"""What a crawl in shards costs in harvest: the same budget in one crawl and in several.

    python -m benchmarks.shard_harvest demo.thc --topics 8
    python -m benchmarks.shard_harvest wikispeedia.thc --by address --topics 12 \\
        --without http://schools-wikipedia.org/wp/index/

Shards are ordinary crawls of a recorded web in one process, on one virtual clock, without Ray: each
owns some hosts (or addresses, on a web of one host), sends links to their owners, tells news of its
pages, and may make as many requests as it is granted. What is exchanged is exchanged between two
slices. ``--variant`` leaves parts out, to see what each is worth.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from zlib import crc32

import msgspec
import numpy as np
from threadpoolctl import threadpool_limits

from trailhound.cluster.granting import MAX_TOLD, ShardReport, grant, slice_size, steps
from trailhound.cluster.messages import NewsDesk
from trailhound.config.settings import Settings
from trailhound.crawling.budget import Budget
from trailhound.crawling.build import Knowledge, make_guides
from trailhound.crawling.driving import Driver, VirtualTimeLoop
from trailhound.crawling.engine import SEED_PRIORITY, Crawler
from trailhound.frontier.memory import MemoryFrontier
from trailhound.lab.corpora import Corpus
from trailhound.lab.results import RunTask, run_seed
from trailhound.lab.runner import FinishedCrawl, TopicBench
from trailhound.lab.topics import topic_source
from trailhound.records import Candidate, PageEvent
from trailhound.strategies import News
from trailhound.urls import host_key

SEED = 7


@dataclass(frozen=True)
class Sharding:
    """How a crawl is split, and what shards do for each other."""

    shards: int = 4
    by_address: bool = False
    in_flight: int = 1
    """Fetches at once, of each shard."""
    shares: bool = True
    follows_yield: bool = True
    slice_factor: float = 1.0
    news_every: int = 1
    """Slices between two exchanges of news."""

    def owner(self, url: str) -> int:
        """The shard that fetches an address."""
        name = url if self.by_address else host_key(url)
        return crc32(name.encode("utf-8", "replace")) % self.shards


VARIANTS: dict[str, Callable[[Sharding], Sharding]] = {
    "all": lambda sharding: sharding,
    "no news": lambda sharding: replace(sharding, shares=False),
    "even grants": lambda sharding: replace(sharding, follows_yield=False),
    "neither": lambda sharding: replace(sharding, shares=False, follows_yield=False),
    "news late": lambda sharding: replace(sharding, news_every=4),
    "slices x2": lambda sharding: replace(sharding, slice_factor=2.0),
    "slices x4": lambda sharding: replace(sharding, slice_factor=4.0),
    "4 in flight": lambda sharding: replace(sharding, in_flight=4),
}


class OwnedFrontier(MemoryFrontier):
    """Own addresses wait here; those of others are laid out for them."""

    def __init__(self, shard: int, owner: Callable[[str], int]) -> None:
        super().__init__()
        self._shard = shard
        self._owner = owner
        self.leaving: list[Candidate] = []

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Queue own ones; how many of these were new."""
        here: list[Candidate] = []
        for candidate in candidates:
            own = self._owner(candidate.url) == self._shard
            (here if own else self.leaving).append(candidate)
        return super().add(here)


@dataclass(frozen=True)
class Shard:
    """One of the crawls."""

    number: int
    crawler: Crawler
    frontier: OwnedFrontier
    desk: NewsDesk

    def report(self) -> ShardReport:
        """What it holds is spent by now, or given back."""
        used = self.crawler.requests
        return ShardReport(self.number, used, used, steps(self.frontier.best(MAX_TOLD)))

    async def run(self, limit: int) -> list[tuple[float, PageEvent]]:
        """Crawl up to so many requests in all; events with their times."""
        loop = asyncio.get_running_loop()
        events = self.crawler.crawl((), Budget(limit))
        return [(loop.time(), event) async for event in events]


def _new_from(sender: Shard, receiver: Shard) -> Iterable[News]:
    desk = receiver.desk
    while news := desk.open(sender.desk.letter(receiver.number, desk.heard)):
        yield from news


class ShardedCrawl:
    """Several crawls of one topic, in one event loop."""

    def __init__(self, bench: TopicBench, sharding: Sharding, seed: int) -> None:
        self._bench = bench
        self._sharding = sharding
        self._seed = seed
        self._shards: list[Shard] = []
        self._events: list[tuple[float, PageEvent]] = []

    async def run(self, strategy: str, seeds: Sequence[str], budget: int) -> FinishedCrawl:
        """Crawl until the budget is spent, or nothing is left."""
        for number in range(self._sharding.shards):
            self._shards.append(await self._open(number, strategy))
        self._bring(Candidate(url, SEED_PRIORITY) for url in seeds)
        slices = 0
        while limits := self._limits(budget, slices):
            runs = [self._shards[shard].run(limit) for shard, limit in limits.items()]
            for events in await asyncio.gather(*runs):
                self._events += events
            slices += 1
            self._exchange(with_news=slices % self._sharding.news_every == 0)
        return FinishedCrawl(self._in_order(), "", 0.0, 0.0)

    async def _open(self, number: int, strategy: str) -> Shard:
        sharding = self._sharding
        changes = {"crawl.strategy": strategy, "crawl.concurrency": sharding.in_flight}
        settings = self._bench.settings.changed(changes)
        knowledge = Knowledge(self._bench.topic.graph)
        guides = await make_guides(settings, knowledge, seed=self._seed)
        frontier = OwnedFrontier(number, sharding.owner)
        desk = NewsDesk(number, 0, sharding.owner, sharding.shards)
        crawler = self._bench.assemble(settings, guides, frontier, [desk])
        if sharding.shares:
            desk.serve(guides.strategy)
        return Shard(number, crawler, frontier, desk)

    def _limits(self, budget: int, slices: int) -> dict[int, int]:
        reports = [shard.report() for shard in self._shards]
        used = sum(report.used for report in reports)
        in_flight = self._sharding.in_flight * len(reports)
        size = round(self._sharding.slice_factor * slice_size(used, in_flight))
        if self._sharding.follows_yield:
            return grant(reports, budget, size)
        # As if all links were worth the same; another shard comes first each time.
        turn = slices % len(reports)
        alike = [
            msgspec.structs.replace(each, best=[(1, -float(place)) for place in range(size)])
            for each in reports
            if each.best
        ]
        return grant([*alike[turn:], *alike[:turn]], budget, size)

    def _exchange(self, *, with_news: bool) -> None:
        for shard in self._shards:
            leaving, shard.frontier.leaving = shard.frontier.leaving, []
            self._bring(leaving)
        for receiver in self._shards if with_news else ():
            if news := [each for sender in self._shards for each in _new_from(sender, receiver)]:
                receiver.crawler.heed(news)

    def _bring(self, candidates: Iterable[Candidate]) -> None:
        for candidate in candidates:
            owner = self._shards[self._sharding.owner(candidate.url)]
            owner.crawler.frontier.add([candidate])

    def _in_order(self) -> list[PageEvent]:
        """Events of all shards, with the requests of all of them so far."""
        events = [event for _, event in sorted(self._events, key=lambda each: each[0])]
        totals = accumulate(event.requests for event in events)
        pairs = zip(events, totals, strict=True)
        return [msgspec.structs.replace(event, requests_total=total) for event, total in pairs]


def harvests(
    bench: TopicBench, strategy: str, budget: int, sharding: Sharding, variants: Sequence[str]
) -> list[float]:
    """nAUC of one crawl, then of the variants."""
    task = RunTask(bench.topic.name, 0, strategy)
    seed = run_seed(SEED, task.topic, 0)
    crawls = [bench.crawl(task, seed, budget)]
    for variant in variants:
        driver = Driver(VirtualTimeLoop)
        try:
            crawl = ShardedCrawl(bench, VARIANTS[variant](sharding), seed)
            crawls.append(driver.run(crawl.run(strategy, bench.topic.seed_sets[0], budget)))
        finally:
            driver.close()
    return [bench.measure(task, seed, crawl, budget).nauc for crawl in crawls]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table: topics, and nAUC in one crawl and in shards."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--topics", type=int, default=None, help="so many, at even distances")
    parser.add_argument("--by", choices=("host", "address"), default="host")
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--in-flight", type=int, default=1, help="fetches at once of each shard")
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--strategy", default="trail")
    parser.add_argument("--without", action="append", default=[], help="beginnings of URLs")
    parser.add_argument("--variant", action="append", choices=VARIANTS, default=[])
    chosen = parser.parse_args(arguments)
    corpus = Corpus.open(chosen.corpus)
    source = topic_source(corpus, None, without=chosen.without)
    names = list(source.names())
    count = min(chosen.topics or len(names), len(names))
    sharding = Sharding(chosen.shards, chosen.by == "address", chosen.in_flight)
    variants = chosen.variant or ["all"]
    heads = ["one", *variants]
    print(f"{'topic':40}" + "".join(f"{head:>13}" for head in heads))
    rows = []
    for place in range(count):
        name = names[place * len(names) // count]
        bench = TopicBench(corpus, source.build(name, n_seed_sets=1, seed=SEED), Settings())
        with threadpool_limits(limits=1):
            rows.append(harvests(bench, chosen.strategy, chosen.requests, sharding, variants))
        print(f"{name[-39:]:40}" + "".join(f"{each:13.3f}" for each in rows[-1]), flush=True)
    means = np.mean(rows, axis=0)
    print(f"{'mean':40}" + "".join(f"{each:13.4f}" for each in means))
    print(f"{'of one':40}" + "".join(f"{each:13.3f}" for each in means / means[0]))


if __name__ == "__main__":
    main()
