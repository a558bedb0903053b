from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from trailhound.cli import console, waiting


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=80)
    monkeypatch.setattr(console, "messages", terminal)
    return shown


def test_a_quick_step_shows_nothing(screen: io.StringIO) -> None:
    with waiting.patiently("Reading") as report:
        report("Learning")
    assert "Reading" not in screen.getvalue()
    assert "Learning" not in screen.getvalue()


def test_a_slow_step_is_named(screen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.01)
    with waiting.patiently("Reading") as report:
        report("Learning")
        deadline = time.monotonic() + 5
        while "Learning" not in screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "Learning" in screen.getvalue()


def test_a_failure_passes_through(screen: io.StringIO) -> None:
    with pytest.raises(ValueError, match="broken"), waiting.patiently("Reading"):
        raise ValueError("broken")
