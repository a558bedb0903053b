"""Signals that end a program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from trailhound.signals import on_stop_signals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as on Unix")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_stop_signal_is_heard_meanwhile_and_not_afterwards(name: str) -> None:
    kind, heard = getattr(signal, name), []
    before = signal.getsignal(kind)
    with on_stop_signals(lambda: heard.append(name)):
        os.kill(os.getpid(), kind)
    assert heard == [name]
    assert signal.getsignal(kind) is before


def test_under_nohup_the_end_of_the_terminal_is_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with on_stop_signals(pytest.fail):
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


_INTERRUPTED = """
import os, signal, sys
class Terminal:
    def find_spec(self, name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Terminal())
"""


def test_ctrl_c_ends_a_command_quietly_before_it_has_begun() -> None:
    """While the command line is being imported, by the program that is installed."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    module, _, function = project["project"]["scripts"]["trailhound"].partition(":")
    for begin in (
        f"from {module} import {function}; {function}()",
        "import runpy; runpy.run_module('trailhound', run_name='__main__')",
    ):
        command = [sys.executable, "-c", _INTERRUPTED + begin, "topics"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
