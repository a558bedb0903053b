"""``trailhound check``: every kind of damage is named, mended, and costs no second fetch."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from half_way_crawls import PAGES, TOPIC
from live_webs import Resource, TinySite, small_disk, wait_until

from command_line import COMMAND, Command
from trailhound.errors import TrailhoundError
from trailhound.frontier.tables import FRONTIER
from trailhound.storage.archive_reading import fetches_after
from trailhound.storage.results import RESULTS
from trailhound.storage.results_reading import Results
from trailhound.storage.warc_repair import digests_are_right, whole_content, whole_records
from trailhound.topics.workspace import Workspace

Damage = Callable[[Path, Path], None]


def garbage_at(name: str, start: int, size: int) -> Damage:
    def damage(folder: Path, earlier: Path) -> None:
        del earlier
        content = bytearray((folder / name).read_bytes())
        content[start : start + size] = b"\xa5" * size
        (folder / name).write_bytes(content)

    return damage


def cut_to(name: str, share: float) -> Damage:
    def damage(folder: Path, earlier: Path) -> None:
        del earlier
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: int(len(content) * share)])

    return damage


def zeroed(name: str) -> Damage:
    def damage(folder: Path, earlier: Path) -> None:
        del earlier
        (folder / name).write_bytes(bytes((folder / name).stat().st_size))

    return damage


def older(name: str) -> Damage:
    def damage(folder: Path, earlier: Path) -> None:
        shutil.copy(earlier / name, folder / name)

    return damage


def executed(name: str, statement: str) -> Damage:
    def damage(folder: Path, earlier: Path) -> None:
        del earlier
        with closing(sqlite3.connect(folder / name)) as connection:
            connection.execute(statement)
            connection.commit()

    return damage


def gone(name: str) -> Damage:
    return lambda folder, _: (folder / name).unlink()


DAMAGES: dict[str, tuple[Damage, str]] = {
    "results: header": (garbage_at("results.db", 0, 100), "results"),
    "results: hole": (garbage_at("results.db", 3 * 4096, 8 * 4096), "results"),
    "results: cut": (cut_to("results.db", 0.5), "results"),
    "results: zeroed": (zeroed("results.db"), "results"),
    "results: older": (older("results.db"), "results"),
    "results: missing": (gone("results.db"), "results"),
    "results: rows in the middle": (
        executed("results.db", "DELETE FROM event WHERE number BETWEEN 5 AND 9"),
        "results",
    ),
    "frontier: header": (garbage_at("frontier.db", 0, 100), "frontier"),
    "frontier: cut": (cut_to("frontier.db", 0.6), "frontier"),
    "frontier: zeroed": (zeroed("frontier.db"), "frontier"),
    "frontier: older": (older("frontier.db"), "frontier"),
    "frontier: missing": (gone("frontier.db"), "frontier"),
    "frontier: no sense": (
        executed("frontier.db", "UPDATE url SET site = 999999 WHERE number = 3"),
        "frontier",
    ),
    "log: older": (older("log.jsonl"), "log"),
    "log: cut": (cut_to("log.jsonl", 0.5), "log"),
    "log: zeroed": (zeroed("log.jsonl"), "log"),
    "log: garbage": (garbage_at("log.jsonl", 3000, 2500), "log"),
    "index: older": (older("archive/index.cdxj"), "index"),
    "index: cut": (cut_to("archive/index.cdxj", 0.5), "index"),
    "index: zeroed": (zeroed("archive/index.cdxj"), "index"),
    "index: missing": (gone("archive/index.cdxj"), "index"),
    "search index: waiting texts lost": (
        executed("results.db", "DELETE FROM unindexed"),
        "search index",
    ),
    "settings: missing": (gone("crawl.json"), "settings"),
    "settings: cut": (cut_to("crawl.json", 0.5), "settings"),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_damage_is_found_and_mended_and_nothing_is_fetched_again(
    trailhound: Command,
    crawl: Command,
    site: TinySite,
    half_way: Path,
    tmp_path: Path,
    case: str,
) -> None:
    damage, store = DAMAGES[case]
    damage(half_way, tmp_path / "earlier")
    found = trailhound("check", TOPIC, "--json")
    assert found.code == 1
    checks = {each["store"]: each for each in json.loads(found.out)["stores"]}
    assert checks[store]["problems"], checks
    done = trailhound("check", TOPIC, "--repair")
    assert done.code == 0, done.out + done.err
    assert "Everything agrees" in done.err
    assert trailhound("check", TOPIC, "--json").report["sound"]
    assert not site.asked, "a repair asks nobody"
    done = crawl("--resume", "--max-requests", str(2 * PAGES))
    assert done.code == 0, done.err
    assert "mended" not in done.err
    assert sorted(site.paths()) == sorted(f"/{number}" for number in range(24, PAGES))
    assert trailhound("check", TOPIC).code == 0
    with Results(half_way / "results.db") as results:
        assert len({each.url for each in results.event_keys()}) == PAGES
        assert len(results.search("honey")) == len(results.ranked()) == (PAGES + 2) // 3


def test_a_sound_crawl_is_told_as_such_and_left_as_it_is(
    trailhound: Command, half_way: Path
) -> None:
    before = {path: path.read_bytes() for path in half_way.rglob("*") if path.is_file()}
    done = trailhound("check", TOPIC, "--repair")
    assert done.code == 0
    assert "Everything agrees" in done.err
    for word in ("results", "archive", "index", "log", "frontier", "search index"):
        assert word in done.out
    assert before == {path: path.read_bytes() for path in before}


def test_what_is_damaged_is_moved_aside_and_forgotten_with_the_rest(
    trailhound: Command, half_way: Path, tmp_path: Path
) -> None:
    for number in (1, 2):
        garbage_at("results.db", 0, 100)(half_way, tmp_path)
        content = (half_way / "results.db").read_bytes()
        done = trailhound("check", TOPIC, "--repair")
        assert f"results.db could not be used; it is now results-damaged-{number}.db" in done.err
        assert (half_way / f"results-damaged-{number}.db").read_bytes() == content
    done = trailhound("forget", TOPIC, "--url", "http://127.0.0.1/0")
    assert "damaged files that were moved aside: 2" in done.out
    assert not list(half_way.glob("*damaged*"))


@pytest.mark.parametrize("kind", ["cut", "hole", "file"])
def test_lost_content_is_told_and_everything_else_goes_on(
    trailhound: Command, crawl: Command, site: TinySite, half_way: Path, tmp_path: Path, kind: str
) -> None:
    name = f"archive/{sorted((half_way / 'archive').glob('*.warc.gz'))[-1].name}"
    size = (half_way / name).stat().st_size
    lost = {"cut": cut_to(name, 0.5), "hole": garbage_at(name, size // 3, 900), "file": gone(name)}
    lost[kind](half_way, tmp_path)
    assert trailhound("check", TOPIC).code == 1
    done = trailhound("check", TOPIC, "--repair")
    assert done.code == 0, done.out + done.err
    assert "is lost" in done.err
    report = trailhound("check", TOPIC, "--json").report
    (archive,) = (each for each in report["stores"] if each["store"] == "archive")
    assert any("was lost before" in note for note in archive["notes"])
    done = crawl("--resume", "--max-requests", str(2 * PAGES))
    assert "lost" not in done.err
    assert len(site.paths()) == PAGES - 24
    assert trailhound("check", TOPIC).code == 0


@pytest.mark.parametrize("content", ["{", "", None])
def test_a_lost_description_of_the_topic_is_written_anew(
    trailhound: Command, crawl: Command, half_way: Path, content: str | None
) -> None:
    path = half_way.parent / "topic.json"
    before = json.loads(path.read_text())
    path.unlink() if content is None else path.write_text(content)
    if content is not None:
        advice = f"Have it made anew with: trailhound check {TOPIC} --repair"
        for command in (["results", TOPIC], ["check", TOPIC]):
            done = trailhound(*command)
            assert (done.code, advice in done.err) == (1, True)
    done = trailhound("check", TOPIC, "--repair")
    assert done.code == 0, done.err
    assert "topic.json was written again." in done.err
    assert json.loads(path.read_text()) == before
    assert (path.with_name("topic-damaged-1.json").exists()) == (content is not None)
    assert trailhound("check", TOPIC, "--repair").err.count("topic.json") == 0
    assert crawl("--resume", "--max-requests", "30").code == 0


def test_the_topic_is_told_by_its_crawl_or_its_folder(
    trailhound: Command, workspace_folder: Path
) -> None:
    named = Workspace(workspace_folder).folder_for("My Bees")
    long = Workspace(workspace_folder).folder_for("b" * 150)
    newer = Workspace(workspace_folder).folder_for("wasps")
    for folder in (named, long, newer):
        folder.prepare()
    for folder in (named, long):
        (folder.path / "topic.json").write_text("{")
    (newer.path / "topic.json").write_text('{"name": "wasps", "version": 99}')
    assert "check 'My Bees' --repair" in trailhound("results", "My Bees").err
    done = trailhound("check", "My Bees", "--repair", "--json")
    assert done.report["sound"]
    assert Workspace(workspace_folder).topic("My Bees").record().name == "My Bees"
    done = trailhound("check", long.path.name, "--repair")
    assert (done.code, "Give its whole name." in done.err) == (2, True)
    assert trailhound("check", long.name, "--repair").code == 0
    assert long.record().name == long.name
    done = trailhound("check", "wasps", "--repair")
    assert (done.code, "Upgrade Trailhound" in done.err) == (1, True)


@pytest.mark.parametrize("name", ["results.db", "frontier.db"])
def test_the_command_that_mends_a_store_names_the_topic(
    trailhound: Command, crawl: Command, half_way: Path, name: str
) -> None:
    zeroed(name)(half_way, half_way)
    (half_way / name).write_bytes(b"x" * 4096)
    advice = f"have it made anew with: trailhound check {TOPIC} --repair."
    told = crawl("--resume", "--max-requests", "30").err
    assert advice in told
    record = half_way / "crawl.json"
    record.write_text(record.read_text().replace(f'"topic": "{TOPIC}"', '"topic": "my bees"'))
    with pytest.raises(TrailhoundError, match="check 'my bees' --repair"):
        RESULTS.open(half_way / name) if "results" in name else FRONTIER.open(half_way / name)


@pytest.mark.parametrize("kept", [0, 1])
def test_an_archive_file_without_a_page_is_removed(
    trailhound: Command, half_way: Path, kept: int
) -> None:
    """The first record of a file describes the file itself."""
    for path in (half_way / "archive").glob("*.warc.gz"):
        ends = [span.end for span in whole_records(path)]
        path.write_bytes(path.read_bytes()[: ends[kept - 1] if kept else 0])
    assert trailhound("check", TOPIC).code == 1
    done = trailhound("check", TOPIC, "--repair")
    assert done.code == 0, done.out + done.err
    assert ".warc.gz: removed, with" in done.err
    assert "the archived content of 24 pages is lost" in done.err
    assert list((half_way / "archive").glob("*.warc.gz")) == []
    assert trailhound("check", TOPIC).code == 0


def test_a_record_that_was_changed_is_told_by_its_digest(
    trailhound: Command, half_way: Path
) -> None:
    path = sorted((half_way / "archive").glob("*.warc.gz"))[0]
    spans = list(whole_records(path))
    span = next(each for each in spans if b"Page 3<" in each.head)
    content = whole_content(path, span)
    assert digests_are_right(content)
    changed = content.replace(b"Page 3<", b"Page X<")
    assert not digests_are_right(changed)
    assert not digests_are_right(content[:-300])
    data = path.read_bytes()
    path.write_bytes(data[: span.start] + gzip.compress(changed) + data[span.end :])
    done = trailhound("check", TOPIC)
    assert done.code == 1
    assert "digest is wrong" in done.out
    done = trailhound("check", TOPIC, "--repair")
    assert done.code == 0, done.out + done.err
    assert "1 page is lost" in done.err


def test_a_killed_crawl_is_mended_without_a_second_fetch(
    trailhound: Command, crawl: Command, site: TinySite, half_way: Path, workspace_folder: Path
) -> None:
    command = [*COMMAND, "crawl", TOPIC, "--resume", "--max-requests", "38", "--delay", "0.2"]
    environment = {**os.environ, "TRAILHOUND_WORKSPACE": str(workspace_folder)}
    running = subprocess.Popen(
        [*command, "--allow-impolite"], env=environment, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: len(fetches_after(half_way / "archive", 24)) >= 3)
    done = trailhound("check", TOPIC)
    assert done.code == 1
    assert "Another crawl of the topic" in done.err
    running.kill()
    running.wait()
    assert trailhound("check", TOPIC).code == 1
    done = trailhound("check", TOPIC, "--repair")
    assert done.code == 0, done.out + done.err
    archived = len(fetches_after(half_way / "archive", 0))
    site.asked.clear()
    assert crawl("--resume", "--max-requests", str(2 * PAGES)).code == 0
    assert len(site.paths()) == PAGES - archived


def test_after_forgetting_everything_still_agrees(
    trailhound: Command, site: TinySite, half_way: Path
) -> None:
    for number in (0, 3, 23):
        url = f"http://127.0.0.1:{site.port}/{number}"
        assert trailhound("forget", TOPIC, "--url", url).code == 0
    done = trailhound("check", TOPIC)
    assert done.code == 0, done.out
    assert "/23" not in (half_way / "log.jsonl").read_text()


def test_a_redirect_whose_notes_are_forgotten_is_no_part_of_the_next_page(
    trailhound: Command, crawl: Command, site: TinySite, workspace_folder: Path
) -> None:
    """What was thought of it named the forgotten page, from which it was found."""
    site.resources = {
        "/0": Resource(b'<title>Bees</title><p>bees <a href="/1">1</a> <a href="/2">2</a>'),
        "/1": Resource(
            b'<title>One</title><p>bees <a href="/old">old</a> <a href="/gone">gone</a>'
        ),
        "/2": Resource(b'<title>Two</title><p>bees bees <a href="/3">3</a>'),
        "/old": Resource(status=302, headers={"Location": "/2"}),
        "/gone": Resource(status=302, headers={"Location": "http://other.test/"}),
        "/3": Resource(b"<title>Three</title><p>bees bees bees"),
    }
    assert crawl("--same-domain", "--set", "crawl.concurrency=1").code == 0  # in this order
    home = f"http://127.0.0.1:{site.port}"
    assert trailhound("forget", TOPIC, "--url", f"{home}/1").code == 0
    folder = workspace_folder / "topics" / TOPIC / "crawl"
    archived = fetches_after(folder / "archive", 0)
    assert [(each.url, len(each.answers)) for each in archived] == [
        (f"{home}/{name}", 1) for name in ("0", "2", "old", "gone", "3")
    ]
    done = trailhound("check", TOPIC)
    assert done.code == 0, done.out
    kept = trailhound("results", TOPIC, "--all", "--json").out
    assert trailhound("check", TOPIC, "--repair").code == 0
    assert trailhound("results", TOPIC, "--all", "--json").out == kept


def test_a_backup_that_cannot_be_written_is_checked(
    trailhound: Command, half_way: Path, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "backup", "100m") as disk:
        workspace = half_way.parents[2]
        shutil.copytree(workspace, disk, dirs_exist_ok=True)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        done = trailhound("check", TOPIC, "--workspace", str(disk))
        assert done.code == 0, done.out + done.err
        done = trailhound("check", TOPIC, "--repair", "--workspace", str(disk))
        assert (done.code, "cannot be written" in done.err) == (1, True)


def test_there_is_nothing_to_check_before_a_crawl(trailhound: Command, half_way: Path) -> None:
    shutil.rmtree(half_way)
    done = trailhound("check", TOPIC)
    assert done.code == 2
    assert "has not been crawled yet" in done.err
    assert trailhound("check", "no such topic").code == 2


def test_settings_of_a_newer_version_are_left_alone(trailhound: Command, half_way: Path) -> None:
    record = half_way / "crawl.json"
    newer = record.read_text().replace('"version": 1', '"version": 99')
    record.write_text(newer)
    done = trailhound("check", TOPIC, "--repair")
    assert done.code == 1
    assert "Upgrade Trailhound" in done.err
    assert record.read_text() == newer
