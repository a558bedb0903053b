"""Our own crawl of given pages, each rendered, as ``trailhound crawl --render always`` runs it.

    python -m benchmarks.rendered_crawl PORT CONCURRENCY BROWSER < PAGES

PAGES is a JSON object of addresses and a piece of text that only a rendered page has. Frontier,
results, log and WARC are on disk; nothing else than these pages is fetched. Prints what was found
and how long it took, as JSON: see :class:`Rendering`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from importlib.metadata import version
from typing import Any

import msgspec

import trailhound as th


class Rendering(msgspec.Struct, frozen=True):
    """What one contender made of the pages."""

    name: str
    complete: int
    """Pages that had what only their scripts bring."""
    seconds: float
    """From the start of its browser to the end of it; imports are not counted."""
    cpu_before: float
    """CPU seconds of the process until then."""
    versions: str


def crawl(pages: dict[str, str], port: int, concurrency: int, browser: str) -> int:
    """Crawl them all; how many were complete."""
    complete = set()

    def is_complete(page: th.Page) -> bool:
        if pages.get(page.url, page.url) in page.text:
            complete.add(page.url)
        return page.url in complete

    wanted: dict[str, Any] = {
        "user_agent": "bench-bot (+http://www.bench.test/)",
        "resolve": f"*.spa.test=127.0.0.1:{port}",
        "allow_addresses": "*.spa.test",
        "scope": list(pages),
        "exclude": [f"{page}by-click" for page in pages if page.endswith("test/")],
        "max_requests": 100_000,
        "concurrency": concurrency,
        "render": "always",
        "fetcher": f"browser:tabs={concurrency},executable={browser}",
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        th.crawl(None, list(pages), folder, judge=is_complete, **wanted) as running,
    ):
        for _ in running:
            pass
    return len(complete)


def main() -> None:
    """Crawl once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("concurrency", type=int)
    parser.add_argument("browser")
    options = parser.parse_args()
    pages = msgspec.json.decode(sys.stdin.read(), type=dict[str, str])
    before, began = time.process_time(), time.monotonic()
    complete = crawl(pages, options.port, options.concurrency, options.browser)
    seconds = time.monotonic() - began
    versions = f"Playwright {version('playwright')}"
    found = Rendering("trailhound", complete, seconds, before, versions)
    print(msgspec.json.encode(found).decode())


if __name__ == "__main__":
    main()
