"""Columns of numbers that grow with the frontier."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

_FIRST_ROOM = 1024
_Number = TypeVar("_Number", bound=np.generic)


def grown(column: npt.NDArray[_Number], size: int) -> npt.NDArray[_Number]:
    """A copy of the column with room for ``size`` numbers, and a quarter more.

    Room that is not used yet takes no memory: the system gives it out on first use.
    """
    roomier = np.empty(max(size + size // 4, _FIRST_ROOM), column.dtype)
    roomier[: column.size] = column
    return roomier
