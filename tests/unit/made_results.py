"""Results made up for tests of what comes after the crawls."""

from __future__ import annotations

from collections.abc import Sequence

from trailhound.lab import metrics
from trailhound.lab.results import CorpusSummary, ExperimentResults, Parameters, RunResult
from trailhound.lab.statistics import choose_baseline, compare, summarise

BUDGET = 10


def make_run(
    topic: str = "bees",
    strategy: str = "best-first",
    curve: Sequence[int] = (0, 1, 1, 2),
    seed_set: int = 0,
    relevant_total: int = 4,
) -> RunResult:
    points = list(curve)
    return RunResult(
        topic=topic,
        strategy=strategy,
        seed_set=seed_set,
        seed=1,
        fetches=len(points),
        curve=points,
        relevant_total=relevant_total,
        nauc=metrics.nauc(points, relevant_total, BUDGET),
        harvest=metrics.harvest(points),
        recall=metrics.recall(points, relevant_total),
        hosts=1,
        cpu_seconds=0.002 * len(points),
        auhc=metrics.auhc(points, BUDGET),
        mean_max_similarity=0.3,
        eq9_similarity=0.2,
        effective_hosts=1.0,
        max_host_share=1.0,
        links_outside=3,
        outcomes={"fetched": len(points)},
        stop_reason="the request budget is spent",
        learning_cpu_seconds=0.01,
        seeds=["http://portal.test/"],
        relevant_all=5,
    )


def make_results(
    strategies: Sequence[str] = ("breadth-first", "best-first"),
    topics: Sequence[str] = ("bees", "rocks"),
    corpus_name: str = "tiny.thc",
) -> ExperimentResults:
    runs = [
        make_run(topic, strategy, range(t_number + s_number, t_number + s_number + 4), seed_set, 9)
        for t_number, topic in enumerate(topics)
        for seed_set in range(2)
        for s_number, strategy in enumerate(strategies)
    ]
    baseline = choose_baseline(strategies)
    return ExperimentResults(
        created_by="trailhound 0",
        corpus=CorpusSummary(corpus_name, "f" * 64, pages=118, hosts=5, kind="tiny"),
        parameters=Parameters(list(strategies), list(topics), BUDGET, seed_sets=2, seed=7),
        baseline=baseline,
        summary=summarise(runs, strategies),
        comparisons=compare(runs, strategies, baseline),
        runs=runs,
    )
