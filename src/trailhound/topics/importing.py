"""Recordings of other programs join a topic: chosen, named, completed and kept.

The way of an import: an importer reads the file (:mod:`trailhound.sessions.importers`), a period
and marks are chosen from it, people get pseudonyms, contents that an earlier import brought are
recalled, pages may be fetched (:mod:`trailhound.topics.page_fetching`), and the sessions are kept.
Sessions are passed on one at a time: a log may hold thousands.

A log grows, a history loses its oldest visits, a period is chosen anew: what was imported before
and what is imported now overlap. They are one session, in which each visit counts once.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trailhound.errors import StorageError, UsageError
from trailhound.sessions.events import Event, Mark, Session, Submit, Visit
from trailhound.sessions.files import header_of, read_session, write_session
from trailhound.sessions.importers.base import Bookmark, Imported
from trailhound.storage.files import write_private
from trailhound.topics.workspace import TopicFolder, session_file_name
from trailhound.urls import canonicalize, without_login

if TYPE_CHECKING:
    from trailhound.topics.page_fetching import FetchedPages

SYNCED_SESSIONS = 20
"""Of more sessions, a log's, not each is waited for until it is on the disk itself."""
BOOKMARKS = "bookmarks"
"""What ``--useful`` calls the bookmarks."""
_OUTSIDE = "outside the time asked for"
_AGAIN = "the same page at the same time"
SALT_NAME = "address-salt"
_SALT_BYTES = 32


@dataclass(frozen=True)
class Period:
    """From ``since`` up to, but not at, ``until``: Unix times in seconds."""

    since: float = float("-inf")
    until: float = float("inf")

    def __contains__(self, time: object) -> bool:
        return isinstance(time, float | int) and self.since <= time < self.until


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
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(
            f"'{path}' is neither an address (https://…) nor a file of addresses that can be read: "
            f"{why}. Write one address a line."
        ) from error
    wanted = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    wrong = next((line for line in wanted if canonicalize(line) is None), None)
    if wrong is not None:
        raise UsageError(
            f"In {path}, '{wrong[:200]}' is not an address. Write one in a line, with https://."
        )
    return {url for line in wanted if (url := canonicalize(line)) is not None}


@dataclass
class ChosenSessions:
    """What a topic is to keep of an import; may be gone through several times.

    Each session in turn is cut to the period, rid of addresses that nobody should keep, given a
    name, completed with the page contents and visits that earlier copies of it in the topic have,
    and marked.
    """

    imported: Imported
    folder: TopicFolder
    period: Period = field(default_factory=Period)
    useful: UsefulPages = field(default_factory=UsefulPages)
    name_of: Callable[[bytes], str] | None = None
    """From addresses to names; ``None``: users are called what the recording calls them."""
    _counted: bool = False

    def __iter__(self) -> Iterator[Session]:
        earlier = _earlier(self.folder)
        outside = again = 0
        for session in self.imported.sessions:
            within = [_tellable(each) for each in session.events if each.time in self.period]
            kept = _each_once(within)
            outside += len(session.events) - len(within)
            again += len(within) - len(kept)
            if kept:
                named = self._named(session, kept)
                yield self.useful.marked(united(named, earlier.of(named).values()))
        if not self._counted:
            for reason, count in ((_OUTSIDE, outside), (_AGAIN, again)):
                if count:
                    self.imported.tally.skip(reason, count)
        self._counted = True

    def _named(self, session: Session, events: tuple[Event, ...]) -> Session:
        user = session.user if self.name_of is None else self.name_of(session.user.encode())
        return msgspec.structs.replace(session, events=events, user=user)


