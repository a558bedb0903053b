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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trailhound.errors import StorageError
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.files import read_session, write_session
from trailhound.storage.files import write_whole
from trailhound.topics.workspace import TopicFolder, session_file_name

SYNCED_SESSIONS = 20
"""Of more sessions, a log's, not each is waited for until it is on the disk itself."""
SALT_NAME = "address-salt"
_SALT_BYTES = 32


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
