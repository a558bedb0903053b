"""An index on its way: under a name of its own, and cleared away when its maker is gone.

A build that is killed leaves ``.NAME.PID.part`` behind, many gigabytes perhaps. Each draft holds a
lock, which the system releases when the process dies: unlike a process number it is not given to
somebody else afterwards, and it tells of processes in other containers, too.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from trailhound.traces.folder import HEADER, SUFFIX

_LOCK = "lock"
_DRAFT = re.compile(rf"\..+{re.escape(SUFFIX)}\.\d+\.part")
_YOUNG_SECONDS = 60.0
"""A draft in which nothing is made or deleted for so long is not being begun or completed."""


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A place to make an index in, which replaces ``folder`` at the end, if all went well."""
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    try:
        with _locked(draft):
            clear_leftovers(folder.parent)
            yield draft
        (draft / _LOCK).unlink()
        if folder.exists():
            shutil.rmtree(folder)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def clear_leftovers(place: Path) -> None:
    """Delete the drafts in a folder whose makers are gone."""
    for path in list(place.iterdir()):
        is_draft = _DRAFT.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
        if is_draft and not _is_alive(path):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _locked(draft: Path) -> Iterator[None]:
    """The lock of an empty SQLite database, which works alike on every system."""
    with ExitStack() as stack:
        try:
            lock = sqlite3.connect(draft / _LOCK, timeout=0.0, isolation_level=None)
            stack.callback(lock.close)
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            raise OSError(f"{draft / _LOCK} cannot be locked ({error})") from error
        yield


def _is_alive(draft: Path) -> bool:
    try:
        is_young = time.time() - draft.stat().st_mtime < _YOUNG_SECONDS
        if not (draft / _LOCK).exists():
            return is_young
        if is_young and (draft / HEADER).exists():
            return True  # complete: the lock is let go before it is renamed
        with _locked(draft):
            return False
    except FileNotFoundError:
        return False  # gone meanwhile
    except OSError:
        return True