def _each_once(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events, without visits that a recording tells of again: of the same page and time."""
    once: dict[tuple[float, str] | int, Event] = {}
    for number, event in enumerate(events):
        if not isinstance(event, Visit):
            once[number] = event
            continue
        key = event.time, event.url
        known = once.setdefault(key, event)
        if isinstance(known, Visit) and known.html is None and event.html is not None:
            title = known.title or event.title
            once[key] = msgspec.structs.replace(known, title=title, html=event.html)
    return tuple(once.values())


_OTHER_PAGES = ("from_url", "requested_url", "frame_of")
_AROUND = "".join(map(chr, range(33)))
"""What may stand around an address and is no part of it."""
_WITHIN = dict.fromkeys(map(ord, "\t\n\r"))
"""What may stand within an address and is no part of it."""


def _tellable(event: Event) -> Event:
    """The event as it may be kept, whatever the recording told.

    That is without names and passwords in addresses, and without pages that are not on the web:
    they are skipped as visits, and nobody could have their addresses forgotten.
    """
    if isinstance(event, Submit):
        return event
    changes: dict[str, str | None] = {}
    if (url := _without_login(event.url)) != event.url:
        changes["url"] = url
    for name in _OTHER_PAGES if isinstance(event, Visit) else ():
        other: str | None = getattr(event, name)
        told = _without_login(other) if other and canonicalize(other) is not None else None
        if told != other:
            changes[name] = told
    return msgspec.structs.replace(event, **changes) if changes else event


def _without_login(url: str) -> str:
    if "@" not in url:
        return url
    told, canonical = without_login(url.strip(_AROUND).translate(_WITHIN)), canonicalize(url)
    # http:ann@example.org is an address as well.
    return told if canonical is None or canonicalize(told) == canonical else canonical


@dataclass
class Kept:
    """What an import has put into the topic."""

    sessions: int = 0
    known: int = 0
    """Sessions of these that were there already, and have been written anew."""
    visits: int = 0
    pages: int = 0
    with_content: int = 0
    marked: int = 0
    """Pages marked useful."""
    not_useful: int = 0
    """Pages marked as not useful."""
    fetched: dict[str, int] | None = None
    """Outcomes of ``--fetch``."""
    unfetched: int = 0
    """Pages beyond the limit of ``--fetch``."""


def keep_import(
    folder: TopicFolder, sessions: Iterable[Session], fetched: FetchedPages | None, unfetched: int
) -> Kept:
    """Add sessions to a topic, with the pages that were fetched for them, if any were."""
    if fetched is None:
        return keep_sessions(folder, sessions)
    kept = keep_sessions(folder, fetched.fill(sessions))
    kept.fetched, kept.unfetched = dict(fetched.outcomes()), unfetched
    fetched.discard()
    return kept


def keep_sessions(folder: TopicFolder, sessions: Iterable[Session]) -> Kept:
    """Add sessions to a topic, where each replaces earlier copies of itself; nothing is made when
    there are none."""
    kept = Kept()
    earlier = _earlier(folder)
    written: set[Path] = set()
    pages: set[str] = set()
    with_content: set[str] = set()
    marks: dict[str, bool | None] = {}
    for session in sessions:
        if not kept.sessions:
            folder.prepare()
        path = recording_path(folder, session)
        copies = earlier.of(session)
        kept.known += bool(copies) or path.exists()
        write_session(session, path, sync=kept.sessions < SYNCED_SESSIONS)
        written.add(path)
        for copy in copies.keys() - written:
            copy.unlink()
        kept.sessions += 1
        for event in session.events:
            if isinstance(event, Visit):
                kept.visits += 1
                pages.add(event.url)
                if event.html:
                    with_content.add(event.url)
            elif isinstance(event, Mark):
                marks[event.url] = event.useful
    kept.pages, kept.with_content = len(pages), len(with_content)
    said = list(marks.values())  # None: a mark was taken back
    kept.marked, kept.not_useful = said.count(True), said.count(False)
    return kept


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


def _earlier(folder: TopicFolder) -> _EarlierImports:
    workspace = folder.path.parent.parent

    @cache
    def naming() -> Callable[[bytes], str]:
        is_salted = (workspace / SALT_NAME).exists()  # without a salt nobody has a pseudonym
        return pseudonyms(workspace) if is_salted else bytes.decode

    return _EarlierImports(folder, lambda address: naming()(address))


def pseudonyms(workspace: Path) -> Callable[[bytes], str]:
    """A function from addresses to names that do not tell who somebody is.

    An address becomes a keyed hash. The key, a salt that never leaves the workspace and is made at
    the first use, makes the same address the same person in all imports; without it nobody can try
    out addresses.
    """
    salt = _salt(workspace / SALT_NAME)

    def name_of(address: bytes) -> str:
        return "u" + hashlib.blake2b(address, key=salt, digest_size=8).hexdigest()

    return name_of


def _salt(path: Path) -> bytes:
    if not path.exists():
        write_private(path, secrets.token_bytes(_SALT_BYTES))
    try:
        salt = path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(salt) != _SALT_BYTES:
        raise StorageError(
            f"{path} is damaged. Delete it; people in logs imported later get new names."
        )
    return salt


_VisitKey = tuple[float, str]
"""When, and which address was asked for: the same whatever was learned of the visit since."""


class _EarlierImports:
    """The sessions that a topic had when an import began.

    ``of`` finds those of the same importer and person that share visits with a session. A person
    whose address is kept by one of the imports has a pseudonym in the other: ``name_of`` it.
    """

    def __init__(self, folder: TopicFolder, name_of: Callable[[bytes], str]) -> None:
        self._name_of = name_of
        self._by_user: defaultdict[tuple[str, str], list[Path]] = defaultdict(list)
        for name in sorted(folder.session_names()):
            path = folder.sessions_path / name
            header = header_of(path)
            for user in self._names(header.user):
                self._by_user[header.recorder, user].append(path)

    def _names(self, user: str) -> set[str]:
        return {user, self._name_of(user.encode())} if user else {user}

    def of(self, session: Session) -> dict[Path, Session]:
        """Earlier copies of a session, or of a part of it, that are still there."""
        names = self._names(session.user)
        own = {path for user in names for path in self._by_user.get((session.recorder, user), ())}
        visits = _visits(session)
        return {path: copy for path, copy in _read(sorted(own)) if visits & _visits(copy)}


def united(session: Session, earlier: Collection[Session]) -> Session:
    """The session with all that only earlier copies of it know.

    That is contents, the page that a visit came from, and visits, with the marks on their pages.
    """
    before = {_key(visit): visit for copy in earlier for visit in _in(copy)}
    with_content = {key: visit for key, visit in before.items() if visit.html}
    events: list[Event] = []
    for event in session.events:
        if not isinstance(event, Visit):
            events.append(event)
            continue
        known = event if event.html is not None else with_content.get(_key(event), event)
        events.append(_with_way(known, before.get(_key(event))))
    own = _visits(session)
    lost = [visit for key, visit in before.items() if key not in own]
    pages = {visit.url for visit in lost} - {visit.url for visit in _in(session)}
    marks = {
        event.url: event
        for copy in earlier
        for event in copy.events
        if isinstance(event, Mark) and event.url in pages
    }
    if lost:
        events = sorted((*events, *lost, *marks.values()), key=lambda event: event.time)
    return msgspec.structs.replace(session, events=tuple(events))


def _with_way(visit: Visit, before: Visit | None) -> Visit:
    """The first lines of a file do not tell where their readers came from."""
    if before is None or visit.from_url is not None or before.from_url is None:
        return visit
    return msgspec.structs.replace(visit, from_url=before.from_url, reached=before.reached)


def _read(paths: Iterable[Path]) -> Iterator[tuple[Path, Session]]:
    for path in paths:
        if path.exists():
            copy = read_session(path, strict=False)
            # What was imported before such addresses were left out is known again, and loses them.
            yield path, msgspec.structs.replace(copy, events=tuple(map(_tellable, copy.events)))


def _in(session: Session) -> Iterator[Visit]:
    return (event for event in session.events if isinstance(event, Visit))


def _visits(session: Session) -> set[_VisitKey]:
    return {_key(visit) for visit in _in(session)}


def _key(visit: Visit) -> _VisitKey:
    return visit.time, _without_login(visit.requested_url or visit.url)
