"""Between the links that a strategy scored and the frontier: what is not worth a place there.

Tracking parameters are taken off; traps (:mod:`.traps`), hosts that have had their share and hosts
that DNS does not know are refused, with a reason that is kept.
:class:`GuardedFrontier` puts the gate in front of any frontier.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from trailhound.command_links import COMMANDS_LEFT, LinksToLeave
from trailhound.crawling.traps import ALL_OF, HostBudget, TrapGuard
from trailhound.errors import UNREADABLE
from trailhound.frontier.base import ASKED_FOR, Frontier, FrontierStats, Rescore, UrlState
from trailhound.records import Candidate, FinishedPage, Outcome, Page
from trailhound.urls import host_key, strip_tracking

DNS_FAILURES = 2
"""In a row, after which a host is left alone."""
DNS_REST_SECONDS = 3600.0
"""For so long. Its URLs wait: DNS may have been in trouble, not the host."""

_MAX_DEAD = 10_000


class DeadHosts:
    """Hosts that DNS does not know."""

    def __init__(self) -> None:
        self._failures: OrderedDict[str, int] = OrderedDict()

    def record(self, host: str, unknown: bool) -> bool:
        """Count a fetch; whether ``host`` should be left alone now."""
        if not unknown:
            self._failures.pop(host, None)
            return False
        self._failures[host] = self._failures.get(host, 0) + 1
        if len(self._failures) > _MAX_DEAD:
            self._failures.popitem(last=False)
        return self._failures[host] >= DNS_FAILURES


REFRESH_PRIORITY = ASKED_FOR
"""Of finds that are looked at again: between the seeds and all else."""
STATE_NAME = "link-gate"
SAVE_EVERY = 100
"""Pages between two copies of what the gate remembers; a killed crawl forgets fewer. With many
hosts there are more, so that a page costs the same."""
_HOSTS_PER_PAGE = 20

MAX_ENDED_AT_ONCE = 100
_MAX_ADMITTED = 20_000


Refusal = tuple[str, str, str | None]
"""A URL that was not queued or not fetched by a rule of ours, the reason, who links to it."""


class GateState(msgspec.Struct):
    """What a gate remembers."""

    traps: bytes
    hosts: bytes


def without_hosts(state: bytes, forgotten: Callable[[str], bool]) -> bytes | None:
    """What a gate has saved, without the counts of forgotten hosts; nothing if it is damaged.

    What hosts under one name gave together is counted anew.
    """
    try:
        saved = msgspec.msgpack.decode(state, type=GateState)
        hosts = msgspec.json.decode(saved.hosts, type=dict[str, msgspec.Raw])
    except UNREADABLE:
        return None
    kept = {
        host: counts
        for host, counts in hosts.items()
        if not (forgotten(host) or host.startswith(ALL_OF))
    }
    return msgspec.msgpack.encode(GateState(saved.traps, msgspec.json.encode(kept)))


class GateStore(Protocol):
    """Keeps what a gate remembers, and what it refused."""

    def save_state(self, name: str, data: bytes) -> None:
        """Replace what is kept under ``name``."""
        ...

    def state(self, name: str) -> bytes | None:
        """What is kept under ``name``."""
        ...

    def note_refusals(self, refusals: Iterable[Refusal]) -> None:
        """Keep why URLs were refused."""
        ...


class LinkGate:
    """Asks trap guard and host budget, those that there are; a sink too, as the budget depends on
    what hosts give. Dead hosts are refused in any case.
    """

    def __init__(
        self,
        traps: TrapGuard | None = None,
        hosts: HostBudget | None = None,
        store: GateStore | None = None,
        leaving: LinksToLeave | None = None,
    ) -> None:
        self.traps = traps
        self.hosts = hosts
        self.leaving = leaving
        """Which links of hosts that are read as a person must not be followed."""
        self.looked_at_again: frozenset[str] = frozenset()
        """Finds of earlier runs that are asked for news."""
        self.to_rest: list[str] = []
        """Hosts that DNS does not know, to be left alone; whoever sees to that clears it."""
        self._dead = DeadHosts()
        self._store = store
        self._asked_for: set[str] = set()
        """Seeds. They are named again when a crawl is resumed."""
        self._admitted: set[str] = set()
        self._refused: list[Refusal] = []
        self._pages = self._saved_at = 0
        self._restore()

    def admit(self, candidate: Candidate) -> Candidate | None:
        """The candidate as it should be queued; ``None`` when it should not."""
        if candidate.parent is None and candidate.priority >= ASKED_FOR:
            self._asked_for.add(candidate.url)
        if candidate.url in self._asked_for or candidate.url in self._admitted:
            return candidate
        # What a strategy names by itself it knows by that very address.
        url = strip_tracking(candidate.url) if candidate.parent is not None else candidate.url
        reason = self._reason_against(url)
        if reason is not None:
            self._refused.append((url, reason, candidate.parent))
            return None
        if url == candidate.url:
            if len(self._admitted) >= _MAX_ADMITTED:
                self._admitted.clear()
            self._admitted.add(url)
            return candidate
        return msgspec.structs.replace(candidate, url=url)

    def left_out(self, page: Page) -> frozenset[str]:
        """Addresses of links whose words say that they log out or change something."""
        left = self.leaving.left_out(page.links) if self.leaving is not None else frozenset()
        self._refused += [(url, COMMANDS_LEFT, page.url) for url in left]
        return left

    def _reason_against(self, url: str) -> str | None:
        if self.leaving is not None and self.leaving.is_command(url):
            return COMMANDS_LEFT
        reason = self.traps.reason_against(url) if self.traps is not None else None
        if reason is None and self.hosts is not None:
            reason = self.hosts.reason_against(host_key(url))
        return reason

    def admit_fetch(self, candidate: Candidate) -> bool:
        """Whether a queued candidate should still be fetched: its host may have had its share.

        Another look at a find takes nothing of that.
        """
        was_asked_for = candidate.url in self._asked_for or self._is_another_look(candidate)
        if self.hosts is None or was_asked_for:
            return True
        reason = self.hosts.reason_against(host_key(candidate.url))
        if reason is None:
            return True
        self._refused.append((candidate.url, reason, candidate.parent))
        return False

    def _is_another_look(self, candidate: Candidate) -> bool:
        """Also after it was ranked anew; or as it was queued, before the crawl was resumed."""
        return candidate.priority == REFRESH_PRIORITY or candidate.url in self.looked_at_again

    def keep(self, finished: FinishedPage) -> None:
        """Write down what was refused, and count what the page's host gave."""
        event = finished.event
        host = host_key(event.final_url)
        if self._dead.record(host, event.outcome is Outcome.UNKNOWN_HOST):
            self.to_rest.append(host)
        is_counted = finished.page is not None and not self._is_another_look(finished.candidate)
        if self.hosts is not None and is_counted and event.relevance is not None:
            found = event.relevance.relevant and event.duplicate_of is None
            self.hosts.record(host, found)
            if found and event.parent is not None and host_key(event.parent) != host:
                self.hosts.credit(host_key(event.parent))
        self._pages += 1
        self.write_refusals()
        pause = max(SAVE_EVERY, len(self.hosts or ()) // _HOSTS_PER_PAGE)
        if self._pages - self._saved_at >= pause:
            self._save()

    def close(self) -> None:
        """Keep what is remembered."""
        self.write_refusals()
        self._save()

    def write_refusals(self) -> None:
        """Keep the reasons so far."""
        if self._store is not None and self._refused:
            self._store.note_refusals(self._refused)
        self._refused = []

    def _restore(self) -> None:
        saved = self._store.state(STATE_NAME) if self._store is not None else None
        if saved is None:
            return
        state = msgspec.msgpack.decode(saved, type=GateState)
        if self.traps is not None and state.traps:
            self.traps.restore(state.traps)
        if self.hosts is not None and state.hosts:
            self.hosts.restore(state.hosts)

    def _save(self) -> None:
        self._saved_at = self._pages
        if self._store is not None:
            traps = self.traps.to_bytes() if self.traps is not None else b""
            hosts = self.hosts.to_bytes() if self.hosts is not None else b""
            self._store.save_state(STATE_NAME, msgspec.msgpack.encode(GateState(traps, hosts)))


class GuardedFrontier:
    """Any frontier, with a :class:`LinkGate` in front of it."""

    def __init__(self, inner: Frontier, gate: LinkGate) -> None:
        self._inner = inner
        self._gate = gate
        self._now = 0.0
        """Of the last lease."""
        self.requeue = inner.requeue
        self.mark_seen = inner.mark_seen
        self.outcome_of = inner.outcome_of
        self.delay_host = inner.delay_host
        self.ready_at = inner.ready_at
        self.put_clock = inner.put_clock
        self.pages_of = inner.pages_of
        self.note_page: Callable[[int], None] = getattr(inner, "note_page", lambda _: None)
        self.ready_in = inner.ready_in
        self.better_in: Callable[[float, float, float, Mapping[str, float]], float | None] = (
            getattr(inner, "better_in", lambda *_: None)
        )

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Queue what the gate admits."""
        admitted = map(self._gate.admit, candidates)
        return self._inner.add(candidate for candidate in admitted if candidate is not None)

    def lease(self, limit: int, now: float) -> Sequence[Candidate]:
        """Hand out what the gate still admits; the rest is ended, some hundred at a time.

        More of them wait for the next call: ending thousands at once would hold up the loop.
        """
        self._now = now
        leased: list[Candidate] = []
        for _ in range(limit + MAX_ENDED_AT_ONCE):
            batch = self._inner.lease(limit - len(leased), now) if len(leased) < limit else ()
            if not batch:
                break
            for candidate in batch:
                if self._gate.admit_fetch(candidate):
                    leased.append(candidate)
                else:
                    self._inner.finish(candidate.url, Outcome.SKIPPED)
        self._gate.write_refusals()  # perhaps no page follows
        return leased

    def finish(self, url: str, outcome: Outcome) -> None:
        """End a lease. A page that has not changed counts as what it was: fetched."""
        unchanged = outcome is Outcome.NOT_MODIFIED
        self._inner.finish(url, Outcome.FETCHED if unchanged else outcome)
        for host in self._gate.to_rest:
            self._inner.delay_host(host, self._now + DNS_REST_SECONDS)
        self._gate.to_rest.clear()

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
