"""A store that is older than the others, or gone, is noticed at the next start and made up for."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from half_way_crawls import PAGES, TOPIC, page
from live_webs import TinySite, wait_until

from command_line import COMMAND, Command
from trailhound.frontier.reading import all_urls
from trailhound.records import Outcome
from trailhound.storage import event_log
from trailhound.storage.archive_reading import fetches_after
from trailhound.storage.results_reading import Results


@pytest.fixture
def site(tiny_server: TinySite) -> TinySite:
    """Its fourth page asks not to be listed."""
    tiny_server.resources = {f"/{number}": page(number) for number in range(PAGES)}
    tiny_server.resources["/3"].headers["X-Robots-Tag"] = "noindex"
    tiny_server.asked.clear()
    return tiny_server


def whole(folder: Path) -> dict[str, Any]:
    """What the stores say of a crawl."""
    with Results(folder / "results.db") as results:
        rows = [kept.event for kept in results.events_after(0)]
        found = {each.title for each in results.search("honey")}
    logged = event_log.pages_after(folder / "log.jsonl", 0)
    return {
        "numbers": sorted(row.number for row in rows),
        "pages": {(row.url, row.outcome, row.title) for row in rows},
        "scores": {(row.url, row.relevance) for row in rows},
        "found": found,
        "unlisted": {row.title for row in rows if row.noindex},
        "logged": {each.event.number for each in logged},
        "queue": {url for url, _ in all_urls(folder / "frontier.db")},
        "index": (folder / "archive" / "index.cdxj").read_bytes(),
    }


def older(name: str) -> Callable[[Path, Path], None]:
    def damage(folder: Path, earlier: Path) -> None:
        shutil.copy(earlier / name, folder / name)

    return damage


def gone(*names: str) -> Callable[[Path, Path], None]:
    def damage(folder: Path, earlier: Path) -> None:
        del earlier
        for name in names:
            (folder / name).unlink()

    return damage


def emptied(name: str) -> Callable[[Path, Path], None]:
    def damage(folder: Path, earlier: Path) -> None:
        del earlier
        (folder / name).write_bytes(b"")

    return damage


MENDED = {
    "older results": (older("results.db"), "12 pages restored in the results"),
    "no results": (gone("results.db"), "24 pages restored in the results"),
    "empty results": (emptied("results.db"), "24 pages restored in the results"),
    "results from the archive alone": (
        gone("results.db", "log.jsonl"),
        "24 pages restored in the results",
    ),
    "older frontier": (older("frontier.db"), "12 pages taken into the queue again"),
    "no frontier": (gone("frontier.db"), "24 pages taken into the queue again"),
    "empty frontier": (emptied("frontier.db"), "24 pages taken into the queue again"),
    "older log": (older("log.jsonl"), "12 lines of the log written again"),
    "no log": (gone("log.jsonl"), "24 lines of the log written again"),
    "older index": (older("archive/index.cdxj"), "1 file of the archive indexed again"),
    "no index": (gone("archive/index.cdxj"), "2 files of the archive indexed again"),
    "empty index": (emptied("archive/index.cdxj"), "2 files of the archive indexed again"),
    "nothing but the archive": (
        gone("results.db", "log.jsonl", "frontier.db", "archive/index.cdxj"),
        "24 pages restored in the results",
    ),
}


@pytest.mark.parametrize("case", MENDED)
def test_what_a_store_lacks_is_taken_from_the_others(
    crawl: Command, site: TinySite, half_way: Path, tmp_path: Path, case: str
) -> None:
    damage, words = MENDED[case]
    before = whole(half_way)
    damage(half_way, tmp_path / "earlier")
    done = crawl("--resume", "--max-requests", "25")
    assert done.code == 0, done.err
    assert words in done.err
    assert done.err.count("mended") == 1
    assert len(site.paths()) == 1, "only what had not been fetched is"
    after = whole(half_way)
    assert before["pages"] < after["pages"]
    assert before["scores"] < after["scores"]
    assert before["found"] <= after["found"]
    assert before["unlisted"] == after["unlisted"] == {"Page 3"}
    assert before["queue"] <= after["queue"]
    assert after["numbers"] == list(range(1, 26))
    assert after["logged"] == set(range(1, 26))
    done = crawl("--resume", "--max-requests", str(2 * PAGES))
    assert done.code == 0, done.err
    assert "mended" not in done.err
    assert sorted(site.paths()) == sorted({f"/{number}" for number in range(24, PAGES)})
    urls = dict(all_urls(half_way / "frontier.db"))
    assert len(urls) == PAGES
    assert set(urls.values()) == {Outcome.FETCHED}


def test_a_killed_crawl_whose_write_ahead_logs_are_lost_goes_on_as_if_nothing_had_happened(
    crawl: Command, site: TinySite, half_way: Path, workspace_folder: Path
) -> None:
    site.resources["/30"].headers["X"] = "1"
    command = [*COMMAND, "crawl", TOPIC, "--resume", "--max-requests", "38"]
    environment = {**os.environ, "TRAILHOUND_WORKSPACE": str(workspace_folder)}
    rest = ["--delay", "0.2", "--allow-impolite"]
    running = subprocess.Popen([*command, *rest], env=environment, stderr=subprocess.DEVNULL)
    wait_until(lambda: len(fetches_after(half_way / "archive", 27)) >= 2)
    running.send_signal(signal.SIGKILL)
    running.wait()
    for name in ("results.db", "frontier.db"):
        for ending in ("-wal", "-shm"):
            (half_way / (name + ending)).unlink(missing_ok=True)
    fetched = len(fetches_after(half_way / "archive", 0))
    site.asked.clear()
    done = crawl("--resume", "--max-requests", str(2 * PAGES))
    assert done.code == 0, done.err
    assert "were mended" in done.err
    again = len(site.paths()) - (PAGES - fetched)
    assert again == 0, "what is archived is not fetched again"
    assert {outcome for _, outcome in all_urls(half_way / "frontier.db")} == {Outcome.FETCHED}


def test_content_that_is_lost_is_told_once(crawl: Command, site: TinySite, half_way: Path) -> None:
    for path in (half_way / "archive").glob("*-00002.warc.gz"):
        path.unlink()
    done = crawl("--resume", "--max-requests", "25")
    assert "the archived content of 12 pages is lost" in done.err
    done = crawl("--resume", "--max-requests", "26")
    assert "mended" not in done.err
    assert len(site.paths()) == 2


def test_what_no_store_has_any_more_is_fetched_again(
    crawl: Command, site: TinySite, half_way: Path, tmp_path: Path
) -> None:
    for name in ("results.db", "log.jsonl"):
        shutil.copy(tmp_path / "earlier" / name, half_way / name)
    shutil.rmtree(half_way / "archive")
    shutil.copytree(tmp_path / "earlier" / "archive", half_way / "archive")
    done = crawl("--resume", "--max-requests", str(2 * PAGES))
    assert done.code == 0, done.err
    assert "12 pages that no store has will be fetched again" in done.err
    assert len(whole(half_way)["pages"]) == PAGES


def test_pages_that_wait_to_be_asked_for_news_are_not_taken_for_lost(
    crawl: Command, site: TinySite, half_way: Path
) -> None:
    done = crawl("--resume", "--refresh", "--max-requests", "26")
    assert done.code == 0, done.err
    assert "mended" not in done.err
    done = crawl("--resume", "--max-requests", "200")
    assert "mended" not in done.err
    assert [path for path, status in site.asked if status == 304]


def test_mending_twice_changes_nothing(
    crawl: Command, site: TinySite, half_way: Path, tmp_path: Path
) -> None:
    older("results.db")(half_way, tmp_path / "earlier")
    older("frontier.db")(half_way, tmp_path / "earlier")
    assert "mended" in crawl("--resume", "--max-requests", "25").err
    record = json.loads((half_way / "crawl.json").read_text())
    assert record["ended"]
    assert "mended" not in crawl("--resume", "--max-requests", "26").err


def test_without_an_archive_pages_that_the_frontier_lacks_are_fetched_again(
    crawl: Command, site: TinySite, workspace_folder: Path, tmp_path: Path
) -> None:
    folder = workspace_folder / "topics" / TOPIC / "crawl"
    plain = ("--set", "output.archive=false")
    assert crawl("--max-requests", "12", *plain).code == 0
    shutil.copy(folder / "frontier.db", tmp_path)
    assert crawl("--resume", "--max-requests", "24").code == 0
    shutil.copy(tmp_path / "frontier.db", folder)
    done = crawl("--resume", "--max-requests", "200")
    assert done.code == 0, done.err
    assert "12 pages whose content is not archived will be fetched again" in done.err
    urls = dict(all_urls(folder / "frontier.db"))
    assert len(urls) == PAGES, "no link is lost"
    assert set(urls.values()) == {Outcome.FETCHED}
    assert "mended" not in crawl("--resume", "--max-requests", "300").err
