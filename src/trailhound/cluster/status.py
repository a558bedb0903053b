"""How a cluster's crawl is, in a file: shards, who has them, how fast they are, what went wrong.

The driver hears from its shards about once a second, and writes what it has heard beside the
crawl. Whoever wants to know reads that: no port, no Ray, and after the end it is still there.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from trailhound.cluster.messages import ShardState
from trailhound.cluster.places import Fence
from trailhound.errors import UNREADABLE
from trailhound.storage.files import whole_file
from trailhound.storage.locks import is_held
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.status import Notice

STATUS_NAME = "cluster-status.json"
"""In a crawl's folder."""
RATE_SECONDS = 30.0
"""Pages a second are those of so long a time."""
WRITE_EVERY_SECONDS = 1.0
LATEST_ERRORS = 20
_SUMS = ("pages", "requests", "relevant", "waiting", "leased", "hosts_waiting", "outgoing")


class ShardLine(msgspec.Struct, frozen=True):
    """One shard, as it was heard of last."""

    state: ShardState
    heard_at: float = 0.0
    """Seconds since 1970."""
    pages_per_second: float = 0.0


class ClusterStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster's crawl. Times are in seconds since 1970."""

    topic: str
    address: str = ""
    """Of the Ray cluster."""
    dashboard: str = ""
    """Where Ray shows itself; empty when it does not."""
    started_at: float = 0.0
    updated_at: float = 0.0
    shards: tuple[ShardLine, ...] = ()
    errors: tuple[Notice, ...] = ()
    """The last ones, newest first."""

    def total(self, name: str) -> int:
        """A count of :class:`~trailhound.cluster.messages.ShardState` over all shards."""
        return sum(getattr(line.state, name) for line in self.shards)

    @property
    def pages_per_second(self) -> float:
        """Of all shards."""
        return sum(line.pages_per_second for line in self.shards)

    def nodes(self) -> dict[str, int]:
        """How many shards each machine has open."""
        counts: dict[str, int] = {}
        for line in self.shards:
            if line.state.node:
                counts[line.state.node] = counts.get(line.state.node, 0) + 1
        return counts

    def for_machines(self) -> dict[str, Any]:
        """All of it, with sums."""
        told: dict[str, Any] = msgspec.to_builtins(self)
        totals: dict[str, float] = {name: self.total(name) for name in _SUMS}
        totals["pages_per_second"] = self.pages_per_second
        return told | {"totals": totals, "nodes": self.nodes()}


class StatusBoard:
    """The driver's side: hears of shards, and writes how all of them are."""

    def __init__(
        self,
        folder: CrawlFolder,
        address: str = "",
        dashboard: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = folder.path / STATUS_NAME
        self._clock = clock
        self._lines: dict[int, ShardLine] = {}
        self._counts: dict[int, deque[tuple[float, int]]] = {}
        self._errors: deque[Notice] = deque(maxlen=LATEST_ERRORS)
        self._written_at = float("-inf")
        self._told = ClusterStatus(
            topic=folder.topic.name, address=address, dashboard=dashboard, started_at=clock()
        )

    def hear(self, states: Sequence[ShardState]) -> None:
        """What shards say of themselves; written once in a second at most."""
        now = self._clock()
        for state in states:
            rate = self._rate(state, now)
            self._lines[state.shard] = ShardLine(state, now, rate)
        if now - self._written_at >= WRITE_EVERY_SECONDS:
            self.write()

    def blame(self, what: str) -> None:
        """Something went wrong: a shard was lost, say."""
        self._errors.appendleft(Notice(self._clock(), what))

    def now(self) -> ClusterStatus:
        """As it is."""
        lines = tuple(line for _, line in sorted(self._lines.items()))
        return msgspec.structs.replace(
            self._told, updated_at=self._clock(), shards=lines, errors=tuple(self._errors)
        )

    def write(self) -> None:
        """Tell everybody; a file that cannot be written now is written the next time."""
        self._written_at = self._clock()
        with suppress(OSError), whole_file(self._path, sync=False) as file:
            file.write(msgspec.json.encode(self.now()))

    def _rate(self, state: ShardState, now: float) -> float:
        counts = self._counts.setdefault(state.shard, deque())
        if counts and counts[-1][1] > state.pages:  # it was reopened from an earlier moment
            counts.clear()
        counts.append((now, state.pages))
        while now - counts[0][0] > RATE_SECONDS:
            counts.popleft()
        seconds = now - counts[0][0]
        return (state.pages - counts[0][1]) / seconds if seconds > 0 else 0.0


def read_cluster_status(folder: CrawlFolder) -> ClusterStatus | None:
    """What the driver wrote last, else what the shards' files say; ``None`` without shards."""
    with suppress(OSError, *UNREADABLE):
        return msgspec.json.decode((folder.path / STATUS_NAME).read_bytes(), type=ClusterStatus)
    shards = folder.shards()
    lines = tuple(ShardLine(_state_on_disk(shard)) for shard in shards)
    return ClusterStatus(topic=folder.topic.name, shards=lines) if shards else None


def _state_on_disk(shard: CrawlFolder) -> ShardState:
    fence, pages, requests, relevant = Fence(str(shard.path)), 0, 0, 0
    if shard.results.is_file():
        with Results(shard.results) as results:
            summary = results.summary()
        pages, requests, relevant = summary.pages, summary.requests, summary.relevant
    return ShardState(
        shard=int(shard.path.name),
        epoch=fence.current(),
        state="running" if is_held(shard.path / "crawl.lock") else "ended",
        pages=pages,
        requests=requests,
        relevant=relevant,
        node=fence.owner(),
    )


class ShardMetrics(Collector):
    """Figures by shard for Prometheus; those of the whole are those of any crawl.

    ``status`` gives them whenever they are asked for; see
    :func:`trailhound.crawling.metrics.metrics_served`.
    """

    def __init__(self, status: Callable[[], ClusterStatus]) -> None:
        self._status = status

    def collect(self) -> Iterator[Metric]:
        """Pages, lag and owner of each."""
        status = self._status()
        for kind, name, meaning in (
            (CounterMetricFamily, "pages", "Pages of all runs, by shard."),
            (GaugeMetricFamily, "waiting", "Waiting URLs, by shard."),
            (GaugeMetricFamily, "outgoing", "Links on their way to other shards, by sender."),
        ):
            family = kind(f"trailhound_shard_{name}", meaning, labels=["topic", "shard"])
            for line in status.shards:
                shard = f"{line.state.shard:03d}"
                family.add_metric([status.topic, shard], getattr(line.state, name))
            yield family
        opened = GaugeMetricFamily(
            "trailhound_shard_open", "1 while a shard is open.", labels=["topic", "shard", "node"]
        )
        for line in status.shards:
            labels = [status.topic, f"{line.state.shard:03d}", line.state.node]
            opened.add_metric(labels, line.state.state in ("running", "waiting"))
        yield opened
