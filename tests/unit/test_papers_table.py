"""docs/papers.md names modules, options, defaults and tests: all of them exist."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from trailhound.errors import UsageError
from trailhound.models.topic_model import TopicParameters
from trailhound.strategies.choosing import check_spec, parse_spec, strategy_names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`([^`]+)`", PAGE)))
TEST_FOLDERS = ("unit", "contract", "integration", "browser")

SECTIONS = (
    *("1", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "2.2.1", "2.2.2", "3", "3.1", "3.2", "3.3"),
    *("4", "4.1", "4.2", "4.3", "5.1", "5.2", "5.2.1", "5.2.2", "5.3", "6", "7"),
)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    section = re.split(rf"^#+ {re.escape(heading)}$", PAGE, flags=re.MULTILINE)[1]
    lines = re.split(r"^#", section, flags=re.MULTILINE)[0].splitlines()
    table = [line for line in lines if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[1:]]


TABLES = {
    heading: rows(heading)
    for heading in (
        "Sections",
        "Equations",
        "Figures and tables",
        "Fig. 7, line by line",
        "Parameters",
        "What the papers leave open",
    )
}


@cache
def names_in(path: Path) -> frozenset[str]:
    """Functions that a test file defines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def is_test(name: str) -> bool:
    return name.startswith(tuple(f"{folder}/" for folder in TEST_FOLDERS))


def check_test(name: str) -> None:
    file, _, function = name.partition("::")
    path = ROOT / "tests" / file
    assert path.is_file(), f"there is no {path}"
    assert not function or function in names_in(path), f"{file} has no {function}"


def check_module(name: str) -> None:
    file, _, member = name.partition("::")
    assert (ROOT / "src" / "trailhound" / file).is_file(), f"there is no module {file}"
    module = importlib.import_module("trailhound." + file.removesuffix(".py").replace("/", "."))
    member, equals, value = member.partition("=")
    found: Any = module
    for part in filter(None, member.split(".")):
        found = getattr(found, part)
    assert not equals or found == ast.literal_eval(value), f"{member} is {found}"


def check_parameter(name: str) -> None:
    parameter, _, value = name.removeprefix("TopicParameters.").partition("=")
    assert getattr(TopicParameters(), parameter) == ast.literal_eval(value), name


def check_name(name: str) -> None:
    if is_test(name):
        check_test(name)
    elif re.match(r"[\w/]+\.py\b", name):
        check_module(name)
    elif name.startswith("TopicParameters."):
        check_parameter(name)
    elif name.partition(":")[0] in strategy_names():
        check_spec(name)
    else:
        assert name in ("src/trailhound/", "tests/"), f"{name} is nothing that can be looked up"


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "papers").glob("*.md")), ids=lambda page: page.stem
)
def test_what_the_pages_on_other_papers_name_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = sorted(set(re.findall(r"`([^`]+)`", text)))
    assert [name for name in names if not exists(name)] == []
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    tested = [line for line in tables if re.search(r"`(unit|contract|integration)/test_", line)]
    assert len(tested) > 10, "hardly any row names a test"


def test_what_the_page_names_exists() -> None:
    assert [name for name in NAMES if not exists(name)] == []


def exists(name: str) -> bool:
    try:
        check_name(name)
    except (AssertionError, AttributeError, UsageError):
        return False
    return True


@pytest.mark.parametrize(
    "name",
    [
        "unit/test_hop_hmm.py::test_of_a_dream",
        "unit/test_nothing.py",
        "models/nothing.py",
        "models/hop_hmm.py::HopHMM.dream",
        "text/lsi.py::LANCZOS_TOLERANCE=1e-3",
        "TopicParameters.n_states=7",
        "TopicParameters.n_dreams=4",
        "hidden-markov:dream=true",
        "something/else",
    ],
)
def test_what_does_not_exist_is_noticed(name: str) -> None:
    assert not exists(name)


def test_every_row_has_a_carrier_and_a_test_or_a_reason() -> None:
    for heading, table in TABLES.items():
        assert table, heading
        for row in table:
            assert len(row) == 4, row
            if heading != "What the papers leave open":
                check_row(row)


def check_row(row: list[str]) -> None:
    place, _, ours, tests = row
    named = re.findall(r"`([^`]+)`", ours)
    tested = re.findall(r"`([^`]+)`", tests)
    assert named or ours.startswith("Absent"), f"{place}: neither a module nor a reason"
    assert all("::" in name and is_test(name) for name in tested), place
    assert tested or (tests == "—" and "bsent" in ours), f"{place}: no test and no reason"


def test_every_section_equation_figure_and_table_of_the_papers_is_there() -> None:
    places = [row[0] for table in TABLES.values() for row in table]
    assert [number for number in SECTIONS if not has_section(number, places)] == []
    wanted = [f"eq. {number}" for number in range(1, 10)]
    wanted += [f"Fig. {number}" for number in range(1, 9)]
    wanted += ["Fig. 9–18 (J), 9–16 (R)", "Table 1 (R)", "Table 1 (J), Table 2 (R)"]
    wanted += ["Appendix A (R)"]
    assert [place for place in wanted if place not in places] == []


def has_section(number: str, places: list[str]) -> bool:
    return any(re.match(rf"§{re.escape(number)}(?![.\d])", place) for place in places)


def test_all_open_questions_are_answered_in_order() -> None:
    questions = TABLES["What the papers leave open"]
    assert [row[0] for row in questions] == [f"H{number}" for number in range(1, 26)]
    assert all(row[2] and row[3] for row in questions)
    mentioned = {int(number) for number in re.findall(r"\bH(\d+)\b", PAGE)}
    assert mentioned == set(range(1, 26))


def test_every_option_that_gives_a_literal_reading_is_named() -> None:
    specs = [name for name in NAMES if name.startswith("hidden-markov:")]
    options = {key for spec in specs for key in parse_spec(spec)[1]}
    assert {"literal", "order", "lsi", "training", "states", "neighbours", "adapt_every"} <= options
