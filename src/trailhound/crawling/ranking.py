"""What a crawl asks its strategy between pages: where to go on, and how to rank what waits.

A strategy may be somebody else's. What it fails at here is noted, and the crawl goes on without.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple, Protocol

from trailhound.crawling.answers import Troubles, checked_candidate, name_of
from trailhound.errors import ConfigError, StorageError, plugin_faults
from trailhound.frontier.base import Rescore
from trailhound.records import Candidate, Outcome
from trailhound.strategies.base import (
    RESCORE_EVERY,
    Entering,
    News,
    Regretting,
    Rescoring,
    Restocking,
    Sharing,
    Strategy,
)

RESTOCK_ATTEMPTS = 50
"""Times that a strategy is asked for more when all it named was known or out of scope."""

_THERE_IS_A_PAGE = frozenset({Outcome.FETCHED, Outcome.NOT_MODIFIED})


class Pace(NamedTuple):
    """Numbers that a strategy says of itself; see :class:`~trailhound.strategies.base.Strategy`."""

    rescore_every: int
    rescore_best: int | None
    much_better: float | None


def pace_of(strategy: object) -> Pace:
    """Its numbers; ConfigError for what is none: asked once, before anything is fetched."""
    every = _number(strategy, "rescore_every", RESCORE_EVERY, Integral)
    best = _number(strategy, "rescore_best", None, Integral)
    better = _number(strategy, "much_better", None, Real)
    if every is None:
        raise _no_number(strategy, "rescore_every", "None")
    return Pace(
        int(every), None if best is None else int(best), None if better is None else float(better)
    )


def _number(strategy: object, name: str, default: float | None, kind: type) -> float | None:
    least = 1 if kind is Integral else -math.inf
    try:
        value: Any = getattr(strategy, name, default)
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        number, shown = float(value) if is_number else math.nan, reprlib.repr(value)
    except plugin_faults() as error:
        raise _no_number(strategy, name, f"{type(error).__name__}: {error}") from error
    if value is None:
        return None
    if not number >= least:
        raise _no_number(strategy, name, shown)
    return number


def _no_number(strategy: object, name: str, shown: str) -> ConfigError:
    wanted = "a number" if name == "much_better" else "a whole number above 0"
    return ConfigError(
        f"The strategy {name_of(strategy)} has {name} = {shown}, which should be {wanted}. Repair "
        "it, or uninstall the package that provides it."
    )


class RankedQueue(Protocol):
    """What is needed of a frontier here."""

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Queue unseen URLs; return how many were new."""
        ...

    def rescore(self, score: Rescore, limit: int | None = None) -> int:
        """Let ``score`` give waiting URLs new priorities; return how many changed."""
        ...


class Ranking:
    """Asks one strategy about one frontier."""

    def __init__(
        self,
        strategy: Strategy,
        frontier: RankedQueue,
        in_scope: Callable[[str], bool] | None,
        troubles: Troubles,
    ) -> None:
        self._entering = strategy if isinstance(strategy, Entering) else None
        self._rescoring = strategy if isinstance(strategy, Rescoring) else None
        pace = pace_of(strategy)
        self._rescore_every, self._rescore_best = pace.rescore_every, pace.rescore_best
        self._restocking = strategy if isinstance(strategy, Restocking) else None
        self._regretting = strategy if isinstance(strategy, Regretting) else None
        self._sharing = strategy if isinstance(strategy, Sharing) else None
        self._frontier = frontier
        self._in_scope = in_scope or (lambda _url: True)
        self._troubles = troubles
        self._has_entered = False

    def enter(self) -> None:
        """Ask a strategy that knows ways in for them, besides the seeds."""
        self._has_entered = True
        if self._entering is not None:
            self._add(partial(self._entering.entrances, self._in_scope), "where to begin")

    def restock(self) -> bool:
        """Ask a strategy that knows more where to go on; whether there is something new."""
        if self._restocking is None:
            return False
        for _ in range(RESTOCK_ATTEMPTS):
            named, new = self._add(self._restocking.restock, "where to go on")
            if new or not named:
                return bool(new)
        return False

    def _add(self, ask: Callable[[], Iterable[Candidate]], asked: str) -> tuple[int, int]:
        """Queue what the strategy names: how many, and how many were new; none when it fails."""
        try:
            found = [checked_candidate(each) for each in ask()]
            wanted = [each for each in found if self._in_scope(each.url)]
        except plugin_faults() as error:
            self._troubles.note(f"The strategy, asked {asked},", error)
            return 0, 0
        return len(found), self._frontier.add(wanted)

    def regret(self, candidate: Candidate, outcome: Outcome) -> None:
        """Tell a strategy that wants to know how a candidate ended that brought no page."""
        if self._regretting is None or outcome in _THERE_IS_A_PAGE:
            return
        try:
            self._regretting.regret(candidate, outcome)
        except plugin_faults() as error:
            self._troubles.note("The strategy, told of a failure,", error)

    def rank_anew(self, pages: int) -> None:
        """After so many pages: what waits by what was learned since, if it is time for that.

        A strategy may have more to begin with as well (``is_entry_due``), in a crawl that enters.
        """
        if self._has_entered and self._is_due(self._entering, "is_entry_due"):
            self.enter()
        if self._rescoring is None:
            return
        if pages % self._rescore_every == 0 or self._is_due(self._rescoring, "is_rank_due"):
            self._frontier.rescore(self._new_scores, self._rescore_best)

    def _is_due(self, strategy: object, name: str) -> bool:
        try:
            return bool(getattr(strategy, name, False))
        except plugin_faults() as error:
            self._troubles.note(f"The strategy, asked for {name},", error)
            return False

    def heed(self, news: Sequence[News]) -> None:
        """Let a strategy learn from pages that others have fetched, and rank by that what waits."""
        if self._sharing is None:
            return
        try:
            self._sharing.heed(news)
        except plugin_faults() as error:
            self._troubles.note("The strategy, told what others have learned,", error)
        if self._rescoring is not None:
            self._frontier.rescore(self._new_scores, self._rescore_best)

    def _new_scores(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """What the strategy says of waiting candidates; nothing has moved when that fails."""
        if self._rescoring is None:
            return None
        try:
            scores = self._rescoring.rescore(candidates)
            if scores is not None and any(map(math.isnan, scores.values())):
                raise ValueError("a priority is not a number")
        except StorageError:  # of the frontier, whose mapping it is
            raise
        except plugin_faults() as error:
            self._troubles.note("The strategy, ranking anew what waits,", error)
            return None
        return scores
