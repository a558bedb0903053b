"""Single WARC records, each compressed on its own so that a reader can start at any of them."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1
from typing import NamedTuple
from uuid import uuid4

import msgspec
from isal import isal_zlib

from trailhound.records import Exchange, Outcome, Relevance

_LEVEL = 2
"""Of ISA-L's compression, 0 to 3: a third of the time that zlib takes for the same size."""
_GZIP_WINDOW = 31
"""What zlib's interface calls the largest window with a gzip header around it."""

NOT_MODIFIED = 304
"""The status that says: what you have is still right. It has no payload to index."""

RENDERED_PREFIX = "urn:rendered:"
"""Before a page's address: what a browser made of it. So both can be replayed side by side."""

_FIELDS = "application/warc-fields"
# A line break within a header would begin another header, or the body.
_LINE_BREAK = re.compile(r"[\r\n\0]+")


class CaptureNotes(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the crawl knew and thought of a page: the content of a ``metadata`` record."""

    parent: str | None = None
    """The page whose link led here; ``None`` for a seed."""
    depth: int = 0
    """Links from the nearest seed."""
    priority: float = 0.0
    relevance: Relevance | None = None
    outcome: Outcome | None = None
    detail: str = ""
    """The reason in words when there is one."""
    number: int | None = None
    """Position of the page in its crawl: what archive, results and log are compared by."""


class StoredResponse(NamedTuple):
    """A response record, ready to be written."""

    data: bytes
    """Compressed."""
    record_id: str
    payload_digest: str
    """As in ``sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ``; empty where there is no payload."""


class RecordMaker:
    """Makes the records of one file."""

    _info_id = ""

    def warcinfo(self, file_name: str, made_at: float, fields: Mapping[str, str]) -> bytes:
        """The first record of a file: what made it. The records that follow refer to it."""
        standard = {
            "format": "WARC File Format 1.1",
            "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        }
        self._info_id = ""  # it refers to none itself
        headers = _headers("warcinfo", made_at, _FIELDS) | {"WARC-Filename": file_name}
        packed = self._pack(headers, _fields({**fields, **standard}.items()))
        self._info_id = headers["WARC-Record-ID"]
        return packed

    def response(self, exchange: Exchange) -> StoredResponse:
        """What a server answered; a 304 is a *revisit* of what was archived before."""
        is_revisit = exchange.status == NOT_MODIFIED
        kind = "revisit" if is_revisit else "response"
        headers = _exchange_headers(kind, exchange, "application/http; msgtype=response")
        if exchange.truncated:
            headers["WARC-Truncated"] = exchange.truncated
        if is_revisit:
            profile = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
            headers["WARC-Profile"] = profile
            headers["WARC-Refers-To-Target-URI"] = exchange.url
        else:
            headers["WARC-Payload-Digest"] = digest_of(exchange.body)
        status_line = f"HTTP/{exchange.http_version} {exchange.status:03d} {exchange.reason}"
        data = self._pack(headers, _head(status_line, exchange.headers) + exchange.body)
        digest = headers.get("WARC-Payload-Digest", "")
        return StoredResponse(data, headers["WARC-Record-ID"], digest)

    def request(self, exchange: Exchange, response_id: str) -> bytes:
        """What was asked. Crawlers only ever GET."""
        headers = _exchange_headers("request", exchange, "application/http; msgtype=request")
        headers["WARC-Concurrent-To"] = response_id
        _, slash, tail = exchange.url.partition("://")[2].partition("/")
        request_line = f"GET {slash or '/'}{tail} HTTP/{exchange.http_version}"
        return self._pack(headers, _head(request_line, exchange.request_headers))

    def rendered(self, exchange: Exchange, html: bytes, response_id: str) -> StoredResponse:
        """What a browser made of the answer: HTML in UTF-8."""
        headers = _headers("resource", exchange.requested_at, "text/html; charset=utf-8")
        headers["WARC-Target-URI"] = RENDERED_PREFIX + exchange.url
        headers["WARC-Concurrent-To"] = response_id
        headers["WARC-Payload-Digest"] = digest = digest_of(html)
        return StoredResponse(self._pack(headers, html), headers["WARC-Record-ID"], digest)

    def metadata(self, exchange: Exchange, response_id: str, notes: CaptureNotes) -> bytes:
        """What the crawl thought of it."""
        headers = _headers("metadata", exchange.requested_at, _FIELDS)
        headers["WARC-Target-URI"] = exchange.url
        headers["WARC-Concurrent-To"] = response_id
        return self._pack(headers, _fields(_note_fields(notes)))

    def _pack(self, headers: dict[str, str], block: bytes) -> bytes:
        """One record as a gzip member of its own, with the digest of its block."""
        if self._info_id:
            headers["WARC-Warcinfo-ID"] = self._info_id
        headers["WARC-Block-Digest"] = digest_of(block)
        headers["Content-Length"] = str(len(block))
        head = b"WARC/1.1\r\n" + _fields(headers.items()) + b"\r\n"
        packed: bytes = isal_zlib.compress(head + block + b"\r\n\r\n", _LEVEL, _GZIP_WINDOW)
        return packed


def _headers(kind: str, at: float, content_type: str) -> dict[str, str]:
    return {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
        "WARC-Date": _iso_date(at),
        "Content-Type": content_type,
    }


def _exchange_headers(kind: str, exchange: Exchange, content_type: str) -> dict[str, str]:
    headers = _headers(kind, exchange.requested_at, content_type)
    headers["WARC-Target-URI"] = exchange.url
    if exchange.address:
        headers["WARC-IP-Address"] = exchange.address
    return headers


def page_address(target: str) -> str:
    """The page that a record is about, by its target: rendered pages have a prefix."""
    return target.removeprefix(RENDERED_PREFIX)


def digest_of(content: bytes) -> str:
    """As records state it: ``sha1:`` and 32 characters."""
    return "sha1:" + b32encode(sha1(content, usedforsecurity=False).digest()).decode("ascii")


@lru_cache(maxsize=16)
def cdx_timestamp(at: float) -> str:
    """Seconds since 1970 as 14 digits, the way indexes and file names have it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y%m%d%H%M%S")


@lru_cache(maxsize=16)  # asked for each record of a fetch
def _iso_date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _note_fields(notes: CaptureNotes) -> Iterable[tuple[str, str]]:
    if notes.parent is not None:
        yield "via", notes.parent
    yield "depth", str(notes.depth)
    yield "priority", repr(notes.priority)
    if notes.relevance is not None:
        yield "relevance", repr(notes.relevance.score)
        yield "relevant", "yes" if notes.relevance.relevant else "no"
    if notes.outcome is not None:
        yield "outcome", notes.outcome.value
    if notes.detail:
        yield "detail", notes.detail
    if notes.number is not None:
        yield "number", str(notes.number)


def read_notes(fields: Mapping[str, str]) -> CaptureNotes:
    """What the fields of a ``metadata`` record say; ValueError when they make no sense."""
    score, outcome, number = (fields.get(name) for name in ("relevance", "outcome", "number"))
    return CaptureNotes(
        fields.get("via"),
        int(fields.get("depth", 0)),
        float(fields.get("priority", 0.0)),
        Relevance(float(score), fields.get("relevant") == "yes") if score is not None else None,
        Outcome(outcome) if outcome is not None else None,
        fields.get("detail", ""),
        int(number) if number is not None else None,
    )


def _fields(pairs: Iterable[tuple[str, str]]) -> bytes:
    """``name: value`` lines in UTF-8."""
    lines = (_one_line(f"{name}: {value}") + "\r\n" for name, value in pairs)
    return "".join(lines).encode("utf-8", "replace")


def _one_line(text: str) -> str:
    return text if text.isprintable() else _LINE_BREAK.sub(" ", text)


def _head(first_line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    safe = map(_one_line, [first_line, *(f"{name}: {value}" for name, value in headers)])
    # Headers are Latin-1 by contract; a URL that is not canonical may hold more.
    return ("\r\n".join(safe) + "\r\n\r\n").encode("latin-1", "replace")
