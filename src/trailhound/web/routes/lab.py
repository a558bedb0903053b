"""The lab in the app: choose a recorded web, strategies and topics; run; read the report."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from trailhound.errors import StorageError, TrailhoundError, UsageError
from trailhound.lab.experiment import plan_experiment
from trailhound.lab.importers import import_corpus
from trailhound.lab.results_files import PARTIAL_NAME, REPORT_NAME, RESULTS_NAME, read_results
from trailhound.lab.topics import TopicOverview, describe_topics
from trailhound.storage.files import explaining
from trailhound.strategies.choosing import StrategyInfo, describe_strategy, strategy_names
from trailhound.web.api import Nothing, NotThereError, Routes
from trailhound.web.jobs import Handle, Job

if TYPE_CHECKING:
    from trailhound.web.state import App

routes = Routes("Lab")

CORPORA, RUNS = "corpora", "lab"
DEMO = "demo.thc"
"""Made when it is first asked for."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
_LOOK_EVERY = 0.5
_making = threading.Lock()
"""Held while the demo corpus is made: whoever asks meanwhile waits for it."""


class CorpusView(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded web."""

    name: str
    megabytes: float | None
    """``None``: it is made when it is first used."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What one strategy has reached in an experiment."""

    strategy: str
    nauc: float
    recall: float


class RunView(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment."""

    name: str
    finished: bool
    runs_done: int
    measured: list[Measured] = []


class LabView(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to choose from, and what was run."""

    folder: str
    """Where corpora are looked for."""
    corpora: list[CorpusView]
    strategies: list[StrategyInfo]
    runs: list[RunView]


class OneCorpus(msgspec.Struct, frozen=True, kw_only=True):
    """Of a route about one corpus."""

    corpus: str


class OneRun(msgspec.Struct, frozen=True, kw_only=True):
    """Of a route about one experiment."""

    name: str


class NewRun(msgspec.Struct, frozen=True, kw_only=True):
    """What to compare."""

    name: str
    corpus: str
    strategies: list[str]
    topics: list[str] = []
    """Empty: all."""
    max_requests: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 400
    seed_sets: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=1000)] | None = None


class DocumentView(msgspec.Struct, frozen=True, kw_only=True):
    """Where a document can be looked at for two minutes."""

    address: str


@routes.get("/api/lab")
def show_lab(app: App, asked: Nothing) -> LabView:
    """Corpora, strategies and experiments."""
    del asked
    folder = app.workspace.folder / CORPORA
    found = [
        CorpusView(name=path.name, megabytes=path.stat().st_size / 1e6)
        for path in sorted(folder.glob("*.thc"))
    ]
    if not any(corpus.name == DEMO for corpus in found):
        found.insert(0, CorpusView(name=DEMO, megabytes=None))
    return LabView(
        folder=str(folder),
        corpora=found,
        strategies=[describe_strategy(name) for name in strategy_names()],
        runs=[_run(path) for path in sorted((app.workspace.folder / RUNS).glob("*/"))],
    )


@routes.get("/api/lab/corpora/{corpus}/topics")
def list_lab_topics(app: App, asked: OneCorpus) -> list[TopicOverview]:
    """The topics of a corpus, with what there is to find."""
    return describe_topics(_corpus(app, asked.corpus), None, n_seed_sets=1, seed=7)


@routes.post("/api/lab/runs/{name}")
def start_lab_run(app: App, asked: NewRun) -> Job:
    """Run an experiment as a job, in a process of its own; the same again goes on where it was."""
    folder = app.workspace.folder / RUNS / _checked(asked.name)
    _check_strategies(asked.strategies)
    corpus = _corpus(app, asked.corpus)
    settings = {} if asked.concurrency is None else {"crawl.concurrency": asked.concurrency}
    plan = plan_experiment(  # mistakes are found here, before anything is begun
        corpus,
        asked.strategies,
        topics=asked.topics,
        max_requests=asked.max_requests,
        seed_sets=asked.seed_sets,
        settings=settings,
    )
    total = len(plan.parameters.topics) * len(plan.parameters.strategies) * asked.seed_sets
    command = _command(asked, corpus, folder)
    return app.jobs.start("lab", asked.name, lambda handle: _watch(command, folder, total, handle))


