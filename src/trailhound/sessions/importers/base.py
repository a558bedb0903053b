"""What every importer needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from selectolax.lexbor import LexborHTMLParser

from trailhound.errors import UsageError
from trailhound.sessions.events import Reached, Session, Visit


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


NEW_START_SECONDS = 1800.0
"""After so long a pause somebody begins anew: the usual limit of a session in log analysis."""


def in_succession(visits: Iterable[Visit]) -> tuple[Visit, ...]:
    """Visits in order of time, each coming from the one before unless a long pause lies between."""
    chained: list[Visit] = []
    for visit in visits:
        before = chained[-1] if chained else None
        if before is None or visit.time - before.time > NEW_START_SECONDS:
            chained.append(msgspec.structs.replace(visit, reached=Reached.TYPED))
        elif before.url == visit.url:
            chained.append(
                msgspec.structs.replace(visit, reached=Reached.RELOAD, from_url=before.from_url)
            )
        else:
            chained.append(
                msgspec.structs.replace(visit, reached=Reached.LINK, from_url=before.url)
            )
    return tuple(chained)


MAX_TITLE_LENGTH = 500
_HEAD_CHARACTERS = 100_000
"""Titles are near the beginning; the rest need not be parsed."""


def title_of(html: str) -> str:
    """The words of the first ``<title>``; empty without one."""
    head = html[:_HEAD_CHARACTERS].encode("utf-8", "replace").decode()
    found = LexborHTMLParser(head).css_first("title")
    return " ".join(found.text().split())[:MAX_TITLE_LENGTH] if found is not None else ""
