"""What the users of a page say about it: formulas of Aggarwal (2002), and users' signatures.

The formulas are interest ratios as in :mod:`trailhound.strategies.intelligent.interest_rule`, whose
rule says how counts become ratios; the event is that a user has opened a page. Numbers in brackets
are the paper's. Ratios are natural logarithms throughout: products become sums, and 0 says nothing
either way.

A signature is a word of a page, or a topic it is near to. For every user, K holds (5) how many of
his crawled pages have a signature and (6) how many of them were relevant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trailhound.strategies.intelligent.interest_rule import Counts, InterestRule, Vector

Keys = NDArray[np.uint64]

FIRST_SLOTS = 1 << 12
MAX_SLOTS = 1 << 23
"""12 bytes each; half of them are used at most, so that four million pairs need 100 MB."""
GROWTH = 8
"""Rarely and by much: a table that is nearly empty is searched twice as fast."""
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # spreads neighbouring keys over the table
_FREE = np.uint64(0)


def deviations(rule: InterestRule, hits: Counts, seen: Counts, base: float, total: int) -> Vector:
    """(3): standard deviations between a user's share of relevant pages and the base rate.

    The share of q pages varies as q pages do; the paper divides by the root of all ``total``.
    """
    if not 0 < base < 1:
        return np.zeros(len(seen))
    samples = np.full(len(seen), total) if rule.literal else seen
    shares = hits / np.maximum(seen, 1)
    return np.abs(shares - base) * np.sqrt(samples / (base * (1 - base))) * (seen > 0)


def share(rule: InterestRule, hits: Counts, seen: Counts, base: float) -> Vector:
    """P(U given a user), drawn towards the base rate unless the rule is literal; 0 for nothing."""
    kappa = 0.0 if rule.literal else rule.smoothing
    shares: Vector = (hits + kappa * base) / np.maximum(seen + kappa, 1e-12)
    return shares


def product(rule: InterestRule, logs: Vector, owners: NDArray[np.int64], n_owners: int) -> Vector:
    """(2), (5): the ratios of each page's users, multiplied. Shape (n_owners,).

    Users of one page are no independent witnesses, and a popular page has many: the sum of their
    logarithms is divided by the root of their number. The literal product is plain.
    """
    sums = np.bincount(owners, logs, n_owners).astype(np.float64)
    if rule.literal:
        return sums
    counts = np.bincount(owners, minlength=n_owners)
    return sums / np.sqrt(np.maximum(counts, 1))


def log_of(rule: InterestRule, ratios: Vector) -> Vector:
    """Logarithms of ratios, with the rule's bounds on what one user may say."""
    return rule.bounded(np.log(np.maximum(ratios, 1e-6)))


def outliers(values: Vector, threshold: float) -> NDArray[np.bool_]:
    """(6), (7), (8): which values are at least so many standard deviations from their mean.

    None of them when all are equal.
    """
    spread = float(values.std()) if values.size else 0.0
    if spread <= 1e-12:
        return np.zeros(values.shape, np.bool_)
    far: NDArray[np.bool_] = np.abs(values - values.mean()) / spread >= threshold
    return far


Users = Counts
Columns = tuple[bytes, bytes, bytes]


def pair_keys(first: Counts, second: Counts) -> Keys:
    """One key for each pair of numbers below 2³²; ``second`` is above 0."""
    return (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)


