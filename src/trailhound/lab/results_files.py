"""The files of an experiment: ``results.json``, and ``runs.partial.jsonl`` until it is complete.

The partial file starts with a line that says which experiment it belongs to; every further line is
one finished run, so that an interruption costs little. A last line cut off by a crash is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from trailhound.errors import UNREADABLE, StorageError, UsageError
from trailhound.lab.results import (
    RESULTS_FORMAT,
    RESULTS_VERSION,
    ExperimentResults,
    Parameters,
    RunResult,
    RunTask,
)
from trailhound.storage.files import cannot_write, make_folder, write_whole
from trailhound.storage.locks import Ownership

RESULTS_NAME = "results.json"
REPORT_NAME = "report.html"
PARTIAL_NAME = "runs.partial.jsonl"
LOCK_NAME = "runs.lock"

Record = TypeVar("Record")


class _Header(msgspec.Struct):
    format: str = ""
    version: int = 0


def write_results(results: ExperimentResults, folder: Path) -> Path:
    """Write ``results.json`` into ``folder``; an existing one is replaced in one step."""
    encoded = msgspec.json.format(msgspec.json.encode(results), indent=1)
    path = folder / RESULTS_NAME
    write_whole(path, _compact_number_lists(encoded))
    return path


def _compact_number_lists(pretty: bytes) -> bytes:
    """Put each curve on one line: one line per number would make the file unreadable."""
    lines: list[bytes] = []
    inside = False
    for line in pretty.split(b"\n"):
        bare = line.strip()
        if inside:
            lines[-1] += b" " + bare if lines[-1].endswith(b",") else bare
            inside = not bare.startswith(b"]")
        else:
            lines.append(line)
            inside = bare == b'"curve": ['
    return b"\n".join(lines) + b"\n"


def read_results(folder: Path) -> ExperimentResults:
    """Read the experiment kept in ``folder`` (or the results file itself)."""
    path = folder / RESULTS_NAME if folder.is_dir() else folder
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(
            f"No results at {path}. Run an experiment first: trailhound lab run CORPUS -o {folder}"
        ) from None
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}.") from error
    return _decode(content, path)


def _decode(content: bytes, path: Path) -> ExperimentResults:
    try:
        header = msgspec.json.decode(content, type=_Header)
        if header.format != RESULTS_FORMAT:
            raise StorageError(f"{path} is no results file of trailhound lab run.")
        if header.version > RESULTS_VERSION:
            raise StorageError(
                f"{path} was written by a newer Trailhound (format {header.version}, this one "
                f"reads {RESULTS_VERSION}). Update Trailhound to read it."
            )
        if header.version != 1:
            return msgspec.json.decode(content, type=ExperimentResults)
        written = msgspec.json.decode(content, type=dict[str, Any])
        parameters = written["parameters"]
        parameters["max_requests"] = parameters.pop("max_pages")
        parameters.setdefault("judge", "cosine")
        return msgspec.convert(written | {"version": RESULTS_VERSION}, ExperimentResults)
    except (*UNREADABLE, KeyError) as error:
        raise StorageError(
            f"{path} is damaged ({error}). Run the experiment again: trailhound lab run"
        ) from error


class PartialHeader(msgspec.Struct, frozen=True):
    """What the runs depend on; only an experiment that agrees in all of it may take them over.

    The lists of topics and strategies are absent on purpose: an experiment that is started again
    with one strategy more keeps what it has. Of a strategy whose file has changed, runs are made
    again.
    """

    created_by: str
    fingerprint: str
    max_requests: int
    seed_sets: int
    seed: int
    topics_digest: str | None
    judge: str
    without: list[str]
    settings: dict[str, Any] = {}
    judge_digest: str = ""
    """SHA-256 of the judge's Python file; empty for one that is installed."""
    strategy_digests: dict[str, str] = {}
    """The same by strategy."""

    def agrees(self, other: PartialHeader) -> bool:
        """Whether runs of all strategies whose files are the same may be taken over."""
        return msgspec.structs.replace(self, strategy_digests=other.strategy_digests) == other


def check_replaceable(folder: Path, asked: Parameters, header: PartialHeader) -> None:
    """UsageError if ``folder`` holds what an experiment would replace without making it again.

    It makes it again when it agrees in all that runs depend on, the version of Trailhound aside,
    and has all the topics and strategies that the finished experiment had.
    """
    try:
        lost = _lost_results(folder, asked, header) or _lost_runs(folder, header)
    except StorageError as error:
        lost = str(error).rstrip(".")
    except OSError:
        return  # a folder that cannot be entered is named when runs are to be kept there
    if lost:
        raise UsageError(
            f"The folder {folder} holds the results of another experiment ({lost}). Choose another "
            "folder with -o, or give up those results with --replace."
        )


