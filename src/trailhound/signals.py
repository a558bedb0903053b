"""Signals by which a person, a terminal or the system ends a program."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_FROM_TERMINALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]
"""Ctrl-C, a terminal that closes, Ctrl-\\: every process of the terminal gets them."""
_ALWAYS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_stop_signals(act: Callable[[], object]) -> Iterator[None]:
    """Ctrl-C, a request to terminate, and a terminal that closes call ``act`` meanwhile.

    What ``nohup`` or a shell lets the process ignore stays ignored; Ctrl-C is always heard.
    """
    kinds = [
        kind
        for kind in dict.fromkeys((*_ALWAYS, *_FROM_TERMINALS))
        if kind in _ALWAYS or signal.getsignal(kind) is not signal.SIG_IGN
    ]
    before = [signal.signal(kind, lambda *_: act()) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def leave_signals_to_parent() -> None:
    """In a worker: what a terminal sends to all of its processes, the parent alone decides on."""
    for kind in _FROM_TERMINALS:
        signal.signal(kind, signal.SIG_IGN)
