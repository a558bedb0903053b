"""What a strategy gets to see when it re-scores a frontier on disk."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView

import numpy as np

from trailhound.frontier.standings import Numbers, Standings
from trailhound.frontier.store import FrontierStore
from trailhound.records import Candidate


class WaitingMemories(Mapping[str, bytes]):
    """Waiting URLs with their memories, read from the file as they are iterated over.

    ``numbers`` are those of the URLs, ascending; ``number_of`` gives the number of a URL, or 0.
    """

    def __init__(
        self,
        store: FrontierStore,
        standings: Standings,
        numbers: Numbers,
        number_of: Callable[[str], int],
    ) -> None:
        self._store = store
        self._standings = standings
        self._numbers = numbers
        self._number_of = number_of

    def pairs(self) -> Iterator[tuple[str, bytes]]:
        """URLs and memories, in the order in which the URLs were first seen."""
        for number in self._numbers:
            candidate = self._read(int(number))
            yield candidate.url, candidate.memory

    def _read(self, number: int) -> Candidate:
        return self._store.read(number, self._standings.arrivals[number], 0.0)

    def __len__(self) -> int:
        return int(self._numbers.size)

    def __iter__(self) -> Iterator[str]:
        return (url for url, _ in self.pairs())

    def __getitem__(self, url: str) -> bytes:
        number = self._number_of(url)
        at = int(np.searchsorted(self._numbers, number))
        if at == self._numbers.size or self._numbers[at] != number:
            raise KeyError(url)
        return self._read(number).memory

    def items(self) -> ItemsView[str, bytes]:
        """Pairs, in one pass over the file."""
        return _Items(self)

    def values(self) -> ValuesView[bytes]:
        """Memories, in one pass over the file."""
        return _Values(self)


class _Items(ItemsView[str, bytes]):
    _mapping: WaitingMemories

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        return self._mapping.pairs()


class _Values(ValuesView[bytes]):
    _mapping: WaitingMemories

    def __iter__(self) -> Iterator[bytes]:
        return (memory for _, memory in self._mapping.pairs())
