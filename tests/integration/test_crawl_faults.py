"""A full disk, a folder that cannot be written, a locked database, a second crawl."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from live_webs import Site, learn, options, small_disk

from command_line import COMMAND
from trailhound.demo import DemoWeb
from trailhound.errors import StorageError, TrailhoundError
from trailhound.frontier.reading import all_urls
from trailhound.records import Outcome, PageEvent
from trailhound.storage import results
from trailhound.storage.results_reading import Results

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")


@pytest.fixture
def site(web: DemoWeb, port: int, tmp_path: Path) -> Site:
    return Site(learn(web, min(web.topics), tmp_path), port)


def assert_nothing_is_lost(crawl: Path, pages: int) -> None:
    """All pages so far are in the results, and what the frontier calls fetched is, too."""
    with Results(crawl / "results.db") as kept_results:
        pages_kept = kept_results.ranked(everything=True)
        # A redirect ends two URLs: the one that was asked for, and the one it leads to.
        kept = {url for page in pages_kept for url in (page.url, page.address)}
        assert kept_results.summary().pages >= pages
    fetched = {url for url, end in all_urls(crawl / "frontier.db") if end is Outcome.FETCHED}
    assert fetched <= kept


def test_a_full_disk_ends_the_crawl_with_advice_and_costs_nothing(
    web: DemoWeb, port: int, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", "3m") as disk:
        site = Site(learn(web, min(web.topics), disk), port)
        events: list[PageEvent] = []
        with (
            pytest.raises(TrailhoundError, match=r"disk is full|disk reports an error|Free space"),
            site.begun(
                crawl__seeds=web.start_urls, crawl__max_requests=5000, crawl__min_free=0
            ) as crawl,
        ):
            events.extend(crawl.run())
        assert_nothing_is_lost(site.topic.path / "crawl", 20)
        subprocess.run(["mount", "-o", "remount,size=100m", str(disk)], check=True)
        with Results(site.topic.path / "crawl" / "results.db") as results:
            before = results.summary().requests
        with site.resumed(crawl__max_requests=before + 30) as crawl:
            assert list(crawl.run())
        assert_nothing_is_lost(site.topic.path / "crawl", 40)


def test_a_limit_on_file_sizes_is_told_by_the_command(
    web: DemoWeb, port: int, tmp_path: Path
) -> None:
    topic = learn(web, min(web.topics), tmp_path)
    program = (
        "import resource\n"
        "from trailhound.cli.main import run\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "run()\n"
    )
    seeds = [option for seed in web.start_urls for option in ("--seed", seed)]
    done = subprocess.run(
        [sys.executable, "-c", program, "crawl", topic.name, "--workspace", str(tmp_path), *seeds,
         "--max-requests", "5000", *options(port)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert "is safe" in done.stderr
    # How many pages fit under the limit depends on which arrive first; that they are kept does not.
    assert_nothing_is_lost(topic.path / "crawl", 1)


OPEN = """
import os, sys
from pathlib import Path
from trailhound.config.layers import configure
from trailhound.errors import TrailhoundError
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import Workspace
topic = Workspace(Path(sys.argv[1])).topic(sys.argv[2])
topic.load()
flags = {"crawl.seeds": ("http://a.test/",), "fetch.user_agent": "x (+http://a.test/)"}
request = CrawlRequest(configure(flags).settings, flags, resume=len(sys.argv) > 3)
if os.geteuid() == 0:
    os.setuid(65534)  # root may write anywhere
try:
    open_crawl(topic, request).close()
except TrailhoundError as error:
    print(error)
"""


def test_a_folder_that_cannot_be_written_is_told(site: Site, web: DemoWeb, tmp_path: Path) -> None:
    with site.begun(crawl__seeds=web.start_urls, crawl__max_requests=5) as crawl:
        list(crawl.run())
    folders = [tmp_path.parent, tmp_path, *tmp_path.rglob("*")]
    for path in folders:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        done = subprocess.run(
            [sys.executable, "-c", OPEN, str(tmp_path), site.topic.name, "resume"],
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        for path in folders:
            path.chmod(0o755 if path.is_dir() else 0o644)
    if "PermissionError" in done.stderr and "site-packages" in done.stderr:
        pytest.skip("this Python cannot be used by another user")
    assert "cannot be written" in done.stdout, done.stderr
    assert_nothing_is_lost(site.topic.path / "crawl", 5)


def test_only_one_crawl_of_a_topic_runs_at_a_time(site: Site, web: DemoWeb) -> None:
    with site.begun(crawl__seeds=web.start_urls, crawl__max_requests=10) as first:
        with pytest.raises(StorageError, match="Another crawl of the topic"), site.resumed():
            pass
        command = [*COMMAND, "crawl", site.topic.name, "--resume"]
        done = subprocess.run(
            [*command, "--workspace", str(site.topic.path.parents[1])],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        assert "Another crawl of the topic" in done.stderr.replace("\n", " ")
        assert len(list(first.run())) == 10
    assert_nothing_is_lost(site.topic.path / "crawl", 10)


def test_a_locked_database_ends_the_crawl_with_advice(
    site: Site, web: DemoWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "PATIENCE", "PRAGMA busy_timeout = 50")
    with site.begun(crawl__seeds=web.start_urls, crawl__max_requests=5) as crawl:
        list(crawl.run())
    path = site.topic.path / "crawl" / "results.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked by another program"), site.resumed():
            pass
    with site.resumed(crawl__max_requests=10) as crawl:
        assert list(crawl.run())
    assert_nothing_is_lost(site.topic.path / "crawl", 10)


def test_files_that_are_damaged_are_named(site: Site, web: DemoWeb) -> None:
    with site.begun(crawl__seeds=web.start_urls, crawl__max_requests=5) as crawl:
        list(crawl.run())
    record = site.topic.path / "crawl" / "crawl.json"
    content = record.read_bytes()
    for damage, words in (
        (b"{", "damaged"),
        (content.replace(b"{", b'{"x": ' + b"[" * 5000, 1), "damaged"),
        (b'{"x": ' + b"[" * 5000 + b"]" * 5000 + b"," + content[1:], "damaged"),
        (content.replace(b'"max_requests": 5', b'"max_requests": 5' + b"0" * 400), "damaged"),
        (content.replace(b'"version": 1', b'"version": 9'), "Upgrade"),
    ):
        record.write_bytes(damage)
        with pytest.raises(StorageError, match=words), site.resumed():
            pass
    record.write_bytes(content)
    assert os.access(record, os.W_OK)
    (site.topic.path / "crawl" / "results.db").write_bytes(b"rubbish" * 1000)
    with (
        pytest.raises(StorageError, match=r"results\.db is damaged"),
        site.resumed(crawl__max_requests=9),
    ):
        pass
