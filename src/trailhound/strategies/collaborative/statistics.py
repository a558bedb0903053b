"""The learning statistics K of the collaborative crawler, and a page's interest by them.

Global: (1) pages crawled, (2) relevant ones, (7)–(10) the same inside and outside the temporal
locality of the predicate. For every user: (3) crawled pages that he had opened, (4) relevant ones,
and signatures (5), (6).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.sources import AccessTrace
from trailhound.strategies.collaborative.user_signatures import (
    MAX_SLOTS,
    Columns,
    SignatureCounts,
    deviations,
    log_of,
    outliers,
    product,
    share,
)
from trailhound.strategies.intelligent.interest_rule import InterestRule, Vector
from trailhound.strategies.visits import evenly, place_of

UserNumbers = NDArray[np.uint32]
_Number = TypeVar("_Number", bound=np.integer[Any])


def distinct(numbers: NDArray[_Number]) -> NDArray[_Number]:
    """In order. Quicker than ``np.unique`` for a few thousand numbers."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


_CRAWLED, _RELEVANT, _NEAR = 1, 2, 4

Pages = NDArray[np.int64]


@dataclass(frozen=True)
class Locality:
    """What "near in time" means: ``pages`` before and after, by the same user."""

    pages: int = 2
    gap_seconds: float = 1800.0
    """A longer pause ends it; infinite in the literal reading."""


@dataclass(frozen=True)
class Limits:
    """How much is looked at after one fetch. Of more visits, so many are taken at even distances.

    The literal reading has no limits: ``Limits.none()``.
    """

    users: int = 20
    """Users of the fetched page whose signatures and other pages are looked at."""
    window: int = 10
    """Visits before and after theirs, whose pages are."""
    visits: int = 5_000
    """Visits of the fetched page that count."""
    witnesses: int = 12
    """Visits of a candidate that are asked for an opinion."""
    words: int = 20
    """The most frequent words of a page, which stand for its vocabulary."""
    pair_slots: int = MAX_SLOTS
    """Room for pairs of a user and a signature; half of it is used."""
    candidates: int = 20
    """Candidates queued after one fetch, best first; the others when they are met again."""
    first_candidates: int = 1000
    """Candidates that the session may bring in before the first fetch has said anything."""

    @classmethod
    def none(cls) -> Limits:
        """Everything is looked at, whatever it costs."""
        return cls(*(sys.maxsize for _ in fields(cls)))


@dataclass(frozen=True)
class PageInterest:
    """Logarithms of the three factors for some pages; shapes (n_pages,)."""

    frequency: Vector
    """I^B (2)."""
    signature: Vector
    """I^SF (5), as far as users differ in general."""
    locality: Vector
    """I^TL (10), (11)."""
    users: NDArray[np.int64]
    """Users of the pages that something is known of …"""
    owners: NDArray[np.int64]
    """… and for each of them the place of the page."""

    @property
    def total(self) -> Vector:
        """I^C (12)."""
        return self.frequency + self.signature + self.locality

    def of(self, chosen: NDArray[np.int64]) -> PageInterest:
        """Those of some of the pages."""
        places = np.full(len(self.frequency), -1)
        places[chosen] = np.arange(len(chosen))
        owners = places[self.owners]
        return PageInterest(
            self.frequency[chosen],
            self.signature[chosen],
            self.locality[chosen],
            self.users[owners >= 0],
            owners[owners >= 0],
        )


class KeptStatistics(msgspec.Struct, frozen=True, array_like=True):
    """K as it is written down; users and pages that nothing is known of are left out."""

    trace: tuple[int, int, int]
    """Accesses, users and pages of the trace: numbers mean nothing in another one."""
    totals: tuple[int, int, int, int, int, int]
    users: bytes
    seen: bytes
    hits: bytes
    pages: bytes
    states: bytes
    signatures: Columns


