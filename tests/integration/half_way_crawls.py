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
    html = f"<title>Page {number}</title><p>{about} {words}</p>{links}"
    return Resource(html.encode(), headers={"ETag": f'"{number}"'})


@pytest.fixture
def site() -> Iterator[TinySite]:
    resources = {f"/{number}": page(number) for number in range(PAGES)}
    with TinySite(resources) as served:
        yield served


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


@pytest.fixture
def half_way(crawl: Command, site: TinySite, workspace_folder: Path, tmp_path: Path) -> Path:
    """A crawl of 24 pages; the copy of it after 12 of them is beside it as ``earlier``."""
    folder = workspace_folder / "topics" / TOPIC / "crawl"
    done = crawl("--max-requests", "12")
    assert done.code == 0, done.err
    shutil.copytree(folder, tmp_path / "earlier")
    done = crawl("--resume", "--max-requests", "24")
    assert done.code == 0, done.err
    assert "mended" not in done.err
    site.asked.clear()
    return folder