def _lost_results(folder: Path, asked: Parameters, header: PartialHeader) -> str:
    if not (folder / RESULTS_NAME).exists():
        return ""
    found = read_results(folder)
    had = found.parameters
    origin = {"created_by": found.created_by, "fingerprint": found.corpus.fingerprint}
    before = msgspec.convert(msgspec.structs.asdict(had) | origin, PartialHeader)
    for kind, names, now in (
        ("strategies", had.strategies, asked.strategies),
        ("topics", had.topics, asked.topics),
    ):
        if missing := [name for name in names if name not in now]:
            return f"with the {kind} {', '.join(missing)}"
    return _difference(before, header)


def _lost_runs(folder: Path, header: PartialHeader) -> str:
    """Of an experiment that was interrupted."""
    path = folder / PARTIAL_NAME
    first, _, runs = path.read_bytes().partition(b"\n") if path.exists() else (b"", b"", b"")
    before = _decoded_line(first, PartialHeader)
    return _difference(before, header) if before is not None and runs.strip() else ""


_DOERS = ("created_by", "judge_digest", "strategy_digests")


def _difference(before: PartialHeader, now: PartialHeader) -> str:
    """What was asked for and would not be any more; empty when that is nothing.

    What does it, Trailhound and plug-ins, may be newer.
    """
    old, new = msgspec.structs.asdict(before), msgspec.structs.asdict(now)
    names = {"fingerprint": "corpus", "topics_digest": "topics file"}
    told = [
        f"another {names[key]}" if key in names else f"{key} {value}, not {new[key]}"
        for key, value in old.items()
        if key not in _DOERS and value != new[key]
    ]
    return "; ".join(told)


@contextmanager
def only_here(folder: Path) -> Iterator[None]:
    """One experiment at a time writes into ``folder``; StorageError for a second."""
    path = folder / LOCK_NAME
    make_folder(folder)
    in_use = StorageError(
        f"Another 'trailhound lab run' is writing into the folder {folder}. Wait until it has "
        "ended, or choose another folder with -o."
    )
    with Ownership(path, in_use=in_use):
        try:
            yield
        finally:
            with suppress(OSError):  # where files that are open stay
                path.unlink()


class PartialRuns:
    """The open file: what it held already, and room for more. Use as a context manager."""

    def __init__(self, folder: Path, header: PartialHeader) -> None:
        self.path = folder / PARTIAL_NAME
        self._header = header
        self._file: FileIO | None = None
        self.runs: dict[RunTask, RunResult] = {}
        """Finished runs by task."""

    def __enter__(self) -> Self:
        self.runs = self._read()
        # Written anew, so that no cut-off line precedes the lines to come.
        lines = [msgspec.json.encode(record) for record in (self._header, *self.runs.values())]
        write_whole(self.path, b"\n".join(lines) + b"\n")
        self._file = FileIO(self.path, "a")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def keep(self, run: RunResult) -> None:
        """Add a finished run."""
        line = msgspec.json.encode(run) + b"\n"
        try:
            if self._file is None or self._file.write(line) != len(line):
                raise OSError("the line was cut off")
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self.runs[run.task] = run

    def remove(self) -> None:
        """Delete the file: the experiment is complete."""
        if self._file is not None:
            self._file.close()
        self.path.unlink(missing_ok=True)

    def _read(self) -> dict[RunTask, RunResult]:
        try:
            lines = self.path.read_bytes().splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise StorageError(f"Cannot read {self.path}: {error.strerror or error}.") from error
        before = _decoded_line(lines[0], PartialHeader) if lines else None
        if before is None or not before.agrees(self._header):
            return {}
        old = before.strategy_digests
        now = old | self._header.strategy_digests  # of those, too, that are not asked for now
        self._header = msgspec.structs.replace(self._header, strategy_digests=now)
        runs = [_decoded_line(line, RunResult) for line in lines[1:]]
        kept = [run for run in runs if run is not None]
        return {run.task: run for run in kept if old.get(run.strategy) == now.get(run.strategy)}


def _decoded_line(line: bytes, kind: type[Record]) -> Record | None:
    try:
        return msgspec.json.decode(line, type=kind)
    except UNREADABLE:
        return None
