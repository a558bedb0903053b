"""An experiment from plan to results: every topic, every seed set, every strategy.

Runs may be spread over processes. These are spawned, not forked: no lock, thread or random state of
the parent can leak into a run, and it works alike on every system. Each opens the corpus itself.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from multiprocessing import connection
from pathlib import Path
from typing import Any

import msgspec

from trailhound import __version__
from trailhound.config.layers import checked_settings
from trailhound.config.settings import all_settings
from trailhound.counting import counted
from trailhound.errors import TrailhoundError, UsageError, unknown_name
from trailhound.judges.choosing import check_judge
from trailhound.lab.corpora import Corpus
from trailhound.lab.results import (
    CorpusSummary,
    ExperimentPlan,
    ExperimentResults,
    Parameters,
    RunResult,
    RunTask,
)
from trailhound.lab.results_files import (
    PARTIAL_NAME,
    PartialHeader,
    PartialRuns,
    check_replaceable,
    only_here,
    write_results,
)
from trailhound.lab.runner import RunFailure, TopicRunner
from trailhound.lab.statistics import choose_baseline, compare, summarise
from trailhound.lab.topics import digest_of_topics, topic_source
from trailhound.plugins import digest_of_file
from trailhound.signals import leave_signals_to_parent
from trailhound.strategies.choosing import check_spec

CREATED_BY = f"trailhound {__version__}"

Progress = Callable[[int, int], None]
"""Called with the number of runs done and of all runs, when some were done already and after
each further one."""

RunTasks = Callable[[ExperimentPlan, Sequence[RunTask]], Generator[RunResult | RunFailure]]
"""Makes runs somewhere, and yields each result as it is done, in any order. Closing the iterator
stops the remaining ones."""

_runner: TopicRunner | None = None
"""A worker process's own corpus and topics."""


