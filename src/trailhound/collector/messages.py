"""What the extension may say, and the checks on every word of it."""

from __future__ import annotations

import math
import re
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from trailhound.collector.guard import RefusedRequestError
from trailhound.errors import UsageError
from trailhound.sessions.events import Event, Submit, Visit
from trailhound.workspace.names import checked_name

MAX_URL_LENGTH = 16_000
MAX_TITLE_LENGTH = 1_000
MAX_EVENTS = 1_000
_LATEST_TIME = 1e11
"""In seconds, some 3,000 years ahead: a clock that counts milliseconds is wrong here."""
_SESSION_ID = re.compile(r"\d{8}t\d{6}-[0-9a-f]{12}")


class EventsMessage(msgspec.Struct):
    """Events of one session, in their order."""

    session: str
    topic: str
    events: list[Event]
    recorder: str = "extension"


class ForgetMessage(msgspec.Struct):
    """A page that must not have been recorded."""

    session: str
    topic: str
    url: str


class StatusMessage(msgspec.Struct):
    """A question about a topic."""

    session: str
    topic: str


Message = TypeVar("Message", EventsMessage, ForgetMessage, StatusMessage)


def read_message(body: bytes, kind: type[Message]) -> Message:
    """The message in ``body``, checked; RefusedRequestError says what is wrong with it."""
    try:
        message = msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RefusedRequestError(400, f"The message cannot be read: {error}.") from error
    if _SESSION_ID.fullmatch(message.session) is None:
        raise RefusedRequestError(400, "The session's name is not one that the extension makes.")
    try:
        message.topic = checked_name(message.topic)
    except UsageError as error:
        raise RefusedRequestError(400, str(error)) from error
    if isinstance(message, EventsMessage):
        _check_number(message)
        message.events = [checked_event(event) for event in message.events]
        message.recorder = message.recorder[:MAX_TITLE_LENGTH]
    return message


def _check_number(message: EventsMessage) -> None:
    if len(message.events) > MAX_EVENTS:
        raise RefusedRequestError(413, f"More than {MAX_EVENTS} events at once.")


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
