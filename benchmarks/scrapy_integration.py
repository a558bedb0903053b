"""A Scrapy spider ranked by a learned topic, beside the same spider as Scrapy orders it.

    python -m benchmarks.scrapy_integration [--topic NAME …] [--requests 400] [--rounds 3]

Finds: both crawl the demo web over loopback; those targets count that the recorded session had not
shown and that the first ``--requests`` requests, redirects included, have brought. CPU: both crawl
a smaller demo web to its end, so that they fetch the same pages, in turns, once with everything in
memory and once with ``JOBDIR``; CPU time of the crawling process from the spider's opening to its
closing. The spider is ``examples/scrapy_spider.py``. Exits with 1 when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
from examples.scrapy_spider import FocusedSpider
from scrapy import Request, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor

import trailhound as th
from trailhound.demo import DemoWeb, DemoWebParameters
from trailhound.demo.server import serve_in_thread
from trailhound.demo.trap import TRAP_HOST
from trailhound.demo.web import write_demo_sessions

OURS, THEIRS = "ranked", "default"
QUEUES = ["memory", "JOBDIR"]
LEAST_FINDS = 2.0
MOST_CPU = 1.3
SMALL = DemoWebParameters(
    universities=2,
    articles_per_newspaper=8,
    threads_per_forum=8,
    articles_per_club=8,
    products_per_shop=6,
)


class Crawled(msgspec.Struct):
    """What one crawl did."""

    pages: list[tuple[int, str]]
    """For each page: requests made by the time it came, and its address."""
    cpu_seconds: float

    @property
    def cpu_ms_per_page(self) -> float:
        """The figure that is compared."""
        return 1000 * self.cpu_seconds / len(self.pages)


def crawl(kind: str, seeds: str, topic: str, most_pages: int, job: str) -> Crawled:
    """Run the spider in this process."""
    settings: dict[str, Any] = {
        **FocusedSpider.custom_settings,
        "AUTOTHROTTLE_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "CRITICAL",
        "CLOSESPIDER_PAGECOUNT": most_pages,
        "TRAILHOUND_TOPIC": topic,
    }
    if job != "-":
        settings["JOBDIR"] = job
    if kind == THEIRS:
        del settings["SCHEDULER"], settings["SPIDER_MIDDLEWARES"]
    links = FocusedSpider.links if most_pages else LinkExtractor(deny_domains=[TRAP_HOST])
    spider = type("Measured", (FocusedSpider,), {"custom_settings": settings, "links": links})
    process = CrawlerProcess({"LOG_LEVEL": settings["LOG_LEVEL"]})  # else it tells its versions
    crawler = process.create_crawler(spider)
    crawled, asked, began = Crawled([], 0.0), [0], [0.0]

    def request_reached(request: Request) -> None:
        asked[0] += not request.url.endswith("/robots.txt")

    def response_came(response: Response) -> None:
        if response.status == 200 and not response.url.endswith("/robots.txt"):
            crawled.pages.append((asked[0], response.url))

    def opened() -> None:
        began[0] = time.process_time()

    def closed() -> None:
        crawled.cpu_seconds = time.process_time() - began[0]

    crawler.signals.connect(request_reached, signals.request_reached_downloader)
    crawler.signals.connect(response_came, signals.response_received)
    crawler.signals.connect(opened, signals.spider_opened)
    crawler.signals.connect(closed, signals.spider_closed)
    process.crawl(crawler, start=seeds)
    process.start()
    return crawled


def crawl_apart(
    kind: str, web: DemoWeb, port: int, topic: Path, most_pages: int, job: str = "-"
) -> Crawled:
    """The same in a process of its own; the demo web's server is its proxy."""
    seeds = ",".join(web.start_urls)
    command = [sys.executable, "-m", "benchmarks.scrapy_integration", "--crawl", kind, seeds]
    done = subprocess.run(
        [*command, str(topic), str(most_pages), job],
        env={**os.environ, "http_proxy": f"http://127.0.0.1:{port}", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Crawled)


def learned(web: DemoWeb, name: str, folder: Path) -> tuple[Path, set[str]]:
    """A topic on disk, and what there is to be found."""
    write_demo_sessions(web, folder / "sessions")
    topic = th.learn(folder / "sessions" / f"{name}.jsonl", name=name)
    topic.save(folder / name)
    return folder / name, set(web.topics[name]) - {page.url for page in topic.model.graph.pages}


def finds(names: list[str], requests: int, folder: Path) -> bool:
    """Print what both find for each topic; whether ours is enough in all."""
    web, totals = DemoWeb.generate(), {OURS: 0, THEIRS: 0}
    with serve_in_thread(web) as port:
        for name in names or sorted(web.topics):
            topic, wanted = learned(web, name, folder)
            for kind in totals:
                crawled = crawl_apart(kind, web, port, topic, requests)
                pages = {web.duplicates.get(url, url) for n, url in crawled.pages if n <= requests}
                totals[kind] += len(pages & wanted)
                print(f"{name}, {kind}: {len(pages & wanted)} of {len(wanted)}", flush=True)
    ours, theirs = totals[OURS], totals[THEIRS]
    is_enough = ours >= LEAST_FINDS * theirs
    print(
        f"Finds in {requests} requests: {ours} against {theirs}, {ours / max(theirs, 1):.1f} times "
        f"as many (limit {LEAST_FINDS:g}){'' if is_enough else '  NOT REACHED'}"
    )
    return is_enough


def cpu(name: str, rounds: int, folder: Path, queues: list[str]) -> bool:
    """Print what a page costs both; whether ours is cheap enough."""
    web, is_cheap = DemoWeb.generate(parameters=SMALL), True
    topic, _ = learned(web, name, folder / "small")
    with serve_in_thread(web) as port:
        for where in queues:
            costs: dict[str, list[float]] = {OURS: [], THEIRS: []}
            for number in range(rounds):
                for kind in [*costs][:: -1 if number % 2 else 1]:
                    job = "-" if where == "memory" else str(folder / f"job-{kind}-{number}")
                    crawled = crawl_apart(kind, web, port, topic, 0, job)
                    costs[kind].append(crawled.cpu_ms_per_page)
                    print(
                        f"{where}, {kind}: {len(crawled.pages)} pages, {costs[kind][-1]:.2f} ms",
                        flush=True,
                    )
            ratio = statistics.median(costs[OURS]) / statistics.median(costs[THEIRS])
            is_cheap &= ratio <= MOST_CPU
            print(
                f"CPU per page, queue in {where}: {ratio:.2f} times as much (limit {MOST_CPU:g})"
                f"{'  EXCEEDED' if ratio > MOST_CPU else ''}",
                flush=True,
            )
    return is_cheap


def main(arguments: list[str] | None = None) -> int:
    """Measure and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topic", action="append", default=[])
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["finds", *QUEUES])
    parser.add_argument("--crawl", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.crawl:
        kind, seeds, topic, most_pages, job = options.crawl
        print(msgspec.json.encode(crawl(kind, seeds, topic, int(most_pages), job)).decode())
        return 0
    with tempfile.TemporaryDirectory() as place:
        folder, good = Path(place), True
        if options.only in (None, "finds"):
            good &= finds(options.topic, options.requests, folder)
        if queues := [queue for queue in QUEUES if options.only in (None, queue)]:
            good &= cpu((options.topic or ["bee-health"])[0], options.rounds, folder, queues)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
