"""What the extension may say, checked word by word and written into the topics' folders."""

from __future__ import annotations

import hashlib
import math
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from trailhound.collector.guard import RefusedRequestError
from trailhound.errors import UNREADABLE, UsageError
from trailhound.sessions.events import Event, Mark, Submit, Visit, event_line, events_without
from trailhound.sessions.files import (
    SESSION_SUFFIX,
    SessionRecorder,
    header_of,
    read_with_problems,
    write_session,
)
from trailhound.topics.workspace import SessionsLock, TopicFolder, Workspace, checked_name

MAX_SESSION_BYTES = 1_000_000_000
MAX_OPEN_FILES = 32
MAX_URL_LENGTH = 16_000
MAX_TITLE_LENGTH = 1_000
MAX_EVENTS = 1_000
_LATEST_TIME = 1e11
"""In seconds, some 3,000 years ahead: a clock that counts milliseconds is wrong here."""
_SESSION_ID = re.compile(r"[0-9]{8}t[0-9]{6}-[0-9a-f]{12}")


class StatusMessage(msgspec.Struct):
    """A question about a topic."""

    session: str
    topic: str


class EventsMessage(StatusMessage):
    """Events of one session, in their order."""

    events: list[Event]
    recorder: str = "extension"


class ForgetMessage(StatusMessage):
    """A page that must not have been recorded."""

    url: str


Message = TypeVar("Message", bound=StatusMessage)


def read_message(body: bytes, kind: type[Message]) -> Message:
    """The message in ``body``, checked; RefusedRequestError says what is wrong with it."""
    try:
        message = msgspec.json.decode(body, type=kind)
    except UNREADABLE as error:
        raise RefusedRequestError(400, f"The message cannot be read: {error}.") from error
    if _SESSION_ID.fullmatch(message.session) is None:
        raise RefusedRequestError(400, "The session's name is not one that the extension makes.")
    try:
        message.topic = checked_name(message.topic)
    except UsageError as error:
        raise RefusedRequestError(400, str(error)) from error
    if isinstance(message, EventsMessage):
        if len(message.events) > MAX_EVENTS:
            raise RefusedRequestError(413, f"More than {MAX_EVENTS} events at once.")
        message.events = [checked_event(event) for event in message.events]
        message.recorder = message.recorder[:MAX_TITLE_LENGTH]
    return message


def checked_event(event: Event) -> Event:
    """The event as it may be written; refused when its time or address cannot be."""
    if not math.isfinite(event.time) or not 0 <= event.time < _LATEST_TIME:
        raise RefusedRequestError(400, f"The time {event.time} is not one in seconds.")
    if isinstance(event, Submit):
        return event
    _check_url(event.url)
    if not isinstance(event, Visit):
        return event
    if event.html_ref is not None:
        raise RefusedRequestError(400, "Files cannot be referred to from a browser.")
    for url in (event.from_url, event.requested_url, event.frame_of):
        if url is not None:
            _check_url(url)
    return msgspec.structs.replace(event, title=event.title[:MAX_TITLE_LENGTH])


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise RefusedRequestError(400, "An address cannot be read.") from error
    if parts.scheme not in ("http", "https") or len(url) > MAX_URL_LENGTH:
        raise RefusedRequestError(400, "Only pages of the web are recorded.")


@dataclass
class _Recording:
    """An open session file, and which lines it has."""

    recorder: SessionRecorder
    n_bytes: int
    known: set[bytes] = field(default_factory=set)
    """Digests of its lines: what is sent a second time, after a lost answer, is left out."""


class SessionStore:
    """The session files of all browsers; each event is on disk when ``append`` returns."""

    def __init__(self, workspace: Workspace, max_session_bytes: int = MAX_SESSION_BYTES) -> None:
        self._workspace = workspace
        self._max_session_bytes = max_session_bytes
        self._open: OrderedDict[Path, _Recording] = OrderedDict()

    def topic_of(self, message: StatusMessage) -> str:
        """The topic of a session: by its new name when it was renamed while it was recorded."""
        if not self._workspace.folder_for(message.topic).exists():
            for topic in self._workspace.topics():
                path = self._path(topic, message.session)
                if path.exists() and header_of(path).topic == message.topic:
                    return topic
        return message.topic

    def append(self, message: EventsMessage) -> list[Event]:
        """Write the events that are not there yet; returns them."""
        folder = self._workspace.folder_for(message.topic)
        try:
            folder.check_if_new()
        except UsageError as error:
            raise RefusedRequestError(400, str(error)) from error
        if not folder.exists():
            folder.prepare()
        with SessionsLock(folder):
            return self._append(folder, message)

    def _append(self, folder: TopicFolder, message: EventsMessage) -> list[Event]:
        path = self._path(message.topic, message.session)
        recording = self._recording(path, folder, message)
        added = []
        for event in message.events:
            line = event_line(event)
            digest = hashlib.sha256(line).digest()
            if digest in recording.known:
                continue
            if recording.n_bytes + len(line) > self._max_session_bytes:
                raise RefusedRequestError(413, "The session is full. Submit it, and start another.")
            recording.recorder.append(event)
            recording.known.add(digest)
            recording.n_bytes += len(line)
            added.append(event)
        if any(isinstance(event, Submit) for event in added):
            self._close(path)
        return added

    def forget(self, message: ForgetMessage) -> int:
        """Remove a page from a session; the number of events that went."""
        path = self._path(message.topic, message.session)
        self._close(path)
        if not path.exists():
            return 0
        with SessionsLock(self._workspace.folder_for(message.topic)):
            session = read_with_problems(path, strict=False).session
            kept = without_page(session.events, message.url)
            write_session(msgspec.structs.replace(session, events=kept), path)
        return len(session.events) - len(kept)

    def counts(self, topic: str, session: str) -> tuple[int, int]:
        """(pages, useful pages) of a session."""
        events = read_with_problems(self._path(topic, session), strict=False).session.events
        pages = {event.url for event in events if isinstance(event, Visit)}
        marks = {event.url: event.useful for event in events if isinstance(event, Mark)}
        return len(pages), sum(useful is True for useful in marks.values())

    def close(self) -> None:
        """Close all files."""
        for path in list(self._open):
            self._close(path)

    def _path(self, topic: str, session: str) -> Path:
        return self._workspace.folder_for(topic).sessions_path / f"{session}{SESSION_SUFFIX}"

    def _recording(self, path: Path, folder: TopicFolder, message: EventsMessage) -> _Recording:
        if not path.exists():  # a page was forgotten: what is left has another name
            self._close(path)
        recording = self._open.pop(path, None)
        if recording is None:
            folder.prepare()
            recorder = SessionRecorder(path, message.topic, recorder=message.recorder)
            lines = path.read_bytes().splitlines(keepends=True)
            known = {hashlib.sha256(line).digest() for line in lines}
            recording = _Recording(recorder, sum(map(len, lines)), known)
        self._open[path] = recording
        while len(self._open) > MAX_OPEN_FILES:
            self._close(next(iter(self._open)))
        return recording

    def _close(self, path: Path) -> None:
        recording = self._open.pop(path, None)
        if recording is not None:
            recording.recorder.close()


def without_page(events: Iterable[Event], url: str) -> tuple[Event, ...]:
    """Events that do not tell of a page, whatever part of it their addresses name."""
    plain = url.partition("#")[0]
    return events_without(events, lambda each: each.partition("#")[0] == plain)
