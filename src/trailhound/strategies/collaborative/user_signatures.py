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

from trailhound.strategies.collaborative.pair_counts import MAX_SLOTS, PairCounts, pair_keys
from trailhound.strategies.intelligent.interest_rule import Counts, InterestRule, Vector


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


Users = NDArray[np.int64]
Columns = tuple[bytes, bytes, bytes]


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
        self._add_up(owners[counted], seen[counted], found[counted], relevant)

    def _add_up(
        self, owners: Users, seen: NDArray[np.int64], found: NDArray[np.int64], relevant: bool
    ) -> None:
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

    def interest(self, base: float, own_rates: Vector | None = None) -> tuple[Users, Vector]:
        """(4): users with signatures, and SF of each.

        The mean over a user's signatures is divided by ``own_rates``, P(V) of each of
        :attr:`users`, or by the base rate P(U). A user for whom that is 0 has no SF.
        """
        users = self.users
        sums = self._hits[users].astype(np.float64) + base * self._rest[users]
        below = np.full(len(users), base) if own_rates is None else own_rates
        known = below > 0
        return users[known], (sums / self._sizes[users])[known] / below[known]

    def log_interest(self, base: float, own_rates: Vector | None = None) -> tuple[Users, Vector]:
        """Users whose SF stands out by (8), and its logarithm."""
        users, interest = self.interest(base, own_rates)
        chosen = outliers(interest, self._rule.significance)
        return users[chosen], log_of(self._rule, interest[chosen])

    def log_interest_in(
        self,
        users: Users,
        pages: NDArray[np.int64],
        shown: Sequence[NDArray[np.int64]],
        below: Vector,
        base: float,
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


def _spread_out(
    pages: NDArray[np.int64], shown: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
