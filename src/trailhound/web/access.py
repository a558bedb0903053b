"""Who may use the app: whoever knows its token, from this machine's own page, and nobody else.

The token travels in a header that no other page can set, and never in a cookie: a browser adds
nothing by itself to what a foreign page sends, so that cross-site requests are strangers. The name
by which the server was reached is checked against DNS rebinding, and ``Origin`` is as well.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware

from trailhound.errors import UNREADABLE, StorageError
from trailhound.storage.files import write_private

FILE_NAME = "app.json"
API = "/api/"
COLLECTOR = "/v1/"
MAX_BODY_BYTES = 4_000_000
MAX_UPLOAD_BYTES = 4_000_000_000
"""Of a file that is sent as it is."""
TAKES_FILE = "takes_file"
"""An attribute of handlers to which files are sent."""
"""Of a request to the API; the collector takes more."""

SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
"""Of all pages that are served, the portal's too."""
HEADERS = SAFE_HEADERS | {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class _Stored(msgspec.Struct):
    token: str


@dataclass(frozen=True)
class AppToken:
    """What a user of the app must know; kept in the workspace, readable by its owner only."""

    value: str

    def is_right(self, given: str) -> bool:
        """Takes as long for a near miss as for a far one."""
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self.value.encode())


def load_token(workspace: Path, *, new: bool = False) -> AppToken:
    """The workspace's token, made now if there is none; ``new`` shuts out all that had the old."""
    path = workspace / FILE_NAME
    try:
        if not new and path.exists():
            return AppToken(msgspec.json.decode(path.read_bytes(), type=_Stored).token)
    except (OSError, *UNREADABLE) as error:
        raise StorageError(
            f"{path} cannot be read ({error}). Delete it; a new one is made at the next start."
        ) from error
    token = secrets.token_urlsafe(24)
    write_private(path, msgspec.json.encode(_Stored(token)))
    return AppToken(token)


class Gatekeeper:
    """Checks each request in the order: name of the server, origin, token."""

    def __init__(self, token: AppToken) -> None:
        self._token = token
        self.origins: frozenset[str] = frozenset()
        """Under which the app is served, such as ``http://127.0.0.1:8917``; known once it is."""

    def refusal(self, request: web.Request) -> tuple[int, str] | None:
        """Status and reason, or nothing when the request is welcome."""
        hosts = request.headers.getall(hdrs.HOST, [])
        names = {origin.partition("//")[2] for origin in self.origins}
        if len(hosts) != 1 or hosts[0].lower() not in names:
            return 403, "This host is not served here."
        if request.path.startswith(COLLECTOR):
            return None  # the collector has a guard of its own
        origin = request.headers.get(hdrs.ORIGIN)
        if origin is not None and origin not in self.origins:
            return 403, "Other sites may not speak to the app."
        if not request.path.startswith(API):
            return None  # pages and scripts, which hold nothing of the user's
        scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
        if scheme != "Bearer" or not self._token.is_right(token):
            return 401, "The app's token is wrong or missing. Open the app with 'trailhound app'."
        takes_file = getattr(request.match_info.handler, TAKES_FILE, False)
        most = MAX_UPLOAD_BYTES if takes_file else MAX_BODY_BYTES
        if (request.content_length or 0) > most:
            return 413, f"More than {most:,} bytes at once."
        return None


def gated(keeper: Gatekeeper) -> Middleware:
    """The gatekeeper as a middleware; it also puts the safe headers on every answer."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        refusal = keeper.refusal(request)
        if refusal is not None:
            response: web.StreamResponse = error_answer(*refusal)
        else:
            response = await _answered(request, handler)
        if not request.path.startswith(COLLECTOR) and not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
        return response

    return middleware


async def _answered(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPRequestEntityTooLarge:
        return error_answer(413, f"More than {MAX_BODY_BYTES:,} bytes at once.")
    except web.HTTPException as error:
        response = error_answer(error.status, error.reason)
        if hdrs.ALLOW in error.headers:
            response.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
        return response


def error_answer(status: int, reason: str) -> web.Response:
    """A refusal as the app's own pages read it."""
    return web.json_response({"error": reason}, status=status)