def plan_experiment(
    corpus: Path,
    strategies: Sequence[str],
    *,
    topics: Sequence[str] = (),
    topics_file: Path | None = None,
    max_requests: int = 400,
    seed_sets: int = 3,
    seed: int = 7,
    judge: str = "auto",
    without: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> ExperimentPlan:
    """Check what was asked for; without ``topics``, all of the corpus are taken.

    Crawls are made as live ones are by default; ``settings`` change that, by ``section.name`` as in
    trailhound.toml. A text is read as a variable of the environment would be.
    """
    for option, value in (("--max-requests", max_requests), ("--seed-sets", seed_sets)):
        if value < 1:
            raise UsageError(f"{option} is {value}; it must be at least 1.")
    chosen = _without_repeats(strategies)
    if not chosen:
        raise UsageError("No strategy to compare. Name some, e.g. --strategy best-first.")
    for spec in chosen:
        check_spec(spec)
    check_judge(judge)
    _check_of_use(settings or {})
    named = _chosen_topics(corpus, topics, topics_file, without)
    digest = digest_of_topics(topics_file) if topics_file else None
    parameters = Parameters(
        strategies=chosen,
        topics=named,
        max_requests=max_requests,
        seed_sets=seed_sets,
        seed=seed,
        topics_file=None if topics_file is None else topics_file.name,
        topics_digest=digest,
        judge=judge,
        without=list(without),
        settings=msgspec.to_builtins(checked_settings(settings or {})),
    )
    return ExperimentPlan(corpus, parameters, topics_file)


_OF_USE = frozenset(
    {"crawl.avoid_traps", "crawl.host_budgets", "crawl.near_duplicates", "crawl.obey_nofollow"}
    | {"crawl.charge_sources", "crawl.concurrency", "crawl.max_idle", "crawl.wait_for_better"}
    | {"judge.threshold", "fetch.delay_seconds", "fetch.as_me"}
)
"""Settings of live crawls that change those of recorded webs, too."""
_INSTEAD = {
    "crawl.strategy": "Name strategies with --strategy.",
    "crawl.max_requests": "Give each crawl's budget with --max-requests.",
    "crawl.max_time": "Crawls end with their budget: give it with --max-requests.",
    "crawl.give_up_after": "Crawls end with their budget: give it with --max-requests.",
    "crawl.scope": "Close parts of the web with --without URL.",
    "crawl.exclude": "Close parts of the web with --without URL.",
    "crawl.same_domain": "Close parts of the web with --without URL.",
    "crawl.seeds": "Crawls start from the topic's seeds: name some in a file for --topics.",
    "crawl.seeds_from": "Crawls start from the topic's seeds: name some in a file for --topics.",
    "crawl.workers": "Make several runs at once with --jobs.",
    "judge.kind": "Name the judge with --judge.",
}
"""What does here what others are for in live crawls."""


def _check_of_use(settings: Mapping[str, Any]) -> None:
    """UsageError for what would change no crawl, and let the report say that it had."""
    for name in settings:
        if name not in _OF_USE and name in {each.key for each in all_settings()}:
            instead = _INSTEAD.get(name, "It changes nothing in the crawl of a recorded web.")
            raise UsageError(f"The setting {name} is of no use in the lab. {instead}")


def run_experiment(
    plan: ExperimentPlan,
    folder: Path,
    *,
    jobs: int = 1,
    run_tasks: RunTasks | None = None,
    progress: Progress | None = None,
    replace: bool = False,
) -> ExperimentResults:
    """Run all that is not done yet and write ``results.json`` into ``folder``.

    In ``jobs`` processes of this machine, unless ``run_tasks`` says where else.

    Finished runs are kept in ``runs.partial.jsonl`` until all are there, so that an interrupted
    experiment continues where it stopped. Unless it may ``replace`` them, UsageError where results
    of another experiment are; StorageError while another is writing there.
    """
    with Corpus.open(plan.corpus) as opened:
        held = opened.info()
    corpus = CorpusSummary(plan.corpus.name, held.fingerprint, held.pages, held.hosts, held.kind)
    asked = msgspec.structs.asdict(plan.parameters)
    origin = {"created_by": CREATED_BY, "fingerprint": corpus.fingerprint}
    header = msgspec.convert(asked | origin | _plugin_digests(plan.parameters), PartialHeader)
    with only_here(folder):
        if not replace:
            check_replaceable(folder, plan.parameters, header)
        _check_options(plan)
        with PartialRuns(folder, header) as partial:
            failures = _run_missing(plan, partial, run_tasks or finished_in(jobs), progress)
            if failures:
                raise _failed(failures, plan, folder)
            results = _with_statistics(plan, corpus, [partial.runs[task] for task in plan.tasks()])
            write_results(results, folder)
            partial.remove()
    return results


def _check_options(plan: ExperimentPlan) -> None:
    """UsageError for options that a strategy refuses, before hours are spent on the others."""
    if with_options := [spec for spec in plan.parameters.strategies if ":" in spec]:
        TopicRunner(plan).try_out(with_options)


def _plugin_digests(parameters: Parameters) -> dict[str, Any]:
    """Of Python files that the strategies and the judge are in: they may be under construction."""
    digests = {spec: digest_of_file(spec) for spec in parameters.strategies}
    return {
        "judge_digest": digest_of_file(parameters.judge),
        "strategy_digests": {spec: digest for spec, digest in digests.items() if digest},
    }


def _with_statistics(
    plan: ExperimentPlan, corpus: CorpusSummary, runs: list[RunResult]
) -> ExperimentResults:
    strategies = plan.parameters.strategies
    baseline = choose_baseline(strategies)
    return ExperimentResults(
        created_by=CREATED_BY,
        corpus=corpus,
        parameters=plan.parameters,
        baseline=baseline,
        summary=summarise(runs, strategies),
        comparisons=compare(runs, strategies, baseline),
        runs=runs,
    )


def _run_missing(
    plan: ExperimentPlan, partial: PartialRuns, run_tasks: RunTasks, progress: Progress | None
) -> list[RunFailure]:
    tasks = plan.tasks()
    missing = [task for task in tasks if task not in partial.runs]
    report = progress or (lambda _done, _total: None)
    done = len(tasks) - len(missing)
    report(done, len(tasks))
    failures: list[RunFailure] = []
    with closing(run_tasks(plan, missing)) as finished:
        for outcome in finished:
            if isinstance(outcome, RunFailure):
                failures.append(outcome)
            else:
                partial.keep(outcome)
            done += 1
            report(done, len(tasks))
    return failures


def _failed(failures: Sequence[RunFailure], plan: ExperimentPlan, folder: Path) -> TrailhoundError:
    """One line per reason, with the topics and strategies that it hit."""
    tasks_by_reason: dict[str, list[RunTask]] = defaultdict(list)
    for failure in failures:
        tasks_by_reason[failure.reason].append(failure.task)
    total = len(plan.tasks())
    lines = [f"{len(failures)} of {counted(total, 'run')} failed, so no results were written."]
    for reason, tasks in tasks_by_reason.items():
        topics = ", ".join(_without_repeats([task.topic for task in tasks]))
        strategies = ", ".join(_without_repeats([task.strategy for task in tasks]))
        lines.append(f"Topic {topics}; strategy {strategies}: {reason}")
    if len(failures) < total:
        lines.append(
            f"The others are kept in {folder / PARTIAL_NAME}: mend the cause, or leave out what "
            "fails, and give the same command again to continue."
        )
    return TrailhoundError("\n".join(lines))


def _chosen_topics(
    corpus: Path, topics: Sequence[str], topics_file: Path | None, without: Sequence[str]
) -> list[str]:
    with Corpus.open(corpus) as opened:
        known = topic_source(opened, topics_file, without=without).names()
    chosen = _without_repeats(topics)
    for topic in chosen:
        if topic not in known:
            raise unknown_name("topic", topic, known, f"See 'trailhound lab topics {corpus}'.")
    if not known:
        raise UsageError(
            f"The corpus {corpus} has no topics of its own. Define some in a file and name it "
            "with --topics."
        )
    return chosen or list(known)


def _without_repeats(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def attempts(plan: ExperimentPlan) -> Callable[[RunTask], RunResult | RunFailure]:
    """What makes single runs, in any process that can read the corpus."""
    return TopicRunner(plan).attempt


def finished_in(jobs: int) -> RunTasks:
    """Runs in so many processes; one is this process itself."""

    def run(plan: ExperimentPlan, tasks: Sequence[RunTask]) -> Generator[RunResult | RunFailure]:
        if jobs <= 1 or len(tasks) <= 1:
            yield from map(attempts(plan), tasks)
        else:
            yield from _in_processes(plan, tasks, min(jobs, len(tasks)))

    return run


def _in_processes(
    plan: ExperimentPlan, tasks: Sequence[RunTask], jobs: int
) -> Generator[RunResult | RunFailure]:
    pool = ProcessPoolExecutor(
        jobs, multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(plan,)
    )
    try:
        for future in as_completed([pool.submit(_attempt, task) for task in tasks]):
            yield future.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise TrailhoundError(
            "A worker process died, perhaps for want of memory. Finished runs are kept: give the "
            "same command again, with fewer --jobs, to continue."
        ) from None
    finally:
        _stop(pool)


def _stop(pool: ProcessPoolExecutor) -> None:
    """End runs that are still going; nobody waits for their results. After a normal end, no-op."""
    workers = list((getattr(pool, "_processes", None) or {}).values())
    manager = getattr(pool, "_executor_manager_thread", None)
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.join()
    if manager is not None:
        # It closes a pipe that Python writes to at exit: an error message if both meet.
        manager.join(timeout=5.0)


def _start_worker(plan: ExperimentPlan) -> None:
    global _runner
    leave_signals_to_parent()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _runner = TopicRunner(plan)


def _end_with_parent() -> None:
    """A worker must not outlive a parent that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _attempt(task: RunTask) -> RunResult | RunFailure:
    if _runner is None:
        raise RuntimeError("the worker was not started")
    return _runner.attempt(task)
