"""What a browsing session consists of, and how it is written: JSON lines, one event in each.

Text in, records out; reading and writing files is :mod:`trailhound.sessions.files`. The meaning of
every field is in ``docs/session-format.md``.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from trailhound.counting import counted
from trailhound.errors import UNREADABLE, SessionError
from trailhound.utf8 import storable

FORMAT_NAME = "trailhound-session"
SESSION_VERSION = 1
MAX_PROBLEMS = 10_000
"""That are listed: a file of another kind may have millions of lines that are no event."""
_FOREIGN_STARTS = (
    (codecs.BOM_UTF16_LE, "it is UTF-16 text", "Save it as UTF-8"),
    (codecs.BOM_UTF16_BE, "it is UTF-16 text", "Save it as UTF-8"),
    (b"\x1f\x8b", "it is compressed with gzip", "Unpack it with gunzip"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd", "Unpack it with unzstd"),
    (b"PK\x03\x04", "it is a zip archive", "Unpack it"),
)


class Reached(StrEnum):
    """How a visited page came up in the browser."""

    LINK = "link"
    TYPED = "typed"
    BOOKMARK = "bookmark"
    BACK = "back"
    FORWARD = "forward"
    RELOAD = "reload"
    FORM = "form"


class Visit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="visit"):
    """A page was shown."""

    time: float
    """Unix time in seconds."""
    url: str
    """As the browser showed it, not yet canonical."""
    title: str = ""
    reached: Reached = Reached.LINK
    from_url: str | None = None
    """The page she was on before; ``None`` when the session starts here."""
    requested_url: str | None = None
    """What was asked for, when redirects led to ``url``."""
    frame_of: str | None = None
    """The page whose frame showed this one."""
    html: str | None = None
    """The page's source. Without it, the page is looked up where the session came from."""
    html_ref: str | None = None
    """Name of a file beside the session that holds the source."""


class Mark(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="mark"):
    """*Useful* was pressed, or taken back, or a page was declared not useful."""

    time: float
    url: str
    useful: bool | None = True
    """``None`` takes an earlier mark back."""
    label: str = ""
    """Which of several topics the mark belongs to."""


class Submit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="event", tag="submit"):
    """The session was handed in."""

    time: float


Event = Visit | Mark | Submit


class Session(msgspec.Struct, frozen=True):
    """One person's browsing for one or more topics."""

    topic: str
    events: tuple[Event, ...]
    user: str = ""
    recorder: str = ""
    """What wrote the session: ``extension 1.0``, ``har import``, ``demo`` …"""


def events_without(events: Iterable[Event], forgotten: Callable[[str], bool]) -> tuple[Event, ...]:
    """Events that do not tell of a forgotten URL; pages reached from one begin a way anew."""
    kept: list[Event] = []
    for event in events:
        urls: tuple[str | None, ...] = ()
        if isinstance(event, Mark):
            urls = (event.url,)
        elif isinstance(event, Visit):
            urls = (event.url, event.requested_url, event.frame_of)
            if event.from_url and forgotten(event.from_url):
                event = msgspec.structs.replace(event, from_url=None)
        if not any(forgotten(url) for url in urls if url):
            kept.append(event)
    return tuple(kept)


class Header(msgspec.Struct, frozen=True):
    """The first line of a session."""

    format: str
    version: int
    topic: str = ""
    user: str = ""
    recorder: str = ""


@dataclass(frozen=True)
class Problem:
    """Something that could not be read, and where."""

    line: int
    """Counted from 1."""
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


@dataclass(frozen=True)
class Reading:
    """A session and all that was wrong with its file."""

    session: Session
    problems: tuple[Problem, ...] = ()
    n_left_out: int = 0
    """Lines that are in the file and not in the session."""


class DamagedLineError(SessionError):
    """A line that who does not read strictly may skip."""


class UnsafeReferenceError(ValueError):
    """An ``html_ref`` that points outside the session's folder."""


HtmlLoader = Callable[[str], str]
"""From ``html_ref`` to source; ``LookupError`` when there is none, or UnsafeReferenceError."""

