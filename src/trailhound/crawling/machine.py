"""The machine that a crawl runs on: room on its disk, and its memory, looked through seldom.

A crawl waits before the disk is full, and then goes on.
"""

from __future__ import annotations

import gc
import math
import shutil
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from threadpoolctl import threadpool_info, threadpool_limits

from trailhound.counting import in_bytes

LOOK_EVERY_SECONDS = 1.0
"""Between two looks at the disk; each costs some microseconds."""
ROOM_AGAIN = 1.1
"""Times as much as may be left must be free before the crawl goes on: it should not stutter."""

FreeBytes = Callable[[Path], float]
"""How many bytes may be written to the disk that holds a folder."""


def free_bytes(folder: Path) -> float:
    """As the system tells; without end where it does not."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return math.inf


class DiskWatch:
    """Looks at the disk of ``folder``, now and then, and tells when the crawl waits or goes on.

    There is no room while less than ``min_free`` bytes are free; 0 is never too little. ``clock``
    never jumps.
    """

    def __init__(
        self,
        folder: Path,
        min_free: int,
        tell: Callable[[str], None] = lambda _: None,
        *,
        free: FreeBytes = free_bytes,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._min_free = min_free
        self._tell = tell
        self._free = free
        self._clock = clock
        self._looked_at = -math.inf
        self._short_since: float | None = None
        self._short_before = 0.0
        self.state = ""
        """Why the crawl waits, in words; empty while there is room."""

    @property
    def seconds_waited(self) -> float:
        """How long there was no room."""
        now = self._clock()
        return self._short_before + (0.0 if self._short_since is None else now - self._short_since)

    def has_room(self) -> bool:
        """Whether more may be written."""
        now = self._clock()
        if self._min_free and now - self._looked_at >= LOOK_EVERY_SECONDS:
            self._looked_at = now
            self._look(now)
        return self._short_since is None

    def _look(self, now: float) -> None:
        free = self._free(self._folder)
        if self._short_since is None and free < self._min_free:
            self._short_since = now
            self._tell(
                f"Only {in_bytes(free)} are free where the crawl is kept ({self._folder}). It "
                f"waits until there are {in_bytes(ROOM_AGAIN * self._min_free)}: make room, or "
                "stop it with Ctrl-C and resume with a smaller --min-free."
            )
        elif self._short_since is not None and free >= ROOM_AGAIN * self._min_free:
            self._short_before += now - self._short_since
            self._short_since = None
            self._tell("There is room on the disk again: the crawl goes on.")
        self.state = "" if self._short_since is None else f"waits: only {in_bytes(free)} are free"


_SELDOM = (20_000, 20, 100)
"""How often it looks: after so many new records."""


class _WhileAnyCrawls:
    """Something of the whole process that is so while any crawl runs in it, whichever ends first.

    ``begin`` is called for each, and gives what undoes it, if there was anything to do.
    """

    def __init__(self, begin: Callable[[], Callable[[], object] | None]) -> None:
        self._begin = begin
        self._lock = threading.RLock()  # a crawl that is garbage may end as another begins
        self._crawls = 0
        self._undo: list[Callable[[], object]] = []

    def __call__(self) -> Callable[[], None]:
        """A crawl begins; what to call, once, when it has ended."""
        with self._lock:
            self._crawls += 1
            if (undo := self._begin()) is not None:
                self._undo.append(undo)
        return self._end

    def _end(self) -> None:
        with self._lock:
            self._crawls -= 1
            while not self._crawls and self._undo:
                self._undo.pop()()


def _collect_seldom() -> Callable[[], None] | None:
    before, is_frozen_by_others = gc.get_threshold(), _was_frozen_before_all_crawls()
    gc.freeze()
    gc.set_threshold(*_SELDOM)

    def undo() -> None:
        gc.set_threshold(*before)
        if not is_frozen_by_others:
            gc.unfreeze()

    return undo if before != _SELDOM else None


collect_seldom = _WhileAnyCrawls(_collect_seldom)
"""Let the garbage collector look seldom, and not at what is there already; undone by a call.

A page brings hundreds of records that refer to nothing else, and models stay for the whole crawl:
looking through them took a sixth of its CPU time.
"""


def _calculate_in_one_thread() -> Callable[[], object] | None:
    has_several = any(library["num_threads"] > 1 for library in threadpool_info())
    return threadpool_limits(limits=1).restore_original_limits if has_several else None


calculate_in_one_thread = _WhileAnyCrawls(_calculate_in_one_thread)
"""As in the workers: sums in another order would let priorities depend on the machine. Undone by a
call."""


@cache
def _was_frozen_before_all_crawls() -> bool:
    """Asked once: all that is frozen is counted one by one."""
    return gc.get_freeze_count() > 0
