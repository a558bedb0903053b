"""How many pages each host may have: more for those that give relevant ones, fewer for others."""

from __future__ import annotations

import msgspec

from trailhound.counting import counted
from trailhound.errors import StorageError


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


class _Tally(msgspec.Struct, array_like=True):
    pages: int = 0
    relevant: int = 0


class HostBudget:
    """Counts what each host gave, and says when it has had its share.

    Ask before queueing and again before fetching: what was queued early may have become too much.
    :meth:`to_bytes` and :meth:`restore` carry the counts over a restart.
    """

    def __init__(self, caps: HostCaps | None = None) -> None:
        self._caps = caps or HostCaps()
        self._tallies: dict[str, _Tally] = {}

    def allows(self, host: str) -> bool:
        """Whether another page of ``host`` may be fetched."""
        tally = self._tallies.get(host)
        return tally is None or tally.pages < self._cap(tally.relevant)

    def record(self, host: str, relevant: bool) -> None:
        """Count a fetched page. Near duplicates of relevant pages are not relevant."""
        tally = self._tallies.setdefault(host, _Tally())
        tally.pages += 1
        tally.relevant += relevant

    def credit(self, host: str) -> None:
        """A link of ``host`` led to a relevant page elsewhere: hubs earn their share this way."""
        self._tallies.setdefault(host, _Tally()).relevant += 1

    def reason_against(self, host: str) -> str | None:
        """Why no more of ``host`` is fetched, in words; ``None`` when more may be."""
        if self.allows(host):
            return None
        tally = self._tallies[host]
        return (
            f"host-budget: {counted(tally.pages, 'page')} of {host} fetched, of which "
            f"{tally.relevant} counted as relevant; that allows {self._cap(tally.relevant)}"
        )

    def to_bytes(self) -> bytes:
        """The counts, as JSON."""
        return msgspec.json.encode(self._tallies)

    def restore(self, data: bytes) -> None:
        """Take over the counts that :meth:`to_bytes` gave."""
        try:
            self._tallies = msgspec.json.decode(data, type=dict[str, _Tally])
        except msgspec.DecodeError as error:
            raise StorageError(
                f"The counts of pages per host cannot be read: {error}. Go on without them; hosts "
                "are then counted anew."
            ) from error

    def _cap(self, relevant: int) -> int:
        caps = self._caps
        cap = caps.barren_pages
        if relevant:
            cap = caps.base_pages + caps.pages_per_relevant * relevant
        return cap if caps.max_pages is None else min(cap, caps.max_pages)
