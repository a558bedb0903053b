"""Experiments on a real Ray cluster of this machine: the same results, whatever happens to it."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace
from tiny_lab_web import write_tiny_web

from command_line import Command
from trailhound.cluster.connecting import LOCAL, connected
from trailhound.cluster.fan_out import fan_out
from trailhound.errors import TrailhoundError, UsageError
from trailhound.lab.experiment import attempts, plan_experiment
from trailhound.lab.results import RunResult
from trailhound.lab.results_files import read_results

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
