"""A frontier behind a gate: what comes in and goes out is checked first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trailhound.crawling.gate import LinkGate
from trailhound.frontier.base import Frontier, FrontierStats, Rescore, UrlState
from trailhound.records import Candidate, Outcome


class GuardedFrontier:
    """Any frontier, with a :class:`~trailhound.crawling.gate.LinkGate` in front of it."""

    def __init__(self, inner: Frontier, gate: LinkGate) -> None:
        self._inner = inner
        self._gate = gate
        self.requeue = inner.requeue
        self.mark_seen = inner.mark_seen
        self.outcome_of = inner.outcome_of
        self.delay_host = inner.delay_host
        self.ready_at = inner.ready_at
        self.pages_of = inner.pages_of
        self.ready_in = inner.ready_in

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Queue what the gate admits."""
        admitted = map(self._gate.admit, candidates)
        return self._inner.add(candidate for candidate in admitted if candidate is not None)

    def lease(self, limit: int, now: float) -> Sequence[Candidate]:
        """Hand out what the gate still admits; the rest is ended."""
        leased: list[Candidate] = []
        while len(leased) < limit:
            batch = self._inner.lease(limit - len(leased), now)
            if not batch:
                break
            for candidate in batch:
                if self._gate.admit_fetch(candidate):
                    leased.append(candidate)
                else:
                    self._inner.finish(candidate.url, Outcome.SKIPPED)
        return leased

    def finish(self, url: str, outcome: Outcome) -> None:
        """End a lease. A page that has not changed counts as what it was: fetched."""
        unchanged = outcome is Outcome.NOT_MODIFIED
        self._inner.finish(url, Outcome.FETCHED if unchanged else outcome)

    def state_of(self, url: str) -> UrlState | None:
        """All that is known about a URL."""
        return self._inner.state_of(url)

    def rescore(self, score: Rescore, limit: int | None = None) -> int:
        """Give waiting URLs new priorities."""
        return self._inner.rescore(score, limit)

    def stats(self) -> FrontierStats:
        """Counts, for progress and stop rules."""
        return self._inner.stats()

    def commit(self) -> None:
        """Let everything so far survive a crash."""
        self._inner.commit()

    def close(self) -> None:
        """Release the store."""
        self._inner.close()
