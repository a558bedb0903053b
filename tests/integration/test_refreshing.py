"""Finds that are looked at again: counted once, told of, and asked for news after a resume too."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from half_way_crawls import TOPIC, page
from live_webs import Resource, TinySite, wait_until

from command_line import COMMAND, Command
from trailhound.topics.crawls.status import read_status

FINDS = 8
"""Of the first 24 pages."""


@pytest.fixture
def changed(half_way: Path, site: TinySite) -> None:
    """Since the crawl one find says something else, and one is gone."""
    assert half_way.is_dir()
    words = b"<html lang=en><title>Other</title><p>bees and quite other words than before"
    site.resources["/3"] = Resource(words, headers={"ETag": '"new"'})
    del site.resources["/6"]


@pytest.mark.usefixtures("changed")
def test_a_refresh_tells_what_it_has_brought(
    crawl: Command, trailhound: Command, workspace_folder: Path
) -> None:
    told = crawl("--refresh", "--max-requests", str(24 + FINDS), "--json")
    again = {"finds": FINDS, "changed": 1, "gone": 1, "unanswered": 0, "waiting": 0}
    assert told.report["looked_again"] == again
    assert told.report["finds_in_all"] == FINDS - 1
    assert len(trailhound("results", TOPIC, "--json").report) == FINDS - 1
    sentence = "8 finds were looked at again: 1 has changed, 1 is gone."
    assert sentence in told.err
    status = read_status(workspace_folder / "topics" / TOPIC)
    assert status is not None
    assert sentence in [notice.text for notice in status.notices], "the app shows it"
    done = crawl("--refresh", "--max-requests", str(24 + 2 * FINDS - 1))
    assert "7 finds were looked at again: none has changed, none is gone." in done.err
    assert "in this run, 7 in all" in done.out
    assert crawl("--resume", "--max-requests", "60", "--json").report["looked_again"] is None


@pytest.mark.usefixtures("changed")
def test_what_a_refresh_had_no_requests_for_is_asked_for_news_when_it_goes_on(
    crawl: Command, site: TinySite
) -> None:
    done = crawl("--refresh", "--max-requests", "27")
    assert "3 finds were looked at again" in done.err
    assert ", 5 still wait." in done.err
    done = crawl("--resume", "--max-requests", "32")
    assert "5 finds still to be asked for news." in done.err
    assert "5 finds were looked at again" in done.err
    assert sorted(site.asked) == sorted(
        [("/robots.txt", 404)] * 2
        + [("/3", 200), ("/6", 404)]
        + [(f"/{number}", 304) for number in (0, 9, 12, 15, 18, 21)]
    )


def test_a_refresh_that_was_killed_goes_on_as_one(
    crawl: Command, site: TinySite, half_way: Path, workspace_folder: Path
) -> None:
    assert half_way.is_dir()
    arguments = ["crawl", TOPIC, "--refresh", "--max-requests", "60", "--delay", "1"]
    manners = ["--user-agent", "t (+http://a.test/)", "--allow-address", "127.0.0.1"]
    place = ["--workspace", str(workspace_folder)]
    running = subprocess.Popen([*COMMAND, *arguments, *manners, *place])
    wait_until(lambda: len(site.paths()) >= 2)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert crawl("--resume", "--max-requests", str(24 + FINDS + 4)).code == 0
    finds = {str(page(number).headers["ETag"]) for number in range(0, 24, 3)}
    assert len(finds) == FINDS
    again = [status for path, status in site.asked if path[1:].isdigit() and int(path[1:]) < 24]
    assert set(again) == {304}
    assert len(again) in (FINDS, FINDS + 1), "what was in flight may be asked twice"
