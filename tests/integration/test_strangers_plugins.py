"""Plug-ins of strangers: installed as packages of their own, and used from outside of ours."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from live_webs import USER_AGENT, Resource, Site, TinySite, wait_until

from command_line import COMMAND, Command
from loopback import posts_taken, served
from trailhound.cli.crawl_view import CrawlDisplay
from trailhound.errors import ConfigError, FrontierError, StorageError, UsageError
from trailhound.fetching.http import HttpFetcher
from trailhound.records import Outcome
from trailhound.signals import on_stop_signals
from trailhound.topics.workspace import Workspace

EXAMPLES = Path(__file__).parents[2] / "examples"
ENTRY_POINTS = """
[trailhound.strategies]
short-urls = strange_short_urls:ShortUrls
[trailhound.fetchers]
folder = strange_own_fetcher:FolderFetcher
[trailhound.sinks]
webhook = strange_own_sink:Webhook
[trailhound.frontiers]
arrivals = strange_own_frontier:ArrivalFrontier
[trailhound.importers]
addresses = strange_own_importer:AddressList
[trailhound.corpora]
html-folder = strange_html_folder:HTML_FOLDER
"""
JUDGE = "keywords:words=hive"


class Stranger:
    """A distribution in a folder, as installing one would leave it, and commands that see it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site-packages"
        info = self.site / "strange_plugins-0.1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange-plugins\nVersion: 0.1")
        (info / "entry_points.txt").write_text(ENTRY_POINTS)
        for path in EXAMPLES.glob("*.py"):
            shutil.copy(path, self.site / f"strange_{path.name}")

    def run(self, *arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """``python -m trailhound …`` in another process and another folder."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.site),
            "COLUMNS": "200",
            "TRAILHOUND_WORKSPACE": str(self.folder / "workspace"),
            "TRAILHOUND_USER_AGENT": USER_AGENT,
        }
        done = subprocess.run(
            [sys.executable, "-m", "trailhound", *map(str, arguments)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    return Stranger(tmp_path)


def page(title: str, *links: str) -> str:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return f"<title>{title}</title><p>A hive of bees: {title}.</p>{anchors}"


def save_pages(folder: Path) -> None:
    """A small web that was saved: each page links to one further away."""
    pages = {"index": ("far/three.html", "two.html"), "two": ("four.html",), "four": ()}
    for name, links in pages.items():
        (folder / f"{name}.html").write_text(page(name, *links))
    (folder / "far").mkdir()
    (folder / "far" / "three.html").write_text(page("three"))


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[Any]]]:
    with posts_taken() as (port, got):
        yield f"http://127.0.0.1:{port}/finds", got


def test_they_are_listed_beside_ours(stranger: Stranger) -> None:
    listed = json.loads(stranger.run("plugins", "--json").stdout)
    theirs = {each["name"] for each in listed if each["provider"] == "strange-plugins 0.1"}
    assert theirs == {"short-urls", "folder", "webhook", "arrivals", "addresses", "html-folder"}
    (webhook,) = (each for each in listed if each["name"] == "webhook")
    assert webhook["options"] == {"url": "required", "batch": 20}


def test_fetcher_frontier_strategy_and_sink_of_a_stranger_make_a_crawl(
    stranger: Stranger, webhook: tuple[str, list[Any]], tmp_path: Path
) -> None:
    (tmp_path / "saved" / "hives.test").mkdir(parents=True)
    save_pages(tmp_path / "saved" / "hives.test")
    (tmp_path / "trailhound.toml").write_text('[crawl]\nfrontier = "arrivals"\n')
    url, got = webhook
    done = stranger.run(
        *("crawl", "bees", "--seed", "http://hives.test/", "--judge", JUDGE, "--json"),
        *("--strategy", "short-urls", "--fetcher", "folder:folder=saved", "--delay", "0"),
        *("--sink", f"webhook:url={url},batch=3", "--sink", "jsonl:path=finds.jsonl"),
        *("--allow-impolite", "--set", "crawl.concurrency=1"),
    )
    assert json.loads(done.stdout)["pages"] == 4
    titles = [found["title"] for batch in got for found in batch["pages"]]
    assert titles == ["index", "three", "two", "four"], "as found, not as the strategy says"
    assert [len(batch["pages"]) for batch in got] == [3, 1], "the rest was sent at the end"
    lines = (tmp_path / "finds.jsonl").read_text().splitlines()
    assert [json.loads(line)["title"] for line in lines] == titles


def test_an_importer_and_a_corpus_kind_of_a_stranger(stranger: Stranger, tmp_path: Path) -> None:
    (tmp_path / "visited.txt").write_text("http://a.test/\nhttp://b.test/\n")
    stranger.run("import", "addresses", "visited.txt", "--topic", "bees")
    (session,) = Workspace(tmp_path / "workspace").topic("bees").sessions().values()
    assert next(getattr(event, "url", "") for event in session.events) == "http://a.test/"
    (tmp_path / "saved").mkdir()
    save_pages(tmp_path / "saved")
    stranger.run("corpus", "import", "html-folder", "saved", "-o", "saved.thc")
    assert (tmp_path / "saved.thc").exists()


CHECKS = """
from pathlib import Path
from strange_own_fetcher import FolderFetcher
from strange_own_frontier import ArrivalFrontier
from strange_own_importer import AddressList
from strange_own_sink import Webhook
from strange_short_urls import ShortUrls
from trailhound.testing import *
home = "http://hives.test/"
check_fetcher(lambda: FolderFetcher(Path("saved")), home, home + "nothing")
check_frontier(ArrivalFrontier.open, best_first=False, histories=3)
check_importer(AddressList(), Path("visited.txt"))
check_sink(lambda folder: Webhook.open("bees", folder, url=URL), Path())
check_strategy(ShortUrls.from_briefing)
check_corpus_kind("html-folder", Path("saved"), with_jobs=1)
"""


def test_the_checks_are_for_strangers_too(
    stranger: Stranger, webhook: tuple[str, list[Any]], tmp_path: Path
) -> None:
    (tmp_path / "saved" / "hives.test").mkdir(parents=True)
    save_pages(tmp_path / "saved" / "hives.test")
    (tmp_path / "visited.txt").write_text("http://a.test/\n")
    program = CHECKS.replace("URL", repr(webhook[0]))
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(stranger.site)},
        check=True,
        timeout=120,
    )


# What breaks costs a page or itself


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    chain = {f"/{n}": Resource(page(f"page {n}", f"/{n + 1}").encode()) for n in range(15)}
    workspace = Workspace(tmp_path / "workspace")
    folder = workspace.folder_for("bees")
    folder.prepare()
    with TinySite(chain) as server:
        yield Site(folder, server.port, host="tiny.test")


SETTINGS: dict[str, Any] = {
    "crawl__seeds": ("http://tiny.test/0",),
    "judge__kind": JUDGE,
    "fetch__delay_seconds": 0.0,
    "fetch__address_delay_seconds": 0.0,
    "fetch__allow_impolite": True,
    "crawl__strategy": "breadth-first",
}
SINK = """
import signal
from trailhound.errors import StorageError
class Mine:
    summary = "breaks"
    @classmethod
    def open(cls, topic, folder, *, at="keep"):
        if at == "open":
            raise KeyError("no such thing")
        mine = cls()
        mine.at, mine.folder = at, folder
        return mine
    async def keep(self, finished):
        if self.at == "keep":
            raise ValueError("full")
        if self.at == "disk":
            raise StorageError("The disk is full.")
        if self.at == "interrupts":
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
    async def close(self):
        (self.folder / "closed").write_text(self.at)
        if self.at == "close":
            raise ValueError("torn")
"""


@pytest.fixture
def sink(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SINK)
    return path


def test_a_sink_that_fails_is_told_once_and_at_the_end_and_let_be(site: Site, sink: Path) -> None:
    with site.begun(**SETTINGS, output__sinks=(str(sink),)) as crawl:
        assert len(list(crawl.run())) == 16
    told = [notice for notice in site.notices if "The sink Mine" in notice]
    assert told[0].startswith("The sink Mine failed on http://tiny.test/0: ValueError: full.")
    assert told[1:] == [
        "The sink Mine failed on 10 pages in a row and is let be.",
        "The sink Mine failed 10 times.",
    ]
    assert (crawl.folder.path / "closed").read_text() == "keep"


@pytest.mark.parametrize("stop_early", [False, True])
def test_sinks_are_closed_however_the_crawl_ends(site: Site, sink: Path, stop_early: bool) -> None:
    with site.begun(**SETTINGS, output__sinks=(f"{sink}:at=close",)) as crawl:
        for _ in crawl.run():
            if stop_early:
                break
    assert (crawl.folder.path / "closed").exists()
    assert any("The sink Mine, being closed, failed: ValueError: torn" in n for n in site.notices)


def test_whoever_asks_twice_to_end_waits_for_no_plug_in(site: Site, sink: Path) -> None:
    with site.begun(**SETTINGS, output__sinks=(f"{sink}:at=interrupts",)) as crawl:
        with on_stop_signals(CrawlDisplay(crawl).stop), pytest.raises(KeyboardInterrupt):
            list(crawl.run())
        fetcher = crawl._crawler.fetcher
    assert not (crawl.folder.path / "closed").exists()
    assert isinstance(fetcher, HttpFetcher)
    assert fetcher._client._client._session is None, "ours is closed all the same"


def test_a_fault_that_a_person_must_hear_of_ends_the_crawl_and_sinks_are_closed(
    site: Site, sink: Path
) -> None:
    with (
        pytest.raises(StorageError, match="The disk is full"),
        site.begun(**SETTINGS, output__sinks=(f"{sink}:at=disk",)) as crawl,
    ):
        list(crawl.run())
    assert (crawl.folder.path / "closed").read_text() == "disk"
    with site.resumed(output__sinks=()) as crawl:
        assert "1 page taken into the queue again" in crawl.mended
        assert len(list(crawl.run())) == 15


def test_sinks_are_closed_after_an_interrupt(site: Site, sink: Path, tmp_path: Path) -> None:
    crawl = site.topic.path / "crawl"
    process = subprocess.Popen(
        [
            *(*COMMAND, "crawl", "bees", "--workspace", str(tmp_path / "workspace")),
            *("--seed", "http://tiny.test/0", "--judge", JUDGE, "--user-agent", USER_AGENT),
            *("--resolve", f"tiny.test=127.0.0.1:{site.port}", "--allow-address", "tiny.test"),
            *("--sink", f"{sink}:at=nothing", "--sink", "jsonl"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: (crawl / "finds.jsonl").exists() and (crawl / "finds.jsonl").stat().st_size)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert (crawl / "closed").read_text() == "nothing"


def test_sinks_are_closed_when_the_crawl_never_ran(site: Site, sink: Path) -> None:
    with site.begun(**SETTINGS, output__sinks=(f"{sink}:at=nothing",)) as crawl:
        crawl.begin()  # what has not begun leaves nothing behind, its sinks' files neither
    assert (crawl.folder.path / "closed").exists()


def test_what_cannot_be_loaded_is_an_error_before_anything_is_fetched(
    site: Site, sink: Path
) -> None:
    for wrong, message in (
        ({"output__sinks": (f"{sink}:at=open",)}, "cannot be made: KeyError: 'no such thing'"),
        ({"output__sinks": (f"{sink}:to=x",)}, "Sink .* has no option 'to'. It has: at"),
        ({"output__sinks": ("jsonn",)}, "Unknown sink 'jsonn'. Did you mean jsonl"),
        ({"fetch__fetcher": "carrier-pigeon"}, "Unknown fetcher 'carrier-pigeon'"),
        ({"crawl__frontier": str(sink)}, "should define one frontier, a class with open, add"),
    ):
        with (
            pytest.raises((ConfigError, UsageError), match=message),
            site.begun(**{**SETTINGS, **wrong}, restart=True),
        ):
            pass


def test_a_restart_that_fails_leaves_the_earlier_crawl_in_its_place(
    site: Site, sink: Path, trailhound: Command, workspace_folder: Path
) -> None:
    with site.begun(**SETTINGS, crawl__max_requests=3) as crawl:
        list(crawl.run())
    begun = crawl.folder.read().created_at
    with (
        pytest.raises(ConfigError, match="cannot be made"),
        site.begun(**SETTINGS, output__sinks=(f"{sink}:at=open",), restart=True),
    ):
        pass
    with served(BaseHTTPRequestHandler) as taken:
        done = trailhound(
            *("crawl", "bees", "--restart", "--seed", "http://tiny.test/0", "--judge", JUDGE),
            *("--user-agent", USER_AGENT, "--metrics", str(taken)),
        )
    assert (done.code, "cannot be served at port" in done.err) == (2, True)
    assert not any("earlier crawl is now" in told for told in (*site.notices, done.err))
    assert not list(site.topic.path.glob("crawl-*"))
    assert crawl.folder.read().created_at == begun
    with site.resumed(crawl__max_requests=5) as crawl:
        assert len(list(crawl.run())) == 2


FETCHER = """
class Pigeon:
    @classmethod
    def from_settings(cls, settings, politeness, in_scope, *, carries="nothing"):
        mine = cls()
        mine.carries = carries
        return mine
    async def fetch(self, url, *, may_go_on):
        if self.carries == "errors":
            raise OSError("rain")
        return "a letter"
    async def close(self):
        raise OSError("gone")
"""


@pytest.mark.parametrize(
    ("carries", "why"),
    [("errors", "the fetcher failed: OSError: rain"), ("letters", "it gave str, not FetchResult")],
)
def test_a_fetcher_that_fails_costs_the_page(
    site: Site, tmp_path: Path, carries: str, why: str
) -> None:
    path = tmp_path / "pigeon.py"
    path.write_text(FETCHER)
    with site.begun(**SETTINGS, fetch__fetcher=f"{path}:carries={carries}") as crawl:
        (event,) = crawl.run()
    assert event.outcome is Outcome.BROKEN
    assert why in event.why
    assert any("The fetcher, being closed, failed: OSError: gone" in n for n in site.notices)


def test_sitemaps_need_the_fetcher_of_the_web(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "pigeon.py"
    path.write_text(FETCHER)
    settings = {**SETTINGS, "fetch__fetcher": str(path), "crawl__sitemaps": True}
    with (
        pytest.raises(UsageError, match="--sitemaps is for crawls over HTTP"),
        site.begun(**settings),
    ):
        pass


STRATEGY = """
from trailhound.records import ScoredLink
class Moody:
    name, summary, paper = "moody", "fails at all that it may leave", ""
    rescore_every = 5
    @classmethod
    def from_briefing(cls, briefing):
        return cls()
    def observe(self, crawled): pass
    def score_links(self, crawled):
        return [ScoredLink(link, 1.0) for link in crawled.page.links]
    def rescore(self, candidates): raise KeyError("rank")
    def restock(self): raise KeyError("stock")
    def snapshot(self): raise KeyError("memory")
    def restore(self, snapshot): raise KeyError("memory")
"""


def test_a_strategy_that_fails_between_pages_does_not_end_the_crawl(
    site: Site, tmp_path: Path
) -> None:
    path = tmp_path / "moody.py"
    path.write_text(STRATEGY)
    with site.begun(**{**SETTINGS, "crawl__strategy": str(path)}) as crawl:
        assert len(list(crawl.run())) == 16
    for doing in ("ranking anew what waits", "asked where to go on", "remembering what it learned"):
        assert any(f"The strategy, {doing}, failed: KeyError" in n for n in site.notices), doing
    assert "The strategy, ranking anew what waits, failed 3 times." in site.notices


def test_a_judge_that_fails_on_every_page_is_told(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "sulky.py"
    path.write_text("def judge(page):\n    raise RuntimeError('no')\n")
    with site.begun(**{**SETTINGS, "judge__kind": str(path)}) as crawl:
        events = list(crawl.run())
    assert events[0].outcome is Outcome.BROKEN
    assert any("the judge failed: RuntimeError: no" in notice for notice in site.notices)


def test_a_crawl_with_a_frontier_of_a_file_can_be_resumed(site: Site) -> None:
    own = str(EXAMPLES / "own_frontier.py")
    with site.begun(**SETTINGS, crawl__frontier=own, crawl__max_requests=5) as crawl:
        assert len(list(crawl.run())) == 5
    with (
        pytest.raises(UsageError, match="kept by the frontier"),
        site.resumed(crawl__frontier="memory"),
    ):
        pass
    with site.resumed(crawl__max_requests=100) as crawl:
        assert len(list(crawl.run())) == 11


def test_files_are_found_again_from_another_folder(
    site: Site, sink: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("short_urls", "own_frontier"):
        shutil.copy(EXAMPLES / f"{name}.py", tmp_path)
    (tmp_path / "rule.py").write_text("def judge(page):\n    return True\n")
    monkeypatch.chdir(tmp_path)
    named = {
        "crawl__strategy": "short_urls.py",
        "crawl__frontier": "./own_frontier.py",
        "judge__kind": "rule.py",
        "output__sinks": ("mine.py:at=nothing", "jsonl"),
    }
    with site.begun(**{**SETTINGS, **named}, crawl__max_requests=3) as crawl:
        list(crawl.run())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with site.resumed(crawl__max_requests=5) as crawl:
        assert len(list(crawl.run())) == 2
    kept = crawl.folder.read().settings
    assert kept.output.sinks == (f"{sink.resolve()}:at=nothing", "jsonl")
    with site.resumed(crawl__max_requests=7, crawl__strategy="../short_urls.py") as crawl:
        assert len(list(crawl.run())) == 2
    with pytest.raises(UsageError, match="Unknown strategy 'nosuch'"):
        site.resumed(crawl__strategy="nosuch").__enter__()
    with pytest.raises(UsageError, match="begun with the strategy"):
        site.resumed(crawl__strategy="random").__enter__()


FRONTIER = """
from trailhound.frontier.sqlite import SqliteFrontier
class Forgetful(SqliteFrontier):
    def finish(self, url, outcome):
        if url.endswith("/3"):
            raise KeyError(url)
        super().finish(url, outcome)
"""


def test_a_frontier_that_fails_is_named_and_what_was_found_is_kept(
    site: Site, sink: Path, tmp_path: Path
) -> None:
    path = tmp_path / "forgetful.py"
    path.write_text(FRONTIER)
    settings = {**SETTINGS, "crawl__frontier": str(path), "output__sinks": (f"{sink}:at=no",)}
    with (
        pytest.raises(FrontierError, match=r"forgetful.py' failed in finish: KeyError: .*/3"),
        site.begun(**settings) as crawl,
    ):
        list(crawl.run())
    assert (crawl.folder.path / "closed").exists()
    path.write_text(FRONTIER.replace("/3", "never"))
    with site.resumed() as crawl:
        assert crawl.stats().finished == 3


def test_a_crawl_whose_queue_is_not_kept_can_be_explained_but_not_resumed(
    site: Site, trailhound: Command, workspace_folder: Path
) -> None:
    with site.begun(**SETTINGS, crawl__frontier="memory", output__sinks=("jsonl",)) as crawl:
        list(crawl.run())
    with pytest.raises(UsageError, match="in memory, so that nothing of it is left"):
        site.resumed().__enter__()
    assert trailhound("explain", "bees", "http://tiny.test/3").code == 0
    told = trailhound("explain", "bees", "http://tiny.test/nowhere")
    assert "Traceback" not in told.err
    finds = crawl.folder.path / "finds.jsonl"
    assert len(finds.read_text().splitlines()) == 15
    assert trailhound("forget", "bees", "--url", "http://tiny.test/3").code == 0
    assert "http://tiny.test/3" not in finds.read_text()
