"""Picking some of many visits, quickly: this is done for every page that is looked at."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

UserNumbers = NDArray[np.uint32]
_Number = TypeVar("_Number", bound=np.integer[Any])


def distinct(numbers: NDArray[_Number]) -> NDArray[_Number]:
    """In order. Quicker than ``np.unique`` for a few thousand numbers."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def evenly(length: int, limit: int) -> NDArray[np.int64]:
    """At most ``limit`` places at even distances."""
    if length <= limit:
        return np.arange(length)
    return np.arange(limit) * length // limit


def place_of(pages: UserNumbers, times: NDArray[np.float64], page: int, time: float) -> int:
    """Where in a user's history a visit is."""
    place = int(times.searchsorted(time))
    if place < len(pages) and pages[place] == page:
        return place
    # Several pages at the same time: a log of whole seconds.
    beyond = int(times.searchsorted(time, "right"))
    here = np.flatnonzero(pages[place:beyond] == page)
    return place + (int(here[0]) if len(here) else 0)
