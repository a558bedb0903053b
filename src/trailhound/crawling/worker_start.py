"""How a worker process is started: what it may import, and that it dies quietly with its parent."""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import spawn
from multiprocessing.context import SpawnProcess
from types import ModuleType
from typing import Any

from trailhound.errors import ConfigError

_plain_command_line = spawn.get_command_line
_starting = threading.Lock()
"""What a start changes belongs to the whole program: threads start processes one by one."""

# A parent that dies leaves a child which has just begun without its orders; Ctrl-C reaches it, too.
# Neither is worth a traceback. Single quotes alone: Windows puts double ones around it all.
_QUIET_PROGRAM = """\
import pickle, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
try:
    {}
except (EOFError, pickle.UnpicklingError):
    sys.exit(1)
"""


def start_process(process: SpawnProcess, *, imports_main: bool) -> None:
    """Start it; ConfigError when what it is to work with cannot be sent there."""
    try:
        with _starting, _main_module(imports_main), _quiet_start():
            process.start()
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        raise ConfigError(
            f"The strategy or the judge cannot be sent to a worker process: {error}. Crawl with "
            "--workers 1, or give the crawler a recipe that makes them there."
        ) from error


@contextmanager
def _main_module(is_shown: bool) -> Iterator[None]:
    """Hide the main module, unless it is to be shown: a script without a guard would run again."""
    main = sys.modules["__main__"]
    if not is_shown:
        sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _quiet_start() -> Iterator[None]:
    spawn.get_command_line = quiet_command_line
    try:
        yield
    finally:
        spawn.get_command_line = _plain_command_line


def quiet_command_line(**handles: Any) -> list[str]:
    """The command that starts a process, which says nothing when nobody tells it what to do."""
    command = _plain_command_line(**handles)
    if "-c" in command:  # not in a frozen program
        at = command.index("-c") + 1
        command[at] = _QUIET_PROGRAM.format(command[at])
    return command
