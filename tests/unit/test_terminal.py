"""What commands show: waiting, tables in narrow terminals, ways, beliefs, help."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator

import pytest
import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.testing import CliRunner

from trailhound.cli import terminal
from trailhound.cli.explain import _figures
from trailhound.cli.main import app
from trailhound.cli.results import path_lines


class Screen(io.StringIO):
    """Says when a certain word has been written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.shows_learning = threading.Event()

    def write(self, text: str) -> int:
        if "Learning" in text:
            self.shows_learning.set()
        return super().write(text)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    shown = Screen()
    console = Console(file=shown, force_terminal=True, width=80)
    monkeypatch.setattr(terminal, "messages", console)
    return shown


def test_a_quick_step_shows_nothing(screen: Screen) -> None:
    with terminal.patiently("Reading") as report:
        report("Learning")
    assert "Reading" not in screen.getvalue()
    assert "Learning" not in screen.getvalue()


def test_a_slow_step_is_named(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "PATIENCE_SECONDS", 0.01)
    with terminal.patiently("Reading") as report:
        report("Learning")
        assert screen.shows_learning.wait(60)


def test_a_failure_passes_through(screen: Screen) -> None:
    with pytest.raises(ValueError, match="broken"), terminal.patiently("Reading"):
        raise ValueError("broken")


WORDS = [
    "hidden-markov",
    "learns",
    "from",
    "the",
    "session",
    "how",
    "many",
    "hops",
    "remain",
    "12,345,678",
    "0.123",
]
TABLE = [
    ("hidden-markov", "learns from the session how many hops remain to a target", "12,345,678"),
    ("random", "links in random order", "0.123"),
]


def table_at(width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    shown = io.StringIO()
    monkeypatch.setattr(terminal, "output", Console(file=shown, width=width))
    terminal.show_table(("strategy", "what it does", "found"), TABLE, figures=("found",))
    return shown.getvalue().splitlines()


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
def test_no_table_breaks_a_word_or_a_number(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = table_at(width, monkeypatch)
    assert max(map(len, lines)) <= width
    assert set(" ".join(map(" ".join, TABLE)).split()) <= set(" ".join(lines).split())


def test_a_table_without_room_becomes_paragraphs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert table_at(80, monkeypatch)[0].split() == ["strategy", "what", "it", "does", "found"]
    narrow = [line.rstrip() for line in table_at(40, monkeypatch)]
    assert narrow[-3:] == ["random", "  what it does: links in random order", "  found: 0.123"]


@pytest.mark.parametrize(("width", "blocks"), [(80, 1), (24, 3)])
def test_columns_of_a_matrix_without_room_follow_below(
    width: int, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(terminal, "output", Console(file=shown, width=width))
    names = [f"#{number}" for number in range(6)]
    cells = [[f"{row}.{column}00" for column in range(6)] for row in range(2)]
    terminal.show_matrix("B", cells, ["target", "1 hop"], names)
    text = shown.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert text.count("1 hop") == blocks
    assert {cell for row in cells for cell in row} <= set(text.split())


def test_a_seed_has_no_way() -> None:
    assert path_lines(["s"], 80) == ["where the crawl began"]


def test_a_short_way_is_shown_whole() -> None:
    assert path_lines(["s", "page"], 80) == ["via s"]
    assert path_lines(["s", "a", "b", "page"], 80) == ["via s → a → b"]


def test_a_way_that_is_too_wide_has_a_line_for_each_step() -> None:
    assert path_lines(["s", "a", "b", "page"], 10) == ["via s", "  → a", "  → b"]


def test_of_a_long_way_both_ends_and_the_length_between_are_shown() -> None:
    assert path_lines(["s", "a", "b", "c", "page"], 80) == ["via s → (2 pages) → c"]
    steps = [f"http://h.test/{n}" for n in range(40)]
    assert path_lines(steps, 80) == ["via http://h.test/0 → (37 pages) → http://h.test/38"]


def test_probabilities_are_shares_and_interest_ratios_are_factors() -> None:
    assert list(_figures({"a target": 0.25, "1 link away": 0.75})) == [
        "   25.0%  a target",
        "   75.0%  1 link away",
    ]
    assert list(_figures({"words": 4.597, "siblings": 0.5})) == [
        "    4.60 times the average: words",
        "    0.50 times the average: siblings",
    ]


def commands(group: TyperGroup, *before: str) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, *before, name)
        else:
            yield (*before, name)


def helped(*words: str, width: int) -> str:
    return CliRunner().invoke(app, [*words, "--help"], terminal_width=width).output


@pytest.mark.parametrize("words", list(commands(typer.main.get_group(app))), ids=" ".join)
def test_each_command_has_help_with_an_example_and_flags_that_look_like_flags(
    words: tuple[str, ...],
) -> None:
    text = helped(*words, width=80)
    examples = [line for line in text.splitlines() if line.startswith("    trailhound ")]
    named = {" ".join(words), "crawl"}
    assert any(line.startswith(f"    trailhound {name}") for name in named for line in examples)
    assert "<" not in text.replace("<=", "")
    assert "--json " in text or "--json" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert max(map(len, helped(*words, width=60).splitlines())) <= 60


def test_the_list_of_commands_has_whole_sentences() -> None:
    text = helped(width=80)
    assert "..." not in text.replace("[ARGS]...", "")
    assert "Show which version this is" in text
    assert "-v, --verbose" in text


def test_the_options_of_a_crawl_are_in_groups_and_old_names_are_hidden() -> None:
    text = helped("crawl", width=80)
    headings = [line for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings[0] == "Arguments:"
    assert headings[-1] == "Options:"
    assert "When to end:" in headings
    assert "--max-requests N " in text
    assert "--max-pages" not in text
