"""A crawl of a tiny site half way, and a copy of it at a quarter: for tests that damage stores."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_webs import Resource, TinySite

from command_line import Command, Done

PAGES = 40
TOPIC = "bees"


def page(number: int) -> Resource:
    """Links to the next two; every third is about bees, and no two say the same."""
    words = " ".join(f"word{number * 50 + each}" for each in range(50))
    about = "bees hives honey" if number % 3 == 0 else "nothing much"
    links = "".join(f'<a href="/{n}">{n}</a>' for n in (number + 1, number + 2) if n < PAGES)
    html = f"<html lang=en><title>Page {number}</title><p>{about} {words}</p>{links}"
    return Resource(html.encode(), headers={"ETag": f'"{number}"'})


@pytest.fixture(scope="module")
def tiny_server() -> Iterator[TinySite]:
    with TinySite({}) as site:
        yield site


@pytest.fixture
def site(tiny_server: TinySite) -> TinySite:
    """As no test has touched it yet."""
    tiny_server.resources = {f"/{number}": page(number) for number in range(PAGES)}
    tiny_server.asked.clear()
    return tiny_server


@pytest.fixture
def crawl(trailhound: Command, site: TinySite) -> Command:
    """Runs ``crawl`` on the site with further options."""

    def run(*options: str | Path) -> Done:
        seed = ["--seed", f"http://127.0.0.1:{site.port}/0", "--judge", "keywords:words=bees"]
        begin = [] if "--resume" in options else [*seed, "--strategy", "breadth-first"]
        manners = ["--user-agent", "t (+http://a.test/)", "--allow-address", "127.0.0.1"]
        rude = ["--delay", "0", "--allow-impolite"]
        return trailhound("crawl", TOPIC, *begin, *options, *manners, *rude)

    return run


@pytest.fixture(scope="module")
def crawled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the first test of a module has crawled, for all others."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def half_way(
    crawl: Command, site: TinySite, workspace_folder: Path, tmp_path: Path, crawled_once: Path
) -> Path:
    """A crawl of 24 pages; the copy of it after 12 of them is beside it as ``earlier``."""
    topic = workspace_folder / "topics" / TOPIC
    if not (crawled_once / "later").exists():
        _crawl_half_way(crawl, topic, crawled_once)
        site.asked.clear()
    shutil.copytree(crawled_once / "later", topic, dirs_exist_ok=True)
    shutil.copytree(crawled_once / "earlier" / "crawl", tmp_path / "earlier")
    return topic / "crawl"


def _crawl_half_way(crawl: Command, topic: Path, kept: Path) -> None:
    done = crawl("--max-requests", "12")
    assert done.code == 0, done.err
    shutil.copytree(topic, kept / "earlier")
    done = crawl("--resume", "--max-requests", "24")
    assert done.code == 0, done.err
    assert "mended" not in done.err
    shutil.copytree(topic, kept / "later")
