"""Connecting this process to a Ray cluster: one that runs, or one of its own on this machine.

Ray is loaded when it is first asked for, reports nothing to its makers, and leaves the terminal and
the signals of this program alone.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any
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
