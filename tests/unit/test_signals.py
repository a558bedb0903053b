"""Signals that end a program."""

from __future__ import annotations

import os
import signal
import sys

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