class PairCounts:
    """How often pairs were seen, and how often with a hit: millions of them, in an open hash table.

    What is not in it when it is full is passed over from then on.
    """

    def __init__(self, max_slots: int = MAX_SLOTS) -> None:
        self._max_slots = max_slots
        self._size = 0
        self._make(min(FIRST_SLOTS, max_slots))

    def _make(self, n_slots: int) -> None:
        self._keys: Keys = np.zeros(n_slots, np.uint64)
        self._seen = np.zeros(n_slots, np.uint16)
        self._hits = np.zeros(n_slots, np.uint16)
        self._shift = np.uint64(65 - n_slots.bit_length())

    def __len__(self) -> int:
        return self._size

    def of(self, keys: Keys) -> tuple[Counts, Counts]:
        """Times seen and hits of each key."""
        return self._counts(*self._find(keys))

    def _counts(self, slots: Counts, found: NDArray[np.bool_]) -> tuple[Counts, Counts]:
        seen = np.where(found, self._seen[slots], 0).astype(np.int64)
        return seen, np.where(found, self._hits[slots], 0).astype(np.int64)

    def add(self, keys: Keys, hit: bool) -> tuple[Counts, Counts, NDArray[np.bool_]]:
        """See keys once more, none of them twice.

        Returns what had been counted before, and which keys are counted now.
        """
        self._make_room(len(keys))
        slots, counted = self._find(keys, insert=2 * (self._size + len(keys)) <= len(self._keys))
        before = self._counts(slots, counted)
        counted &= self._seen[slots] < np.iinfo(np.uint16).max
        self._seen[slots[counted]] += np.uint16(1)
        if hit:
            self._hits[slots[counted]] += np.uint16(1)
        return *before, counted

    def _make_room(self, n_more: int) -> None:
        n_slots = len(self._keys)
        while 2 * (self._size + n_more) > n_slots and n_slots < self._max_slots:
            n_slots = min(GROWTH * n_slots, self._max_slots)
        if n_slots > len(self._keys):
            keys, seen, hits = self.columns()
            self._make(n_slots)
            self._put(keys, seen, hits)

    def _put(self, keys: Keys, seen: NDArray[np.uint16], hits: NDArray[np.uint16]) -> None:
        self._size = 0
        slots, _ = self._find(keys, insert=True)
        self._seen[slots], self._hits[slots] = seen, hits

    def _find(self, keys: Keys, *, insert: bool = False) -> tuple[Counts, NDArray[np.bool_]]:
        """The slot of each key, and whether it is there; ``insert`` puts the others in.

        Keys that meet in one free slot take turns: one of them gets it, the others go on.
        """
        mask = len(self._keys) - 1
        slots = ((keys * _GOLDEN) >> self._shift).astype(np.int64) & mask
        found = np.zeros(len(keys), np.bool_)
        searching = np.arange(len(keys))
        while len(searching):
            places, wanted = slots[searching], keys[searching]
            there = self._keys[places]
            free = there == _FREE
            if insert and free.any():
                self._keys[places[free]] = wanted[free]
                there = self._keys[places]
                self._size += int((there[free] == wanted[free]).sum())
                free[:] = False
            same = there == wanted
            found[searching[same]] = True
            searching = searching[~(same | free)]
            slots[searching] = (slots[searching] + 1) & mask
        return slots, found

    def columns(self) -> tuple[Keys, NDArray[np.uint16], NDArray[np.uint16]]:
        """All keys with their counts."""
        used = np.flatnonzero(self._keys)
        return self._keys[used], self._seen[used], self._hits[used]

    def restore(self, keys: Keys, seen: NDArray[np.uint16], hits: NDArray[np.uint16]) -> None:
        """Fill an empty table with such columns; ValueError when they are more than it keeps."""
        self._make_room(len(keys))
        if 2 * len(keys) > len(self._keys):
            raise ValueError(f"it has {len(keys)} pairs, too many")
        self._put(keys, seen, hits)


