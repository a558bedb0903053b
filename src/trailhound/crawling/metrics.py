"""A crawl's figures in the text format that Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trailhound.crawling.progress import CrawlProgress
from trailhound.frontier.base import FrontierStats

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics_text(progress: CrawlProgress, stats: FrontierStats, topic: str, now: float) -> str:
    """All figures, one family after the other."""
    lines: list[str] = []
    for name, kind, meaning, samples in _families(progress, stats, now):
        lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
        for labels, value in samples:
            lines.append(f"{name}{_labels({'topic': topic, **labels})} {value:g}")
    return "\n".join(lines) + "\n"


Samples = Iterable[tuple[dict[str, str], float]]


def _families(
    progress: CrawlProgress, stats: FrontierStats, now: float
) -> Iterator[tuple[str, str, str, Samples]]:
    outcomes = sorted(progress.outcomes.items())
    yield (
        "trailhound_pages_total",
        "counter",
        "Pages dealt with in this run, by outcome.",
        [({"outcome": outcome}, count) for outcome, count in outcomes],
    )
    states = {"waiting": stats.waiting, "leased": stats.leased, "finished": stats.finished}
    yield (
        "trailhound_frontier_urls",
        "gauge",
        "URLs in the frontier, by state.",
        [({"state": state}, count) for state, count in states.items()],
    )
    for name, kind, meaning, value in (
        ("trailhound_relevant_total", "counter", "Relevant pages of this run.", progress.relevant),
        ("trailhound_duplicates_total", "counter", "Relevant copies.", progress.duplicates),
        ("trailhound_requests_total", "counter", "Requests of all runs.", progress.requests),
        ("trailhound_hosts_asked", "gauge", "Hosts asked in this run.", progress.hosts),
        ("trailhound_hosts_waiting", "gauge", "Hosts with waiting URLs.", stats.hosts_waiting),
        ("trailhound_barren_pages", "gauge", "Pages since a relevant one.", progress.barren),
        ("trailhound_run_seconds", "gauge", "Length of this run.", progress.elapsed(now)),
    ):
        yield name, kind, meaning, [({}, value)]


def _labels(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