_event_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def parse_session(
    data: bytes, name: str, *, strict: bool = True, load_html: HtmlLoader | None = None
) -> Reading:
    """Read a whole session from ``data``; ``name`` says in errors where it came from.

    An incomplete last line, which a killed recorder leaves, is a problem but no error. Any other
    damaged line is an error, or with ``strict=False`` a problem too.
    """
    for start, reason, advice in _FOREIGN_STARTS:
        if data.startswith(start):
            raise SessionError(f"{name} cannot be read as a session: {reason}. {advice} first.")
    lines = _numbered_lines(data)
    header = _read_header(next(lines, None), name)
    problems: list[Problem] = []
    events: list[Event] = []
    n_left_out = 0
    for number, line, complete in lines:
        try:
            event = _event_decoder.decode(line)
            events.append(_with_html(event, number, load_html, problems))
        except (*UNREADABLE, UnsafeReferenceError) as error:
            damage = _damage(name, number, error, complete=complete, strict=strict)
            n_left_out += 1
            if len(problems) < MAX_PROBLEMS:
                problems.append(damage)
    session = Session(header.topic, tuple(events), header.user, header.recorder)
    return Reading(session, tuple(problems), n_left_out)


def session_lines(session: Session) -> Iterator[bytes]:
    """The session as encoded lines, each ending in a line feed."""
    yield header_line(session.topic, session.user, session.recorder)
    yield from map(event_line, session.events)


def header_line(topic: str, user: str = "", recorder: str = "") -> bytes:
    """The encoded first line of a session."""
    return event_line(Header(FORMAT_NAME, SESSION_VERSION, topic, user, recorder))


def event_in(line: bytes) -> Event | None:
    """The event in a line; ``None`` when it is not a whole one."""
    try:
        return _event_decoder.decode(line)
    except UNREADABLE:
        return None


def is_cut_header(content: bytes) -> bool:
    """Whether this is what a recorder leaves when it is killed within its first line."""
    start = b'{"format":"' + FORMAT_NAME.encode() + b'"'
    return content.startswith(start[: len(content)])


def event_line(record: Event | Header) -> bytes:
    """One encoded event, or the header."""
    try:
        return msgspec.json.encode(record) + b"\n"
    except UnicodeEncodeError:
        # Scripts on pages can make strings that hold half a surrogate pair; UTF-8 cannot.
        fields = {
            name: storable(value)
            for name, value in msgspec.structs.asdict(record).items()
            if type(value) is str
        }
        return msgspec.json.encode(msgspec.structs.replace(record, **fields)) + b"\n"


def _numbered_lines(data: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """(line number, line, whether a line feed ends it) of all lines that are not blank."""
    lines = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line, number < len(lines)


def _read_header(first: tuple[int, bytes, bool] | None, name: str) -> Header:
    if first is None:
        raise SessionError(f"{name} is empty: nothing was recorded. Record the session again.")
    try:
        header = msgspec.json.decode(first[1], type=Header)
    except UNREADABLE as error:
        raise _not_a_session(name, first[0], str(error)) from error
    if header.format != FORMAT_NAME:
        raise _not_a_session(name, first[0], f"its format is '{header.format}'")
    found = f"{name} has session format version {header.version}"
    if header.version > SESSION_VERSION:
        raise SessionError(
            f"{found}, and this Trailhound reads up to version {SESSION_VERSION}. "
            "Upgrade Trailhound."
        )
    if header.version < 1:
        raise SessionError(f"{found}, which never existed. Export the session again.")
    return header


def _not_a_session(name: str, number: int, reason: str) -> SessionError:
    return SessionError(
        f"{name} is not a Trailhound session: line {number} should be a header with format "
        f"'{FORMAT_NAME}', but {reason}. Convert other recordings with 'trailhound import'."
    )


def _with_html(
    event: Event, number: int, load_html: HtmlLoader | None, problems: list[Problem]
) -> Event:
    """The event with the source its ``html_ref`` names; a missing file leaves it without."""
    if load_html is None or not isinstance(event, Visit):
        return event
    if event.html is not None or not event.html_ref:
        return event
    try:
        return msgspec.structs.replace(event, html=load_html(event.html_ref))
    except LookupError as error:
        problems.append(Problem(number, str(error)))
        return event


def _damage(name: str, number: int, error: Exception, *, complete: bool, strict: bool) -> Problem:
    if not complete:
        return Problem(number, f"the last line is incomplete and was left out ({error})")
    if strict:
        raise DamagedLineError(
            f"{name}, line {number} is damaged: {error}. Mend or delete the line."
        ) from error
    return Problem(number, f"skipped, it is damaged ({error})")


def problem_summary(name: str, problems: Iterable[Problem]) -> str:
    """One sentence for a log or a screen; empty when there were no problems."""
    found = list(problems)
    if not found:
        return ""
    more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
    return f"{name}: {counted(len(found), 'problem')}: " + "; ".join(map(str, found[:3])) + more
