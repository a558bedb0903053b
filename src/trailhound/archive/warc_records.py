"""Single WARC records, each compressed on its own so that a reader can start at any of them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1
from typing import NamedTuple

import msgspec
from fastwarc.warc import WarcRecord, WarcRecordType
from isal import isal_zlib

from trailhound.archive.http_messages import request_message, response_message
from trailhound.records import Exchange, Outcome, Relevance

COMPRESSION_LEVEL = 2
"""Of ISA-L, 0 to 3: a third of the time that zlib takes for the same size."""

_GZIP_WINDOW = 31
"""What zlib's interface calls the largest window with a gzip header around it."""

NOT_MODIFIED = 304
"""The status that says: what you have is still right. It has no payload to index."""

_NOT_MODIFIED_PROFILE = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_FIELDS = "application/warc-fields"
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


class StoredResponse(NamedTuple):
    """A response record, ready to be written."""

    data: bytes
    """Compressed."""
    record_id: str
    payload_digest: str
    """As in ``sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ``; empty where there is no payload."""


class RecordMaker:
    """Makes the records of one file."""

    def __init__(self, compression_level: int = COMPRESSION_LEVEL) -> None:
        self._level = compression_level
        self._info_id = ""

    def warcinfo(self, file_name: str, made_at: float, fields: Mapping[str, str]) -> bytes:
        """The first record of a file: what made it. The records that follow refer to it."""
        self._info_id = ""
        record = self._record(WarcRecordType.warcinfo, made_at)
        record.headers["WARC-Filename"] = file_name
        record.headers["Content-Type"] = _FIELDS
        standard = {
            "format": "WARC File Format 1.1",
            "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        }
        record.set_bytes_content(_fields({**fields, **standard}.items()))
        self._info_id = record.headers["WARC-Record-ID"]
        return self._pack(record)

    def response(self, exchange: Exchange) -> StoredResponse:
        """What a server answered; a 304 is a *revisit* of what was archived before."""
        is_revisit = exchange.status == NOT_MODIFIED
        kind = WarcRecordType.revisit if is_revisit else WarcRecordType.response
        record = self._exchange_record(kind, exchange)
        record.is_http = True
        record.headers["Content-Type"] = "application/http; msgtype=response"
        if exchange.truncated:
            record.headers["WARC-Truncated"] = exchange.truncated
        if is_revisit:
            record.headers["WARC-Profile"] = _NOT_MODIFIED_PROFILE
            record.headers["WARC-Refers-To-Target-URI"] = _one_line(exchange.url)
        record.set_bytes_content(response_message(exchange))
        digest = None if is_revisit else sha1(exchange.body, usedforsecurity=False).digest()
        data = self._pack(record, digest)
        headers = record.headers
        return StoredResponse(
            data, headers["WARC-Record-ID"], headers.get("WARC-Payload-Digest") or ""
        )

    def request(self, exchange: Exchange, response_id: str) -> bytes:
        """What was asked."""
        record = self._exchange_record(WarcRecordType.request, exchange)
        record.is_http = True
        record.headers["Content-Type"] = "application/http; msgtype=request"
        record.headers["WARC-Concurrent-To"] = response_id
        record.set_bytes_content(request_message(exchange))
        return self._pack(record)

    def metadata(self, exchange: Exchange, response_id: str, notes: CaptureNotes) -> bytes:
        """What the crawl thought of it."""
        record = self._exchange_record(WarcRecordType.metadata, exchange)
        record.headers["Content-Type"] = _FIELDS
        record.headers["WARC-Concurrent-To"] = response_id
        record.set_bytes_content(_fields(_note_fields(notes)))
        return self._pack(record)

    def _pack(self, record: WarcRecord, payload_digest: bytes | None = None) -> bytes:
        """One record as a gzip member of its own, with the digests of block and payload."""
        plain = io.BytesIO()
        record.write(plain, checksum_data=True, payload_digest=payload_digest)
        packed: bytes = isal_zlib.compress(plain.getbuffer(), self._level, _GZIP_WINDOW)
        return packed

    def _exchange_record(self, kind: WarcRecordType, exchange: Exchange) -> WarcRecord:
        record = self._record(kind, exchange.requested_at)
        record.headers["WARC-Target-URI"] = _one_line(exchange.url)
        if exchange.address and kind != WarcRecordType.metadata:
            record.headers["WARC-IP-Address"] = exchange.address
        return record

    def _record(self, kind: WarcRecordType, at: float) -> WarcRecord:
        record = WarcRecord()
        record.init_headers(kind)
        record.headers["WARC-Date"] = _iso_date(at)
        if self._info_id:
            record.headers["WARC-Warcinfo-ID"] = self._info_id
        return record


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


def _fields(pairs: Iterable[tuple[str, str]]) -> bytes:
    """``name: value`` lines in UTF-8."""
    lines = [f"{_one_line(name)}: {_one_line(value)}\r\n" for name, value in pairs]
    return "".join(lines).encode("utf-8", "replace")


def _one_line(text: str) -> str:
    return _LINE_BREAK.sub(" ", text)
