"""How long hosts want to be left alone is known to whoever asks them next."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from live_webs import USER_AGENT, Resource, TinySite

import trailhound as th
from trailhound.config.settings import FetchSettings
from trailhound.frontier.memory import MemoryFrontier
from trailhound.topics.runs.sources import PagesInMemory, PolitePages


def test_a_host_that_is_busy_is_not_asked_by_the_next_question() -> None:
    busy = Resource(b"busy", 429, {"Retry-After": "600"})
    with TinySite({"/1": busy, "/2": busy}) as site:
        fetch = FetchSettings(
            user_agent=USER_AGENT,
            delay_seconds=0.05,
            allow_impolite=True,
            resolve=(f"tiny.test=127.0.0.1:{site.port}",),
            allow_addresses=("tiny.test",),
        )
        pages = PolitePages(PagesInMemory(), fetch, lambda _: None, kind="Pages")

        async def ask() -> None:
            assert await pages.page("http://tiny.test/1") is None
            assert await pages.page("http://tiny.test/2") is None

        asyncio.run(ask())
        assert site.paths() == ["/1"]
        assert pages.resting()["tiny.test"] > time.time() + 500


def test_a_frontier_tells_which_hosts_rest() -> None:
    frontier = MemoryFrontier()
    frontier.delay_host("a.test", 7.0)
    assert frontier.resting() == {"a.test": 7.0}


def test_a_clock_that_was_ahead_in_the_last_run_holds_up_nobody(tmp_path: Path) -> None:
    ahead = time.time() + 8 * 3600
    with TinySite({"/1": Resource(b"<p>1"), "/2": Resource(b"<p>2")}) as site:

        def crawl(path: str) -> None:
            with th.crawl(
                None,
                f"http://tiny.test{path}",
                tmp_path / "crawl",
                judge=lambda page: True,
                user_agent=USER_AGENT,
                resolve=f"tiny.test=127.0.0.1:{site.port}",
                allow_addresses="tiny.test",
                max_idle=60.0,
            ) as crawl:
                list(crawl)

        crawl("/1")
        for name, change in (
            ("results.db", "UPDATE event SET at = ?"),
            ("frontier.db", "UPDATE host SET until = ?"),
        ):
            with closing(sqlite3.connect(tmp_path / "crawl" / name)) as connection, connection:
                connection.execute(change, (ahead,))
        crawl("/2")
        assert site.paths() == ["/1", "/2"]
