"""How results are shown in a terminal."""

from __future__ import annotations

from trailhound.cli.results import path_line


def test_a_seed_has_no_way() -> None:
    assert path_line(["s"]) == "a seed"


def test_a_short_way_is_shown_whole() -> None:
    assert path_line(["s", "page"]) == "via s"
    assert path_line(["s", "a", "b", "page"]) == "via s → a → b"


def test_of_a_long_way_both_ends_and_the_length_between_are_shown() -> None:
    assert path_line(["s", "a", "b", "c", "page"]) == "via s → (2 pages) → c"
    steps = [f"http://h.test/{n}" for n in range(40)]
    assert path_line(steps) == "via http://h.test/0 → (37 pages) → http://h.test/38"
