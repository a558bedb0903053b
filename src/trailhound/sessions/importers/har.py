"""HAR files: what a browser's developer tools, or a recording proxy, saw on the network.

Only answers that a person saw as a page become visits: HTML in the window itself or in a frame,
no scripts' requests. A chain of redirects is one visit.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urldefrag, urljoin

import msgspec

from trailhound.errors import UNREADABLE, SessionError
from trailhound.media_types import is_html_type
from trailhound.sessions.events import Reached, Session, Visit
from trailhound.sessions.importers.base import Imported, Tally, file_to_read, title_of, unix_time
from trailhound.text.encoding import decode
from trailhound.urls import canonicalize
from trailhound.web_archives import ServerAnswer

_FRAMES = ("iframe", "frame", "subdocument")
_DOCUMENTS = ("document", *_FRAMES, "other", "")
_NO_TYPES = ("", "x-unknown")
_NOT_MODIFIED = 304
_DAMAGED = "damaged entry"


class _Pair(msgspec.Struct):
    name: str
    value: str = ""


class _Request(msgspec.Struct):
    url: str
    method: str = "GET"
    headers: list[_Pair] = []


class _Content(msgspec.Struct, rename="camel"):
    mime_type: str = ""
    text: str | None = None
    encoding: str | None = None


class _Response(msgspec.Struct):
    status: int
    content: _Content = msgspec.field(default_factory=_Content)
    headers: list[_Pair] = []
    redirect_url: str | None = msgspec.field(default=None, name="redirectURL")


class _Entry(msgspec.Struct):
    request: _Request
    response: _Response
    started: str = msgspec.field(name="startedDateTime")
    page: str | None = msgspec.field(default=None, name="pageref")
    resource_type: str | None = msgspec.field(default=None, name="_resourceType")

    def asked(self, name: str) -> str:
        """A header of the request; empty without it."""
        return _header(self.request.headers, name)

    @property
    def purpose(self) -> str:
        """What the browser wanted it for; empty when the file does not say."""
        return self.asked("sec-fetch-dest").lower() or (self.resource_type or "").lower()

    @property
    def redirect(self) -> str | None:
        """Where the answer sent the browser; ``ValueError`` when that is no address."""
        location = self.response.redirect_url or _header(self.response.headers, "location")
        leads = location and 300 <= self.response.status < 400
        return urljoin(self.request.url, location) if leads else None


class _Page(msgspec.Struct):
    id: str
    title: str = ""


class _Log(msgspec.Struct):
    entries: list[msgspec.Raw]
    pages: list[msgspec.Raw] = []


class _File(msgspec.Struct):
    log: _Log


_decode_entry = msgspec.json.Decoder(_Entry).decode
_decode_file = msgspec.json.Decoder(_File).decode
_ESCAPES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)
"""Every escape of JSON, pairs that are one character as one."""
_NO_CHARACTER = rb"\ufffd"


class HarImporter:
    """In Chrome, Edge or Firefox: press F12, choose Network, tick 'Preserve log', browse, then
    'Save all as HAR with content'.

    Example:

      trailhound import har monday.har --topic bees --useful https://example.org/hives
    """

    name = "har"
    summary = "Import a HAR file: what the browser's developer tools recorded."
    reads = "A HAR file."

    def read(self, source: Path, topic: str) -> Imported:
        """The browsing in a HAR file, as one session."""
        if file_to_read(source, "HAR file").stat().st_size > 1_000_000_000:
            raise SessionError(f"{source} is larger than 1 GB. Record less, or in several files.")
        try:
            content = source.read_bytes()
        except OSError as error:
            raise SessionError(f"{source} cannot be read: {error.strerror or error}.") from error
        return parse_har(content, str(source), topic)


def parse_har(content: bytes, name: str, topic: str) -> Imported:
    """The browsing in a HAR file's ``content``; ``name`` is for messages."""
    try:
        log = _decoded(content.removeprefix(codecs.BOM_UTF8)).log
    except UNREADABLE as error:
        raise SessionError(
            f"{name} cannot be read as a HAR file: {error}. Save it again from the browser "
            "(developer tools, Network, 'Save all as HAR with content')."
        ) from error
    tally = Tally("entry", read=len(log.entries))
    walk = _Walk(_titles(log.pages), tally)
    for when, entry in _in_order(log.entries, tally):
        walk.add(when, entry)
    if walk.visits and not any(visit.html for visit in walk.visits):
        tally.notes.append("the file holds no page contents: save it 'with content'")
    return Imported([Session(topic, tuple(walk.visits), recorder="har import")], tally)


def _decoded(content: bytes) -> _File:
    """The file; halves of characters, which scripts on pages make, do not spoil the rest of it."""
    try:
        return _decode_file(content)
    except UNREADABLE:
        return _decode_file(_ESCAPES.sub(_whole_escape, content))


