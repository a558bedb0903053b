"""One holder at a time: a lock that the system releases when its holder dies."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Self

from filelock import FileLock, Timeout

from trailhound.errors import StorageError, TrailhoundError


class Ownership:
    """Holds the lock file ``path`` until it is released, or until its process ends in any way.

    When another holds it, ``in_use`` is raised; when the file cannot be written, what
    ``unwritable`` makes of the reason, else a StorageError. The file stays behind and its content
    means nothing: one that an earlier Trailhound left, which locked an SQLite database of that
    name, is as good. One that is held for a moment only is waited for, ``patience_seconds`` at
    most.
    """

    def __init__(
        self,
        path: Path,
        *,
        in_use: TrailhoundError,
        unwritable: Callable[[str], TrailhoundError] | None = None,
        patience_seconds: float = 0.0,
    ) -> None:
        unwritable = unwritable or partial(_unwritable, path)
        if not os.access(path.parent, os.W_OK):  # a lock file that is there could still be locked
            raise unwritable("the folder is read-only or does not exist")
        # Any thread may release it. A file system without locks is an error: the substitute, a
        # file that is removed in the end, would outlive a holder that was killed.
        self._lock = FileLock(path, thread_local=False, fallback_to_soft=False)
        try:
            self._lock.acquire(timeout=patience_seconds, poll_interval=0.02)
        except Timeout:
            raise in_use from None
        except OSError as error:
            raise unwritable(error.strerror or str(error)) from error

    def release(self) -> None:
        """Let another have it."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _unwritable(path: Path, reason: str) -> StorageError:
    return StorageError(
        f"{path} cannot be written ({reason}). Check that you may write in that folder."
    )


def is_held(path: Path) -> bool | None:
    """Whether somebody holds the lock file; ``None`` where one cannot try.

    Trying takes the lock for some microseconds: who wants it must be a little patient.
    """
    if not path.exists():
        return False
    lock = FileLock(path, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    except OSError:
        return None
    lock.release()
    return False
