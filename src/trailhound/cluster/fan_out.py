"""Work that falls into tasks which know nothing of each other, done by a Ray cluster.

Each process of the cluster prepares itself once, from a recipe, and then does one task after the
other. Ray decides where, and does a task again whose process or machine was lost.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from itertools import islice
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from trailhound.cluster.connecting import connected
from trailhound.errors import TrailhoundError

R = TypeVar("R")
T = TypeVar("T")
D = TypeVar("D")


class _Job(NamedTuple):
    """What all tasks have in common."""

    name: str
    prepare: Callable[[Any], Callable[[Any], Any]]
    recipe: Any
    folder: str


AHEAD = 2
"""Tasks for each processor of the cluster that are under way, where they are done in order."""

_SAID_THERE = "said on the cluster, all of whose machines need the same files at the same places"

_prepared: tuple[str, Callable[[Any], Any]] | None = None
"""In a process of the cluster: the job it works for, and what does its tasks."""


def fan_out(
    address: str,
    prepare: Callable[[R], Callable[[T], D]],
    recipe: R,
    tasks: Iterable[T],
    *,
    cpus: int | None = None,
    in_order: bool = False,
) -> Generator[D]:
    """Do ``tasks`` on the cluster at ``address`` and yield what comes of each, in any order.

    ``prepare``, which a module must define, makes of ``recipe`` the function that does a task; it
    is called in each process. All machines must have this version of Trailhound, and the files
    that the recipe names, at the same places. Closing the iterator ends the tasks that are left.
    ``cpus`` is for a local cluster. ``in_order`` yields in the order of the tasks, of which only
    :data:`AHEAD` for each processor are taken in advance, so that there may be more than fit into
    memory. TrailhoundError when a task cannot be done.
    """
    with connected(address, cpus=cpus) as ray:
        job = ray.put(_Job(uuid.uuid4().hex, prepare, recipe, os.getcwd()))
        remote = ray.remote(num_cpus=1)(_do)
        coming, waiting = iter(tasks), list[Any]()
        try:
            while True:
                room = max(0, AHEAD * _processors(ray) - len(waiting)) if in_order else None
                for task in islice(coming, room):
                    waiting.append(remote.remote(job, task))
                if not waiting:
                    return
                done, _ = ray.wait(waiting[:1] if in_order else waiting)
                waiting = [each for each in waiting if each not in done]
                for each in done:
                    yield _outcome(ray, each)
        finally:
            for each in waiting:
                ray.cancel(each, force=True)


def _processors(ray: ModuleType) -> int:
    """Those that the cluster has now: machines come and go."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _do(job: _Job, task: Any) -> Any:
    """In a process of the cluster."""
    global _prepared
    if _prepared is None or _prepared[0] != job.name:
        with suppress(OSError):  # another machine may not have it; names of files count from there
            os.chdir(job.folder)
        _prepared = job.name, job.prepare(job.recipe)
    return _prepared[1](task)


def _outcome(ray: ModuleType, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, TrailhoundError):
            cause.args = (f"{cause} ({_SAID_THERE})",)
            raise cause from None
        raise TrailhoundError(
            f"A machine of the cluster could not do its work: {type(cause).__name__}: {cause}. "
            "Check that all have the same version of Trailhound, and the same files at the same "
            "places."
        ) from error
    except ray.exceptions.RayError as error:
        raise TrailhoundError(
            "A process of the cluster died again and again, perhaps for want of memory "
            f"({str(error).partition(chr(10))[0]}). Give the same command again, with fewer "
            "processes on each machine."
        ) from error
