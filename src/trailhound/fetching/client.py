"""One GET over kept-alive connections: no redirects, no rules, every failure a named outcome.

The page fetcher and the robots rules both ask through :mod:`.polite_client`, so that each request
waits its turn, and limits on time, size, headers and addresses hold for every byte that comes in.
"""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from trailhound.errors import ConfigError
from trailhound.fetching.address_guard import AddressGuard, AddressRefusedError
from trailhound.fetching.base import REDIRECT_STATUSES
from trailhound.fetching.body import Body, Wanted, make_exchange, read_page, read_some
from trailhound.fetching.connections import (
    OWN_TROUBLE,
    Attempt,
    StandstillWatch,
    ThriftyConnector,
    close_idle_connections,
    current_attempt,
    guarded_socket,
    max_connections,
    open_session,
)
from trailhound.fetching.keyring import HIDDEN_FROM_ALL, Keyring
from trailhound.fetching.proxied import ProxySessions, proxy_options
from trailhound.fetching.proxies import Proxy, ProxyRules
from trailhound.fetching.resolver import AddressBook
from trailhound.media_types import may_be_wanted
from trailhound.records import Exchange, Outcome
from trailhound.urls import canonicalize
from trailhound.utf8 import storable

NO_CONTACT = frozenset([Outcome.TIMEOUT, Outcome.UNREACHABLE])
_CUT_SHORT = NO_CONTACT | {Outcome.SERVER_ERROR}  # what a standstill of ours may look like

# Header bytes that were not UTF-8 arrive as lone surrogates: U+DC80 to U+DCFF.
_RAW_BYTE = re.compile("[\udc80-\udcff]")
_OWN_TROUBLE_SECONDS = 5.0  # until a request that we had no socket for is tried again
_NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
_MAX_ERROR_BYTES = 65_536  # of the body of a redirect or an error, for the archive


@dataclass(frozen=True, slots=True)
class Answer:
    """What one GET brought back."""

    status: int | None = None
    content_type: str = ""
    """The header as sent, with its parameters."""
    location: str = ""
    body: bytes = b""
    """Decompressed; the first ``max_bytes`` of it when ``failure`` is ``TOO_LARGE``."""
    failure: Outcome | None = None
    """Why there is no usable body, for reasons other than the status."""
    detail: str = ""
    exchange: Exchange | None = None
    """What the archive keeps; ``None`` when no answer came."""
    retry_after_seconds: float | None = None
    """When to ask again, if that makes sense."""
    was_sent: bool = False
    """Of a postponed one: a request was made, and this process missed its answer."""
    was_kept_too_long: bool = False
    """The connection was kept from an earlier request, and broke off: it may be asked again."""
    was_repeated: bool = False
    """It was asked again for that reason, which is a request more."""

    @property
    def succeeded(self) -> bool:
        """Whether the server said yes (2xx)."""
        return self.status is not None and 200 <= self.status < 300

    def header(self, name: str) -> str:
        """The first header of this name (lower case); empty without one."""
        headers = self.exchange.headers if self.exchange is not None else ()
        return next((value for key, value in headers if key.lower() == name), "")

    def redirect_target(self, url: str) -> str | None:
        """The canonical URL to which this answer sends who asked for ``url``.

        ``None`` when it is no redirect, says no place, or names one that is not on the web.
        """
        if self.status not in REDIRECT_STATUSES or not self.location:
            return None
        # As browsers do: bytes of an old encoding are sent back escaped, as they are.
        location = _RAW_BYTE.sub(lambda raw: f"%{ord(raw[0]) - 0xDC00:02X}", self.location)
        return canonicalize(location, base=url)