def _whole_escape(found: re.Match[bytes]) -> bytes:
    return _NO_CHARACTER if found["half"] else found[0]


def _titles(pages: Iterable[msgspec.Raw]) -> dict[str, str]:
    found = {}
    for raw in pages:
        try:
            page = msgspec.json.decode(raw, type=_Page)
        except UNREADABLE:
            continue
        if not page.title.startswith(("http://", "https://")):  # Chrome puts the address there
            found[page.id] = page.title
    return found


def _in_order(entries: Iterable[msgspec.Raw], tally: Tally) -> list[tuple[float, _Entry]]:
    found = []
    for raw in entries:
        try:
            entry = _decode_entry(raw)
        except UNREADABLE:
            tally.skip(_DAMAGED)
            continue
        when = unix_time(entry.started)
        if when is None:
            tally.skip("entry without a time")
        else:
            found.append((when, entry))
    return sorted(found, key=lambda pair: pair[0])


class _Walk:
    """Turns entries in order of time into visits."""

    def __init__(self, titles: dict[str, str], tally: Tally) -> None:
        self.visits: list[Visit] = []
        self._titles = titles
        self._tally = tally
        self._asked_first: dict[str, _Entry] = {}
        """From where a redirect led to the entry that began the chain."""
        self._last_in: dict[str | None, Visit] = {}
        """The last visit of each of the file's pages, which are tabs or loads."""
        self._last_on: dict[str, str] = {}
        """The last page visited on each site."""

    def add(self, when: float, entry: _Entry) -> None:
        """A page becomes a visit; everything else is counted."""
        first = self._asked_first.pop(urldefrag(entry.request.url).url, entry)
        try:
            target = entry.redirect
        except ValueError:
            self._tally.skip(_DAMAGED)
            return
        if target is not None:
            self._asked_first[urldefrag(target).url] = first
            self._tally.skip("redirect (part of the visit it led to)")
        elif reason := _why_no_page(entry):
            self._tally.skip(reason)
        else:
            visit = self._visit(when, entry, first)
            self.visits.append(visit)
            self._last_on[_origin(visit.url)] = visit.url
            if visit.frame_of is None:
                self._last_in[entry.page] = visit

    def _visit(self, when: float, entry: _Entry, first: _Entry) -> Visit:
        url, html = entry.request.url, _source(entry)
        from_url = self._page_before(first)
        return Visit(
            time=when,
            url=url,
            title=title_of(html) if html else self._titles.get(entry.page or "", ""),
            reached=self._reached(entry, first, from_url),
            from_url=from_url,
            requested_url=first.request.url if first.request.url != url else None,
            frame_of=from_url if entry.purpose in _FRAMES else None,
            html=html,
        )

    def _reached(self, entry: _Entry, first: _Entry, from_url: str | None) -> Reached:
        before = self._last_in.get(entry.page)
        if first.request.method.upper() == "POST":
            return Reached.FORM
        again = entry.asked("cache-control") in ("max-age=0", "no-cache")
        if before is not None and before.url == entry.request.url and again:
            return Reached.RELOAD
        return Reached.LINK if from_url else Reached.TYPED

    def _page_before(self, entry: _Entry) -> str | None:
        """The referring page. From other sites browsers name only its host: then the last one."""
        referer = entry.asked("referer")
        if not referer:
            return None
        origin = _origin(referer)
        if origin == _origin(entry.request.url) or referer.rstrip("/") != origin:
            return referer
        return self._last_on.get(origin, referer)


def _why_no_page(entry: _Entry) -> str:
    content = entry.response.content
    answer = ServerAnswer(entry.request.url, entry.response.status, content.mime_type or "-")
    if not entry.request.url.startswith(("http://", "https://")):
        return "not on the web"
    if canonicalize(entry.request.url) is None:
        return _DAMAGED
    if entry.purpose not in _DOCUMENTS:
        return "asked for by a script or as a part of a page"
    if entry.request.method.upper() not in ("GET", "POST"):
        return "neither GET nor POST"
    if answer.status == _NOT_MODIFIED:
        return "" if _was_page(entry) else "not HTML"
    if not 200 <= answer.status < 300:
        return "no successful answer"
    return "" if answer.is_page else "not HTML"


def _was_page(entry: _Entry) -> bool:
    """Whether it was a page that the browser had already: such an answer need not say its type."""
    kind = entry.response.content.mime_type
    return is_html_type(kind) or (kind in _NO_TYPES and entry.purpose in ("document", *_FRAMES))


def _source(entry: _Entry) -> str | None:
    content = entry.response.content
    if not content.text:
        return None
    if content.encoding != "base64":
        return content.text
    try:
        return decode(base64.b64decode(content.text, validate=False), content.mime_type).text
    except (binascii.Error, ValueError):
        return None


def _header(headers: Iterable[_Pair], name: str) -> str:
    return next((each.value for each in headers if each.name.lower() == name), "")


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])
