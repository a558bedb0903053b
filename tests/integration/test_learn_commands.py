"""``trailhound learn`` and ``trailhound inspect`` as a user meets them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from learned_topics import HOST, LINKS, TEXTS, page_html, park_session
from test_warc_importer import ArchiveBuilder

from command_line import COMMAND, Command, Done
from trailhound.lab.corpora import CorpusWriter
from trailhound.sessions.events import Session
from trailhound.sessions.files import write_session
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.workspace import Workspace


def write(path: Path, session: Session) -> Path:
    write_session(session, path)
    return path


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return write(tmp_path / "park.jsonl", park_session())


def assert_clean_failure(done: Done, code: int, *words: str) -> None:
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    shown = " ".join(done.err.split())
    for word in words:
        assert word in shown


def summary(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.err
    (only,) = json.loads(done.out)
    found: dict[str, Any] = only
    return found


def test_learning_prints_a_summary_and_where_it_is(trailhound: Command, recording: Path) -> None:
    done = trailhound("learn", "bees", "--session", recording)
    assert done.code == 0, done.err
    for part in ("1 session of 1 person", "10, 3 of them useful", "target 3, 1 hop 2"):
        assert part in done.out
    assert "(leave-one-out), precision" in done.out
    assert "trailhound inspect bees" in done.err


def test_json_goes_to_stdout_alone(trailhound: Command, recording: Path) -> None:
    found = summary(trailhound("learn", "bees", "-s", recording, "--json"))
    assert (found["pages"], found["targets"], found["level_sizes"]) == (10, 3, [3, 2, 1, 4])
    assert Path(found["model"]).is_dir()
    assert all(warning["next_step"] for warning in found["warnings"])


def test_the_workspace_flag_goes_before_the_environment(
    trailhound: Command, recording: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    trailhound("learn", "bees", "-s", recording, "--workspace", elsewhere)
    assert (elsewhere / "topics" / "bees" / "model" / "model.json").exists()
    assert_clean_failure(trailhound("inspect", "bees"), 2, "Unknown topic 'bees'")
    assert trailhound("inspect", "bees", "--workspace", elsewhere).code == 0


def test_without_sessions_it_says_so_before_anything_heavy_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom trailhound.cli.main import app\n"
        "from trailhound.errors import UsageError\n"
        "try: app(['learn', 'bees'], standalone_mode=False)\n"
        "except UsageError as error: print(error)\n"
        "print([name for name in ('numpy', 'scipy') if name in sys.modules])"
    )
    environment = {**os.environ, "TRAILHOUND_WORKSPACE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "has no sessions yet" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_topics_are_listed(trailhound: Command, tmp_path: Path, recording: Path) -> None:
    assert "has no topics yet" in trailhound("topics").err
    assert json.loads(trailhound("topics", "--json").out) == []
    trailhound("learn", "bees", "-s", recording)
    damaged = tmp_path / "workspace" / "topics" / "bees" / "crawl" / "crawl.json"
    (bees,) = json.loads(trailhound("topics", "--json").out)
    assert (bees["topic"], bees["sessions"], bees["marked"]) == ("bees", 1, 3)
    assert (bees["learned"], bees["crawl"], bees["problem"]) == (True, None, "")
    shown = trailhound("topics").out
    assert "none yet" in shown
    damaged.parent.mkdir()
    damaged.write_text("{")
    done = trailhound("topics")
    assert done.code == 0
    assert "damaged" in done.out
    assert "crawl.json" in done.err


def test_sessions_of_several_people_merge(trailhound: Command, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    ann = write(folder / "ann.jsonl", park_session(user="ann"))
    bob = write(folder / "bob.jsonl", park_session(user="bob", targets=["bee4"]))
    ways: list[list[str | Path]] = [["-s", folder], ["-s", ann, "-s", bob], ["-s", ann, bob]]
    for sources in ways:
        found = summary(trailhound("learn", "bees", *sources, "--replace", "--json"))
        assert (found["sessions"], found["people"], found["targets"]) == (2, 2, 4)


def test_a_session_comes_from_standard_input(
    trailhound: Command, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(recording.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert summary(trailhound("learn", "bees", "-s", "-", "--json"))["pages"] == 10


def test_learning_again_takes_options(trailhound: Command, recording: Path) -> None:
    trailhound("learn", "bees", "-s", recording)
    options = ["--states", "3", "--clusters", "2", "--threshold", "0.4"]
    found = summary(trailhound("learn", "bees", *options, "--json"))
    assert (len(found["level_sizes"]), found["clusters"]) == (3, 2)
    assert (found["threshold"], found["threshold_method"]) == (0.4, "given")


def test_sessions_of_several_topics_are_not_merged_without_a_word(
    trailhound: Command, recording: Path, tmp_path: Path
) -> None:
    labels = {"bee1": "queens", "bee2": "honey"}
    folder = tmp_path / "two"
    folder.mkdir()
    bread = write(folder / "bread.jsonl", park_session(topic="bread", targets=labels))
    write(folder / "wasps.jsonl", park_session(topic="wasps"))
    told = " ".join(trailhound("learn", "x", "-s", folder).err.split())
    assert "recorded for 2 topics (bread, wasps), and 'x' learns from all of them" in told
    assert f"trailhound learn x --replace --session {bread}, or marks" in told
    assert "--label honey." in told
    for alone in (("-s", recording), ("-s", folder, "--label", "queens")):
        assert "recorded for" not in trailhound("learn", "y", *alone).err


def test_labels_are_told_and_can_be_chosen(trailhound: Command, tmp_path: Path) -> None:
    labels = {"bee1": "queens", "bee2": "queens", "bee3": "honey"}
    both = write(tmp_path / "both.jsonl", park_session(targets=labels))
    merged = trailhound("learn", "bees", "-s", both)
    assert "several labels (honey, queens)" in " ".join(merged.err.split())
    one = summary(trailhound("learn", "q", "-s", both, "--label", "queens", "--json"))
    assert (one["targets"], one["label"]) == (2, "queens")
    done = trailhound("learn", "park", "-s", both, "--each-label", "--json")
    assert [each["topic"] for each in json.loads(done.out)] == ["park-honey", "park-queens"]
    assert "honey" in trailhound("inspect", "park-honey").out
    done = trailhound("learn", "x", "-s", both, "--label", "queen")
    assert_clean_failure(done, 2, "Did you mean queens")
    done = trailhound("learn", "x", "-s", both, "--label", "queens", "--each-label")
    assert_clean_failure(done, 2, "--each-label")


def test_content_comes_from_a_corpus(trailhound: Command, tmp_path: Path) -> None:
    bare = write(tmp_path / "bare.jsonl", park_session(with_html=False))
    corpus = tmp_path / "park.thc"
    with CorpusWriter(corpus, kind="test") as writer:
        for name, text in TEXTS.items():
            writer.add_page(HOST + name, page_html(name, text, LINKS.get(name, ())).encode())
    poor = trailhound("learn", "poor", "-s", bare)
    assert "10 pages of 10 came without content" in poor.err
    assert "--content" in poor.err
    found = summary(trailhound("learn", "bees", "-s", bare, "--content", corpus, "--json"))
    assert (found["without_content"], found["links"]) == (0, 13)
    missing = trailhound("learn", "bees", "-s", bare, "--content", tmp_path / "no.thc")
    assert_clean_failure(missing, 2, "no.thc")


def test_content_comes_from_a_web_archive(trailhound: Command, tmp_path: Path) -> None:
    bare = write(tmp_path / "bare.jsonl", park_session(with_html=False))
    archive = ArchiveBuilder()
    for name, text in TEXTS.items():
        archive.page(HOST + name, page_html(name, text, LINKS.get(name, ())).encode())
    path = tmp_path / "park.warc.gz"
    path.write_bytes(archive.content())
    found = summary(trailhound("learn", "bees", "-s", bare, "--content", path, "--json"))
    assert (found["without_content"], found["links"]) == (0, 13)


def test_sessions_that_cannot_be_learned_from_say_why(trailhound: Command, tmp_path: Path) -> None:
    unmarked = write(tmp_path / "unmarked.jsonl", park_session(targets=()))
    done = trailhound("learn", "bees", "-s", unmarked)
    assert_clean_failure(done, 1, "Of 10 visited pages none is marked useful", "Mark")
    done = trailhound("learn", "bees", "-s", tmp_path / "missing.jsonl")
    assert_clean_failure(done, 2, "missing.jsonl")
    done = trailhound("learn", "bees", "-s", tmp_path)
    assert_clean_failure(done, 1, "Mark at least one page")
    (tmp_path / "empty").mkdir()
    assert_clean_failure(
        trailhound("learn", "bees", "-s", tmp_path / "empty"), 1, "holds no session"
    )
    assert_clean_failure(trailhound("learn", "bees"), 2, "--session FILE")
    assert_clean_failure(trailhound("learn", "", "-s", unmarked), 2, "A topic needs a name")
    assert not (tmp_path / "workspace").exists()


def test_damaged_lines_stop_it_unless_it_is_lenient(trailhound: Command, recording: Path) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(b"".join([*lines[:3], b"{broken}\n", *lines[3:]]))
    done = trailhound("learn", "bees", "-s", recording)
    assert_clean_failure(done, 1, "line 4 is damaged", "--lenient")
    done = trailhound("learn", "bees", "-s", recording, "--lenient")
    assert done.code == 0
    assert "line 4: skipped" in " ".join(done.err.split())


def test_damaged_lines_of_the_topics_own_sessions_are_skipped_as_well(
    trailhound: Command, tmp_path: Path, recording: Path
) -> None:
    trailhound("learn", "bees", "-s", recording)
    (kept,) = (tmp_path / "workspace" / "topics" / "bees" / "sessions").iterdir()
    lines = kept.read_bytes().splitlines(keepends=True)
    kept.write_bytes(b"".join([*lines[:3], b"{broken}\n", *lines[3:]]))
    assert_clean_failure(trailhound("learn", "bees"), 1, "line 4 is damaged", "--lenient")
    done = trailhound("learn", "bees", "--lenient")
    assert done.code == 0, done.err
    assert "line 4: skipped" in " ".join(done.err.split())


def test_inspect_as_text(trailhound: Command, recording: Path) -> None:
    trailhound("learn", "bees", "-s", recording)
    shown = trailhound("inspect", "bees")
    assert shown.code == 0, shown.err
    for part in ("A: from", "B: from", "Concept graph", "by log odds: ", "by mutual information: "):
        assert part in shown.out
    assert "3 hops or more" in shown.out
    assert "The bee1" in shown.out
    assert "What trail has learned about links" in shown.out
    assert "from the sessions; in brackets" in " ".join(shown.out.split())


def test_inspect_as_json(trailhound: Command, recording: Path) -> None:
    trailhound("learn", "bees", "-s", recording)
    shown = json.loads(trailhound("inspect", "bees", "--json").out)
    assert shown["origin"]["topic"] == "bees"
    assert shown["clusters"][0]["log_odds"][0].keys() == {"word", "term", "score", "pages"}
    assert len(shown["transition"]) == 4
    assert shown["judge"]["f1"] is not None
    assert shown["links"]["strategy"] == "trail"
    assert shown["links"]["after_crawl"] == []


def test_inspect_as_a_page(trailhound: Command, recording: Path, tmp_path: Path) -> None:
    trailhound("learn", "bees", "-s", recording)
    page = tmp_path / "new" / "bees.html"
    done = trailhound("inspect", "bees", "--html", page)
    assert done.out.strip() == str(page)
    assert f"Made the folder {page.parent}" in done.err.replace("\n", "")
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert "<h2>Links</h2>" in page.read_text("utf-8")
    done = trailhound("inspect", "bees", "--html", page, "--json")
    assert json.loads(done.out)["origin"]["topic"] == "bees"
    assert done.err.strip() == str(page)
    done = trailhound("inspect", "bees", "--html", recording / "x.html")
    assert_clean_failure(done, 1, "Cannot write")


def test_a_damaged_crawl_does_not_keep_from_what_was_learned(
    trailhound: Command, recording: Path, tmp_path: Path
) -> None:
    trailhound("learn", "bees", "-s", recording)
    crawl = CrawlFolder(Workspace(tmp_path / "workspace").topic("bees"))
    crawl.make()
    crawl.record_path.write_text("{")
    shown = trailhound("inspect", "bees", "--json")
    assert shown.report["links"] is None
    assert "links cannot be told." in shown.err
    assert "crawl.json is damaged" in shown.err


def test_inspecting_names_what_is_wrong(
    trailhound: Command, recording: Path, tmp_path: Path
) -> None:
    assert_clean_failure(trailhound("inspect", "bees"), 2, "trailhound learn bees")
    trailhound("learn", "bees", "-s", recording)
    assert_clean_failure(trailhound("inspect", "Bees"), 2, "Did you mean bees")
    (arrays,) = (tmp_path / "workspace").rglob("arrays-*.npz")
    arrays.write_bytes(b"nonsense")
    assert_clean_failure(trailhound("inspect", "bees"), 1, arrays.name, "damaged")
    arrays.unlink()
    again = "Learn the topic again with: trailhound learn bees"
    assert_clean_failure(trailhound("inspect", "bees"), 1, arrays.name, "no file", again)
    done = trailhound("learn", "bees")
    assert done.code == 0, "learning again repairs it"
    assert trailhound("inspect", "bees").code == 0


def test_it_works_as_a_program(recording: Path, tmp_path: Path) -> None:
    workspace = ["--workspace", str(tmp_path / "own")]
    command = [*COMMAND, "learn", "bees", "--session", "-", "--json", *workspace]
    with recording.open("rb") as stream:
        done = subprocess.run(command, stdin=stream, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["pages"] == 10
