"""What a WARC file says was captured: one answer of a server per record."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import Literal, NamedTuple

from fastwarc.warc import ArchiveIterator, HeaderMap, WarcRecord, WarcRecordType

from trailhound.web_archives.answers import ServerAnswer
from trailhound.web_archives.files import Archive

# Larger records are videos and downloads, never pages.
MAX_RECORD_BYTES = 32 * 1024 * 1024

# Larger than any server's real headers; a smaller limit would end the whole archive at one record.
_MAX_HEADER_BYTES = 1 << 20

_KINDS = WarcRecordType.response | WarcRecordType.resource | WarcRecordType.revisit


class Capture(NamedTuple):
    """One record of a server's answer."""

    answer: ServerAnswer
    digest: str
    """The payload's checksum as the archive states it; "" without one."""
    is_revisit: bool = False
    """The body was the same as in an earlier capture and is not repeated."""
    original_url: str = ""
    """For a revisit: the URL of that earlier capture, when it is stated."""
    date: str = ""
    """When it was captured, as the archive writes it."""


class ArchiveDamageError(Exception):
    """An archive could not be read to its end; the message says why."""


def read_captures(archive: Archive) -> Iterator[Capture]:
    """All captures up to the end of the archive, or up to its damage."""
    try:
        with archive.open() as file:
            for record in ArchiveIterator(file, record_types=_KINDS, parse_http=False):
                if record.content_length <= MAX_RECORD_BYTES:
                    yield _capture(record, _block(record))
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, RuntimeError) as error:
        raise ArchiveDamageError(str(error)) from error


def _block(record: WarcRecord) -> bytes:
    """Everything in the record, read at once: a block that is too short shows a cut file."""
    expected = record.content_length
    block: bytes = record.reader.read()
    if "Content-Length" not in record.headers or len(block) < expected:
        raise EOFError("it ends in the middle of a record")
    return block


def _capture(record: WarcRecord, block: bytes) -> Capture:
    headers = record.headers
    url = (headers.get("WARC-Target-URI") or "").strip("<>")  # some writers put it in brackets
    digest = headers.get("WARC-Payload-Digest") or ""
    date = headers.get("WARC-Date") or ""
    if record.record_type == WarcRecordType.resource:
        content_type = headers.get("Content-Type") or ""
        return Capture(ServerAnswer(url, 200, content_type, body=block), digest, date=date)
    http, body = _http_message(block)
    return Capture(
        answer=ServerAnswer(
            url=url,
            status=http.status_code or 0,
            content_type=http.get("Content-Type") or "",
            location=http.get("Location") or "",
            body=body,
        ),
        digest=digest,
        is_revisit=record.record_type == WarcRecordType.revisit,
        original_url=headers.get("WARC-Refers-To-Target-URI") or "",
        date=date,
    )


def _http_message(block: bytes) -> tuple[HeaderMap, bytes]:
    """Headers and decoded body; a body that is not encoded as its headers say stays as it is."""
    try:
        return _parsed(block, "all")
    except OSError:
        return _parsed(block, "none")


def _parsed(block: bytes, decoding: Literal["all", "none"]) -> tuple[HeaderMap, bytes]:
    # A record of our own: a failure while decoding must not disturb the reading of the archive.
    record = WarcRecord()
    record.set_bytes_content(block)
    record.is_http = True
    record.parse_http(auto_decode=decoding, max_header_len=_MAX_HEADER_BYTES)
    # A small record may unpack into gigabytes; what is larger than any record is cut.
    return record.http_headers, record.reader.read(MAX_RECORD_BYTES)
