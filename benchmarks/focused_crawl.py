"""Our own crawl of the measured web, exactly as ``trailhound crawl`` would run it.

    python -m benchmarks.focused_crawl WEB PORT FOLDER [--workers N] [--warm-up PAGES]

Frontier, results, log and WARC are on disk in FOLDER. Prints what it cost, as JSON; learning and
loading are not counted, and neither are the first PAGES.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from benchmarks.crawl_measures import CONCURRENCY, TOPIC, CrawlCost, Stopwatch, learned_topic
from benchmarks.measured_web import load_web
from trailhound.config.settings import Settings
from trailhound.records import Outcome
from trailhound.topics.learning import KnownContent
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import TopicFolder, Workspace


def saved_topic(pages: dict[str, bytes], folder: Path) -> TopicFolder:
    """The model on disk."""
    topic = Workspace(folder).folder_for(TOPIC)
    topic.save(learned_topic(pages), {}, KnownContent())
    return topic


def crawl(pages: dict[str, bytes], folder: Path, workers: int, warm_up: int = 0) -> CrawlCost:
    """Crawl everything; the cost is that of all but the first ``warm_up`` pages."""
    settings = Settings().changed(
        {
            "crawl.seeds": (next(iter(pages)),),
            "crawl.max_requests": 2 * len(pages),
            "crawl.concurrency": CONCURRENCY * workers,
            "crawl.workers": workers,
            "fetch.user_agent": "trailhound-benchmark (+http://127.0.0.1/)",
            "fetch.allow_addresses": ("127.0.0.0/8",),
            # None of the contenders spares its own machine.
            "fetch.delay_seconds": 0.0,
            "fetch.address_delay_seconds": 0.0,
            "fetch.allow_impolite": True,
        }
    )
    with open_crawl(saved_topic(pages, folder), CrawlRequest(settings)) as live:
        watch = Stopwatch()
        fetched = 0
        for event in live.run():
            fetched += event.outcome is Outcome.FETCHED
            if event.number == warm_up:
                watch, fetched = Stopwatch(), 0
        live.close()
        return watch.cost(fetched)


def main() -> None:
    """Crawl once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("web", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--warm-up", type=int, default=0)
    options = parser.parse_args()
    pages = load_web(options.web).at(options.port)
    cost = crawl(pages, options.folder, options.workers, options.warm_up)
    print(msgspec.json.encode(cost).decode())


if __name__ == "__main__":
    main()
