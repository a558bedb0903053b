"""Recordings of other programs join a topic: chosen, named, completed and kept.

The way of an import: an importer reads the file (:mod:`trailhound.sessions.importers`), a period
and marks are chosen from it, people get pseudonyms, contents that an earlier import brought are
recalled, pages may be fetched (:mod:`trailhound.topics.page_fetching`), and the sessions are kept.
Sessions are passed on one at a time: a log may hold thousands.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from trailhound.errors import StorageError, UsageError
from trailhound.sessions.events import Mark, Session, Submit, Visit
from trailhound.sessions.files import read_session, write_session
from trailhound.sessions.importers.base import Bookmark, Tally
from trailhound.storage.files import write_whole
from trailhound.topics.workspace import TopicFolder, session_file_name
from trailhound.urls import canonicalize

SYNCED_SESSIONS = 20
"""Of more sessions, a log's, not each is waited for until it is on the disk itself."""
BOOKMARKS = "bookmarks"
"""What ``--useful`` calls the bookmarks."""
SALT_NAME = "address-salt"
_SALT_BYTES = 32


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


@dataclass
class Kept:
    """What an import has put into the topic."""

    sessions: int = 0
    visits: int = 0
    pages: int = 0
    with_content: int = 0
    marked: int = 0
    fetched: dict[str, int] | None = None
    """Outcomes of ``--fetch``."""
    unfetched: int = 0
    """Pages beyond the limit of ``--fetch``."""


def keep_sessions(folder: TopicFolder, sessions: Iterable[Session]) -> Kept:
    """Add sessions to a topic; nothing is made when there are none."""
    kept = Kept()
    pages: set[str] = set()
    with_content: set[str] = set()
    marked: set[str] = set()
    for session in sessions:
        if not kept.sessions:
            folder.prepare()
        keep_recording(folder, session, sync=kept.sessions < SYNCED_SESSIONS)
        kept.sessions += 1
        for event in session.events:
            if isinstance(event, Visit):
                kept.visits += 1
                pages.add(event.url)
                if event.html:
                    with_content.add(event.url)
            elif isinstance(event, Mark):
                marked.add(event.url)
    kept.pages, kept.with_content, kept.marked = len(pages), len(with_content), len(marked)
    return kept


def keep_recording(folder: TopicFolder, session: Session, *, sync: bool = True) -> Path:
    """Add a session to a prepared topic; it replaces an earlier copy of itself."""
    path = recording_path(folder, session)
    write_session(session, path, sync=sync)
    return path


def recording_path(folder: TopicFolder, session: Session) -> Path:
    """Where a session is kept: the same place whatever contents and marks it has by now."""
    return folder.sessions_path / session_file_name(_visits_alone(session))


def _visits_alone(session: Session) -> Session:
    """What never changes: addresses as asked for, no sources, no marks."""
    events = tuple(
        msgspec.structs.replace(
            event,
            url=event.requested_url or event.url,
            title="",
            requested_url=None,
            html=None,
            html_ref=None,
        )
        for event in session.events
        if isinstance(event, Visit)
    )
    return msgspec.structs.replace(session, events=events)


class RecalledSessions:
    """Sessions with the page contents that earlier copies of them in the topic have."""

    def __init__(self, folder: TopicFolder, sessions: Iterable[Session]) -> None:
        self._folder = folder
        self._sessions = sessions

    def __iter__(self) -> Iterator[Session]:
        if not self._folder.session_names():
            yield from self._sessions
            return
        for session in self._sessions:
            path = recording_path(self._folder, session)
            yield _with_contents_of(path, session) if path.exists() else session


def _with_contents_of(path: Path, session: Session) -> Session:
    earlier = read_session(path, strict=False)
    visits = (event for event in earlier.events if isinstance(event, Visit) and event.html)
    known = {(visit.time, visit.requested_url or visit.url): visit for visit in visits}
    events = tuple(
        known.get((event.time, event.requested_url or event.url), event)
        if isinstance(event, Visit) and event.html is None
        else event
        for event in session.events
    )
    return msgspec.structs.replace(session, events=events)


class PseudonymousSessions:
    """Sessions whose users, network addresses until now, have names that do not tell who they are.

    An address becomes a keyed hash. The key, a salt that never leaves the workspace, makes the same
    address the same person in all imports; without it nobody can try out addresses.
    """

    def __init__(self, sessions: Iterable[Session], workspace: Path) -> None:
        self._sessions = sessions
        self._name_of = pseudonyms(workspace)

    def __iter__(self) -> Iterator[Session]:
        for session in self._sessions:
            yield msgspec.structs.replace(session, user=self._name_of(session.user.encode()))


def pseudonyms(workspace: Path) -> Callable[[bytes], str]:
    """A function from addresses to names, with the workspace's own salt, made at the first use."""
    salt = _salt(workspace / SALT_NAME)

    def name_of(address: bytes) -> str:
        return "u" + hashlib.blake2b(address, key=salt, digest_size=8).hexdigest()

    return name_of


def _salt(path: Path) -> bytes:
    if not path.exists():
        write_whole(path, secrets.token_bytes(_SALT_BYTES))
        with contextlib.suppress(OSError):  # Windows, and file systems without permissions
            path.chmod(0o600)
    try:
        salt = path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(salt) != _SALT_BYTES:
        raise StorageError(
            f"{path} is damaged. Delete it; people in logs imported later get new names."
        )
    return salt
