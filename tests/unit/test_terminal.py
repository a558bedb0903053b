from __future__ import annotations

import io
import threading

import pytest
from rich.console import Console

from trailhound.cli import terminal


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
