"""Every request is counted, whoever is killed: the budget holds over kills, runs and forgetting."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from live_webs import Resource, Site, TinySite, wait_until

from trailhound.errors import UsageError
from trailhound.storage.results import ResultsStore
from trailhound.storage.results_reading import Results
from trailhound.topics.upkeep.forgetting import forget_pages, one_host
from trailhound.topics.workspace import Workspace

COMMAND = [sys.executable, "-c", "from trailhound.cli.main import run; run()"]
KILLS = 4
BUDGET = 160
HOSTS = 7
WORDS = "keywords:words=honey bee"


def tree(pages: int) -> dict[str, Resource]:
    """Pages that lead to three more each on other hosts; some redirect, some are busy for ever."""
    web: dict[str, Resource] = {
        "/robots.txt": Resource(b"User-agent: *\nAllow: /", headers={"Content-Type": "text/plain"})
    }
    for number in range(pages):
        if number % 7 == 3:
            web[f"/{number}"] = Resource(b"", 302, {"Location": f"/moved-{number}"})
            web[f"/moved-{number}"] = page_of(number, pages)
        elif number % 31 == 5:
            web[f"/{number}"] = Resource(b"", 503, {"Retry-After": "1"})
        else:
            web[f"/{number}"] = page_of(number, pages)
    return web


def page_of(number: int, pages: int) -> Resource:
    children = (child for child in range(3 * number + 1, 3 * number + 4) if child < pages)
    links = (f'<a href="http://h{n % HOSTS}.tiny.test/{n}">honey {n}</a>' for n in children)
    html = f"<html lang=en><title>Bee {number}</title><p>honey bee {' '.join(links)}"
    return Resource(html.encode())


def served(site: TinySite) -> tuple[int, int]:
    """Requests that the server has answered, and those for robots.txt among them."""
    robots = sum(path == "/robots.txt" for path, _ in tuple(site.asked))
    return len(site.asked) - robots, robots


def counted(folder: Path) -> tuple[int, int]:
    """The same, as the crawl has it on disk."""
    results = ResultsStore(folder / "crawl" / "results.db")
    try:
        return results.promised
    finally:
        results.close()


@pytest.fixture
def topic_folder(tmp_path: Path) -> Path:
    topic = Workspace(tmp_path / "workspace").folder_for("bees")
    topic.prepare()
    return topic.path


def begin(topic: Path, site: TinySite, *options: str) -> subprocess.Popen[bytes]:
    command = [*COMMAND, "crawl", topic.name, "--workspace", str(topic.parents[1])]
    with (topic / "said.txt").open("ab") as said:
        return subprocess.Popen([*command, *options], stdout=said, stderr=said)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_kills_make_no_request_uncounted(topic_folder: Path) -> None:
    chance = random.Random(12)
    with TinySite(tree(2000)) as site:
        start = [
            *("--seed", "http://h0.tiny.test/0", "--judge", WORDS, "--strategy", "breadth-first"),
            *("--user-agent", "test-bot (+http://www.tiny.test/)"),
            *("--resolve", f"*.tiny.test=127.0.0.1:{site.port}", "--allow-address", "*.tiny.test"),
            *("--max-requests", str(BUDGET)),
        ]
        for _ in range(KILLS):
            asked = len(site.asked) + chance.randint(1, 12)
            process = begin(topic_folder, site, *start)
            start = ["--resume"]
            wait_until(lambda n=asked, p=process: len(site.asked) >= n or p.poll() is not None)
            assert process.poll() is None, (topic_folder / "said.txt").read_text("utf-8")
            process.send_signal(signal.SIGKILL)
            process.wait()
            pages, robots = served(site)
            assert pages <= counted(topic_folder)[0] <= BUDGET
            assert robots <= counted(topic_folder)[1]
        assert begin(topic_folder, site, *start).wait(120) == 0
        pages, robots = served(site)
        assert pages <= counted(topic_folder)[0] == BUDGET
        assert robots <= counted(topic_folder)[1]
        assert begin(topic_folder, site, *start).wait(120) == 2, "nothing is left of the budget"
        assert served(site) == (pages, robots)


@pytest.fixture
def tiny(topic_folder: Path) -> Site:
    return Site(Workspace(topic_folder.parents[1]).topic(topic_folder.name), 0, "*.tiny.test")


def test_a_refresh_keeps_to_the_budget_that_it_is_given(tiny: Site) -> None:
    with TinySite(tree(60)) as site:
        tiny.port = site.port
        with tiny.begun(
            crawl__seeds=["http://h0.tiny.test/0"],
            crawl__strategy="breadth-first",
            judge__kind=WORDS,
            crawl__max_requests=30,
        ) as crawl:
            assert sum(1 for _ in crawl.run())
            relevant = crawl.progress.relevant
        assert relevant > 5
        with tiny.resumed(refresh=True, crawl__max_requests=34) as crawl:
            assert len(list(crawl.run())) <= 4
        assert served(site)[0] <= counted(tiny.topic.path)[0] == 34
        with (
            pytest.raises(UsageError, match="Allow more with --max-requests"),
            tiny.resumed(refresh=True, crawl__max_requests=34),
        ):
            pass
        with tiny.resumed(refresh=True) as crawl:
            list(crawl.run())
        assert served(site)[0] <= counted(tiny.topic.path)[0] <= 34 + relevant


def test_forgetting_pages_gives_no_request_back(tiny: Site) -> None:
    with TinySite(tree(60)) as site:
        tiny.port = site.port
        with tiny.begun(
            crawl__seeds=["http://h0.tiny.test/0"],
            crawl__strategy="breadth-first",
            judge__kind=WORDS,
            crawl__max_requests=20,
        ) as crawl:
            list(crawl.run())
        before = counted(tiny.topic.path)
        forget_pages(Workspace(tiny.topic.path.parents[1]), tiny.topic.name, one_host("tiny.test"))
        with Results(tiny.topic.path / "crawl" / "results.db") as results:
            summary = results.summary()
        assert (summary.pages, summary.requests) == (0, 20)
        assert counted(tiny.topic.path) == before
        with pytest.raises(UsageError, match="has made 20 requests"), tiny.resumed():
            pass
