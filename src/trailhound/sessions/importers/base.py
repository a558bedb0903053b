"""What an importer is, what it gives, and what importers share.

An importer turns a recording that another program made into sessions. It is a class whose objects
follow :class:`Importer`, registered under the entry-point group ``trailhound.importers``::

    [project.entry-points."trailhound.importers"]
    opera = "opera_history:OperaImporter"

``trailhound import opera FILE`` then works like the built-in kinds; one under construction needs no
package, the path of its Python file works as well: ``trailhound import ./opera.py FILE``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec
from selectolax.lexbor import LexborHTMLParser

from trailhound.errors import UsageError
from trailhound.sessions.events import Reached, Session, Visit
from trailhound.text.parse_guard import HARMLESS, harmless_start
from trailhound.utf8 import storable

MAX_TITLE_LENGTH = 500
NEW_START_SECONDS = 1800.0
"""After so long a pause somebody begins anew: the usual limit of a session in log analysis."""


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

    @property
    def left_out(self) -> list[str]:
        """How much was skipped, and why, most frequent first."""
        skipped = self.skipped.most_common()
        return [f"{number:,} skipped: {reason}" for reason, number in skipped if number]

    def skip(self, reason: str, count: int = 1) -> None:
        """Leave something out."""
        self.skipped[reason] += count


@dataclass(frozen=True)
class Imported:
    """What an import found. ``sessions`` may be gone through several times."""

    sessions: Iterable[Session]
    tally: Tally


class Importer(Protocol):
    """One kind of recording that can be imported.

    The class's docstring, if it has one, is the longer help text. Damaged parts of a recording are
    counted in the tally and never fatal; a file of another kind altogether is a
    :class:`~trailhound.errors.SessionError`, one that is not there a
    :class:`~trailhound.errors.UsageError`.
    """

    @property
    def name(self) -> str:
        """What users type: ``trailhound import NAME FILE``."""
        ...

    @property
    def summary(self) -> str:
        """One line for the list of importers."""
        ...

    @property
    def reads(self) -> str:
        """What FILE is, in a few words, for the help text."""
        ...

    @property
    def read(self) -> Callable[..., Imported]:
        """``read(source: Path, topic: str, *, option=default, …)``: the sessions in a recording.

        Keyword arguments are options of the command line: a ``bool``, ``int``, ``float`` or
        ``str`` with a default, and a help text as ``Annotated[int, "Most pages."]``.
        """
        ...


class Bookmark(NamedTuple):
    """A page that somebody kept, and the folders it is in, outermost first."""

    url: str
    folders: tuple[str, ...]


@runtime_checkable
class KnowsBookmarks(Protocol):
    """An importer that can tell which pages were kept: ``--useful bookmarks``."""

    def bookmarks(self, source: Path) -> Sequence[Bookmark]:
        """The bookmarks that belong to the recording."""
        ...


@runtime_checkable
class NamesPeople(Protocol):
    """An importer of many people's browsing."""

    by_address: bool
    """``Session.user`` holds people's network addresses: they become pseudonyms unless the user
    says ``--keep-addresses``."""


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


def title_of(html: str) -> str:
    """The words of the first ``<title>``; empty without one."""
    # Titles are near the beginning; the rest need not be parsed.
    head = harmless_start(storable(html[:100_000]), HARMLESS)
    found = LexborHTMLParser(head).css_first("title")
    return " ".join(found.text().split())[:MAX_TITLE_LENGTH] if found is not None else ""


def in_succession(visits: Iterable[Visit]) -> tuple[Visit, ...]:
    """Visits in order of time, each coming from the one before unless a long pause lies between.

    For recordings that tell only the order.
    """
    chained: list[Visit] = []
    for visit in visits:
        before = chained[-1] if chained else None
        if before is None or visit.time - before.time > NEW_START_SECONDS:
            changes: dict[str, Any] = {"reached": Reached.TYPED}
        elif before.url == visit.url:
            changes = {"reached": Reached.RELOAD, "from_url": before.from_url}
        else:
            changes = {"reached": Reached.LINK, "from_url": before.url}
        chained.append(msgspec.structs.replace(visit, **changes))
    return tuple(chained)
