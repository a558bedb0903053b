"""What every import gives: sessions, and an account of what was read and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from trailhound.errors import UsageError
from trailhound.sessions.events import Session


@dataclass
class Tally:
    """Counts of one import: ``read`` is the sum of ``kept`` and all of ``skipped``."""

    unit: str
    """What is counted, one of them: line, entry, visit."""
    read: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    """By reason, in a few words."""
    notes: list[str] = field(default_factory=list)
    """Whatever else a person should know about the file."""

    @property
    def kept(self) -> int:
        """What became visits."""
        return self.read - self.skipped.total()

    def skip(self, reason: str, count: int = 1) -> None:
        """Leave something out."""
        self.skipped[reason] += count


@dataclass(frozen=True)
class Imported:
    """What an import found. ``sessions`` may be gone through several times."""

    sessions: Iterable[Session]
    tally: Tally


def file_to_read(path: Path, kind: str) -> Path:
    """``path`` if it is a file; UsageError when there is none."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name the {kind} inside it.")
    if not path.exists():
        raise UsageError(f"There is no file {path}. Check the name of the {kind}.")
    return path


def unix_time(text: str) -> float | None:
    """Seconds since 1970 of an ISO date, which is in UTC unless it says otherwise."""
    try:
        when = datetime.fromisoformat(text.strip())
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
