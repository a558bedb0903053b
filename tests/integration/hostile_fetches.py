"""Fetches the URLs of its standard input from a hostile web, in a process of its own.

What it prints is what the test wants to know: the outcomes, and the most memory it ever held.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys

from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.resolver import MappedResolver

AGENT = "bees-bot/1.0 (+https://example.org/bot)"


def make_fetcher(port: int, total_seconds: float) -> HttpFetcher:
    """A fetcher that finds the hostile web, and may not enter anything else on this machine."""
    return HttpFetcher(
        AGENT,
        timeout_seconds=total_seconds,
        connect_timeout_seconds=total_seconds * 2 / 3,
        read_timeout_seconds=total_seconds * 2 / 3,
        max_bytes=1_000_000,
        allow_addresses=["*.hostile.test"],
        resolver=MappedResolver(
            {
                "*.hostile.test": f"127.0.0.1:{port}",
                "*.evil.test": f"127.0.0.1:{port}",
                "localhost": "127.0.0.1",
            },
            use_dns=False,
        ),
    )


async def fetch_all(
    fetcher: HttpFetcher, urls: list[str], results: dict[str, dict[str, object]]
) -> None:
    """Fetch twelve at a time."""
    slots = asyncio.Semaphore(12)

    async def fetch(url: str) -> None:
        async with slots:
            result = await fetcher.fetch(url)
            results[url] = {
                "outcome": result.outcome,
                "detail": result.detail,
                "retry_after": result.retry_after_seconds,
            }

    await asyncio.gather(*map(fetch, urls))
    await fetcher.close()


def peak_megabytes() -> float:
    """The largest resident size so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def run(port: int, groups: list[list[object]]) -> dict[str, dict[str, object]]:
    """The results of each group's URLs, under its own time-out, one group after the other."""
    results: dict[str, dict[str, object]] = {}
    for total_seconds, *urls in groups:
        fetcher = make_fetcher(port, float(str(total_seconds)))
        await fetch_all(fetcher, [str(url) for url in urls], results)
    return results


def main() -> None:
    asked = json.load(sys.stdin)
    before = peak_megabytes()
    results = asyncio.run(run(asked["port"], asked["groups"]))
    json.dump({"results": results, "before": before, "peak": peak_megabytes()}, sys.stdout)


if __name__ == "__main__":
    main()
