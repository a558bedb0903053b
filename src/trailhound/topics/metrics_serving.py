"""Figures of a running crawl for Prometheus, while it is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trailhound.topics.crawl import TopicCrawl
from trailhound.topics.notices import Notify


@contextmanager
def figures_served(running: TopicCrawl, notify: Notify) -> Iterator[None]:
    """Serve them at the port that is set, if any, and tell where that is."""
    port = running.settings.output.metrics_port
    if port is None:
        yield
        return
    from trailhound.crawling.metrics import CrawlMetrics, metrics_served

    metrics = CrawlMetrics(running.folder.topic.name, running.progress, running.stats)
    with metrics_served(port, metrics, *running.more_metrics()) as address:
        notify(f"Figures for Prometheus: {address}")
        yield
