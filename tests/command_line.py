"""The command line as a user meets it, in the process of the test."""

from __future__ import annotations

import json
import logging
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest
import typer.main

from trailhound.cli import terminal
from trailhound.cli.main import run

COMMAND = [sys.executable, "-c", "from trailhound.cli.main import run; run()"]
"""In a process of its own, for tests that interrupt or kill it."""

_read_once = cache(typer.main.get_command)
"""Typer reads the signatures of commands before each, again and again."""


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> Any:
        """What it told a program, after it went well."""
        assert self.code == 0, self.err
        return json.loads(self.out)


class Command(Protocol):
    """Runs one command."""

    def __call__(self, *arguments: str | Path) -> Done: ...


@pytest.fixture
def workspace_folder(tmp_path: Path) -> Path:
    """Where commands keep topics; a test file may say otherwise."""
    return tmp_path / "workspace"


@pytest.fixture
def trailhound(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    workspace_folder: Path,
    tmp_path: Path,
) -> Command:
    """In this process, since starting a new one each time would take minutes."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(typer.main, "get_command", _read_once)
    for console in (terminal.output, terminal.messages):
        # Else the width is that of COLUMNS when the first test of this process began.
        monkeypatch.setattr(console, "_width", None)
    monkeypatch.setenv("TRAILHOUND_WORKSPACE", str(workspace_folder))
    monkeypatch.chdir(tmp_path)

    def execute(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["trailhound", *map(str, arguments)])
        logger = logging.getLogger("trailhound")
        monkeypatch.setattr(logger, "handlers", list(logger.handlers))  # --verbose adds one
        monkeypatch.setattr(logger, "level", logger.level)
        with pytest.raises(SystemExit) as ended:
            run()
        out, err = capfdbinary.readouterr()
        assert b"Traceback" not in err
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, out.decode(), err.decode())

    return execute
