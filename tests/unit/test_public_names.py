"""The library's names are what they say, and are loaded only when they are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import trailhound

DOCUMENT = Path(__file__).parents[2] / "docs" / "library.md"
LIBRARY: Any = trailhound
"""For type checkers its stub says all, and ``__all__`` is not in it."""


def test_every_public_name_exists() -> None:
    assert set(LIBRARY.__all__) <= set(dir(trailhound))
    for name in LIBRARY.__all__:
        assert getattr(trailhound, name).__name__.rpartition(".")[2] == name
    assert trailhound.__version__


@pytest.mark.parametrize("package", ["judges", "strategies"])
def test_all_strategies_and_judges_are_names_of_the_library(package: str) -> None:
    kinds = [
        name
        for name in getattr(LIBRARY, package).__all__
        if name.endswith(("Strategy", "Judge")) or name in ("Strategy", "RelevanceJudge")
    ]
    assert len(kinds) >= 7
    assert set(kinds) <= set(LIBRARY.__all__)


def test_unknown_names_are_errors() -> None:
    with pytest.raises(AttributeError, match="Crowler"):
        _ = LIBRARY.Crowler


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = (
        "import sys, trailhound\n"
        "heavy = {'numpy', 'scipy', 'aiohttp', 'msgspec', 'typer'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "own = [name for name in sys.modules if name.startswith('trailhound.')]\n"
        "assert not own, own"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("topics.control.overview, trailhound.topics.control.running", "numpy"),
        (
            "topics.finds.opinions, trailhound.topics.finds.explaining, trailhound.lab.runner",
            "aiohttp",
        ),
    ],
)
def test_commands_load_only_what_they_need(modules: str, heavy: str) -> None:
    program = f"import sys, trailhound.{modules}\nassert {heavy!r} not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_every_public_name_is_documented() -> None:
    text = DOCUMENT.read_text("utf-8")
    missing = [name for name in LIBRARY.__all__ if f"`{name}`" not in text]
    assert not missing
