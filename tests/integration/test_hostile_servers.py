"""What the fetcher makes of servers that mean it harm; ``docs/security.md`` lists the cases."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from benchmarks.chaos.behaviours import page, redirects
from benchmarks.chaos.inside import INSIDE
from benchmarks.chaos.kind import Kind
from benchmarks.chaos.kinds.redirects import inside_of
from hostile_web import CASES, HostileWeb

HERE = Path(__file__).parent
DOCUMENTATION = HERE.parents[1] / "docs" / "security.md"
SHORT_SECONDS, LONG_SECONDS = 3.0, 20.0
MAX_GROWTH_MEGABYTES = 100.0


@dataclass
class Siege:
    """One run over all cases, in a process of its own."""

    results: dict[str, dict[str, object]]
    grown_megabytes: float
    asked: list[str]


def inside_url(number: int) -> str:
    return f"http://inside.hostile.test/{number}"


def fetch_apart(web: HostileWeb, *groups: list[object]) -> Any:
    done = subprocess.run(
        [sys.executable, str(HERE / "hostile_fetches.py")],
        input=json.dumps({"port": web.port, "groups": groups}),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def siege() -> Iterator[Siege]:
    cases = {case.name: case for case in CASES}
    with HostileWeb(cases) as web:
        cases["inside"] = Kind("inside", redirects(inside_of), "address-refused")
        slow = [case.url for case in CASES if case.slow]
        quick = [case.url for case in CASES if not case.slow]
        inside = [inside_url(number) for number in range(len(INSIDE))]
        report = fetch_apart(web, [LONG_SECONDS, *quick, *inside], [SHORT_SECONDS, *slow])
        yield Siege(report["results"], report["peak"] - report["before"], list(web.asked))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_case_has_its_outcome(siege: Siege, case: Kind) -> None:
    result = siege.results[case.url]
    assert result["outcome"] == case.outcome, result
    assert case.words in str(result["detail"])
    assert len(str(result["detail"])) <= 500


@pytest.mark.parametrize("number", range(len(INSIDE)), ids=lambda number: ascii(INSIDE[number]))
def test_no_way_of_writing_an_address_leads_inside(siege: Siege, number: int) -> None:
    result = siege.results[inside_url(number)]
    assert result["outcome"] == "address-refused", result
    assert "allow_addresses" in str(result["detail"])


def test_nothing_was_asked_of_an_inside_address(siege: Siege) -> None:
    strangers = {asked for asked in siege.asked if ".hostile.test" not in asked.split("/")[0]}
    assert strangers == set()
    assert sum(asked.startswith("inside.hostile.test/") for asked in siege.asked) > len(INSIDE)


def test_memory_stays_bounded(siege: Siege) -> None:
    assert siege.grown_megabytes < MAX_GROWTH_MEGABYTES


def test_no_server_holds_a_fetch_for_long(siege: Siege) -> None:
    # Each GET has its time; robots.txt, a redirect with a hanging body and its target are three.
    for case in CASES:
        if case.slow:
            host = case.url.split("/")[2]
            assert sum(asked.startswith(f"{host}/") for asked in siege.asked) <= 3, case.name


def test_an_absurd_retry_after_is_cut_to_a_day(siege: Siege) -> None:
    assert siege.results["http://busy-forever.hostile.test/"]["retry_after"] == 86_400


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_case_is_documented_with_its_outcome(case: Kind) -> None:
    row = next(
        (
            line
            for line in DOCUMENTATION.read_text("utf-8").splitlines()
            if f"`{case.name}`" in line
        ),
        None,
    )
    assert row is not None, f"docs/security.md does not list {case.name}"
    assert f"| {case.outcome} |" in row


def test_a_well_behaved_page_still_comes_through() -> None:
    case = Kind("good", page(), "fetched")
    with HostileWeb({"good": case}) as web:
        report = fetch_apart(web, [LONG_SECONDS, case.url])
    assert report["results"][case.url]["outcome"] == "fetched"
