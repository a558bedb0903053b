"""What each strategy's own thinking costs: CPU per page for learning, scoring and re-ranking.

    python -m benchmarks.scoring_cost [--topics 3] [--corpus FILE] [--strategy SPEC …]

Crawls of wikispeedia as in the lab, with a watch around what the engine asks of the strategy
(``entrances``, ``observe``, ``score_links``, ``rescore``, ``restock``); fetching, judging and the
queue are left out. The first crawl of a topic only warms up. Exits with 1 when a strategy takes
more than 3 ms a page.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.corpora import real_corpus
from trailhound.crawling import build
from trailhound.errors import TrailhoundError
from trailhound.lab import runner
from trailhound.lab.experiment import plan_experiment
from trailhound.strategies.base import Briefing, Strategy
from trailhound.strategies.choosing import strategy_for, strategy_names

LIMIT_MS = 3.0
VARIANTS = ("context-graph:mode=prefetch", "collaborative:links=true")
_ASKED = ("entrances", "observe", "score_links", "rescore", "restock")


class Watch:
    """CPU seconds spent inside what it wraps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, timed; what it would yield later is made at once."""

        def timed(*arguments: Any) -> Any:
            started = time.process_time()
            answer = method(*arguments)
            answer = list(answer) if isinstance(answer, Iterator) else answer
            self.seconds += time.process_time() - started
            return answer

        return timed

    async def make(self, spec: str, briefing: Briefing) -> Strategy:
        """A strategy whose answers are timed."""
        strategy = await strategy_for(spec, briefing)
        for name in _ASKED:
            if hasattr(strategy, name):
                setattr(strategy, name, self.around(getattr(strategy, name)))
        self.seconds = 0.0
        return strategy


@contextmanager
def watched() -> Iterator[Watch]:
    """Crawls make their strategies under the watch."""
    watch = Watch()
    vars(build)["strategy_for"] = watch.make
    try:
        yield watch
    finally:
        vars(build)["strategy_for"] = strategy_for


def measure(corpus: Path, specs: list[str], n_topics: int) -> dict[str, list[float]]:
    """Milliseconds a page of each crawl, by strategy."""
    plan = plan_experiment(corpus, specs, seed_sets=1)
    chosen = plan.parameters.topics[:n_topics]
    costs: dict[str, list[float]] = defaultdict(list)
    runs, warm = runner.TopicRunner(plan), set[str]()
    with watched() as watch:
        for task in plan.tasks():
            if task.topic not in chosen:
                continue
            if task.topic not in warm:
                warm.add(task.topic)
                runs.run(task)
            pages = runs.run(task).fetches
            costs[task.strategy].append(1000 * watch.seconds / max(pages, 1))
    return costs


def main(arguments: list[str] | None = None) -> int:
    """Measure and compare with the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scoring_cost", description=__doc__)
    parser.add_argument("--corpus", type=Path, help="another corpus file instead of wikispeedia")
    parser.add_argument("--strategy", action="append", help="repeatable; default: all")
    parser.add_argument("--topics", type=int, default=3, help="how many topics")
    options = parser.parse_args(arguments)
    try:
        corpus = options.corpus or real_corpus("wikispeedia")
        if corpus is None:
            return 0
        specs = options.strategy or [*strategy_names(), *VARIANTS]
        costs = measure(corpus, specs, options.topics)
    except TrailhoundError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    medians = {spec: statistics.median(found) for spec, found in costs.items()}
    for spec, cost in sorted(medians.items(), key=lambda item: item[1]):
        print(f"{spec:<32} {cost:6.3f} ms a page{'  EXCEEDED' * (cost > LIMIT_MS)}")
    return int(not 0 < max(medians.values()) <= LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
