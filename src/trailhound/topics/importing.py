"""Imports."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from trailhound.errors import StorageError
from trailhound.sessions.events import Session, Visit
from trailhound.sessions.files import read_session, write_session
from trailhound.storage.files import write_whole
from trailhound.topics.workspace import TopicFolder, session_file_name

SALT_NAME = "address-salt"
_SALT_BYTES = 32


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


def recording_path(folder: TopicFolder, session: Session) -> Path:
    """Where a session is kept: the same place whatever contents and marks it has by now."""
    return folder.sessions_path / session_file_name(_visits_alone(session))


def keep_recording(folder: TopicFolder, session: Session, *, sync: bool = True) -> Path:
    """Add a session to a prepared topic; it replaces an earlier copy of itself."""
    path = recording_path(folder, session)
    write_session(session, path, sync=sync)
    return path


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
