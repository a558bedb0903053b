"""Work for a real Ray cluster of this machine: the same results, whatever happens to it."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from live_webs import Site
from msgspec.structs import replace
from tiny_lab_web import write_tiny_web

from command_line import Command
from trailhound.cluster.connecting import LOCAL, connected, fan_out
from trailhound.demo import DemoWeb
from trailhound.demo.web import write_access_log
from trailhound.errors import StorageError, TrailhoundError, UsageError
from trailhound.lab.experiment import attempts, plan_experiment
from trailhound.lab.results import RunResult
from trailhound.lab.results_files import read_results
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import TRACES, CrawlFolder
from trailhound.topics.crawls.marking import mark_results
from trailhound.topics.finds.rejudging import Rejudged, WhatToJudgeBy, judging_elsewhere, rejudge
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.runs.judging import choose_threshold, judge_of
from trailhound.topics.workspace import TopicFolder, Workspace

STRATEGIES = ("breadth-first", "best-first", "random")


@pytest.fixture(scope="module")
def ray() -> Iterator[ModuleType]:
    folder = tempfile.mkdtemp(prefix="th")  # names of sockets must be short
    with connected(LOCAL, cpus=2, temp_folder=Path(folder)) as ray:
        yield ray
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_web(tmp_path_factory.mktemp("corpus") / "tiny.thc")


def test_a_local_cluster_is_reached_from_this_machine_alone(ray: ModuleType) -> None:
    assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}


def without_times(run: RunResult) -> RunResult:
    return replace(run, cpu_seconds=0.0, learning_cpu_seconds=0.0)


@pytest.mark.usefixtures("ray")
def test_the_cluster_measures_what_one_process_measures(
    corpus: Path, tmp_path: Path, trailhound: Command
) -> None:
    arguments = ["lab", "run", str(corpus), "--max-requests", "30", "--seed-sets", "2"]
    for strategy in STRATEGIES:
        arguments += ["--strategy", strategy]
    here, there = tmp_path / "here", tmp_path / "there"
    assert trailhound(*arguments, "-o", str(here)).code == 0
    assert trailhound(*arguments, "-o", str(there), "--cluster", LOCAL).code == 0
    one, many = read_results(here), read_results(there)
    assert list(map(without_times, many.runs)) == list(map(without_times, one.runs))
    assert many.comparisons == one.comparisons
    assert many.parameters == one.parameters


@pytest.fixture
def workspace_folder(tmp_path: Path) -> Path:
    return tmp_path  # where ``topic`` is


def kept(folder: CrawlFolder) -> list[list[tuple[Any, ...]]]:
    """All that a judging writes."""
    queries = (
        "SELECT id, score, relevant, duplicate_of, fingerprint FROM event ORDER BY id",
        "SELECT * FROM words ORDER BY id",
        "SELECT * FROM unindexed ORDER BY id",
        "SELECT * FROM judged ORDER BY first",
    )
    with closing(sqlite3.connect(folder.results)) as connection:
        return [connection.execute(query).fetchall() for query in queries]


@pytest.mark.usefixtures("ray")
def test_the_cluster_judges_as_one_process_does(
    demo: Site, web: DemoWeb, tmp_path: Path, trailhound: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with demo.begun(crawl__seeds=web.start_urls, crawl__max_requests=80) as crawl:
        list(crawl.run())
    folder = CrawlFolder(demo.topic)
    with Results(folder.results) as results:
        mark_results(folder, [page.address for page in results.near_misses()[:3]], True, 2e9)
    learn_into(Workspace(tmp_path), LearningRequest(demo.topic.name))
    choose_threshold(folder, 0.01)
    with closing(sqlite3.connect(folder.results)) as connection, connection:
        connection.execute("DELETE FROM words WHERE id % 2")  # these are read from the archive
    copy = CrawlFolder(demo.topic, tmp_path / "copy")
    shutil.copytree(folder.path, copy.path)
    monkeypatch.setattr("trailhound.topics.finds.rejudging.PAGES_TOGETHER", 7)
    here = rejudge(copy)
    assert here.judged > 50
    assert here.joined > 5
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "ray", None)
        lacking = trailhound("rejudge", demo.topic.name, "--cluster", LOCAL)
    assert lacking.code == 2
    assert "pip install 'trailhound[cluster]'" in lacking.err
    told = trailhound("rejudge", demo.topic.name, "--cluster", LOCAL, "--json").report
    assert Rejudged(**told["rejudged"]) == here
    assert kept(folder) == kept(copy)
    shutil.rmtree(copy.archive)
    with pytest.raises(StorageError, match=r"archive there. Let all machines see"):
        judging_elsewhere(WhatToJudgeBy(judge_of(folder), copy.archive, is_archived=True))


@pytest.mark.usefixtures("ray")
def test_the_cluster_reads_a_log_as_one_process_does(
    topic: TopicFolder,
    web: DemoWeb,
    tmp_path: Path,
    trailhound: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = write_access_log(web, tmp_path)
    damaged = ["half a li", "", "1772366400.000 90 10.0.0.1 TCP_MISS/200 9 GET mailto:x - - -"]
    lines = log.read_text().splitlines()
    log.write_text("\n".join([*lines[:1000], *damaged, *lines[1000:], *damaged]))
    monkeypatch.setattr("trailhound.sources.traces.PART_BYTES", 50_000)
    monkeypatch.setattr("trailhound.sessions.importers.logs._PIECE_BYTES", 20_000)

    def indexed(*options: str) -> tuple[Any, dict[str, bytes]]:
        told = trailhound("trace", topic.name, log, "--json", *options).report
        (index,) = (topic.path / TRACES).glob("*.trace")
        files = {path.name: path.read_bytes() for path in index.iterdir()}
        shutil.rmtree(index)
        return told, files

    here, there = indexed(), indexed("--cluster", LOCAL)
    assert here[0]["visits"] > 1000
    assert here == there
    assert here[0]["skipped"] == {"not a line of this format": 2, "not an address on the web": 2}


# Functions within functions: those of this module, other processes could not import.


@pytest.mark.usefixtures("ray")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_task_of_a_killed_process_is_done_again(tmp_path: Path) -> None:
    def doubling(folder: Path) -> Callable[[int], int]:
        def do(number: int) -> int:
            if number == 3 and not (folder / "died").exists():
                (folder / "died").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return 2 * number

        return do

    assert sorted(fan_out(LOCAL, doubling, tmp_path, range(6))) == [0, 2, 4, 6, 8, 10]
    assert (tmp_path / "died").exists()


@pytest.mark.usefixtures("ray")
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_whoever_has_enough_does_not_wait_for_the_rest() -> None:
    def waiting(_: None) -> Callable[[int], int]:
        def do(number: int) -> int:
            while number:
                signal.pause()
            return number

        return do

    with closing(fan_out(LOCAL, waiting, None, range(2))) as done:
        assert next(done) == 0
    assert list(fan_out(LOCAL, waiting, None, [0, 0])) == [0, 0], "the processes are free again"


@pytest.mark.usefixtures("ray")
def test_what_a_machine_lacks_is_told(corpus: Path, tmp_path: Path) -> None:
    plan = plan_experiment(corpus, STRATEGIES)
    lacking = dataclasses.replace(plan, corpus=tmp_path / "nowhere.thc")
    with pytest.raises(UsageError, match=r"nowhere\.thc.*the cluster, all of whose machines"):
        list(fan_out(LOCAL, attempts, lacking, plan.tasks()[:1]))

    def dividing(by: int) -> Callable[[int], float]:
        return lambda number: number / by

    with pytest.raises(TrailhoundError, match=r"ZeroDivisionError.*same version of Trailhound"):
        list(fan_out(LOCAL, dividing, 0, [1]))
