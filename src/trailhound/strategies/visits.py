"""Finding one's way in the histories of a trace."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def evenly(length: int, limit: int) -> NDArray[np.int64]:
    """At most ``limit`` places at even distances."""
    if length <= limit:
        return np.arange(length)
    return np.arange(limit) * length // limit


def place_of(pages: NDArray[np.uint32], times: NDArray[np.float64], page: int, time: float) -> int:
    """Where in a user's history a visit is."""
    place = int(times.searchsorted(time))
    if place < len(pages) and pages[place] == page:
        return place
    # Several pages at the same time: a log of whole seconds.
    beyond = int(times.searchsorted(time, "right"))
    here = np.flatnonzero(pages[place:beyond] == page)
    return place + (int(here[0]) if len(here) else 0)
