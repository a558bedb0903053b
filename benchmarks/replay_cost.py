"""What replaying costs: CPU per page for each strategy, against limits.

``python -m benchmarks.replay_cost`` measures on wikispeedia and fails when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from benchmarks.corpora import real_corpus
from trailhound.errors import TrailhoundError
from trailhound.lab.experiment import plan_experiment
from trailhound.lab.results import RunResult
from trailhound.lab.runner import TopicRunner

LIMITS_MS = {"breadth-first": 1.0, "best-first": 2.0}
"""CPU milliseconds per fetched page, learning from the session not included."""

N_TOPICS = 4
MAX_REQUESTS = 400


def measure(
    corpus: Path, strategies: list[str], n_topics: int, max_requests: int
) -> list[RunResult]:
    """Runs in this process, one after the other, after one that only warms it up."""
    plan = plan_experiment(corpus, strategies, max_requests=max_requests, seed_sets=1)
    tasks = [task for task in plan.tasks() if task.topic in plan.parameters.topics[:n_topics]]
    runner = TopicRunner(plan)
    runner.run(tasks[0])
    return [runner.run(task) for task in tasks]


def cost_ms(runs: list[RunResult], strategy: str) -> float:
    """Median over topics: one disturbed run must not decide."""
    return statistics.median(
        1000 * run.cpu_seconds / run.fetches for run in runs if run.strategy == strategy
    )


def verdict(costs_ms: dict[str, float]) -> int:
    """Print each strategy's cost; 1 when one exceeds its limit."""
    exceeded = False
    for strategy, cost in costs_ms.items():
        limit = LIMITS_MS.get(strategy)
        is_over = limit is not None and cost > limit
        exceeded |= is_over
        allowed = "no limit" if limit is None else f"limit {limit:.1f}"
        print(f"{strategy:<24} {cost:6.3f} ms per page  ({allowed}){'  EXCEEDED' * is_over}")
    return int(exceeded)


def main(arguments: list[str] | None = None) -> int:
    """Measure and compare with the limits."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay_cost", description=__doc__)
    parser.add_argument("--corpus", type=Path, help="another corpus file instead of wikispeedia")
    parser.add_argument("--strategy", action="append", help="repeatable; default: with a limit")
    parser.add_argument("--topics", type=int, default=N_TOPICS, help="how many topics")
    parser.add_argument("--max-requests", type=int, default=MAX_REQUESTS)
    options = parser.parse_args(arguments)
    try:
        corpus = options.corpus or real_corpus("wikispeedia")
        if corpus is None:
            return 0
        strategies = options.strategy or [*LIMITS_MS, "shark-search", "random", "oracle"]
        runs = measure(corpus, strategies, options.topics, options.max_requests)
        return verdict({strategy: cost_ms(runs, strategy) for strategy in strategies})
    except TrailhoundError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
