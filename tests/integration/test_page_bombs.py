"""Pages that would freeze or swell a crawl cost themselves, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_webs import Resource, TinySite, wait_until

SCRIPT = Path(__file__).with_name("bombed_crawl.py")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as on Unix")

HOST = "http://h.test"
REPEATING = "".join(f"<p><i id={number}><!--</i>-->" for number in range(20_000))
SEARCHING = "<span><!--</span>--></b></dd>" * 80_000
ATTRIBUTES = f"<div {' '.join(f'a{number}' for number in range(100_000))}>"
LONG = "<ul>" + "".join(f"<li><a href=/none/{n}>{n}</a></li>" for n in range(6_000)) + "</ul>"
BACKTRACKING = "a" * 60 + "!"


def linked(*paths: str) -> Resource:
    return Resource("".join(f"<p><a href={path}>a wasp</a></p>" for path in paths).encode())


def web(bombs: dict[str, str]) -> dict[str, Resource]:
    """A few pages, and bombs between them."""
    pages = {f"/{number}": linked(f"/{number + 1}") for number in range(1, 6)}
    hostile = {path: Resource(f"<p>wasps {bomb}".encode()) for path, bomb in bombs.items()}
    return {"/": linked(*hostile, "/1"), "/6": Resource(b"<p>wasps"), **pages, **hostile}


@contextmanager
def crawling(site: TinySite, folder: Path, **settings: Any) -> Iterator[subprocess.Popen[str]]:
    told = {
        "crawl__seeds": (f"{HOST}/",),
        "crawl__strategy": "breadth-first",
        "crawl__concurrency": 2,
        "crawl__max_requests": 40,
        "judge__kind": "keywords:words=wasp",
        **settings,
    }
    command = [sys.executable, str(SCRIPT), str(folder), str(site.port), json.dumps(told)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as crawl:
        try:
            yield crawl
        finally:
            crawl.kill()


def ended(crawl: subprocess.Popen[str]) -> dict[str, Any]:
    """What it told at its end."""
    out, errors = crawl.communicate(timeout=240)
    assert crawl.returncode == 0, errors
    told: dict[str, Any] = json.loads(out.splitlines()[-1])
    return told


def test_bombs_cost_themselves_alone(tmp_path: Path) -> None:
    bombs = {"/repeats": REPEATING, "/searches": SEARCHING, "/attributes": ATTRIBUTES}
    with TinySite(web({**bombs, "/long": LONG})) as site:
        with crawling(site, tmp_path, crawl__page_seconds=2) as crawl:
            told = ended(crawl)
        for path in bombs:
            assert told["outcomes"][HOST + path] == "too-costly"
            assert "a page may take 2 s and 320 MB" in told["whys"][HOST + path]
        for path in ("/", "/long", *(f"/{number}" for number in range(1, 7))):
            assert told["outcomes"][HOST + path] == "fetched"
        assert told["links"][f"{HOST}/long"] == 5_000
        failures = {what: (times, example) for what, times, example in told["failures"]}
        times, example = failures["it takes too long, or too much memory, to analyse"]
        assert times == 3
        assert "it was not analysed" in example
        assert told["peak_megabytes"] < 300
        asked = site.paths()
        with crawling(site, tmp_path, crawl__max_requests=60) as crawl:
            assert not set(ended(crawl)["outcomes"]) & set(told["outcomes"])
        assert not set(site.paths()[len(asked) :]) & set(asked)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_pattern_that_backtracks_for_ever_is_stopped(tmp_path: Path, workers: int) -> None:
    settings = {"judge__kind": r"regex:pattern=(\w+\s?)+:$", "crawl__workers": workers}
    with (
        TinySite(web({"/words": BACKTRACKING})) as site,
        crawling(site, tmp_path, crawl__page_seconds=1, **settings) as crawl,
    ):
        told = ended(crawl)
    assert told["outcomes"].pop(f"{HOST}/words") == "too-costly"
    assert set(told["outcomes"].values()) == {"fetched"}
    assert len(told["outcomes"]) == 7


@pytest.mark.parametrize("how", ["max-time", "ctrl-c"])
def test_a_crawl_ends_while_a_page_is_analysed(tmp_path: Path, how: str) -> None:
    settings = {"crawl__max_time": 4} if how == "max-time" else {}
    with TinySite(web({"/searches": SEARCHING})) as site:
        with crawling(site, tmp_path, crawl__page_seconds=3600, **settings) as crawl:
            assert crawl.stdout is not None
            assert crawl.stdout.readline() == "ready\n"
            wait_until(lambda: "/searches" in site.paths())
            if how == "ctrl-c":
                os.kill(crawl.pid, signal.SIGINT)
            told = ended(crawl)
        reason = "the time budget is spent" if how == "max-time" else "it was interrupted"
        assert told["ended"] == reason
        assert set(told["outcomes"].values()) == {"fetched"}
        assert f"{HOST}/searches" not in told["outcomes"]
        with crawling(site, tmp_path, crawl__page_seconds=1, crawl__max_time=60) as crawl:
            assert ended(crawl)["outcomes"][f"{HOST}/searches"] == "too-costly"


def test_a_host_of_nothing_but_bombs_is_not_read_for_ever(tmp_path: Path) -> None:
    bombs = {f"/bomb{number}": ATTRIBUTES for number in range(10)}
    settings = {"crawl__page_seconds": 0.5, "crawl__concurrency": 1}
    with TinySite(web(bombs)) as site, crawling(site, tmp_path, **settings) as crawl:
        told = ended(crawl)
    assert {told["outcomes"][HOST + path] for path in bombs} == {"too-costly"}
    assert told["outcomes"][f"{HOST}/6"] == "fetched"
    assert any("as other pages of its host were" in why for why in told["whys"].values())
