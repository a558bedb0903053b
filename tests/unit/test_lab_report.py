"""The report as a reader sees it, in a browser and in a terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
from html_tags import Tags
from made_results import make_results
from rich.console import Console

from trailhound.cli import lab_tables, terminal
from trailhound.lab.report import render_report, write_report
from trailhound.lab.report.curves import WINDOW, recent_harvest
from trailhound.lab.report.tables import (
    cautions,
    command_line,
    detail_table,
    format_p,
    threshold_table,
    union_recall_table,
)
from trailhound.lab.results import ExperimentResults, RunResult

STRATEGIES = ("breadth-first", "best-first", "shark-search:decay=0.3", "oracle")
TOPICS = ("bees", "rocks & stones", "Ποίηση")


@pytest.fixture(scope="module")
def html() -> str:
    return render_report(make_results(STRATEGIES, TOPICS))


def test_it_names_every_strategy_and_topic(html: str) -> None:
    text = Tags(html).text
    for name in (*STRATEGIES, *TOPICS, "tiny.thc", "f" * 64, "trailhound 0"):
        assert name in text


def test_headings_may_break_behind_the_parts_of_a_name() -> None:
    html = render_report(make_results(("best-first", "shark-search:decay=0.3,x=<1>"), TOPICS))
    assert "shark-search:<wbr>decay=0.3,<wbr>x=&lt;1&gt;</button>" in html


@pytest.mark.parametrize("width", [60, 80])
def test_in_a_narrow_terminal_no_name_and_no_figure_is_broken(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "context-graph:mode=prefetch,terms=20"
    results = make_results(("best-first", name, "oracle"), TOPICS)
    console = Console(width=width, file=io.StringIO(), record=True)
    monkeypatch.setattr(terminal, "output", console)
    monkeypatch.setattr(lab_tables, "output", console)
    lab_tables.show_summary(results)
    shown = console.export_text()
    assert max(map(len, shown.splitlines())) <= width
    assert "…" not in shown
    rows = [line.split()[0] for line in shown.splitlines() if line.startswith(name[:3])]
    assert set(rows) == {name}
    for column in ("nAUC", "harvest", "recall", "found", "hosts", "CPU ms", "p"):
        assert column in shown
    for metric in ("nauc", "harvest", "recall"):
        found = results.summary[name][metric]
        low, high = (f"{value:.3f}".removeprefix("0") for value in (found.low, found.high))
        assert f"[{low}–{high}]" in shown


def test_a_beaten_bound_is_told_in_report_and_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = make_results(("oracle", "best-first"), ("bees",))
    said = "best-first beats the oracle on bees, seed set 1"
    assert said in render_report(results)
    console = Console(width=200, file=io.StringIO(), record=True)
    monkeypatch.setattr(terminal, "output", console)
    monkeypatch.setattr(lab_tables, "output", console)
    lab_tables.show_summary(results)
    shown = console.export_text()
    assert said in shown
    assert "–." not in shown, "no intervals over a single topic"
    assert "Means over the runs of one topic" in shown


def test_a_strategy_that_broke_is_no_strategy_that_finds_nothing() -> None:
    results = make_results(("best-first",), ("bees",))
    broken = [
        msgspec.structs.replace(run, outcomes={"fetched": 1, "broken": 3}) for run in results.runs
    ]
    told = cautions(msgspec.structs.replace(results, runs=broken))
    assert told == [
        "best-first broke on 6 of 8 pages; no link of them was followed. What went wrong was said "
        "when the crawls were made."
    ]


def test_it_has_a_figure_per_panel_and_topic(html: str) -> None:
    figures = [attrs for tag, attrs in Tags(html).found if tag == "figure"]
    pictures = [a for tag, a in Tags(html).found if tag == "svg" and a.get("role") == "img"]
    assert len(figures) == len(pictures) == 6 + len(TOPICS)
    assert all(picture["aria-label"] for picture in pictures)


def test_it_loads_nothing(html: str) -> None:
    resources = [
        value
        for _, attributes in Tags(html).found
        for name, value in attributes.items()
        if name in {"src", "href", "xlink:href", "data", "action", "srcset"}
    ]
    assert all(value is not None and value.startswith("#") for value in resources)
    assert not re.search(r"https?://", html)
    assert not re.search(r"@import|url\(\s*['\"]?(?!#)", html)
    assert "default-src 'none'" in html


def test_colours_follow_the_page(html: str) -> None:
    assert "var(--series-4)" in html
    assert "currentColor" in html
    assert "prefers-color-scheme: dark" in html
    for picture in re.findall(r"<svg viewBox.*?</svg>", html, flags=re.DOTALL):
        assert not re.search(r"#[0-9a-f]{6}", picture)


def test_names_are_escaped() -> None:
    attack = '<script>alert("x")</script>&'
    html = render_report(make_results(("best-first", attack), ("bees", attack), attack))
    assert "alert(&#34;x&#34;)" in html
    assert "<script>alert" not in html
    scripts = [tag for tag, _ in Tags(html).found if tag == "script"]
    assert len(scripts) == 1


def test_the_same_results_give_the_same_page(html: str) -> None:
    assert render_report(make_results(STRATEGIES, TOPICS)) == html


def test_one_strategy_on_one_topic_is_enough() -> None:
    html = render_report(make_results(("best-first",), ("bees",)))
    assert "Differences from" not in html


def test_it_says_when_too_few_topics_were_compared(html: str) -> None:
    assert "six topics are needed" in html


def test_writing_replaces_the_old_report(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("old")
    path = write_report(make_results(), tmp_path)
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_the_command_line_repeats_the_experiment() -> None:
    command = command_line(make_results(("best-first",), ("a topic",)))
    assert command == (
        "trailhound lab run tiny.thc --strategy best-first --topic 'a topic' --max-requests 10 "
        "--seed-sets 2 --seed 7 -o OUT"
    )


def test_the_command_line_names_what_differs_from_a_live_crawl() -> None:
    made = make_results(("best-first",), ("bees",))
    changed = msgspec.structs.replace(
        made.parameters, judge="cosine", settings={"crawl.concurrency": 1}
    )
    command = command_line(msgspec.structs.replace(made, parameters=changed))
    assert "--judge cosine --set crawl.concurrency=1 --max-requests" in command


def test_p_values_keep_their_meaning() -> None:
    assert format_p(0.03125) == "0.0312"
    assert format_p(2 / 2**39) == "< 0.0001"


def test_the_sliding_window_by_hand() -> None:
    run = make_results(("a",), ("t",)).runs[0]
    run = msgspec.structs.replace(run, fetches=300)
    # A find at every second fetch, then none after fetch 100, and the end at fetch 300.
    found = np.minimum(np.arange(1, 401), 100) // 2 * 1.0
    recent = recent_harvest(run, found)
    assert recent[1] == 1 / 2
    assert recent[99] == 50 / 100
    assert recent[199] == 50 / WINDOW, "the first 200 fetches"
    assert recent[249] == 25 / WINDOW, "fetches 51 to 250 found 25"
    assert recent[299] == recent[399] == 0
    short = recent_harvest(msgspec.structs.replace(run, fetches=2), np.array([0.0, 1.0, 1.0]))
    assert short.tolist() == [0, 0.5, 0.5], "held flat after the end"


def test_questions_to_sources_are_reported_where_they_were_counted() -> None:
    results = make_results(("a", "b"), ("t",))
    headings = [heading for heading, _ in detail_table(results).headings]
    old = {
        name: {metric: value for metric, value in means.items() if "queries" not in metric}
        for name, means in results.summary.items()
    }
    older = detail_table(msgspec.structs.replace(results, summary=old))
    assert "learning queries" in headings
    assert [heading for heading, _ in older.headings] == [
        each for each in headings if "queries" not in each
    ]


def results_with(runs: dict[str, tuple[list[int], list[float]]]) -> ExperimentResults:
    base = make_results()
    like = base.runs[0]

    def made(strategy: str, found: list[int], similarities: list[float]) -> RunResult:
        return msgspec.structs.replace(
            like, strategy=strategy, topic="t", found_pages=found, similarities=similarities
        )

    parameters = msgspec.structs.replace(base.parameters, strategies=list(runs), topics=["t"])
    made_runs = [made(strategy, *values) for strategy, values in runs.items()]
    return msgspec.structs.replace(base, parameters=parameters, runs=made_runs)


RUNS = {
    "a": ([1, 2, 3], [0.95, 0.72, 0.2]),
    "b": ([3, 4], [0.5, 0.49]),
    "oracle": ([1, 2, 3, 4, 5, 6, 7, 8], [0.9]),
}


def test_union_recall_leaves_the_upper_bound_out() -> None:
    rows = union_recall_table(results_with(RUNS)).rows
    # a ∪ b = {1, 2, 3, 4}: a found three of them, b two.
    assert [(row[0].text, row[1].value) for row in rows] == [("a", 0.75), ("b", 0.5)]


def test_the_sweep_counts_pages_at_or_above_each_threshold() -> None:
    rows = threshold_table(results_with(RUNS)).rows
    counts = {row[0].text: [cell.value for cell in row[1:]] for row in rows}
    assert counts == {"a": [2, 2, 2, 1, 1], "b": [1, 0, 0, 0, 0], "oracle": [1, 1, 1, 1, 1]}


def test_results_of_before_have_neither_table() -> None:
    old = results_with({"a": ([], [])})
    assert not union_recall_table(old).rows
    assert not threshold_table(old).rows
