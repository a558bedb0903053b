"""A focused crawl from a program of your own.

    python examples/focused_crawl.py session.jsonl https://example.org/

Finds are printed as they come; everything is kept in the folder ``bees``. Started again, with a
larger ``max_requests``, it goes on where it stopped.
"""

from __future__ import annotations

import sys
from typing import Any

import trailhound as th

USER_AGENT = "bees-bot (+https://example.org/bot)"


def main(session: str, *seeds: str, max_requests: int = 500, **settings: Any) -> None:
    """Learn from ``session``, crawl from ``seeds``, print what is relevant."""
    topic = th.learn(session)
    with th.crawl(
        topic, seeds, "bees", user_agent=USER_AGENT, max_requests=max_requests, **settings
    ) as crawl:
        for page in crawl:
            if page.relevant:
                print(f"{page.score:.2f}  {page.url}  {page.title}")


if __name__ == "__main__":
    main(*sys.argv[1:])
