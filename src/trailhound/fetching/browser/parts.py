"""What a page in the browser asks for, answered by our own HTTP client.

No request of a page reaches the network by itself: each is handed to :class:`PageParts`, which
refuses it, or has it fetched under the crawl's own rules (address guard, robots.txt, politeness,
budget) and hands the answer back. Only what can change the document is fetched.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trailhound.errors import ConfigError
from trailhound.fetching.base import MayGoOn
from trailhound.fetching.client import Answer
from trailhound.records import Outcome
from trailhound.urls import canonicalize, host_key, without_port

if TYPE_CHECKING:
    from trailhound.fetching.http import HttpFetcher

FETCHED_TYPES = frozenset(["script", "xhr", "fetch"])
"""What Playwright calls the requests that can change a document."""
_KEPT_TYPES = frozenset(["script"])
AT_ONCE = 4
"""Parts of a page that are on their way at a time: each may turn out as large as it may be."""
_MAX_KEPT_BYTES = 64_000_000
_MAX_KEPT = 2_000
_KEPT_HEADERS = frozenset(
    [
        *("access-control-allow-credentials", "access-control-allow-origin", "content-type"),
        *("cross-origin-resource-policy", "x-content-type-options"),
    ]
)
"""Those that decide whether a browser runs a script."""
_NOT_PASSED_ON = frozenset(
    [
        *("alt-svc", "connection", "content-encoding", "content-length", "set-cookie"),
        "transfer-encoding",
    ]
)
_SENT_HEADERS = frozenset(["accept", "authorization", "origin", "referer"])
_MAX_HEADER_CHARS = 4000


class Asked(NamedTuple):
    """A request that a page has made."""

    url: str
    type: str
    """In Playwright's words: ``script``, ``fetch``, ``image`` …"""
    method: str = "GET"
    headers: Mapping[str, str] = {}
    is_own_frame: bool = False
    """A document for a frame of the page's own host."""


class Given(NamedTuple):
    """What the page gets."""

    status: int
    headers: dict[str, str]
    body: bytes


class Blocklist:
    """Hosts, with all below them, that no page needs."""

    def __init__(self, more: Path | None = None) -> None:
        own = files(__package__).joinpath("trackers.txt").read_text("utf-8")
        self._names = frozenset(_names(own.splitlines()))
        if more is not None:
            try:
                self._names |= frozenset(_names(more.read_text("utf-8").splitlines()))
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(
                    f"The blocklist {more} cannot be read: {error}. Give a text file with one host "
                    "in a line."
                ) from error

    def holds(self, url: str) -> bool:
        """Whether the host of ``url`` is listed."""
        labels = without_port(host_key(url)).rstrip(".").split(".")
        return any(".".join(labels[n:]) in self._names for n in range(len(labels) - 1))


def _names(lines: Iterable[str]) -> Iterable[str]:
    """Hosts of a plain list, or of one in the form of ``/etc/hosts``."""
    for line in lines:
        words = line.partition("#")[0].split()
        if words:
            yield words[-1].lower().strip(".")


class KeptParts:
    """Scripts that pages share, fetched once; the latest of them."""

    def __init__(self, max_bytes: int = _MAX_KEPT_BYTES, most: int = _MAX_KEPT) -> None:
        self._max_bytes = max_bytes
        self._most = most
        self._bytes = 0
        self._kept: OrderedDict[str, Given] = OrderedDict()

    def get(self, url: str) -> Given | None:
        """What was kept of ``url``."""
        found = self._kept.get(url)
        if found is not None:
            self._kept.move_to_end(url)
        return found

    def put(self, url: str, given: Given) -> None:
        """Keep it for other pages, with the few of its headers that they need."""
        headers = {name: value for name, value in given.headers.items() if name in _KEPT_HEADERS}
        kept = given._replace(headers=headers)
        if url in self._kept or _size(url, kept) > self._max_bytes // 4:
            return
        self._kept[url] = kept
        self._bytes += _size(url, kept)
        while self._bytes > self._max_bytes or len(self._kept) > self._most:
            self._bytes -= _size(*self._kept.popitem(last=False))


def _size(url: str, given: Given) -> int:
    """About how much memory it takes."""
    headers = sum(len(name) + len(value) for name, value in given.headers.items())
    return len(url) + headers + len(given.body)


@dataclass(frozen=True)
class PartLimits:
    """Of one page."""

    max_requests: int = 60
    """Parts that are asked for over the network; what was kept costs nothing."""
    max_hosts: int = 20
    """Besides the page's own: each may have a robots.txt file, which no budget counts."""
    max_bytes: int = 20_000_000
    """Of all parts; one of them may have ``1 / AT_ONCE`` of it."""


