"""Who may speak to the collector: the user's own extension, and nobody else.

Any page in the user's browser can send requests to this machine. Browsers say truthfully where a
request comes from (``Origin``) and which host it was meant for (``Host``); pages cannot change
either. Both are checked, and a token as well, before anything of the body is read. The token is
kept in the workspace, readable by the user only, so that a browser stays paired when the collector
starts again.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware

from trailhound.errors import UNREADABLE, StorageError
from trailhound.storage.files import write_private

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
PREFIX = "/v1"
PAIR_PATH = f"{PREFIX}/pair"
MAX_BODY_BYTES = 24_000_000
"""The extension sends at most 8 MB at once."""

OWN_PORTS = {"http": 80, "https": 443}
"""Those of the schemes, which browsers name to nobody."""

_OWN_NAMES = ("127.0.0.1", "localhost")
_SAFE_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'",
}

FILE_NAME = "collector.json"
MAX_BROWSERS = 50
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_EXTENSION_ORIGIN = re.compile(r"chrome-extension://[a-p]{32}|moz-extension://[0-9a-f-]{36}")


class _Stored(msgspec.Struct):
    token: str
    origins: list[str] = []


def is_extension_origin(origin: str) -> bool:
    """Whether a browser names an extension, not a page, as the origin of a request."""
    return _EXTENSION_ORIGIN.fullmatch(origin) is not None


@dataclass
class Pairing:
    """A token and the extensions that have shown it."""

    path: Path
    token: str
    origins: list[str]

    def code(self, port: int) -> str:
        """What the user copies into the popup: port and token."""
        return f"{port}-{self.token}"

    def knows(self, token: str) -> bool:
        """Whether this is the token; takes as long for a near miss as for a far one."""
        sent = token.encode("utf-8", "surrogateescape")  # a header may hold any bytes
        return hmac.compare_digest(sent, self.token.encode())

    def is_paired(self, origin: str) -> bool:
        """Whether the extension at ``origin`` was paired."""
        return origin in self.origins

    def add(self, origin: str) -> None:
        """Remember an extension that has shown the token; the oldest of very many is dropped."""
        if origin not in self.origins:
            self.origins = [*self.origins, origin][-MAX_BROWSERS:]
            self.save()

    def save(self) -> None:
        """Keep it for the next start, readable by its owner only."""
        write_private(self.path, msgspec.json.encode(_Stored(self.token, self.origins)))


def load_pairing(workspace: Path, *, new: bool = False) -> Pairing:
    """The workspace's pairing, made now if there is none; ``new`` unpairs all browsers."""
    path = workspace / FILE_NAME
    try:
        if not new and path.exists():
            stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
            return Pairing(path, stored.token, stored.origins)
    except (OSError, *UNREADABLE) as error:
        raise StorageError(
            f"{path} cannot be read ({error}). Delete it, and pair your browsers again."
        ) from error
    # Four groups of five letters of five bits each: 100 bits cannot be guessed.
    groups = ("".join(secrets.choice(_ALPHABET) for _ in range(5)) for _ in range(4))
    pairing = Pairing(path, "-".join(groups), [])
    pairing.save()
    return pairing


def hosts_at(names: Iterable[str], port: int, scheme: str = "http") -> set[str]:
    """As browsers write them in ``Host`` and ``Origin``: without the port that is the scheme's own.

    With it they are written as well, by others.
    """
    written = set(names)
    with_port = {f"{name}:{port}" for name in written}
    return with_port | written if OWN_PORTS[scheme] == port else with_port


class RefusedRequestError(Exception):
    """The request is not answered; status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """Checks each request in the order: host, origin, method, token, size."""

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing
        self.port = 0
        """Where the collector listens; known once it does."""

    def check(self, request: web.Request) -> None:
        """Raise :class:`RefusedRequestError` unless the request is the extension's."""
        # Another name for this machine's address is DNS rebinding.
        allowed = hosts_at(_OWN_NAMES, self.port)
        hosts = request.headers.getall(hdrs.HOST, [])
        if len(hosts) != 1 or hosts[0].lower() not in allowed:
            raise RefusedRequestError(403, "This host is not served here.")
        origins = request.headers.getall(hdrs.ORIGIN, [])
        if len(origins) != 1 or not is_extension_origin(origins[0]):
            raise RefusedRequestError(403, "Only the Trailhound extension may speak to this port.")
        if request.method == hdrs.METH_OPTIONS:
            return
        _check_form(request)
        scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
        if scheme != "Bearer" or not self._pairing.knows(token):
            raise RefusedRequestError(
                401, "The pairing code is wrong or old. Copy it again from 'trailhound collect'."
            )
        if request.path != PAIR_PATH and not self._pairing.is_paired(origins[0]):
            raise RefusedRequestError(401, "This browser is not paired. Enter the pairing code.")


def _check_form(request: web.Request) -> None:
    if request.method != hdrs.METH_POST:
        raise RefusedRequestError(405, "Only POST is understood.")
    if request.content_type != "application/json":
        raise RefusedRequestError(415, "Only JSON is understood.")
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise RefusedRequestError(413, f"More than {MAX_BODY_BYTES:,} bytes at once.")


def error_response(status: int, reason: str) -> web.Response:
    """A refusal, as the extension reads it."""
    response = web.json_response({"error": reason}, status=status)
    if status in (403, 413):
        response.force_close()  # whatever else the sender has to say is not read
    return response


def guarded(guard: Guard) -> Middleware:
    """The guard as a middleware of aiohttp."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await _answer(guard, request, handler)
        response.headers.update(_SAFE_HEADERS)
        origin = request.headers.get(hdrs.ORIGIN, "")
        if is_extension_origin(origin) and response.status != 403:
            response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = origin
            response.headers[hdrs.VARY] = "Origin"
        return response

    return middleware


async def _answer(guard: Guard, request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        guard.check(request)
        if request.method == hdrs.METH_OPTIONS:
            return _preflight()
        return await handler(request)
    except RefusedRequestError as refusal:
        return error_response(refusal.status, str(refusal))
    except web.HTTPRequestEntityTooLarge:
        return error_response(413, f"More than {MAX_BODY_BYTES:,} bytes at once.")
    except web.HTTPException as error:
        return error_response(error.status, error.reason)


def _preflight() -> web.Response:
    """An extension asks whether it may; its origin was just found to be one."""
    return web.Response(
        status=204,
        headers={
            hdrs.ACCESS_CONTROL_ALLOW_METHODS: "POST",
            hdrs.ACCESS_CONTROL_ALLOW_HEADERS: "authorization, content-type",
            "Access-Control-Allow-Private-Network": "true",
        },
    )
