"""``trailhound corpus`` and ``trailhound lab`` as a user meets them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from live_webs import wait_until
from tiny_lab_web import write_tiny_web

from command_line import COMMAND, Command, Done

RUN_OPTIONS = ["--strategy", "breadth-first", "--strategy", "best-first", "--max-pages", "30"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_web(tmp_path_factory.mktemp("corpus") / "tiny.thc")


def assert_clean_failure(done: Done, code: int, *words: str) -> None:
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


def test_run_writes_results_and_report_and_prints_a_table(
    trailhound: Command, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = trailhound("lab", "run", corpus, *RUN_OPTIONS, "--seed-sets", "1", "-j", "2", "-o", out)
    assert done.code == 0, done.err
    assert "best-first" in done.out
    assert "nAUC" in done.out
    assert "report.html" in done.err
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "results.json"]
    runs = json.loads((out / "results.json").read_text("utf-8"))["runs"]
    assert len(runs) == 4

    before = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    again = trailhound("lab", "report", out)
    assert again.code == 0
    assert (out / "report.html").read_bytes() == before


def test_results_of_another_experiment_are_replaced_on_demand_alone(
    trailhound: Command, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    def run(strategy: str, *more: str, topic: str = "bees") -> Done:
        options = ["--strategy", strategy, "--topic", topic, "--seed-sets", "1", *more]
        return trailhound("lab", "run", corpus, *options, "-o", out)

    assert run("random", "--max-requests", "20").code == 0
    before = (out / "results.json").read_bytes()
    for done, difference in (
        (run("random", "--max-requests", "30"), "max_requests 20, not 30"),
        (run("breadth-first", "--max-requests", "20"), "with the strategies random"),
    ):
        assert_clean_failure(done, 2, f"The folder {out} holds", difference, "--replace")
    assert (out / "results.json").read_bytes() == before
    assert not (out / "runs.partial.jsonl").exists()
    assert run("random", "--strategy", "breadth-first", "--max-requests", "20").code == 0
    assert run("random", "--max-requests", "30", "--replace").code == 0
    (out / "results.json").write_text("{}")
    done = run("random", "--max-requests", "30")
    assert_clean_failure(done, 2, "is no results file of trailhound lab run")


def test_json_goes_to_stdout_alone(trailhound: Command, corpus: Path, tmp_path: Path) -> None:
    options = [*RUN_OPTIONS, "--topic", "bees", "--seed-sets", "1", "--json"]
    options += ["--set", "crawl.concurrency=2"]
    done = trailhound("lab", "run", corpus, *options, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    assert printed["summary"].keys() == {"breadth-first", "best-first"}
    assert printed["comparisons"][0]["baseline"] == "best-first"
    assert printed["bound_beaten"] == []


def test_topics_are_listed(trailhound: Command, corpus: Path) -> None:
    shown = trailhound("lab", "topics", corpus)
    assert shown.code == 0, shown.err
    assert "bees" in shown.out
    listed = json.loads(trailhound("lab", "topics", corpus, "--json").out)
    expected = {"topic": "bees", "session_pages": 7, "targets": 4, "relevant": 20}
    assert expected.items() <= listed[0].items()
    assert listed[0]["findable"] == [20, 20, 20]


def test_corpus_info_as_text_and_json(trailhound: Command, corpus: Path) -> None:
    assert "fingerprint" in trailhound("corpus", "info", corpus).out
    assert json.loads(trailhound("corpus", "info", corpus, "--json").out)["pages"] == 118


def test_kinds_of_corpora_are_listed_and_a_destination_is_asked_for(trailhound: Command) -> None:
    listed = trailhound("corpus", "import")
    assert listed.code == 0, listed.err
    for kind in ("demo", "warc", "webkb", "wikispeedia"):
        assert kind in listed.out
    assert_clean_failure(trailhound("corpus", "import", "demo"), 2, "--out")


def test_an_archive_without_topics_is_told_to_name_some(
    trailhound: Command, tmp_path: Path
) -> None:
    archive = tmp_path / "small.warc"
    archive.write_bytes(warc_of("http://h.test/", b"<title>Bees</title><p>honey"))
    corpus = tmp_path / "small.thc"
    done = trailhound("corpus", "import", "warc", archive, "-o", corpus)
    assert done.code == 0, done.err
    assert f"trailhound lab topics {corpus} --topics FILE" in done.err.replace("\n", " ")
    topics = tmp_path / "topics.toml"
    topics.write_text('[topics.bees]\nwords = ["honey"]\n')
    assert trailhound("lab", "topics", corpus, "--topics", topics).code == 0


def warc_of(url: str, body: bytes) -> bytes:
    """One uncompressed response record."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = (
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(answer)}\r\n\r\n"
    )
    return head.encode() + answer + b"\r\n\r\n"


