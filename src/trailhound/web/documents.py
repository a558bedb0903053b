"""Whole documents that are shown inside the app without its rights: reports, say.

A page in a frame cannot send the app's token, so that each document gets an address that nobody can
guess and that soon leads nowhere. It is served into a sandbox: another origin, no script, nothing
loaded, no form, no way to the app around it.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from aiohttp import hdrs, web

PREFIX = "/document/"
VALID_SECONDS = 120.0
MOST_KEPT = 50
_HEADERS = {
    hdrs.CONTENT_TYPE: "text/html; charset=utf-8",
    "Content-Security-Policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'; "
        "frame-ancestors 'self'"
    ),
    "X-Frame-Options": "SAMEORIGIN",
}


class Documents:
    """Documents by their tickets."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def address(self, content: bytes) -> str:
        """Under which a document can be fetched for a short while."""
        ticket = secrets.token_urlsafe(24)
        self._kept[ticket] = self._now() + VALID_SECONDS, content
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return PREFIX + ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """The document, or nothing when its time is over."""
        until, content = self._kept.get(request.match_info["ticket"], (0.0, b""))
        if self._now() > until:
            raise web.HTTPNotFound(reason="This address was good for two minutes. Open it anew.")
        return web.Response(body=content, headers=_HEADERS)
