"""The library's names are what they say, and are loaded only when they are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import trailhound

DOCUMENT = Path(__file__).parents[2] / "docs" / "library.md"


def test_every_public_name_exists_and_no_other_is_promised() -> None:
    assert sorted(trailhound.__all__) == list(trailhound.__all__)
    promised = {*trailhound._MODULE_OF, "__version__"}
    assert set(trailhound.__all__) == promised
    for name in trailhound.__all__:
        assert getattr(trailhound, name) is not None
    assert set(trailhound.__all__) <= set(dir(trailhound))


def test_type_checkers_see_the_same_names() -> None:
    source = Path(trailhound.__file__).read_text("utf-8")
    for name, module in trailhound._MODULE_OF.items():
        assert f"from trailhound.{module} import {name} as {name}" in source


def test_unknown_names_are_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Crowler'"):
        _ = trailhound.Crowler


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = (
        "import sys, trailhound\n"
        "heavy = {'numpy', 'sklearn', 'aiohttp', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_every_public_name_is_documented() -> None:
    text = DOCUMENT.read_text("utf-8")
    missing = [name for name in trailhound.__all__ if name not in text]
    assert not missing
