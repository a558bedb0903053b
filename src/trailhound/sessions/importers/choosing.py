"""What of an import to keep: a part of the time, and marks on the pages that were useful."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from trailhound.errors import UsageError
from trailhound.sessions.events import Mark, Session, Submit, Visit
from trailhound.sessions.importers.base import Bookmark, Tally
from trailhound.urls import canonicalize


@dataclass(frozen=True)
class Period:
    """From ``since`` up to, but not at, ``until``: Unix times in seconds."""

    since: float = float("-inf")
    until: float = float("inf")

    def __contains__(self, time: object) -> bool:
        return isinstance(time, float | int) and self.since <= time < self.until


class SessionsInPeriod:
    """The parts of sessions that lie in a period; the others are counted once, at the first go."""

    def __init__(self, sessions: Iterable[Session], period: Period, tally: Tally) -> None:
        self._sessions = sessions
        self._period = period
        self._tally: Tally | None = tally

    def __iter__(self) -> Iterator[Session]:
        outside = 0
        for session in self._sessions:
            kept = tuple(event for event in session.events if event.time in self._period)
            outside += len(session.events) - len(kept)
            if kept:
                yield msgspec.structs.replace(session, events=kept)
        if self._tally is not None and outside:
            self._tally.skip("outside the time asked for", outside)
        self._tally = None


BOOKMARKS = "bookmarks"


@dataclass
class UsefulPages:
    """Which pages to mark, by canonical URL; ``unvisited`` shrinks as sessions are marked."""

    named: set[str] = field(default_factory=set)
    bookmarked: set[str] = field(default_factory=set)
    unvisited: set[str] = field(default_factory=set)
    """Named pages that no session has shown."""

    def __post_init__(self) -> None:
        self.unvisited = set(self.named)

    def marked(self, session: Session) -> Session:
        """The session with a mark on each useful page it shows, and handed in."""
        wanted = self.named | self.bookmarked
        marks: dict[str, Mark] = {}
        for visit in session.events if wanted else ():
            if isinstance(visit, Visit):
                for url in filter(None, map(canonicalize, (visit.url, visit.requested_url or ""))):
                    if url in wanted:
                        self.unvisited.discard(url)
                        marks[visit.url] = Mark(visit.time, visit.url)
        if not session.events:
            return session
        end = Submit(max(event.time for event in session.events))
        return msgspec.structs.replace(session, events=(*session.events, *marks.values(), end))


class MarkedSessions:
    """Sessions with their marks; may be gone through several times."""

    def __init__(self, sessions: Iterable[Session], useful: UsefulPages) -> None:
        self._sessions = sessions
        self._useful = useful

    def __iter__(self) -> Iterator[Session]:
        return map(self._useful.marked, self._sessions)


def useful_pages(
    choices: Sequence[str], bookmarks: Callable[[], Sequence[Bookmark]] | None
) -> UsefulPages:
    """What ``--useful`` names: URLs, files of URLs, ``bookmarks`` or ``bookmarks:FOLDER``."""
    named: set[str] = set()
    bookmarked: set[str] = set()
    for choice in choices:
        if choice == BOOKMARKS or choice.startswith(f"{BOOKMARKS}:"):
            bookmarked |= _bookmarked(choice.partition(":")[2], bookmarks)
        elif (url := canonicalize(choice)) is not None:
            named.add(url)
        else:
            named |= _urls_in(Path(choice).expanduser())
    return UsefulPages(named, bookmarked)


def _bookmarked(folder: str, bookmarks: Callable[[], Sequence[Bookmark]] | None) -> set[str]:
    if bookmarks is None:
        raise UsageError(
            "This kind of import knows no bookmarks (those of chrome and firefox do). Name the "
            "useful pages, or a file with one address in a line: --useful FILE"
        )
    kept = bookmarks()
    if folder:
        folders = {name for each in kept for name in each.folders}
        if folder not in folders:
            shown = ", ".join(sorted(filter(None, folders))[:12]) or "none"
            raise UsageError(f"There is no bookmark folder '{folder}'. Folders: {shown}.")
        kept = [each for each in kept if folder in each.folders]
    return {url for each in kept if (url := canonicalize(each.url)) is not None}


def _urls_in(path: Path) -> set[str]:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise UsageError(
            f"'{path}' is neither an address (https://…) nor a file of addresses that can be read: "
            f"{error}."
        ) from error
    wanted = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    wrong = next((line for line in wanted if canonicalize(line) is None), None)
    if wrong is not None:
        raise UsageError(
            f"In {path}, '{wrong[:200]}' is not an address. Write one in a line, with https://."
        )
    return {url for line in wanted if (url := canonicalize(line)) is not None}
