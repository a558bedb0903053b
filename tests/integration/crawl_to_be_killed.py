"""A crawl of a made-up web that keeps a diary, run by tests that kill it.

    python crawl_to_be_killed.py FRONTIER DIARY [PAGES]

The diary tells what the crawl had been promised: a line is written only after the call returned.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate, Outcome
from trailhound.urls import host_key

PAGES = 3000
HOSTS = 40
CONCURRENCY = 3
DELAY_SECONDS = 0.002
SEED = "http://h0.test/0"


def address(page: int) -> str:
    """The URL of a page."""
    return f"http://h{page * 7 % HOSTS}.test/{page}"


def links_of(url: str) -> list[str]:
    """A page's links, which make all pages reachable from the seed."""
    page = int(url.rpartition("/")[2])
    children = range(3 * page + 1, 3 * page + 4)
    across = (page * step % PAGES for step in (5, 11, 17))
    return [address(target) for target in (*children, *across) if target < PAGES]


def redirect_of(url: str) -> str:
    """Where a request for a page ends: every tenth page has moved to an address of its own."""
    page = int(url.rpartition("/")[2])
    return f"http://moved.test/{page}" if page % 10 == 3 else url


def candidates(url: str) -> Iterable[Candidate]:
    """The links with priorities that depend on the page, so that waiting URLs rise."""
    return (
        Candidate(link, float((len(link) * len(url) + sum(link.encode())) % 101), b"m", url, 1)
        for link in links_of(url)
    )


class Diary:
    """Lines that reach the system before the next step is taken."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(self, *words: object) -> None:
        """One line."""
        os.write(self._file, (" ".join(map(str, words)) + "\n").encode())


def process(frontier: SqliteFrontier, url: str) -> None:
    """What the engine does with a page, in the order that it must keep."""
    final_url = redirect_of(url)
    if final_url != url:
        frontier.mark_seen(final_url, Outcome.FETCHED)
    frontier.add(candidates(url))
    frontier.finish(url, Outcome.FETCHED)


def crawl(path: Path, diary: Diary, pages: int) -> None:
    """Fetch up to ``pages`` pages, or until nothing waits."""
    frontier = SqliteFrontier(path)
    frontier.add([Candidate(SEED, 1e18)])
    while pages > 0 and (sleep := frontier.ready_in(time.time())) is not None:
        time.sleep(sleep)
        for candidate in frontier.lease(CONCURRENCY, time.time()):
            until = time.time() + DELAY_SECONDS
            frontier.delay_host(host_key(candidate.url), until)
            diary.tell("delayed", host_key(candidate.url), until)
            diary.tell("fetching", candidate.url)
            process(frontier, candidate.url)
            diary.tell("finished", candidate.url)
            pages -= 1
    frontier.close()
    diary.tell("done")


if __name__ == "__main__":
    limit = int(sys.argv[3]) if len(sys.argv) > 3 else 10 * PAGES
    crawl(Path(sys.argv[1]), Diary(Path(sys.argv[2])), limit)
