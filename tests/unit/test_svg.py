"""Pictures: round numbers at axes, values where they belong, and words that cannot break out."""

from __future__ import annotations

import re

import pytest

from trailhound.reports.html import Plane, round_ticks, text, tick_names


@pytest.mark.parametrize(
    ("most", "n_steps", "whole", "ticks"),
    [
        (400, 6, True, ["0", "100", "200", "300", "400"]),
        (1.02, 5, False, ["0.00", "0.25", "0.50", "0.75", "1.00"]),
        (0.0063, 6, False, ["0.000", "0.002", "0.004", "0.006"]),
        (3, 6, True, ["0", "1", "2", "3"]),
        (1, 6, True, ["0", "1"]),
        (25_000, 4, True, ["0", "10,000", "20,000"]),
    ],
)
def test_axes_have_round_numbers(most: float, n_steps: int, whole: bool, ticks: list[str]) -> None:
    assert tick_names(round_ticks(most, n_steps, whole=whole)) == ticks


def test_a_plane_puts_values_between_its_axes() -> None:
    plane = Plane((200, 100), (10, 2), top=8)
    drawn = plane.drawn("d", [plane.line([0, 10], [0, 2], "red", 2, dashes=(3, 1))])
    (start, end) = re.findall(r'points="([^ ]+) ([^ ]+)"', drawn)[0]
    assert start == f"{plane.x(0):.2f},83"
    assert end.endswith(",8")
    assert 'stroke-dasharray="6 2"' in drawn


def test_words_are_escaped() -> None:
    assert "&lt;script&gt; &amp;" in text("<script> &", 1, 2)
