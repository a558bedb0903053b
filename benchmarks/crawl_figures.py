"""What looking at a large crawl costs: its curves and tables, and the status of a running one.

    python -m benchmarks.crawl_figures [--pages 200000]

CPU time of each, in milliseconds; the best of three.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from trailhound.storage.results import RESULTS
from trailhound.storage.results_figures import (
    curve,
    finds_by_host,
    outcome_counts,
    refusal_counts,
    refusals,
)
from trailhound.storage.visit_reading import count_news, due_pages, news_pages
from trailhound.topics.control.running import running_crawl
from trailhound.topics.crawls.status import CrawlState, RunningCrawl, write_status
from trailhound.topics.workspace import Workspace

_ROW = "INSERT INTO event VALUES (NULL," + ",".join("?" * 28) + ")"


def make_results(path: Path, pages: int) -> None:
    """A file of results as a crawl leaves it, made up."""
    chance, connection, total = random.Random(1), RESULTS.open(path), 0
    connection.execute("BEGIN")
    for number in range(1, pages + 1):
        total += 1 + (chance.random() < 0.1)
        url = f"https://host{number % 2000}.test/section/{number % 97}/page-number-{number}.html"
        was_fetched, is_find = chance.random() < 0.9, chance.random() < 0.3
        outcome, score = ("fetched", chance.random()) if was_fetched else ("not-found", None)
        place = (url, url, outcome, url[:-8], 3, 0.5, chance.randbytes(40), 1, total)
        judged = (score, was_fetched and is_find, 50, 10, 3, "")
        words = (f"A title of some words {number}", "snippet " * 30, "en", None, 0)
        rest = (1.7e9 + number, 200, f'"{number}"', "", 0, None, 1)
        connection.execute(_ROW, (number, *place, *judged, *words, *rest))
    rules = ("calendar: no end", "host-share: it has had its share")
    refused = [(f"https://trap.test/?{n}", rules[n % 2], None) for n in range(pages)]
    connection.executemany("INSERT INTO refusal VALUES (?, ?, ?)", refused)
    connection.execute("COMMIT")
    connection.close()


def best_of_three(look: Callable[[], object]) -> float:
    """CPU time in milliseconds."""
    times = []
    for _ in range(3):
        before = time.process_time()
        look()
        times.append(1000 * (time.process_time() - before))
    return min(times)


def main() -> None:
    """Make results, look at them, and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    pages = parser.parse_args().pages
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.db"
        make_results(path, pages)
        topic = Workspace(Path(folder)).folder_for("bees")
        topic.prepare()
        status = RunningCrawl(topic="bees", run="1", state=CrawlState.ENDED)
        write_status(topic.path, status)
        looks: dict[str, Callable[[], object]] = {
            "curve, 300 points": lambda: curve(path, 300),
            "outcomes": lambda: outcome_counts(path),
            "finds by host": lambda: finds_by_host(path),
            "refusals by rule": lambda: refusal_counts(path),
            "100 refusals": lambda: refusals(path, 100),
            "best 50 news of all": lambda: news_pages(path, 0.0, 50),
            "count of all news": lambda: count_news(path, 0.0),
            "news since the end": lambda: news_pages(path, 1e10, 50),
            "finds that are due": lambda: due_pages(path, 1e10, 1000),
            "status": lambda: running_crawl(topic),
            "write the status": lambda: write_status(topic.path, status),
        }
        print(f"{pages:,} pages, {path.stat().st_size / 1e6:.0f} MB of results")
        for name, look in looks.items():
            print(f"{name:20} {best_of_three(look):8.2f} ms")


if __name__ == "__main__":
    main()
