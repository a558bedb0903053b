"""Spreads the runs of an experiment over processes.

Worker processes are spawned, not forked: no lock, thread or random state of the parent can leak
into a run, and it works alike on every system. Each opens the corpus itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection

from trailhound.errors import TrailhoundError
from trailhound.lab.plan import ExperimentPlan, RunTask
from trailhound.lab.results import RunResult
from trailhound.lab.runner import RunFailure, TopicRunner

_runner: TopicRunner | None = None
"""A worker process's own corpus and topics."""


def finished_runs(
    plan: ExperimentPlan, tasks: Sequence[RunTask], jobs: int
) -> Generator[RunResult | RunFailure]:
    """Run ``tasks`` and yield each result as it is done, in any order.

    Closing the iterator stops the remaining runs.
    """
    if jobs <= 1 or len(tasks) <= 1:
        runner = TopicRunner(plan)
        yield from map(runner.attempt, tasks)
    else:
        yield from _in_processes(plan, tasks, min(jobs, len(tasks)))


def _in_processes(
    plan: ExperimentPlan, tasks: Sequence[RunTask], jobs: int
) -> Generator[RunResult | RunFailure]:
    pool = ProcessPoolExecutor(
        jobs, multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(plan,)
    )
    try:
        yield from _results(pool, tasks)
        pool.shutdown()
    except BrokenProcessPool:
        raise TrailhoundError(
            "A worker process died, perhaps for want of memory. Finished runs are kept: give the "
            "same command again, with fewer --jobs, to continue."
        ) from None
    finally:
        _stop(pool)


def _results(
    pool: ProcessPoolExecutor, tasks: Sequence[RunTask]
) -> Generator[RunResult | RunFailure]:
    futures: list[Future[RunResult | RunFailure]] = [pool.submit(_attempt, task) for task in tasks]
    for future in as_completed(futures):
        yield future.result()


_MANAGER_SECONDS = 5.0


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
        manager.join(_MANAGER_SECONDS)


def _start_worker(plan: ExperimentPlan) -> None:
    global _runner
    # Ctrl-C reaches every process of the terminal; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
