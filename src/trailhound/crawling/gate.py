"""Between the links that a strategy scored and the frontier: what is not worth a place there.

Tracking parameters are taken off; traps and hosts that have had their share are refused, with a
reason that is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from trailhound.crawling.host_budget import HostBudget
from trailhound.crawling.traps import TrapGuard
from trailhound.records import Candidate, FetchResult, Page, PageEvent
from trailhound.urls import host_key, strip_tracking

STATE_NAME = "link-gate"
SAVE_EVERY = 100
"""Pages between two copies of what the gate remembers; a killed crawl forgets fewer."""

_MAX_ADMITTED = 100_000


class Refusal(msgspec.Struct, frozen=True):
    """A URL that was not queued, or not fetched, by a rule of our own."""

    url: str
    reason: str
    parent: str | None
    """The page that links to it."""


class GateState(msgspec.Struct):
    """What a gate remembers."""

    traps: bytes
    hosts: bytes


def without_hosts(state: bytes, forgotten: Callable[[str], bool]) -> bytes | None:
    """What a gate has saved, without the counts of forgotten hosts; nothing if it is damaged."""
    try:
        saved = msgspec.msgpack.decode(state, type=GateState)
        hosts = msgspec.json.decode(saved.hosts, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return None
    kept = {host: counts for host, counts in hosts.items() if not forgotten(host)}
    return msgspec.msgpack.encode(GateState(saved.traps, msgspec.json.encode(kept)))


class StateStore(Protocol):
    """Keeps a few bytes under a name."""

    def save_state(self, name: str, data: bytes) -> None:
        """Replace what is kept under ``name``."""
        ...

    def state(self, name: str) -> bytes | None:
        """What is kept under ``name``."""
        ...


class LinkGate:
    """Asks trap guard and host budget; a keeper too, as the budget depends on what hosts give."""

    def __init__(
        self,
        traps: TrapGuard | None = None,
        hosts: HostBudget | None = None,
        store: StateStore | None = None,
    ) -> None:
        self._traps = traps or TrapGuard()
        self._hosts = hosts or HostBudget()
        self._store = store
        self._admitted: set[str] = set()
        self._refused: list[Refusal] = []
        self._pages = 0
        saved = store.state(STATE_NAME) if store is not None else None
        if saved is not None:
            state = msgspec.msgpack.decode(saved, type=GateState)
            self._traps.restore(state.traps)
            self._hosts.restore(state.hosts)

    def admit(self, candidate: Candidate) -> Candidate | None:
        """The candidate as it should be queued; ``None`` when it should not."""
        if candidate.parent is None or candidate.url in self._admitted:
            return candidate
        url = strip_tracking(candidate.url)
        reason = self._traps.reason_against(url) or self._hosts.reason_against(host_key(url))
        if reason is not None:
            self._refused.append(Refusal(url, reason, candidate.parent))
            return None
        if url == candidate.url:
            if len(self._admitted) >= _MAX_ADMITTED:
                self._admitted.clear()
            self._admitted.add(url)
            return candidate
        return msgspec.structs.replace(candidate, url=url)

    def admit_fetch(self, candidate: Candidate) -> bool:
        """Whether a queued candidate should still be fetched: its host may have had its share."""
        reason = self._hosts.reason_against(host_key(candidate.url))
        if reason is None or candidate.parent is None:
            return True
        self._refused.append(Refusal(candidate.url, reason, candidate.parent))
        return False

    def take_refusals(self) -> list[Refusal]:
        """All refusals since the last call."""
        refused, self._refused = self._refused, []
        return refused

    def keep(
        self, event: PageEvent, candidate: Candidate, result: FetchResult, page: Page | None
    ) -> None:
        """Count what the page's host gave."""
        del candidate, result
        if page is not None and event.relevance is not None:
            host = host_key(event.final_url)
            found = event.relevance.relevant and event.duplicate_of is None
            self._hosts.record(host, found)
            if found and event.parent is not None and host_key(event.parent) != host:
                self._hosts.credit(host_key(event.parent))
        self._pages += 1
        if self._pages % SAVE_EVERY == 0:
            self._save()

    def close(self) -> None:
        """Keep what is remembered."""
        self._save()

    def _save(self) -> None:
        if self._store is not None:
            state = GateState(self._traps.to_bytes(), self._hosts.to_bytes())
            self._store.save_state(STATE_NAME, msgspec.msgpack.encode(state))
