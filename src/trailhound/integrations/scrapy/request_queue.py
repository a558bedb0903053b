"""Scrapy's requests in a frontier, each under its fingerprint.

The frontier's order is one number per entry. Here it holds two things: the request's own priority,
a whole number, comes first; among equals the rank that a strategy gave decides, to nine digits.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from trailhound.frontier.base import Frontier, Rescore, UrlStatus, checked_priority
from trailhound.records import Candidate, Outcome

UNRANKED = math.inf
"""The rank of what no page has led to, such as start requests: before all others."""
REMEMBERED = 20_000
"""What is looked up in memory before it is looked for elsewhere; then it begins anew."""

_DOUBLE, _WORD = struct.Struct("<d"), struct.Struct("<Q")
_ALL, _SIGN = 2**64 - 1, 2**63
_CUT = 22
_STEPS = 2.0 ** (64 - _CUT)
"""Ranks are told apart by their 42 leading bits: as many as fit behind priorities up to 2,000."""


def combined(own: int, rank: float) -> float:
    """The priority of a request in the frontier; the same order as that of the pairs."""
    bits = _WORD.unpack(_DOUBLE.pack(rank + 0.0))[0]  # no negative zero
    ascending = bits ^ _ALL if bits & _SIGN else bits | _SIGN
    return float(own + (ascending >> _CUT) / _STEPS)


def rank_in(priority: float) -> float:
    """The rank within a priority, rounded."""
    ascending = int((priority - math.floor(priority)) * _STEPS) << _CUT
    bits = ascending ^ _SIGN if ascending & _SIGN else ascending ^ _ALL
    return float(_DOUBLE.unpack(_WORD.pack(bits))[0])


class Waiting(msgspec.Struct, frozen=True, array_like=True):
    """What the frontier remembers of a request."""

    url: str
    """Canonical and without tracking, as strategies know it; empty for what is not of the web."""
    own: int = 0
    """The request's own priority."""
    memory: bytes = b""
    """The strategy's."""
    request: bytes = b""
    """Empty for a request that is kept elsewhere."""


class Entry(NamedTuple):
    """A request on its way into the queue or out of it."""

    key: str
    rank: float
    parent: str | None
    waiting: Waiting


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Waiting).decode


class RequestQueue:
    """The requests that wait in ``frontier``, which must have been used for nothing else.

    ``is_ranked_anew`` says whether there will be calls of ``rescore``.
    """

    def __init__(self, frontier: Frontier, *, is_ranked_anew: bool) -> None:
        self._frontier = frontier
        self._serial = itertools.count(frontier.stats().discovered)
        self._by_url: dict[str, tuple[str, int]] = {}
        """Key and own priority of one request for each URL that waits, if it will matter."""
        self._met: dict[str, float] = {}
        """Keys with the best priority they came with: most duplicates need no look at the disk."""
        self._is_ranked_anew = is_ranked_anew
        if is_ranked_anew:
            frontier.rescore(self._read_again)

    def _read_again(self, keys: Mapping[str, bytes]) -> None:
        """What waits since an earlier run; nothing moves."""
        for key, memory in keys.items():
            self._note(key, _decode(memory))

    def _note(self, key: str, waiting: Waiting) -> None:
        if self._is_ranked_anew and waiting.url:
            self._by_url[waiting.url] = key, waiting.own

    def __len__(self) -> int:
        return self._frontier.stats().waiting

    def key(self, fingerprint: bytes, *, is_filtered: bool) -> str:
        """The name of a request; another one each time when duplicates of it are wanted."""
        # All in the queue of one host, which has no name.
        name = f"http:///{fingerprint.hex()}"
        return name if is_filtered else f"{name}.{next(self._serial)}"

    def lift(self, key: str, own: int, rank: float, memory: bytes, parent: str | None) -> bool:
        """Whether a request is known by its key; one that waits is lifted by a better rank."""
        priority = combined(own, rank)
        if priority <= self._met.get(key, -math.inf):
            return True
        if self._frontier.outcome_of(key) is None:
            state = self._frontier.state_of(key)
            if state is None:
                return False
            first = state.candidate
            if state.status is UrlStatus.WAITING and first and priority > first.priority:
                before = _decode(first.memory)
                waiting = Waiting(before.url, own, memory, before.request)
                self.push(Entry(key, rank, parent, waiting))
        self._meet(key, priority)
        return True

    def _meet(self, key: str, priority: float) -> None:
        if len(self._met) >= REMEMBERED:
            self._met.clear()
        self._met[key] = priority

    def push(self, entry: Entry) -> None:
        """Let a request wait that is not known yet."""
        key, rank, parent, waiting = entry
        checked_priority(Candidate(waiting.url, rank))
        self.add([Candidate(key, combined(waiting.own, rank), _encode(waiting), parent)])
        self._note(key, waiting)

    def add(self, candidates: Iterable[Candidate]) -> int:
        """What the frontier does, for keys instead of URLs."""
        return self._frontier.add(candidates)

    def pop(self) -> Entry | None:
        """Lease the best request; ``None`` when none waits."""
        for candidate in self._frontier.lease(1, 0.0):
            waiting = _decode(candidate.memory)
            if self._by_url.get(waiting.url, ("", 0))[0] == candidate.url:
                del self._by_url[waiting.url]
            return Entry(candidate.url, rank_in(candidate.priority), candidate.parent, waiting)
        return None

    def finish(self, key: str, outcome: Outcome = Outcome.FETCHED) -> None:
        """End a lease; one that is not ended waits again at the next start."""
        self._frontier.finish(key, outcome)

    def rescore(self, score: Rescore, limit: int | None = None) -> int:
        """Let ``score``, which speaks of URLs, rank waiting requests anew."""
        return self._frontier.rescore(
            lambda keys: self._by_key(score(_ByUrl(keys, self._by_url))), limit
        )

    def _by_key(self, ranks: Mapping[str, float] | None) -> dict[str, float] | None:
        if ranks is None:
            return None
        known = ((self._by_url.get(url), rank) for url, rank in ranks.items())
        return {found[0]: combined(found[1], rank) for found, rank in known if found is not None}

    def close(self) -> None:
        """Give the frontier free."""
        self._frontier.close()


class _ByUrl(Mapping[str, bytes]):
    """What a strategy is shown: waiting URLs with its own memories."""

    def __init__(self, keys: Mapping[str, bytes], known: Mapping[str, tuple[str, int]]) -> None:
        self._keys = keys
        self._known = known
        self._found: dict[str, bytes] | None = None

    def _read(self) -> dict[str, bytes]:
        if self._found is None:
            read = map(_decode, self._keys.values())
            self._found = {each.url: each.memory for each in read}
        return self._found

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __contains__(self, url: object) -> bool:
        """Without reading memories."""
        known = self._known.get(url) if isinstance(url, str) else None
        return known is not None and known[0] in self._keys

    def __getitem__(self, url: str) -> bytes:
        return self._read()[url]