class HttpClient:
    """A session of kept-alive connections, opened by its first request.

    ``timeout_seconds`` is for one GET, from connecting to the last byte; ``connect`` and ``read``
    time-outs are for finding and reaching the server, and for each wait for more of its answer.
    ``allow_addresses`` names what beyond the public web may be reached (see
    :class:`~trailhound.fetching.address_guard.AddressGuard`). ``wanted`` says what counts as a page
    where only these are asked for. How many requests run at once is the caller's business.
    ``headers`` go along with every request. No cookies are kept but those of ``keyring``,
    which sees to it that they go to their own hosts alone; no proxy is used but those of
    ``proxies``, which may look up names by themselves if ``proxy_resolves``.
    """

    def __init__(
        self,
        user_agent: str,
        *,
        timeout_seconds: float = 10.0,
        connect_timeout_seconds: float = 10.0,
        read_timeout_seconds: float = 10.0,
        allow_addresses: Iterable[str] = (),
        resolver: AbstractResolver | None = None,
        headers: Mapping[str, str] | None = None,
        keyring: Keyring | None = None,
        proxies: ProxyRules | None = None,
        proxy_resolves: bool = False,
        wanted: Wanted | None = None,
    ) -> None:
        self._wanted = wanted or Wanted()
        self._user_agent = checked_user_agent(user_agent)
        for seconds in (timeout_seconds, connect_timeout_seconds, read_timeout_seconds):
            if not 0 < seconds < float("inf"):
                raise ConfigError(
                    f"A time-out of {seconds} s cannot be kept. Give a positive number of seconds, "
                    "for example 10."
                )
        self._timeout = aiohttp.ClientTimeout(
            total=timeout_seconds,
            sock_connect=connect_timeout_seconds,
            sock_read=read_timeout_seconds,
        )
        self._connect_seconds = min(connect_timeout_seconds, timeout_seconds)
        self._read_seconds = read_timeout_seconds
        self._total_seconds = timeout_seconds
        self._guard = AddressGuard(allow_addresses)
        self._book = AddressBook(self._guard, resolver)
        self._standstill = StandstillWatch()
        self._session: aiohttp.ClientSession | None = None
        self._make_session = partial(
            open_session, self._user_agent, self._timeout, dict(headers or {})
        )
        self._keyring = keyring
        self._proxies = proxies
        self._proxied = ProxySessions(
            self._make_session, self._guard, self._book, resolver, proxy_resolves=proxy_resolves
        )
        # Here, and not in aiohttp, whose time-outs would run while a request waits.
        self._room = asyncio.Semaphore(max_connections())

    async def locate(self, url: str) -> str | Answer:
        """The address that a request for ``url`` will go to, or why it cannot be made."""
        target = URL(url, encoded=True)
        host, port = target.raw_host or "", target.port or 80
        if self._proxies is not None and self._is_unseen(url):
            return self._unseen(host)
        known = self._book.known_address(host, port)
        if known is not None:
            return known
        with self._standstill.watching() as stood_still:
            found = await self._look_up(host, port)
            missed = isinstance(found, Answer) and found.failure in _CUT_SHORT and stood_still()
            return self._missed(was_sent=False) if missed else found

    def _is_unseen(self, url: str) -> bool:
        """Whether a proxy looks up the host of ``url``."""
        proxied = self._proxies is not None and self._proxies.proxy_for(url) is not None
        return proxied and self._proxied.proxy_resolves

    def _unseen(self, host: str) -> str | Answer:
        try:
            return self._proxied.check_unseen(host)
        except AddressRefusedError as error:
            return Answer(failure=Outcome.ADDRESS_REFUSED, detail=str(error))

    async def _look_up(self, host: str, port: int) -> str | Answer:
        try:
            async with asyncio.timeout(self._connect_seconds):
                return await self._book.first_address(host, port)
        except AddressRefusedError as error:
            return Answer(failure=Outcome.ADDRESS_REFUSED, detail=str(error))
        except TimeoutError:
            detail = f"no answer from DNS within {self._connect_seconds:g} s"
            return Answer(failure=Outcome.TIMEOUT, detail=detail, retry_after_seconds=0.0)
        # UnicodeError: a host name that DNS cannot carry, such as "a..b".
        except (OSError, UnicodeError) as error:
            if isinstance(error, OSError) and error.errno in OWN_TROUBLE:
                return self._own_trouble(_words(error))
            if error.args[:1] == (socket.EAI_AGAIN,):  # DNS itself is in trouble
                detail = f"no connection: {_words(error)}"
                return Answer(failure=Outcome.UNREACHABLE, detail=detail, retry_after_seconds=0.0)
            detail = f"DNS knows no such host: {_words(error)}"
            return Answer(failure=Outcome.UNKNOWN_HOST, detail=detail)

    async def get(
        self,
        url: str,
        *,
        max_bytes: int,
        html_only: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Ask once for ``url``; read the body of a 2xx answer, if need be only of a page."""
        # The URL is canonical already: yarl must not spell it its own way.
        target = URL(url, encoded=True)
        attempt = Attempt(self._guard, target.raw_host or "")
        token = current_attempt.set(attempt)
        try:
            async with self._room:
                with self._standstill.watching() as stood_still:
                    try:
                        answer = await self._ask(target, attempt, max_bytes, html_only, headers)
                    except (aiohttp.ClientError, OSError, UnicodeError) as error:
                        answer = self._failure(error, attempt)
                    missed = answer.failure in _CUT_SHORT and stood_still()
                    return self._missed(was_sent=True) if missed else answer
        finally:
            current_attempt.reset(token)

    async def close(self) -> None:
        """Close all connections; a later request opens new ones."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._proxied.close()
        await self._book.close()

    async def _ask(
        self,
        target: URL,
        attempt: Attempt,
        max_bytes: int,
        html_only: bool,
        headers: Mapping[str, str] | None,
    ) -> Answer:
        asked_at, url = time.time(), str(target)
        session, options, behind = self._open_session(), _NO_OPTIONS, ""
        keyring = self._keyring
        proxy = self._proxies.proxy_for(url) if self._proxies is not None else None
        if proxy is not None:
            session, options, behind = await self._through(proxy, target, attempt)
        if keyring is not None and not keyring.opens(url):
            keyring = None
        if keyring is not None:
            headers = keyring.with_keys(headers or {}, url)
        async with session.get(
            target, allow_redirects=False, headers=headers, **options
        ) as response:
            if proxy is None:
                self._book.prefer(attempt.host, target.port or 80, attempt.peer)
            hidden: frozenset[str] = frozenset() if proxy is None else HIDDEN_FROM_ALL
            if keyring is not None:
                hidden = keyring.hidden
                keyring.heard(url, response.headers.getall("Set-Cookie", ()))
            content_type = storable(response.headers.get("Content-Type", ""))
            wanted = self._wanted if html_only else None
            body = await _read_body(response, content_type, max_bytes, wanted)
            return Answer(
                status=response.status,
                content_type=content_type,
                location=response.headers.get("Location", ""),
                body=body.decoded,
                failure=body.failure,
                detail=body.detail,
                exchange=make_exchange(
                    url,
                    response,
                    body,
                    attempt.peer if proxy is None else behind,
                    asked_at,
                    hidden,
                ),
            )

    def _open_session(self) -> aiohttp.ClientSession:
        # Not in the constructor: aiohttp needs the running loop.
        if self._session is None:
            self._session = self._make_session(ThriftyConnector(self._book, guarded_socket))
        return self._session

    async def _through(
        self, proxy: Proxy, target: URL, attempt: Attempt
    ) -> tuple[aiohttp.ClientSession, Mapping[str, Any], str]:
        """How to ask through ``proxy``, and the address it will go to, as far as that is known.

        The host is judged here, whoever connects to it.
        """
        host = target.raw_host or ""
        address = ""
        if self._proxied.proxy_resolves:
            self._proxied.check_unseen(host)
        else:
            address = await self._book.first_address(host, target.port or 80)
        session = self._proxied.session(proxy)
        if proxy.is_socks:
            attempt.is_tunnelled = True
            return session, _NO_OPTIONS, address
        # From here on the request is one to the proxy, as far as addresses are concerned.
        attempt.guard, attempt.host = self._proxied.guard_of(proxy), proxy.host
        return session, proxy_options(proxy), ""

    def _own_trouble(self, words: str) -> Answer:
        """Nothing was asked, and the host is not to blame: close what is idle, and try later."""
        if self._session is not None:
            close_idle_connections(self._session)
        return Answer(
            failure=Outcome.POSTPONED,
            detail=f"this machine can open no more connections now: {words}",
            retry_after_seconds=_OWN_TROUBLE_SECONDS,
        )

    def _missed(self, *, was_sent: bool) -> Answer:
        """The answer may have come, or the time have run out, while this process stood still."""
        return Answer(
            failure=Outcome.POSTPONED,
            detail="this process stood still meanwhile",
            retry_after_seconds=_OWN_TROUBLE_SECONDS,
            was_sent=was_sent,
        )

    def _failure(self, error: Exception, attempt: Attempt) -> Answer:
        """The outcome of a request that got no answer."""
        if attempt.refusal or isinstance(error, AddressRefusedError):
            return Answer(failure=Outcome.ADDRESS_REFUSED, detail=attempt.refusal or str(error))
        if attempt.own_trouble:
            return self._own_trouble(attempt.own_trouble)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            detail = f"no connection within {self._connect_seconds:g} s"
            return Answer(failure=Outcome.TIMEOUT, detail=detail)
        if isinstance(error, TimeoutError):
            waited = isinstance(error, aiohttp.SocketTimeoutError)
            seconds = self._read_seconds if waited else self._total_seconds
            return Answer(failure=Outcome.TIMEOUT, detail=f"no answer within {seconds:g} s")
        if isinstance(error, aiohttp.ClientHttpProxyError):
            said = storable(" ".join(error.message.split())[:200])
            detail = f"the proxy refuses to connect: HTTP {error.status} {said}"
            return Answer(failure=Outcome.UNREACHABLE, detail=detail)
        if isinstance(error, aiohttp.ClientResponseError):
            # Its own status, 400, is no answer of the server.
            detail = f"the answer is not valid HTTP: {' '.join(error.message.split())[:200]}"
            return Answer(failure=Outcome.SERVER_ERROR, detail=detail)
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            why = getattr(error.certificate_error, "verify_message", "") or _words(error)
            detail = f"no secure connection: the certificate cannot be trusted ({why})"
            return Answer(failure=Outcome.UNREACHABLE, detail=detail)
        secure = "secure " if isinstance(error, aiohttp.ClientSSLError) else ""
        to = " to the proxy" if isinstance(error, aiohttp.ClientProxyConnectionError) else ""
        return Answer(
            failure=Outcome.UNREACHABLE,
            detail=f"no {secure}connection{to}: {_words(error)}",
            was_kept_too_long=attempt.was_sent and not attempt.is_new,
        )


def checked_user_agent(user_agent: str) -> str:
    """What a crawl may call itself; ConfigError says what is wrong with it."""
    if not user_agent.isprintable() or not user_agent.isascii():
        raise ConfigError(
            f"User agent {user_agent!r} holds characters that a header cannot carry. "
            "Use plain ASCII on one line."
        )
    if "://" not in user_agent and "@" not in user_agent:
        raise ConfigError(
            f"User agent '{user_agent}' does not say whom to contact. Add an address, for "
            "example 'bees-bot (+https://example.org/bot)'."
        )
    return user_agent


async def _read_body(
    response: aiohttp.ClientResponse, content_type: str, max_bytes: int, wanted: Wanted | None
) -> Body:
    """The body, as far as it is of use."""
    if not 200 <= response.status < 300:
        return await read_some(response, _MAX_ERROR_BYTES)
    if wanted is not None and not may_be_wanted(content_type, wanted.documents):
        detail = f"the content type is {content_type}"
        return Body(b"", b"", Outcome.NOT_HTML, detail, truncated="unspecified")
    return await read_page(response, content_type, max_bytes=max_bytes, wanted=wanted)


def _words(error: BaseException) -> str:
    """The error's message on one line, or its kind when it has none."""
    return " ".join(str(error).split()) or type(error).__name__
