"""The cost benchmark compares with its limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.replay_cost import cost_ms, main, measure, verdict
from made_results import make_run
from tiny_lab_web import write_tiny_web


def test_cost_is_the_median_over_runs() -> None:
    assert cost_ms([make_run(), make_run(topic="rocks")], "best-first") == pytest.approx(2.0)


def test_a_limit_that_is_exceeded_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict({"breadth-first": 0.5, "oracle": 99.0}) == 0
    assert verdict({"breadth-first": 1.5}) == 1
    assert "EXCEEDED" in capsys.readouterr().out


def test_it_measures_every_strategy_asked_for(tmp_path: Path) -> None:
    runs = measure(write_tiny_web(tmp_path / "tiny.thc"), ["random", "oracle"], 1, max_requests=10)
    assert [run.strategy for run in runs] == ["random", "oracle"]
    assert all(run.cpu_seconds > 0 for run in runs)


def test_without_the_data_set_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRAILHOUND_CORPORA", str(tmp_path))
    assert main([]) == 0
    assert "SKIPPED wikispeedia" in capsys.readouterr().out


def test_without_a_folder_of_data_sets_it_ends_with_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TRAILHOUND_CORPORA", raising=False)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "TRAILHOUND_CORPORA is not set" in capsys.readouterr().err
