"""What came back: the body, read as it arrives, and the exchange as the archive will keep it.

A body is counted on the wire and unpacked, and given up as soon as it must be: what is read stays
bounded by the caps whatever the server sends, and memory with it.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import partial

import aiohttp
from msgspec.structs import replace

from trailhound.fetching.content_coding import CodingError, decoder_for
from trailhound.media_types import (
    HTML_ONLY,
    SNIFFED_BYTES,
    Kinds,
    document_kind,
    why_not_wanted,
)
from trailhound.records import Exchange, Outcome

MAX_DOCUMENT_BYTES = 20_000_000


class _TooLargeError(Exception):
    """A buffer has reached its cap."""


class _NotWantedError(Exception):
    """The first bytes are no page; the message says what they are."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which answers are read to their end: HTML, and some kinds of documents."""

    documents: Kinds = HTML_ONLY
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    """Of one that is larger than pages are as a rule: PDF and office."""


class _CappedBuffer:
    """Bytes up to a cap; one more raises, with the buffer full.

    ``sniff`` is asked once, about the first bytes, how large the whole may be.
    """

    def __init__(self, max_bytes: int) -> None:
        self.data = bytearray()
        self.max_bytes = max_bytes
        self.sniff: Callable[[bytes], int] | None = None

    def write(self, piece: bytes) -> None:
        if self.sniff is not None and len(self.data) + len(piece) >= SNIFFED_BYTES:
            self.look(piece)
        room = max(0, self.max_bytes - len(self.data))
        self.data += piece[:room] if len(piece) > room else piece
        if len(piece) > room:
            raise _TooLargeError

    def look(self, more: bytes = b"") -> None:
        """Ask what its first bytes are, if nobody did yet, with ``more`` to come."""
        sniff, self.sniff = self.sniff, None
        if sniff is None:
            return
        try:
            self.max_bytes = sniff(bytes(self.data[:SNIFFED_BYTES] + more[:SNIFFED_BYTES]))
        except _NotWantedError:
            self.data += more[: max(0, self.max_bytes - len(self.data))]  # as far as it was read
            raise


@dataclass(frozen=True, slots=True)
class Body:
    """What came of a body."""

    wire: bytes
    """As received, chunks joined, still encoded."""
    decoded: bytes
    failure: Outcome | None = None
    detail: str = ""
    truncated: str = ""
    """Why ``wire`` is not all there was to receive, in the words of WARC: length, time …"""


async def read_page(
    response: aiohttp.ClientResponse,
    content_type: str,
    *,
    max_bytes: int,
    wanted: Wanted | None,
) -> Body:
    """The whole body, at most ``max_bytes`` of it on the wire and as many unpacked.

    The body must also be ``wanted`` by its first bytes; ``None`` takes anything.
    """
    wire = _CappedBuffer(max_bytes)
    decoded = wire
    try:
        coding = response.headers.get("Content-Encoding", "")
        decoder = decoder_for(coding, (unpacked := _CappedBuffer(max_bytes)).write)
        decoded = wire if decoder is None else unpacked
        if wanted is not None:
            decoded.sniff = partial(_most_bytes, content_type, wanted, max_bytes)
            if decoder is not None:  # what it is will be seen when it is unpacked
                wire.max_bytes = max(max_bytes, wanted.max_document_bytes)
        async for chunk in response.content.iter_any():
            wire.write(chunk)
            if decoder is not None:
                decoder.feed(chunk)
                if unpacked.sniff is None:
                    wire.max_bytes = unpacked.max_bytes
        if decoder is not None:
            decoder.finish()
        decoded.look()
    except (_TooLargeError, _NotWantedError, CodingError, aiohttp.ClientError, OSError) as error:
        return _failed(error, wire, decoded, content_type, wanted)
    return _body(wire, decoded)


async def read_some(response: aiohttp.ClientResponse, max_bytes: int) -> Body:
    """The first ``max_bytes`` of a body that only the archive wants; nothing about it can fail.

    Reading a short body to its end also keeps the connection alive.
    """
    wire = _CappedBuffer(max_bytes)
    truncated = ""
    try:
        async for chunk in response.content.iter_any():
            wire.write(chunk)
    except _TooLargeError:
        truncated = "length"
    except TimeoutError:
        truncated = "time"
    except (aiohttp.ClientError, OSError):
        truncated = "disconnect"
    data = bytes(wire.data)
    return Body(data, b"", truncated=truncated)