@routes.post("/api/lab/runs/{name}/report")
def show_lab_report(app: App, asked: OneRun) -> DocumentView:
    """The report of an experiment that has ended, at an address for a frame."""
    path = app.workspace.folder / RUNS / _checked(asked.name) / REPORT_NAME
    if not path.is_file():
        raise NotThereError(
            f"The experiment '{asked.name}' has no report yet. Run it, or wait for its end."
        )
    with explaining(path):
        return DocumentView(address=app.documents.address(path.read_bytes()))


def _checked(name: str) -> str:
    if _NAME.fullmatch(name) is None:
        raise UsageError("The name may have letters, digits, '.', '-' and '_'. Choose another.")
    return name


def _check_strategies(specs: list[str]) -> None:
    if not specs:
        raise UsageError("There is no strategy to compare. Choose one or more.")
    for spec in specs:
        if spec.partition(":")[0] not in strategy_names():  # files with code are for terminals
            raise UsageError(f"'{spec}' is no strategy that is installed. Choose one of the list.")


def _corpus(app: App, name: str) -> Path:
    path = app.workspace.folder / CORPORA / _checked(name)
    if name == DEMO:
        _make_demo(path)
    if not path.is_file():
        raise NotThereError(
            f"There is no corpus '{name}' in {path.parent}. Choose one of the list, or import it."
        )
    return path


def _make_demo(path: Path) -> None:
    """Unless it is there; it takes half a minute."""
    with _making:
        if path.exists():
            return
        with explaining(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        import_corpus("demo", None, path)


def _run(folder: Path) -> RunView:
    if not ((folder / RESULTS_NAME).is_file() and (folder / REPORT_NAME).is_file()):
        return RunView(name=folder.name, finished=False, runs_done=_finished(folder))
    try:
        results = read_results(folder)
    except TrailhoundError:
        return RunView(name=folder.name, finished=False, runs_done=0)
    measured = [
        Measured(strategy=name, nauc=each["nauc"].mean, recall=each["recall"].mean)
        for name, each in results.summary.items()
    ]
    return RunView(name=folder.name, finished=True, runs_done=len(results.runs), measured=measured)


def _command(asked: NewRun, corpus: Path, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "trailhound", "lab", "run", str(corpus), "-o", str(folder)]
    for strategy in asked.strategies:
        command += ["--strategy", strategy]
    for topic in asked.topics:
        command += ["--topic", topic]
    command += ["--max-requests", str(asked.max_requests), "--seed-sets", str(asked.seed_sets)]
    if asked.concurrency is not None:
        command += ["--concurrency", str(asked.concurrency)]
    return [*command, "--replace"]


def _watch(command: list[str], folder: Path, total: int, handle: Handle) -> str:
    """Until the process ends; its finished runs are counted in its file."""
    # Not a pipe: nobody reads it meanwhile, and one that is full would stop the process.
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603 - our own program, arguments without a shell
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        ) as process,
    ):
        while process.poll() is None:
            done = _finished(folder)
            handle.report(f"{done} of {total} crawls done", done / total)
            if handle.is_stopping():
                process.terminate()
            time.sleep(_LOOK_EVERY)
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace")
    if process.returncode and not handle.is_stopping():
        raise StorageError(
            said.strip().rpartition("Error: ")[2]
            or "The experiment has failed. See why in a terminal: trailhound lab run"
        )
    return "Stopped; the same again goes on." if handle.is_stopping() else f"{total} crawls done."


def _finished(folder: Path) -> int:
    """Lines of the partial file behind the first."""
    try:
        return max(0, (folder / PARTIAL_NAME).read_bytes().count(b"\n") - 1)
    except OSError:
        return 0
