"""An endless crawl with two worker processes, run by tests that interrupt or kill it.

Prints the numbers of its worker processes after the first pages, and how it ended.
"""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

from trailhound.crawling.engine import Crawler
from trailhound.fetching.base import MayGoOn, always
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import FetchResult, Outcome, Page, Relevance
from trailhound.strategies.baselines import BreadthFirstStrategy


class EndlessWeb:
    """Every page links to two new ones."""

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        number = int(url.rpartition("/")[2])
        body = f"<a href=/{2 * number + 1}>left</a> <a href=/{2 * number + 2}>right</a>".encode()
        return FetchResult(url, Outcome.FETCHED, url, content_type="text/html", body=body)

    async def close(self) -> None: ...


class IndifferentJudge:
    """Nothing is relevant."""

    def judge(self, page: Page) -> Relevance:
        return Relevance(0.0, False)


def tell(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main() -> None:
    crawler = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=MemoryFrontier(),
        fetcher=EndlessWeb(),
        judge=IndifferentJudge(),
        workers=2,
        concurrency=8,
    )
    try:
        for event in crawler.run(["http://h.test/0"]):
            if event.number == 20:
                tell(*(child.pid for child in multiprocessing.active_children()))
    except KeyboardInterrupt:
        tell("interrupted", crawler.stop_reason)


if __name__ == "__main__":
    # Workers must find the classes above under the name that this file has for them.
    sys.path.insert(0, str(Path(__file__).parent))
    main()