class SignatureCounts:
    """Counts of signatures by user, and the interest that follows from them.

    For each user two sums are kept up to date, so that (4) is quick whatever P(U) becomes::

        Σ_j (r^u + κ·P) / (r + κ)  =  Σ_j r^u/(r + κ)  +  P · Σ_j κ/(r + κ)
    """

    def __init__(self, rule: InterestRule, n_users: int, max_slots: int = MAX_SLOTS) -> None:
        self._rule = rule
        self._kappa = 0.0 if rule.literal else rule.smoothing
        self._pairs = PairCounts(max_slots)
        self._hits = np.zeros(n_users, np.float32)
        self._rest = np.zeros(n_users, np.float32)
        self._sizes = np.zeros(n_users, np.int32)

    def see(self, users: Users, signatures: Sequence[int], relevant: bool) -> None:
        """A page with these signatures (above 0) was crawled; these users had read it."""
        if not len(users) or not signatures:
            return
        owners = np.repeat(users, len(signatures))
        keys = pair_keys(owners, np.tile(np.array(signatures, np.int64), len(users)))
        seen, found, counted = self._pairs.add(keys, relevant)
        owners, seen, found = owners[counted], seen[counted], found[counted]
        kappa, again = self._kappa, seen > 0
        before = np.maximum(seen + kappa, 1e-12)
        hits = (found + relevant) / (seen + 1 + kappa) - np.where(again, found / before, 0.0)
        rest = kappa / (seen + 1 + kappa) - np.where(again, kappa / before, 0.0)
        np.add.at(self._hits, owners, hits.astype(np.float32))
        np.add.at(self._rest, owners, rest.astype(np.float32))
        np.add.at(self._sizes, owners, (~again).astype(np.int32))

    def of(self, user: int, signature: int) -> tuple[int, int]:
        """K(5) and K(6): r and r^u."""
        seen, hits = self._pairs.of(pair_keys(np.array([user]), np.array([signature])))
        return int(seen[0]), int(hits[0])

    @property
    def users(self) -> Users:
        """Users with signatures."""
        return np.flatnonzero(self._sizes)

    def interest(self, base: float, below: Vector) -> tuple[Users, Vector]:
        """(4): users with signatures, and SF of each.

        The mean over a user's signatures is divided by ``below``, P(V) or P(U) for each of
        :attr:`users`. A user for whom that is 0 has no SF.
        """
        users = self.users
        sums = self._hits[users].astype(np.float64) + base * self._rest[users]
        known = below > 0
        return users[known], (sums / self._sizes[users])[known] / below[known]

    def log_interest_in(
        self, users: Users, pages: Counts, shown: Sequence[Counts], below: Vector, base: float
    ) -> Vector:
        """SF of users over those of their signatures that a page shows before it is fetched.

        ``pages`` has a page for each of ``users``, by its place in ``shown``, and ``below`` what
        SF is divided by. 0 where a user has met none of the signatures, or when what he did with
        them may be chance, by (3) on the pages that had them.
        """
        n = len(users)
        owners, signatures = _spread_out(pages, shown)
        seen, hits = self._pairs.of(pair_keys(users[owners], signatures))
        met = seen > 0
        owners, seen, hits = owners[met], seen[met], hits[met]
        shares = np.bincount(owners, share(self._rule, hits, seen, base), n)
        means = shares / np.maximum(np.bincount(owners, minlength=n), 1)
        total = np.bincount(owners, seen, n).astype(np.int64)
        found = np.bincount(owners, hits, n).astype(np.int64)
        far = deviations(self._rule, found, total, base, int(total.sum()))
        told = (far >= self._rule.significance) & (total > 0) & (below > 0)
        logs: Vector = np.where(told, log_of(self._rule, means / np.maximum(below, 1e-12)), 0.0)
        return logs

    def snapshot(self) -> Columns:
        """All counts."""
        keys, seen, hits = self._pairs.columns()
        return keys.astype("<u8").tobytes(), seen.astype("<u2").tobytes(), hits.tobytes()

    @classmethod
    def restored(
        cls, rule: InterestRule, n_users: int, kept: Columns, max_slots: int = MAX_SLOTS
    ) -> SignatureCounts:
        """Counts that go on from a snapshot; ValueError when it makes no sense."""
        keys, seen, hits = (
            np.frombuffer(column, kind)
            for column, kind in zip(kept, ("<u8", "<u2", "<u2"), strict=True)
        )
        owners = (keys >> np.uint64(32)).astype(np.int64)
        if not len(keys) == len(seen) == len(hits) or owners.max(initial=0) >= n_users:
            raise ValueError("its signatures do not fit")
        counts = cls(rule, n_users, max_slots)
        counts._pairs.restore(keys, seen, hits)
        below = np.maximum(seen + counts._kappa, 1e-12)
        counts._hits[:] = np.bincount(owners, hits / below, n_users)
        counts._rest[:] = np.bincount(owners, counts._kappa / below, n_users)
        counts._sizes[:] = np.bincount(owners, minlength=n_users)
        return counts


def _spread_out(pages: Counts, shown: Sequence[Counts]) -> tuple[Counts, Counts]:
    """For each place in ``pages`` all signatures of its page: the places, and the signatures."""
    if not len(pages) or not shown:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    sizes = np.array([len(each) for each in shown])
    starts = np.cumsum(sizes) - sizes
    repeats = sizes[pages]
    owners = np.repeat(np.arange(len(pages)), repeats)
    ends = np.cumsum(repeats)
    within = np.arange(len(owners)) - np.repeat(ends - repeats, repeats)
    return owners, np.concatenate(shown)[starts[pages][owners] + within]