class VisitStatistics:
    """K over one trace. One byte for each page and 32 for each user of it."""

    def __init__(
        self,
        trace: AccessTrace,
        rule: InterestRule,
        *,
        locality: Locality | None = None,
        limits: Limits | None = None,
        own_divisor: bool = False,
    ) -> None:
        self.trace = trace
        self.rule = rule
        self.limits = limits or Limits()
        self.signatures = SignatureCounts(rule, trace.n_users, self.limits.pair_slots)
        self._locality = locality or Locality()
        self._own_divisor = own_divisor
        self.crawled = self.relevant = 0
        self.inside = self.inside_relevant = 0
        self.outside = self.outside_relevant = 0
        self.seen = np.zeros(trace.n_users, np.int64)
        self.hits = np.zeros(trace.n_users, np.int64)
        self._states = np.zeros(trace.n_pages, np.uint8)
        self._log_signature = np.zeros(trace.n_users, np.float32)
        self._signature_users: NDArray[np.int64] = np.zeros(0, np.int64)

    @property
    def base_rate(self) -> float:
        """P(U)."""
        return self.rule.base_rate(self.relevant, self.crawled)

    def is_crawled(self, pages: Pages) -> NDArray[np.bool_]:
        """Whether each page has been crawled."""
        return (self._states[pages] & _CRAWLED) > 0

    def is_near(self, pages: Pages) -> NDArray[np.bool_]:
        """Whether each page is in TL(U) (9)."""
        return (self._states[pages] & _NEAR) > 0

    def mark_crawled(self, page: int) -> None:
        """Another address of a crawled page: no candidate any more."""
        self._states[page] |= _CRAWLED

    # Learning

    def see(self, page: int | None, relevant: bool, signatures: Sequence[int]) -> Pages:
        """A page was crawled; ``page`` is its number in the trace.

        Returns the pages that its users opened around it: those whose interest may have moved.
        """
        if page is not None and self._states[page] & _CRAWLED:
            return np.zeros(0, np.int64)
        self.crawled += 1
        self.relevant += relevant
        # (7) to (10), by where the page is known to be when it is crawled.
        if page is not None and self._states[page] & _NEAR:
            self.inside += 1
            self.inside_relevant += relevant
        else:
            self.outside += 1
            self.outside_relevant += relevant
        if page is None:
            return np.zeros(0, np.int64)
        self._states[page] |= _CRAWLED | (_RELEVANT if relevant else 0)
        users, times = self.trace.visitors(page)
        counted = distinct(users[evenly(len(users), self.limits.visits)])
        self.seen[counted] += 1
        if relevant:
            self.hits[counted] += 1
        some = evenly(len(users), self.limits.users)
        self.signatures.see(distinct(users[some]).astype(np.int64), signatures, relevant)
        visits = zip(users[some].tolist(), times[some].tolist(), strict=True)
        return self._around(page, visits, relevant)

    def _around(self, page: int, visits: Iterable[tuple[int, float]], relevant: bool) -> Pages:
        window, found = self.limits.window, []
        for user, time in visits:
            pages, times = self.trace.history(user)
            at = place_of(pages, times, page, time)
            found.append(pages[max(0, at - window) : at + window + 1])
            if relevant:
                self._mark_near(pages, times, at)
        return distinct(np.concatenate(found)).astype(np.int64)

    def _mark_near(self, pages: UserNumbers, times: Vector, at: int) -> None:
        """(9): the pages just before and after an access to a relevant page."""
        reach, gap = self._locality.pages, self._locality.gap_seconds
        for step in (-1, 1):
            before = float(times[at])
            for place in range(at + step, at + step * (reach + 1), step):
                if not 0 <= place < len(pages) or abs(float(times[place]) - before) > gap:
                    break
                before = float(times[place])
                if pages[place] != pages[at]:
                    self._move_in(int(pages[place]))

    def _move_in(self, page: int) -> None:
        """A page turns out to be near; if it has been crawled, its count moves, too."""
        state = int(self._states[page])
        if state & _NEAR:
            return
        self._states[page] = state | _NEAR
        # The paper counts a page where it was when it was crawled.
        if state & _CRAWLED and not self.rule.literal:
            found = state & _RELEVANT > 0
            self.outside -= 1
            self.outside_relevant -= found
            self.inside += 1
            self.inside_relevant += found

    # Judging

    def refresh_signatures(self) -> None:
        """(4) to (8) for all users, by what is known now."""
        self._log_signature[self._signature_users] = 0.0
        divisors = self.divisors(self.signatures.users)
        users, interest = self.signatures.interest(self.base_rate, divisors)
        chosen = outliers(interest, self.rule.significance)
        self._signature_users = users[chosen]
        self._log_signature[users[chosen]] = log_of(self.rule, interest[chosen])

    def interest(self, pages: Pages) -> PageInterest:
        """The three factors of pages."""
        users, owners = self.witnesses(pages)
        n, base = len(pages), self.base_rate
        hits, seen = self.hits[users], self.seen[users]
        far = deviations(self.rule, hits, seen, base, self.crawled) >= self.rule.significance
        logs = self.rule.log_ratios(hits[far], seen[far], base)
        frequency = product(self.rule, logs, owners[far], n)
        spoken = self._log_signature[users].astype(np.float64)
        says = spoken != 0
        signature = product(self.rule, spoken[says], owners[says], n)
        found = np.array([self.inside_relevant, self.outside_relevant])
        inside, outside = self.rule.log_ratios(found, np.array([self.inside, self.outside]), base)
        locality = np.where(self.is_near(pages), inside, outside)
        return PageInterest(frequency, signature, locality, users, owners)

    def witnesses(self, pages: Pages) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Users that something is known of, once for each of the pages that they opened.

        Returns the users, and for each of them the place of the page in ``pages``.
        """
        users, owners = self.trace.some_visitors(pages, self.limits.witnesses)
        known = self.seen[users] > 0
        pairs = distinct(owners[known] * self.trace.n_users + users[known])
        return pairs % self.trace.n_users, pairs // self.trace.n_users

    def divisors(self, users: NDArray[np.int64]) -> Vector:
        """What the signatures of users are compared with: P(V) of each, or P(U)."""
        base = self.base_rate
        if not self._own_divisor:
            return np.full(len(users), base)
        return share(self.rule, self.hits[users], self.seen[users], base)

    # Remembering

    def snapshot(self) -> KeptStatistics:
        """All that was learned."""
        users, pages = np.flatnonzero(self.seen), np.flatnonzero(self._states)
        return KeptStatistics(
            self._trace_size(),
            (
                *(self.crawled, self.relevant, self.inside),
                *(self.inside_relevant, self.outside, self.outside_relevant),
            ),
            users.astype("<u4").tobytes(),
            self.seen[users].astype("<i4").tobytes(),
            self.hits[users].astype("<i4").tobytes(),
            pages.astype("<u4").tobytes(),
            self._states[pages].tobytes(),
            self.signatures.snapshot(),
        )

    def _trace_size(self) -> tuple[int, int, int]:
        return len(self.trace), self.trace.n_users, self.trace.n_pages

    def restore(self, kept: KeptStatistics) -> None:
        """Go on from there; ValueError when it makes no sense, and then nothing has changed."""
        if kept.trace != self._trace_size():
            raise ValueError("the trace is another one than before")
        users, pages = np.frombuffer(kept.users, "<u4"), np.frombuffer(kept.pages, "<u4")
        seen, hits = np.frombuffer(kept.seen, "<i4"), np.frombuffer(kept.hits, "<i4")
        states = np.frombuffer(kept.states, np.uint8)
        if not len(users) == len(seen) == len(hits) or len(pages) != len(states):
            raise ValueError("its columns have different lengths")
        if max(users, default=0) >= len(self.seen) or max(pages, default=0) >= len(self._states):
            raise ValueError("it names users or pages that the trace has not")
        signatures = SignatureCounts.restored(
            self.rule, self.trace.n_users, kept.signatures, self.limits.pair_slots
        )
        self.seen[:], self.hits[:], self._states[:] = 0, 0, 0
        self.seen[users], self.hits[users], self._states[pages] = seen, hits, states
        self.signatures = signatures
        self.crawled, self.relevant, self.inside = kept.totals[:3]
        self.inside_relevant, self.outside, self.outside_relevant = kept.totals[3:]
