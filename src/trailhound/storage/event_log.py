"""A log for machines: one JSON object per line, each complete when the call returns."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from trailhound.records import FinishedPage
from trailhound.storage.files import explaining


class EventLog:
    """Appends to ``path``. Every line has ``at`` (seconds since 1970) and ``event``.

    Events: ``start`` and ``end`` of each run, ``page`` for each page dealt with, ``notice`` for
    what a person was told, ``problem`` for errors inside.
    """

    def __init__(self, path: str | Path, clock: Callable[[], float]) -> None:
        self.path = Path(path)
        self._clock = clock
        self._encoder = msgspec.json.Encoder()
        with explaining(self.path):
            self._file = self.path.open("ab", buffering=0)
            if os.fstat(self._file.fileno()).st_size:
                with self.path.open("rb") as file:
                    file.seek(-1, os.SEEK_END)
                    if file.read() != b"\n":  # a killed process or a full disk left half a line
                        self._file.write(b"\n")

    def note(self, event: str, **details: Any) -> None:
        """One line."""
        self._append({"at": self._clock(), "event": event, **details})

    def keep(self, finished: FinishedPage) -> None:
        """One line for a page."""
        event = finished.event
        told = {**msgspec.structs.asdict(event), "status": finished.result.status}
        self._append({"at": event.at, "event": "page", **told})

    def _append(self, line: dict[str, Any]) -> None:
        with explaining(self.path):
            self._file.write(self._encoder.encode(line) + b"\n")

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


class ProblemHandler(logging.Handler):
    """Sends Python's own log records to an event log."""

    def __init__(self, log: EventLog, level: int = logging.WARNING) -> None:
        super().__init__(level)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One line; a log that cannot be written must not stop the crawl here."""
        try:
            self._log.note(
                "problem", level=record.levelname, where=record.name, message=self.format(record)
            )
        except Exception:
            self.handleError(record)
