"""Columns of an index while they are written, and numbers for keys that come in order."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trailhound.traces.folder import COLUMNS, column_path


class ColumnFiles:
    """Appends to the columns of one half of an index: what it writes to, it closes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, BinaryIO] = {}

    def write(self, column: str, values: ArrayLike) -> None:
        """Append numbers."""
        self.write_bytes(column, np.asarray(values).astype(COLUMNS[column]).tobytes())

    def write_bytes(self, column: str, content: bytes) -> None:
        """Append as it is."""
        file = self._files.get(column)
        if file is None:
            file = self._files[column] = column_path(self._folder, column).open("wb")
        file.write(content)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for file in self._files.values():
            file.close()


class Numbering:
    """Numbers keys that come in order, block by block: equal keys get equal numbers, from 0."""

    def __init__(self) -> None:
        self._last: int | None = None
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def _is_new(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        is_new = np.ones(len(keys), np.bool_)
        is_new[1:] = keys[1:] != keys[:-1]
        if len(keys) and self._last is not None:
            is_new[0] = int(keys[0]) != self._last
        return is_new

    def new(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Keys of the block that have not been numbered yet, and where in it they begin."""
        places = np.flatnonzero(self._is_new(keys))
        return keys[places].copy(), places

    def numbers(self, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The number of each key in the block."""
        if not len(keys):
            return keys.copy()
        numbers = self._count - 1 + np.cumsum(self._is_new(keys))
        self._last, self._count = int(keys[-1]), int(numbers[-1]) + 1
        return numbers.astype(np.uint64)