def test_unknown_names_are_usage_errors(trailhound: Command, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = trailhound("lab", "run", corpus, "--strategy", "best-frist", "-o", out)
    assert_clean_failure(done, 2, "best-frist", "Did you mean best-first")
    done = trailhound("lab", "run", corpus, *RUN_OPTIONS, "--topic", "bee", "-o", out)
    assert_clean_failure(done, 2, "Unknown topic 'bee'", "bees")
    done = trailhound("corpus", "import", "wikispedia", "-o", out)
    assert_clean_failure(done, 2, "wikispeedia")
    assert not out.exists()


def test_an_unreadable_corpus_is_named(trailhound: Command, tmp_path: Path) -> None:
    broken = tmp_path / "broken.thc"
    broken.write_bytes(b"not a corpus at all")
    for path, code in ((broken, 1), (tmp_path / "missing.thc", 2)):
        for command in (["corpus", "info"], ["lab", "topics"]):
            assert_clean_failure(trailhound(*command, path), code, path.name)
        done = trailhound("lab", "run", path, *RUN_OPTIONS, "-o", tmp_path / "out")
        assert_clean_failure(done, code, path.name)
    assert not (tmp_path / "out").exists()


def test_an_empty_topic_is_named(trailhound: Command, corpus: Path, tmp_path: Path) -> None:
    topics = tmp_path / "topics.toml"
    topics.write_text('[topics.nothing]\nurl_patterns = ["http://nowhere.test/*"]\n')
    out = tmp_path / "out"
    done = trailhound("lab", "run", corpus, *RUN_OPTIONS, "--topics", topics, "-o", out)
    assert_clean_failure(done, 1, "nothing", "empty")
    assert not (out / "results.json").exists()


def test_an_unwritable_folder_is_named(trailhound: Command, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file stands here")
    done = trailhound("lab", "run", corpus, *RUN_OPTIONS, "-o", tmp_path / "out")
    assert_clean_failure(done, 1, "Cannot write", "out")
    done = trailhound("demo", "--out", tmp_path / "out")
    assert_clean_failure(done, 1, "out cannot be made", "Choose another name")
    assert not done.out, "before the work, not after it"


def test_report_without_results_says_what_to_do(trailhound: Command, tmp_path: Path) -> None:
    assert_clean_failure(trailhound("lab", "report", tmp_path), 2, "trailhound lab run")


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a POSIX feature")
def test_a_full_disk_leaves_nothing_under_the_final_name(corpus: Path, tmp_path: Path) -> None:
    # A limit on file sizes fails like a full disk: a write in the middle of a file.
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000));"
        "from trailhound.cli.main import run; run()"
    )
    out = tmp_path / "out"
    arguments = ["lab", "run", str(corpus), *RUN_OPTIONS, "-o", str(out)]
    ended = subprocess.run(
        [sys.executable, "-c", limited, *arguments], capture_output=True, text=True, timeout=60
    )
    done = Done(ended.returncode, ended.stdout, ended.stderr)
    assert_clean_failure(done, 1, "Cannot write", "Free space")
    assert not (out / "results.json").exists()
    assert not (out / "report.html").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("stop_signal", ["SIGINT", "SIGTERM"])
def test_an_interruption_keeps_finished_runs(
    corpus: Path, tmp_path: Path, stop_signal: str
) -> None:
    options = [*RUN_OPTIONS, "--seed-sets", "400", "--jobs", "2", "-o", str(tmp_path / "out")]
    command = [*COMMAND, "lab", "run", str(corpus), *options]
    partial = tmp_path / "out" / "runs.partial.jsonl"
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: lines_in(partial) >= 4)
        process.send_signal(getattr(signal, stop_signal))
        _, messages = process.communicate(timeout=30)
    assert process.returncode == 130, messages
    assert "give the same command again" in messages.replace("\n", " ")
    assert "Traceback" not in messages
    assert lines_in(partial) >= 4
    assert not (tmp_path / "out" / "results.json").exists()


def lines_in(path: Path) -> int:
    return len(path.read_bytes().splitlines()) if path.exists() else 0
