"""The gate's rule: floors rise by themselves and fall only with leave and a reason."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from benchmarks.quality_gate import __main__ as gate
from benchmarks.quality_gate.floors import (
    GUARDED_METRICS,
    Suite,
    load_suites,
    measured_means,
    save_suites,
    shortfalls,
    updated_suite,
)
from made_results import make_results

from trailhound.errors import StorageError, UsageError

SUITE = Suite(
    kind="demo",
    strategies=["best-first"],
    topics=[],
    max_requests=10,
    seed_sets=1,
    seed=7,
    fingerprint="old",
    floors={"best-first": {"nauc": 0.3, "recall": 0.5}},
)


def update(measured: dict[str, float], *, may_lower: bool = False, reason: str = "") -> Suite:
    means = {"best-first": measured}
    return updated_suite(SUITE, means, "new", may_lower=may_lower, reason=reason)


def test_reaching_the_floor_is_enough() -> None:
    assert shortfalls(SUITE, {"best-first": {"nauc": 0.3, "recall": 0.6}}) == []


def test_a_value_below_its_floor_is_told() -> None:
    [missed] = shortfalls(SUITE, {"best-first": {"nauc": 0.2999, "recall": 0.5}})
    assert str(missed) == "best-first: nauc is 0.2999, floor 0.3000"


def test_a_strategy_that_vanished_misses_its_floors() -> None:
    assert len(shortfalls(SUITE, {})) == 2


def test_an_update_raises_floors_to_just_below_the_measurement() -> None:
    raised = update({"nauc": 0.4, "recall": 0.502})
    assert raised.floors == {"best-first": {"nauc": 0.392, "recall": 0.5}}
    assert raised.fingerprint == "new"
    assert raised.lowered == []


@pytest.mark.parametrize(
    ("may_lower", "reason"), [(False, ""), (True, "  "), (False, "a better web")]
)
def test_a_floor_is_not_lowered_without_leave_and_reason(may_lower: bool, reason: str) -> None:
    with pytest.raises(UsageError, match=r"nauc is 0\.1000, floor 0\.3000"):
        update({"nauc": 0.1, "recall": 0.5}, may_lower=may_lower, reason=reason)


def test_a_lowered_floor_leaves_its_reason() -> None:
    lowered = update({"nauc": 0.1, "recall": 0.5}, may_lower=True, reason="harder web")
    assert lowered.floors["best-first"] == {"nauc": 0.098, "recall": 0.5}
    assert lowered.lowered == ["harder web"]


def test_means_come_from_the_summary() -> None:
    results = make_results()
    assert (
        measured_means(results)["best-first"]["nauc"] == results.summary["best-first"]["nauc"].mean
    )


def test_pages_that_were_lost_fail_the_gate_whatever_the_floors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    results = make_results()
    suite = msgspec.structs.replace(SUITE, floors={})
    assert gate._verdict("demo", suite, results) == 0
    outcomes = {"fetched": 8, "broken": 1}
    runs = [msgspec.structs.replace(run, outcomes=outcomes) for run in results.runs]
    assert gate._verdict("demo", suite, msgspec.structs.replace(results, runs=runs)) == 1
    assert "best-first broke on" in capsys.readouterr().out


def test_suites_survive_their_file(tmp_path: Path) -> None:
    path = tmp_path / "floors.json"
    save_suites({"demo": SUITE}, path)
    assert load_suites(path) == {"demo": SUITE}
    path.write_text("{")
    with pytest.raises(StorageError, match="floors"):
        load_suites(path)


def test_the_pinned_suites_have_floors_for_all_their_strategies() -> None:
    for suite in load_suites().values():
        assert suite.floors.keys() == set(suite.strategies)
        assert all(set(GUARDED_METRICS) == floors.keys() for floors in suite.floors.values())


def test_an_absent_data_set_is_skipped_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAILHOUND_CORPORA", str(tmp_path))
    assert gate.main(["real"]) == 0
    printed = capsys.readouterr().out
    assert "SKIPPED wikispeedia" in printed
    assert "SKIPPED webkb" in printed
    assert "TRAILHOUND_CORPORA" in printed


def test_an_unknown_suite_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert gate.main(["dmeo"]) == 2
    assert "demo" in capsys.readouterr().err
