"""Strategies compared from Python: the experiment of ``trailhound lab run`` as one object."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from html import escape
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from trailhound.config.layers import in_short
from trailhound.counting import counted
from trailhound.errors import UsageError, told_to_programs, unknown_name
from trailhound.lab.corpora import Corpus
from trailhound.lab.experiment import Progress, plan_experiment, run_experiment
from trailhound.lab.results import BeatenBound, Estimate, ExperimentResults
from trailhound.lab.results_files import REPORT_NAME, read_results
from trailhound.lab.statistics import bound_beaten
from trailhound.notebooks import data_frame
from trailhound.plugins import keyword_options
from trailhound.storage.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@told_to_programs()
def compare(
    corpus: Corpus | Path | str,
    strategies: str | Path | Sequence[str | Path],
    *,
    seed_sets: int = 1,
    folder: Path | str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    replace: bool = False,
    **options: Any,
) -> LabResults:
    """Crawl a recorded web with each strategy, for each topic, and measure what is found.

    ``strategies`` are names with options, or Python files; one will do where several may be.
    ``options`` are those of :func:`~trailhound.lab.experiment.plan_experiment`: ``topics``,
    ``max_requests``, ``seed``, ``judge`` and so on. With a ``folder``, runs are kept there, and an
    interrupted comparison goes on where it stopped; another one must be told to ``replace`` them.
    More than one of ``jobs`` starts processes: a script must then guard its beginning with
    ``if __name__ == "__main__"``.
    """
    path = corpus.path if isinstance(corpus, Corpus) else _path("corpus", corpus)
    options = _checked({"seed_sets": seed_sets, **options})
    jobs = _checked_value("jobs", jobs)
    if jobs < 1:
        raise UsageError(f"jobs is {jobs}; it must be at least 1.")
    plan = plan_experiment(path, _names("strategies", strategies), **options)
    kept = tempfile.TemporaryDirectory(prefix="trailhound-") if folder is None else None
    with kept or nullcontext(str(folder)) as place:
        return LabResults(
            run_experiment(plan, Path(place), jobs=jobs, progress=progress, replace=replace)
        )


_NUMBERS = ("max_requests", "seed_sets", "seed", "jobs")
_SEVERAL = ("topics", "without")


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """As ``plan_experiment`` wants them; UsageError for what it does not know or cannot take."""
    known = keyword_options(plan_experiment)
    for name in options:
        if name not in known:
            raise unknown_name("option", name, known)
    return {name: _checked_value(name, value) for name, value in options.items()}


def _checked_value(name: str, value: Any) -> Any:
    if name in _NUMBERS and (isinstance(value, bool) or not isinstance(value, Integral)):
        raise UsageError(
            f"{name} is {in_short(value)}; it must be a whole number, such as {name}=1."
        )
    if name in _NUMBERS:
        return int(value)  # NumPy has whole numbers of its own
    if name in _SEVERAL:
        several = _names(name, value)
        if name == "topics" and not several:
            raise UsageError("topics names none. Name one or more, or leave it out for all.")
        return several
    if name == "judge":
        return _name("judge", value)
    if name == "topics_file" and value is not None:
        return _path(name, value)
    if name == "settings" and not isinstance(value, Mapping | None):
        raise UsageError(
            f"settings is of the type {type(value).__name__}. Give a dictionary by section and "
            'name: settings={"crawl.concurrency": 2}.'
        )
    return value


def _names(argument: str, given: Any) -> list[str]:
    """One will do, too."""
    if isinstance(given, str | Path):
        given = [given]
    if not isinstance(given, Iterable):
        raise UsageError(f"{argument} is {in_short(given)}. Give a name, or a list of names.")
    return [_name(argument, each) for each in given]


def _name(argument: str, given: Any) -> str:
    if isinstance(given, str | Path):
        return str(given)
    named = getattr(given, "name", None)
    by_name = f": '{named}'" if isinstance(named, str) else ""
    raise UsageError(
        f"{argument}: {in_short(given)} is no name. Each run makes its parts anew: give a "
        f"name{by_name}, or the path of a Python file."
    )


def _path(argument: str, given: Any) -> Path:
    if not isinstance(given, str | PathLike) or "\0" in str(given):
        raise UsageError(f"{argument} is {in_short(given)}, which is no path. Give that of a file.")
    return Path(given)


class LabResults:
    """What an experiment measured."""

    def __init__(self, results: ExperimentResults) -> None:
        self.results = results
        """All of it, run by run."""

    @classmethod
    def read(cls, folder: Path | str) -> LabResults:
        """What ``trailhound lab run -o folder`` measured."""
        return cls(read_results(Path(folder)))

    def summary(self) -> dict[str, Mapping[str, Estimate]]:
        """Per strategy, best nAUC first, and metric: the mean over topics with its interval."""
        return {name: self.results.summary[name] for name in self.results.ranked()}

    def bound_beaten(self) -> list[BeatenBound]:
        """Runs that did better than the oracle from the same seeds."""
        return bound_beaten(self.results.runs)

    def to_pandas(self) -> DataFrame:
        """One row per run: topic, strategy, seed set, and every figure that is a single number."""
        rows = [{"found": run.found, **msgspec.structs.asdict(run)} for run in self.results.runs]
        frame = data_frame(rows)
        several = [name for name in frame if isinstance(rows[0][str(name)], list | dict)]
        frame = frame.drop(columns=several)
        first = ["topic", "seed_set", "strategy", "nauc", "harvest", "recall", "found"]
        return frame[[*first, *(name for name in frame if name not in first)]]

    def figure(self) -> Figure:
        """Relevant pages found over requests: means over topics with their intervals."""
        from trailhound.lab.report.curves import overview_figure

        return overview_figure(self.results)

    def write_report(self, path: Path | str) -> Path:
        """Write the report of ``lab run`` to an HTML file, or as ``report.html`` into a folder."""
        from trailhound.lab.report import render_report

        target = Path(path)
        if target.suffix.lower() not in (".html", ".htm"):
            target /= REPORT_NAME
        write_whole(target, render_report(self.results).encode())
        return target

    def __repr__(self) -> str:
        best, figures = next(iter(self.summary().items()))
        return f"<{type(self).__name__} {self._scope()}; best {best}: {figures['nauc'].mean:.3f}>"

    def _repr_html_(self) -> str:
        """The summary, for notebooks."""
        from trailhound.lab.report.tables import cautions, summary_table

        table = summary_table(self.results)
        head = "".join(
            f'<th title="{escape(hint)}">{escape(name)}</th>' for name, hint in table.headings
        )
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{escape(cell.text)}<br><small>{escape(cell.extra)}</small></td>"
                for cell in row
            )
            + "</tr>"
            for row in table.rows
        )
        warnings = "".join(f"<p>{escape(told)}</p>" for told in cautions(self.results))
        caption = f"<caption>{escape(self._scope())}</caption>"
        return f"<table>{caption}<tr>{head}</tr>{body}</table>{warnings}"

    def _scope(self) -> str:
        asked = self.results.parameters
        return (
            f"{self.results.corpus.name}: {counted(len(asked.topics), 'topic')}, "
            f"{counted(asked.seed_sets, 'seed set')}, {asked.max_requests} requests"
        )
