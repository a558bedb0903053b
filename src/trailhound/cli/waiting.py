"""A sign of life for steps that usually take no time, shown only when one does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE_SECONDS = 2.0


@contextmanager
def patiently(first_step: str) -> Iterator[Callable[[str], None]]:
    """Name each step with the function given; after two seconds it appears on stderr."""
    from trailhound.cli.console import messages

    status = messages.status(first_step)
    timer = threading.Timer(PATIENCE_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield status.update
    finally:
        timer.cancel()
        timer.join()
        status.stop()