def _most_bytes(content_type: str, wanted: Wanted, max_bytes: int, start: bytes) -> int:
    """How large a body that begins so may be; raises when it is nothing that is read."""
    start = start[:SNIFFED_BYTES]
    reason = why_not_wanted(start, content_type, wanted.documents)
    if reason is not None:
        raise _NotWantedError(reason)
    kind = document_kind(start, content_type) if wanted.documents else None
    return wanted.max_document_bytes if kind is not None and kind.is_heavy else max_bytes


def _body(
    wire: _CappedBuffer,
    decoded: _CappedBuffer,
    failure: Outcome | None = None,
    detail: str = "",
    truncated: str = "",
) -> Body:
    received = bytes(wire.data)
    return Body(
        received,
        received if decoded is wire else bytes(decoded.data),
        failure,
        detail,
        truncated,
    )


def _failed(
    error: Exception,
    wire: _CappedBuffer,
    decoded: _CappedBuffer,
    content_type: str,
    wanted: Wanted | None,
) -> Body:
    """The part that was read, and why it is not used."""
    if isinstance(error, _TooLargeError):
        if wanted is not None:
            start = bytes(decoded.data[:SNIFFED_BYTES])
            reason = why_not_wanted(start, content_type, wanted.documents)
            if reason is not None:
                return _body(wire, decoded, Outcome.NOT_HTML, reason, "length")
        detail = f"the body is larger than {decoded.max_bytes} bytes"
        return _body(wire, decoded, Outcome.TOO_LARGE, detail, "length")
    if isinstance(error, _NotWantedError):
        return _body(wire, decoded, Outcome.NOT_HTML, str(error), "length")
    if isinstance(error, TimeoutError):
        return _body(wire, decoded, Outcome.TIMEOUT, _what_took_too_long(error), "time")
    truncated = "unspecified" if isinstance(error, CodingError) else "disconnect"
    words = str(error) or type(error).__name__
    detail = f"the body broke off or is not encoded as its header says: {words}"
    return _body(wire, decoded, Outcome.SERVER_ERROR, detail, truncated)


def _what_took_too_long(error: TimeoutError) -> str:
    if isinstance(error, aiohttp.SocketTimeoutError):
        return "the body stopped coming for longer than the read time-out"
    return "the body did not end within the total time-out"


Headers = tuple[tuple[str, str], ...]


def make_exchange(
    url: str,
    response: aiohttp.ClientResponse,
    body: Body,
    address: str,
    asked_at: float,
    hidden: Container[str] = (),
) -> Exchange:
    """The record of one request and its answer, without the headers that are ``hidden``.

    Those are named in lower case: secrets, of which nothing may be kept.
    """
    version = response.version
    exchange = Exchange(
        url=url,
        requested_at=asked_at,
        # Plain strings: aiohttp's own kind cannot be written to disk.
        request_headers=tuple(
            [(str(name), str(value)) for name, value in response.request_info.headers.items()]
        ),
        status=response.status,
        reason=_latin(response.reason or ""),
        http_version=f"{version.major}.{version.minor}" if version is not None else "1.1",
        headers=_kept_headers(response, body),
        body=body.wire,
        address=address,
        truncated=body.truncated,
    )
    return without_headers(exchange, hidden) if hidden else exchange


def without_headers(exchange: Exchange, hidden: Container[str]) -> Exchange:
    """The same without headers of these names, in lower case, on either side."""
    return replace(
        exchange,
        request_headers=tuple(
            each for each in exchange.request_headers if each[0].lower() not in hidden
        ),
        headers=tuple(each for each in exchange.headers if each[0].lower() not in hidden),
    )


def _kept_headers(response: aiohttp.ClientResponse, body: Body) -> Headers:
    """As received; but chunks were joined, so their header gives way to the body's length."""
    headers = [
        (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers
    ]
    if "Transfer-Encoding" not in response.headers:
        return tuple(headers)
    dropped = ("transfer-encoding", "content-length")
    kept = [header for header in headers if header[0].lower() not in dropped]
    return (*kept, ("Content-Length", str(len(body.wire))))


def _latin(text: str) -> str:
    """Text that aiohttp decoded as UTF-8, with one character for each byte again."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")
