"""What commands tell of a crawl is so: marks, counts of pages, states; and slips are refused."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from command_line import Command
from found_pages import NOON, Find, add_finds, crawl_of
from trailhound.config.settings import Settings
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.files import write_session
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.status import (
    CrawlState,
    Notice,
    RecentPage,
    RunningCrawl,
    read_status,
    write_status,
)
from trailhound.topics.runs.strategy_memory import crawl_to_learn_from

GATE, HIVE, WASP = (f"https://a.example/{name}" for name in ("gate", "hive", "wasp"))
FINDS = [
    Find(GATE, html="<title>Gate</title><p>All about gardens."),
    Find(HIVE, html="<title>Hive</title><p>Words on bees."),
    Find(WASP, html="<title>Wasp</title><p>Not a bee.", score=0.1, relevant=False),
]


@pytest.fixture
def crawl(workspace_folder: Path) -> CrawlFolder:
    """Hive was marked useful while browsing."""
    crawl = crawl_of(workspace_folder, FINDS)
    browsed = Session("bees", (Visit(NOON, HIVE), Mark(NOON + 1, HIVE, useful=True)))
    write_session(browsed, crawl.topic.sessions_path / "monday.jsonl")
    return crawl


def test_a_mark_of_the_session_that_stays_is_told(crawl: CrawlFolder, trailhound: Command) -> None:
    assert trailhound("mark", "bees", "--not-useful", HIVE, GATE).code == 0
    told = trailhound("mark", "bees", "--clear", HIVE, GATE).err
    assert "1 page no longer marked." in told
    assert f"{HIVE} stays marked useful: it was marked so while browsing" in told
    assert f"{HIVE}  (marked useful)" in trailhound("results", "bees", "--all").out
    again = trailhound("mark", "bees", "--clear", HIVE, GATE)
    assert "no longer marked" not in again.err
    assert f"{HIVE} stays marked useful" in again.err
    assert "None of them was marked." in trailhound("mark", "bees", "--clear", GATE).err
    told = trailhound("mark", "bees", "--clear", HIVE, "--json").out
    assert json.loads(told)["still_marked"] == {HIVE: True}


def test_explain_says_that_a_mark_has_decided(crawl: CrawlFolder, trailhound: Command) -> None:
    trailhound("mark", "bees", "--not-useful", GATE)
    trailhound("mark", "bees", WASP)
    told = trailhound("explain", "bees", GATE).out
    assert "is not relevant, because it is marked not useful; the judge's score is 0.800." in told
    told = trailhound("explain", "bees", WASP).out
    assert "is relevant, because it is marked useful; the judge's score is 0.100." in told


def test_pages_that_were_looked_at_again_count_once(
    crawl: CrawlFolder, trailhound: Command
) -> None:
    add_finds(crawl, FINDS[:2])
    with Results(crawl.results) as results:
        summary = results.summary()
    assert (summary.pages, summary.addresses, summary.fetched) == (5, 3, 3)
    assert "3 pages of 3 in all" in trailhound("results", "bees", "--all").err
    (row,) = json.loads(trailhound("topics", "--json").out)
    assert row["crawl"]["pages"] == 3


def test_forgetting_a_page_leaves_the_crawl_paused(crawl: CrawlFolder, trailhound: Command) -> None:
    page = RecentPage(GATE, "Gate", "fetched", 0.8, True, NOON)
    status = RunningCrawl(
        topic="bees",
        run="1",
        state=CrawlState.PAUSED,
        ended=f"interrupted: {GATE}",
        pages=3,
        waiting=460,
        latest=(page,),
        notices=(Notice(NOON, f"Slow: {GATE}"),),
    )
    write_status(crawl.topic.path, status)
    assert trailhound("forget", "bees", "--url", GATE).code == 0
    left = read_status(crawl.topic.path)
    assert left is not None
    assert (left.state, left.waiting, left.ended) == (CrawlState.PAUSED, 460, "interrupted")
    assert GATE not in msgspec.json.encode(left).decode()
    (row,) = json.loads(trailhound("crawls", "--json").out)
    assert row["state"] == "paused"


def test_nothing_is_learned_from_a_crawl_that_fetched_nothing(workspace_folder: Path) -> None:
    crawl = crawl_of(workspace_folder, [])
    crawl.strategy.write_bytes(b"a snapshot")
    assert crawl_to_learn_from(crawl, Settings(), "") is None
    add_finds(crawl, FINDS)
    assert crawl_to_learn_from(crawl, Settings(), "") == (crawl.strategy, True)


def test_a_schedule_that_says_no_time_is_refused(crawl: CrawlFolder, trailhound: Command) -> None:
    for arguments in (["--on"], ["--requests", "5"]):
        done = trailhound("schedule", "bees", *arguments)
        assert done.code == 2
        assert "Say when to crawl: --nightly 22:00-06:00, or --on-submit." in done.err
    assert trailhound("schedule", "bees", "--off").code == 0


def test_a_schedule_without_a_useful_page_is_noted(crawl: CrawlFolder, trailhound: Command) -> None:
    nightly = ("schedule", "bees", "--nightly", "22:00-06:00")
    told = trailhound(*nightly).err
    assert "nothing to crawl for" not in told
    assert "Note: nothing has been learned for the topic 'bees' yet." in told
    (crawl.topic.sessions_path / "monday.jsonl").unlink()
    assert "no page of 'bees' is marked useful yet" in trailhound(*nightly).err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["export", "bees", "-f", "site", "--url", "non sense", "-o", "s"], "is no web address"),
        (["export", "bees", "-o", "a.warc"], "Name the file a.warc.gz"),
        (["export", "bees", "-f", "warc", "-o", "a.warc"], "Name the file a.warc.gz"),
        (["export", "bees", "-f", "csv", "-o", "."], ". is a folder. Give the name of a file."),
        (["results", "bees", "--since-last", "--search", "hive"], "Leave --search out"),
        (["results", "bees", "--since-last", "--min-score", "0"], "Leave --min-score out"),
        (["results", "bees", "--since-last", "--all", "--known"], "Leave --all, --known out"),
        (["results", "bees", "--since-last", "--text", HIVE], "Leave --text out"),
        (["results", "bees", "--text", HIVE, "--search", "hive"], "Leave --search out"),
        (["export", "bees", "-o", "pages/"], "pages/ is a folder. Give the name of a file, or"),
        (["export", "bees", "-o", "a.csv/"], "a.csv/ is a folder. Give the name of a file, or"),
        (["export", "bees", "-f", "urls", "-o", "a/"], "--format markdown|text|site"),
        (["forget", "bees", "--all", "--url", GATE], "--all forgets the whole topic"),
        (["forget", "bees"], "Say what to forget"),
        (["mark", "bees", "--from", "empty.txt"], "The list empty.txt names no page"),
        (["crawl", "bees", "--restart", "--seeds", "empty.txt"], "seeds empty.txt names no page"),
        (["mark", "bees", "--from", "none"], "none cannot be read: No such file or directory. C"),
        (["crawl", "bees", "--restart", "--seeds", "seen.bin"], "seen.bin is no text. Write one"),
    ],
)
def test_slips_are_refused_and_touch_nothing(
    crawl: CrawlFolder, trailhound: Command, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    (tmp_path / "empty.txt").write_text("# none today\n\n")
    (tmp_path / "seen.bin").write_bytes(b"\xff\x00")
    done = trailhound(*arguments)
    assert (done.code, done.out) == (2, "")
    assert reason in done.err
    assert {path.name for path in crawl.topic.path.glob("crawl*") if path.is_dir()} == {"crawl"}
