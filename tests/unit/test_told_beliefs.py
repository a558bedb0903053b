"""How the expectations of a strategy are shown."""

from __future__ import annotations

from trailhound.cli.explain import _figures


def test_probabilities_are_shares_and_interest_ratios_are_factors() -> None:
    assert list(_figures({"a target": 0.25, "1 link away": 0.75})) == [
        "   25.0%  a target",
        "   75.0%  1 link away",
    ]
    assert list(_figures({"words": 4.597, "siblings": 0.5})) == [
        "    4.60 times the average: words",
        "    0.50 times the average: siblings",
    ]
