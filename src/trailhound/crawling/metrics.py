"""A running crawl's figures for Prometheus, served on this machine only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from trailhound.crawling.progress import CrawlProgress
from trailhound.errors import ConfigError
from trailhound.frontier.base import FrontierStats

_LOOPBACK = "127.0.0.1"


class CrawlMetrics(Collector):
    """Reads a crawl's figures whenever they are asked for; ``clock`` is the crawl's own."""

    def __init__(
        self,
        topic: str,
        progress: CrawlProgress,
        stats: Callable[[], FrontierStats],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._topic = topic
        self._progress = progress
        self._stats = stats
        self._clock = clock

    def collect(self) -> Iterator[Metric]:
        """All figures, each with the topic as a label."""
        stats = self._stats()
        yield from self._by_kind(stats)
        yield from self._single_figures(stats)

    def _by_kind(self, stats: FrontierStats) -> Iterator[Metric]:
        # Prometheus sees a counter under its name with "_total" behind.
        meaning = "Pages dealt with in this run, by outcome."
        pages = CounterMetricFamily("trailhound_pages", meaning, labels=["topic", "outcome"])
        for outcome, count in dict(self._progress.outcomes).items():
            pages.add_metric([self._topic, outcome], count)
        meaning = "URLs in the frontier, by state."
        urls = GaugeMetricFamily("trailhound_frontier_urls", meaning, labels=["topic", "state"])
        for state in ("waiting", "leased", "finished"):
            urls.add_metric([self._topic, state], getattr(stats, state))
        yield from (pages, urls)

    def _single_figures(self, stats: FrontierStats) -> Iterator[Metric]:
        progress = self._progress
        counter, gauge = CounterMetricFamily, GaugeMetricFamily
        for kind, name, meaning, value in (
            (counter, "relevant", "Relevant pages of this run.", progress.relevant),
            (counter, "duplicates", "Relevant copies.", progress.duplicates),
            (counter, "requests", "Requests of all runs.", progress.requests),
            (gauge, "hosts_asked", "Hosts asked in this run.", progress.hosts),
            (gauge, "hosts_waiting", "Hosts with waiting URLs.", stats.hosts_waiting),
            (gauge, "barren_pages", "Pages since a relevant one.", progress.barren),
            (gauge, "run_seconds", "Length of this run.", progress.elapsed(self._clock())),
        ):
            family = kind(f"trailhound_{name}", meaning, labels=["topic"])
            family.add_metric([self._topic], value)
            yield family


@contextmanager
def metrics_served(port: int, *metrics: Collector) -> Iterator[str]:
    """Serve the figures while the context lasts; yields the address."""
    registry = CollectorRegistry()
    for each in metrics:
        registry.register(each)
    try:
        server, thread = start_http_server(port, _LOOPBACK, registry)
    except OSError as error:
        raise ConfigError(
            f"The metrics cannot be served at port {port}: {error.strerror or error}. Choose "
            "another port with --metrics PORT, or leave it out."
        ) from error
    try:
        yield f"http://{_LOOPBACK}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
