"""A Ray cluster: this process connects to it, and gives it tasks that know nothing of each other.

It runs already, or is one of our own on this machine. Ray is loaded when it is first asked for,
reports nothing to its makers, and leaves the terminal and the signals of this program alone.

Each process of the cluster prepares itself once, from a recipe, and then does one task after the
other. Ray decides where, and does a task again whose process or machine was lost.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import socket
import threading
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from trailhound.errors import TrailhoundError, UsageError

LOCAL = "local"
"""In place of an address: a cluster of this machine alone, which ends with this process."""
NAMESPACE = "trailhound"
"""Where actors with a name are found again by another program."""
LOCAL_STORE_BYTES = 256 * 2**20
"""Memory for objects that processes of a local cluster share; Ray would take a third of all."""

_KNOCK_SECONDS = 10.0
_UNWATCHED = {"task_events_report_interval_ms": 0, "enable_metrics_collection": False}
"""What Ray counts for its dashboard, which a local cluster does not have."""


def load_ray() -> ModuleType:
    """The module ``ray``; UsageError names the extra when it is missing."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before it is loaded, or it is too late
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise UsageError(
            f"A cluster needs Ray, which cannot be loaded here ({error}). Install it with: "
            "pip install 'trailhound[cluster]'"
        ) from error


def dashboard_of(ray: ModuleType) -> str:
    """Where a connected Ray shows itself; empty when it does not."""
    with suppress(Exception):  # what it is asked by is not part of Ray's promises
        address = ray._private.worker.get_dashboard_url()
        return f"http://{address}" if address else ""
    return ""


def connect(
    address: str, *, cpus: int | None = None, temp_folder: Path | None = None
) -> ModuleType:
    """Join the cluster at ``address`` (``host:port``, ``ray://host:port``, ``auto``), or ``LOCAL``.

    Gives the module ``ray``, connected; a process that is connected already stays as it is.
    ``cpus`` and ``temp_folder``, which must have a short name, are for a local cluster. End it with
    ``ray.shutdown()``, or use :func:`connected`. TrailhoundError when there is no such cluster.
    """
    ray = load_ray()
    if ray.is_initialized():
        return ray
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        with _own_signals():
            if address == LOCAL:
                _start_here(ray, cpus, temp_folder, quiet)
            else:
                _knock(address)
                ray.init(address, namespace=NAMESPACE, **quiet)
    except TrailhoundError:
        raise
    except Exception as error:  # Ray raises that itself, when a node is slow to start
        raise _unreachable(address, error) from error
    return ray


@contextmanager
def connected(
    address: str, *, cpus: int | None = None, temp_folder: Path | None = None
) -> Iterator[ModuleType]:
    """The same for a ``with`` statement, which ends the connection if it has made it."""
    was_connected = load_ray().is_initialized()
    ray = connect(address, cpus=cpus, temp_folder=temp_folder)
    try:
        yield ray
    finally:
        if not was_connected:
            ray.shutdown()


def _start_here(
    ray: ModuleType, cpus: int | None, temp_folder: Path | None, quiet: dict[str, Any]
) -> None:
    """Bound to the loopback address, as Ray does by itself where it knows no clusters (macOS)."""
    constants: Any = importlib.import_module("ray._private.ray_constants")
    before = constants.ENABLE_RAY_CLUSTER
    constants.ENABLE_RAY_CLUSTER = False
    try:
        ray.init(
            LOCAL,
            num_cpus=cpus,
            namespace=NAMESPACE,
            include_dashboard=False,
            object_store_memory=LOCAL_STORE_BYTES,
            _system_config=_UNWATCHED,
            _temp_dir=None if temp_folder is None else str(temp_folder),
            **quiet,
        )
    finally:
        constants.ENABLE_RAY_CLUSTER = before


def _knock(address: str) -> None:
    """Raise OSError when nobody is there: Ray itself would go on trying for many minutes."""
    if address == "auto":
        return
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or port is None:
        raise UsageError(
            f"'{address}' is no address of a Ray cluster. Write it as HOST:PORT, 6379 being Ray's "
            f"usual port, or take '{LOCAL}' for this machine alone."
        )
    socket.create_connection((host, port), _KNOCK_SECONDS).close()


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray takes SIGTERM for itself; whoever had it before gets it back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _unreachable(address: str, error: Exception) -> TrailhoundError:
    reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    if address == LOCAL:
        return TrailhoundError(
            f"No Ray cluster could be started on this machine: {reason}. Check that there is room "
            "in memory and in the folder for temporary files."
        )
    return TrailhoundError(
        f"The Ray cluster '{address}' cannot be joined: {reason}. Check the address and that the "
        "cluster runs (ray status), with the same versions of Python and Ray as here; or take "
        f"'{LOCAL}' for this machine alone."
    )


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
