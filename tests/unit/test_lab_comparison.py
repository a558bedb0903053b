"""An experiment from Python: what comes back, and how it shows itself."""

from __future__ import annotations

import asyncio
import builtins
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_lab_web import write_tiny_web

from trailhound.errors import UsageError
from trailhound.lab import Corpus, LabResults, compare
from trailhound.strategies import BestFirstStrategy


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_web(tmp_path_factory.mktemp("corpus") / "tiny.thc")


@pytest.fixture(scope="module")
def results(corpus: Path) -> LabResults:
    return compare(corpus, ["best-first", "oracle"], topics=["bees"], max_requests=20)


def test_strategies_come_best_first(results: LabResults) -> None:
    assert list(results.summary()) == ["oracle", "best-first"]
    assert results.bound_beaten() == []
    assert repr(results).startswith("<LabResults tiny.thc: 1 topic, 1 seed set, 20 requests; best")


def test_a_comparison_works_where_an_event_loop_is_running(
    corpus: Path, results: LabResults
) -> None:
    async def notebook() -> LabResults:
        return compare(corpus, ["best-first", "oracle"], topics=["bees"], max_requests=20)

    found = asyncio.run(notebook())
    assert [run.curve for run in found.results.runs] == [run.curve for run in results.results.runs]


def test_a_data_frame_has_a_row_per_run(results: LabResults) -> None:
    pytest.importorskip("pandas")
    frame = results.to_pandas()
    assert list(frame.columns[:4]) == ["topic", "seed_set", "strategy", "nauc"]
    assert list(frame["strategy"]) == ["best-first", "oracle"]
    assert list(frame["found"]) == [run.found for run in results.results.runs]
    assert "curve" not in frame


@pytest.mark.parametrize(
    ("package", "extra", "asked"),
    [("pandas", "pandas", LabResults.to_pandas), ("matplotlib", "plots", LabResults.figure)],
)
def test_without_a_package_its_extra_is_named(
    package: str,
    extra: str,
    asked: Callable[[LabResults], Any],
    results: LabResults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = builtins.__import__

    def without_it(name: str, *arguments: Any, **named: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return usual(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without_it)
    with pytest.raises(UsageError, match=rf"trailhound\[{extra}\]"):
        asked(results)


def test_a_notebook_shows_a_table(results: LabResults) -> None:
    html = results._repr_html_()
    assert html.count("<tr>") == 3
    assert "nAUC" in html


def test_a_figure_has_a_line_per_strategy(results: LabResults) -> None:
    (axes,) = results.figure().axes
    assert [line.get_label() for line in axes.lines] == ["best-first", "oracle"]


def test_reports_are_written_where_one_says(results: LabResults, tmp_path: Path) -> None:
    assert results.write_report(tmp_path / "mine.html") == tmp_path / "mine.html"
    assert results.write_report(tmp_path / "out") == tmp_path / "out" / "report.html"
    assert (tmp_path / "mine.html").read_bytes() == (tmp_path / "out/report.html").read_bytes()


def test_with_a_folder_the_results_are_kept(corpus: Path, tmp_path: Path) -> None:
    with Corpus.open(corpus) as opened:
        made = compare(opened, ["random"], topics=["bees"], max_requests=5, folder=tmp_path)
    assert LabResults.read(tmp_path).results == made.results


def test_one_name_will_do_where_several_may_be(corpus: Path, results: LabResults) -> None:
    found = compare(corpus, "best-first", topics="bees", max_requests=20)
    assert found.results.runs[0].curve == results.results.runs[0].curve


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_requests": 20.0}, "max_requests is 20.0; it must be a whole number"),
        ({"seed_sets": "x"}, "seed_sets is 'x'; it must be a whole number"),
        ({"jobs": None}, "jobs is None; it must be a whole number"),
        ({"jobs": 0}, "jobs is 0; it must be at least 1"),
        ({"jobs": -1}, "jobs is -1; it must be at least 1"),
        ({"topics": []}, "topics names none"),
        ({"max_request": 20}, "Unknown option 'max_request'. Did you mean max_requests"),
        ({"strategies": [BestFirstStrategy]}, "is no name. .* give a name: 'best-first', or"),
        ({"strategies": 5}, "strategies is 5. Give a name, or a list of names"),
        ({"topics": 5}, "topics is 5. Give a name"),
        ({"judge": len}, "judge: <built-in function len> is no name"),
        ({"corpus": 5}, "corpus is 5, which is no path"),
        ({"topics_file": 5}, "topics_file is 5, which is no path"),
        ({"settings": 5}, "settings is of the type int. Give a dictionary"),
    ],
)
def test_what_cannot_be_compared_is_told_with_its_argument(
    corpus: Path, wrong: dict[str, Any], message: str
) -> None:
    asked: dict[str, Any] = {"corpus": corpus, "strategies": "best-first", **wrong}
    with pytest.raises(UsageError, match=message):
        compare(**asked)


def test_importing_the_lab_loads_nothing_heavy() -> None:
    program = (
        "import sys, trailhound.lab\n"
        "heavy = {'numpy', 'scipy', 'matplotlib', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
