"""How many pages a host may have, by what it gave; and all hosts under one registered name."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from trailhound.counting import counted
from trailhound.errors import UNREADABLE, StorageError
from trailhound.urls import registered_domain, without_port


class HostCaps(msgspec.Struct, frozen=True, kw_only=True):
    """The limits, in fetched pages per host."""

    base_pages: int = 1000
    """For a host that has given a relevant page."""
    barren_pages: int = 300
    """For one that has not."""
    pages_per_relevant: int = 50
    """What each relevant page adds to ``base_pages``: a host goes on while one page in fifty is
    relevant."""
    max_pages: int | None = None
    """For any host, whatever it gives; ``None``: no such limit."""


MAX_COUNTED = 20_000
"""Hosts whose pages are counted at a time."""
DOMAIN_TIMES = 2
"""All hosts under one registered name may have so many times what one host may: a server can answer
to any number of names."""
ALL_OF = "*."
"""Before a registered name: all hosts under it."""


class _Tally(msgspec.Struct, array_like=True):
    pages: int = 0
    relevant: int = 0


class HostBudget:
    """Counts what each host gave, and all hosts under one name, and says when they had their share.

    Ask before queueing and again before fetching: what was queued early may have become too much.
    :meth:`to_bytes` and :meth:`restore` carry the counts over a restart. At most ``max_hosts`` are
    counted. When they are more, those that gave least are forgotten, half of them: they get the
    few pages that they had once more, at worst.
    """

    def __init__(self, caps: HostCaps | None = None, *, max_hosts: int = MAX_COUNTED) -> None:
        self._caps = caps or HostCaps()
        self._max_hosts = max_hosts
        self._tallies: dict[str, _Tally] = {}

    def __len__(self) -> int:
        return len(self._tallies)

    def allows(self, host: str) -> bool:
        """Whether another page of ``host`` may be fetched."""
        return self._spent(host) is None

    def _spent(self, host: str) -> str | None:
        """What has had its share: the host, or all under its name."""
        for counted_as in _names(host):
            tally = self._tallies.get(counted_as)
            if tally is not None and tally.pages >= self._cap(counted_as, tally.relevant):
                return counted_as
        return None

    def record(self, host: str, relevant: bool) -> None:
        """Count a fetched page. Near duplicates of relevant pages are not relevant."""
        for counted_as in _names(host):
            tally = self._tally(counted_as)
            tally.pages += 1
            tally.relevant += relevant

    def credit(self, host: str) -> None:
        """A link of ``host`` led to a relevant page elsewhere: hubs earn their share this way."""
        for counted_as in _names(host):
            self._tally(counted_as).relevant += 1

    def _tally(self, host: str) -> _Tally:
        if host not in self._tallies and len(self._tallies) >= self._max_hosts:
            by_pages = sorted(self._tallies.items(), key=lambda item: item[1].pages)
            self._tallies = dict(by_pages[-(self._max_hosts // 2) :])  # among equals, the newest
        return self._tallies.setdefault(host, _Tally())

    def reason_against(self, host: str) -> str | None:
        """Why no more of ``host`` is fetched, in words; ``None`` when more may be."""
        spent = self._spent(host)
        if spent is None:
            return None
        tally = self._tallies[spent]
        return (
            f"host-budget: {counted(tally.pages, 'page')} of {spent} fetched, of which "
            f"{tally.relevant} counted as relevant; that allows {self._cap(spent, tally.relevant)}"
        )

    def to_bytes(self) -> bytes:
        """The counts, as JSON."""
        return msgspec.json.encode(self._tallies)

    def restore(self, data: bytes) -> None:
        """Take over the counts that :meth:`to_bytes` gave."""
        try:
            self._tallies = msgspec.json.decode(data, type=dict[str, _Tally])
        except UNREADABLE as error:
            raise StorageError(
                f"The counts of pages per host cannot be read: {error}. Go on without them; hosts "
                "are then counted anew."
            ) from error

    def _cap(self, counted_as: str, relevant: int) -> int:
        caps = self._caps
        is_domain = counted_as.startswith(ALL_OF)
        cap = caps.base_pages if relevant else caps.barren_pages
        cap = (DOMAIN_TIMES if is_domain else 1) * cap + caps.pages_per_relevant * relevant
        return cap if caps.max_pages is None or is_domain else min(cap, caps.max_pages)


@lru_cache(maxsize=8192)
def _names(host: str) -> tuple[str, ...]:
    """What a page of a host is counted as."""
    domain = registered_domain(f"http://{host}/")
    return (host,) if domain == without_port(host) else (host, ALL_OF + domain)
