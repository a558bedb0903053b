"""An answer as the archive will keep it."""

from __future__ import annotations

import aiohttp

from trailhound.fetching.body import Body
from trailhound.records import Exchange

Headers = tuple[tuple[str, str], ...]


def make_exchange(
    url: str, response: aiohttp.ClientResponse, body: Body, address: str, asked_at: float
) -> Exchange:
    """The record of one request and its answer."""
    version = response.version
    return Exchange(
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