@dataclass
class PageParts:
    """Answers the requests of one page."""

    http: HttpFetcher
    kept: KeptParts
    blocklist: Blocklist
    may_go_on: MayGoOn
    limits: PartLimits = field(default_factory=PartLimits)
    page: str = ""
    """The page's address."""
    requests: int = 0
    """GETs that were made for it."""
    missing: str = ""
    """Why one of them could not be had for now; empty when all could."""
    retry_after_seconds: float | None = None
    """When to ask again for those that the page's own host did not give."""
    _bytes: int = 0
    """That came."""
    _set_aside: int = 0
    """Bytes that may come of parts on their way."""
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _hosts: set[str] = field(default_factory=set)
    """That were asked for something."""

    async def give(self, asked: Asked) -> Given | None:
        """The answer; ``None`` when the page does not get one."""
        if asked.type == "stylesheet":  # some applications wait for theirs; what is in it is shown
            return Given(200, {"content-type": "text/css", "access-control-allow-origin": "*"}, b"")
        url = canonicalize(asked.url)
        if url is None or not self._is_wanted(asked, url):
            return None
        is_kept = asked.type in _KEPT_TYPES and not self.http.reads_as_person(url)
        return (self.kept.get(url) if is_kept else None) or await self._fetched(url, asked)

    def _is_wanted(self, asked: Asked, url: str) -> bool:
        is_part = asked.type in FETCHED_TYPES or asked.is_own_frame
        return asked.method == "GET" and is_part and not self.blocklist.holds(url)

    async def _fetched(self, url: str, asked: Asked) -> Given | None:
        headers = _sent_headers(asked.headers)
        answer = await self.http.part(
            url, headers, page=self.page, may_ask=self._may_ask, room=self._room
        )
        self._bytes += len(answer.body)
        if answer.failure is Outcome.ROBOTS:
            self.requests -= 1  # nothing was asked, after all
        if answer.retry_after_seconds is not None:
            self._note_missing(url, answer, answer.retry_after_seconds)
        if answer.failure is not None or answer.status is None:
            return None
        given = Given(answer.status, _passed_on(answer), answer.body)
        # What a person alone may see is for no other page.
        is_for_all = asked.type in _KEPT_TYPES and not self.http.reads_as_person(url)
        if is_for_all and answer.succeeded:
            self.kept.put(url, given)
        return given

    @asynccontextmanager
    async def _room(self) -> AsyncIterator[int]:
        """Bytes that one more part may have; it waits for what others leave of theirs.

        Half a share is enough for nearly all parts: with whole ones, the first byte that has come
        would leave one place less.
        """
        share = self.limits.max_bytes // AT_ONCE
        while self._left < share // 2 and self._set_aside:
            self._arrived.clear()
            await self._arrived.wait()
        most = min(share, self._left)
        if not most:
            self.requests -= 1  # nothing will be asked
        self._set_aside += most
        try:
            yield most
        finally:
            self._set_aside -= most
            self._arrived.set()

    @property
    def _left(self) -> int:
        return max(0, self.limits.max_bytes - self._bytes - self._set_aside)

    def _note_missing(self, url: str, answer: Answer, seconds: float) -> None:
        self.missing = answer.detail or f"HTTP {answer.status}"
        if answer.failure is Outcome.POSTPONED and not answer.was_sent:
            self.requests -= 1  # nothing was asked, after all
        if host_key(url) == host_key(self.page):
            self.retry_after_seconds = max(seconds, self.retry_after_seconds or 0.0)

    def _may_ask(self, url: str) -> bool:
        limits, hosts = self.limits, self._hosts | {host_key(url)}
        if self.requests >= limits.max_requests or self._bytes >= limits.max_bytes:
            return False
        if len(hosts - {host_key(self.page)}) > limits.max_hosts or not self.may_go_on():
            return False
        self.requests += 1
        self._hosts = hosts
        return True


def _sent_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Of a page's request, what its server may need; nothing that would tell who else we are."""
    sent = {
        name: value
        for name, value in headers.items()
        if (name in _SENT_HEADERS or name.startswith("x-"))
        and value.isascii()
        and value.isprintable()
        and len(value) <= _MAX_HEADER_CHARS
    }
    return {"Accept": sent.pop("accept", "*/*"), **sent}


def _passed_on(answer: Answer) -> dict[str, str]:
    return shown_headers(answer.exchange.headers if answer.exchange is not None else ())


def shown_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """An answer's headers as a page may see them: its body is unpacked, no cookies are kept."""
    shown: dict[str, str] = {}
    for name, value in headers:
        name = name.lower()
        if name not in _NOT_PASSED_ON:
            shown[name] = f"{shown[name]}, {value}" if name in shown else value
    return shown
