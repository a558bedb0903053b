"""The results file: written whole, read back equal, refused when it is not ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_results import make_results

from trailhound.errors import StorageError, UsageError
from trailhound.lab.results_files import read_results, write_results


def test_results_come_back_as_they_were_written(tmp_path: Path) -> None:
    results = make_results()
    write_results(results, tmp_path / "new" / "folder")
    assert read_results(tmp_path / "new" / "folder") == results
    assert read_results(tmp_path / "new" / "folder" / "results.json") == results


def test_the_file_has_the_documented_fields(tmp_path: Path) -> None:
    path = write_results(make_results(), tmp_path)
    content = json.loads(path.read_text("utf-8"))
    run = content["runs"][0]
    fields = "topic strategy seed_set seed fetches curve relevant_total nauc harvest recall hosts"
    assert {*fields.split(), "cpu_seconds"} <= run.keys()
    assert len(run["curve"]) == run["fetches"]
    assert content["summary"]["best-first"]["nauc"].keys() == {"mean", "low", "high"}
    assert content["corpus"]["fingerprint"]


def test_a_curve_takes_one_line(tmp_path: Path) -> None:
    results = make_results()
    lines = write_results(results, tmp_path).read_text("utf-8").splitlines()
    curves = [line for line in lines if line.strip().startswith('"curve"')]
    assert len(curves) == len(results.runs)
    assert all(line.endswith("],") for line in curves)


def test_a_missing_file_names_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="trailhound lab run"):
        read_results(tmp_path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = write_results(make_results(), tmp_path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(StorageError, match="damaged"):
        read_results(tmp_path)


def test_another_json_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text('{"hello": 1}')
    with pytest.raises(StorageError, match="no results file"):
        read_results(tmp_path)


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = write_results(make_results(), tmp_path)
    path.write_text(path.read_text("utf-8").replace('"version": 2', '"version": 99', 1), "utf-8")
    with pytest.raises(StorageError, match="newer Trailhound"):
        read_results(tmp_path)


def test_results_of_version_1_are_read(tmp_path: Path) -> None:
    made = make_results()
    path = write_results(made, tmp_path)
    old = path.read_text("utf-8").replace('"version": 2', '"version": 1', 1)
    path.write_text(old.replace('"max_requests"', '"max_pages"'), "utf-8")
    assert read_results(tmp_path) == made


def test_nothing_is_left_where_writing_fails(tmp_path: Path) -> None:
    (tmp_path / "results.json").mkdir()
    with pytest.raises(StorageError, match="Cannot write"):
        write_results(make_results(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_a_folder_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("not a folder")
    with pytest.raises(StorageError, match="Cannot write"):
        write_results(make_results(), tmp_path / "out")
