"""What the garbage collector does while a crawl runs."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import cache

_SELDOM = (20_000, 20, 100)
"""How often it looks: after so many new records."""


def collect_seldom() -> Callable[[], None]:
    """Let the garbage collector look seldom, and not at what is there already; undone by a call.

    A page brings hundreds of records that refer to nothing else, and models stay for the whole
    crawl: looking through them took a sixth of its CPU time.
    """
    before = gc.get_threshold()
    goes_beside_another_crawl = before == _SELDOM
    is_ours = not goes_beside_another_crawl and not _was_frozen_before_all_crawls()
    gc.freeze()
    gc.set_threshold(*_SELDOM)

    def undo() -> None:
        gc.set_threshold(*before)
        if is_ours:
            gc.unfreeze()

    return undo


@cache
def _was_frozen_before_all_crawls() -> bool:
    """Asked once: all that is frozen is counted one by one."""
    return gc.get_freeze_count() > 0
