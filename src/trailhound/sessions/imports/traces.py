"""Traces of many people: accesses from a log, sorted by who made them.

Programs and shared proxies are left out as the papers on collaborative crawling do it: whoever made
more than 2,000 accesses on any day, or more than 100 in any minute.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from trailhound.counting import counted
from trailhound.sessions.events import Reached, Session, Visit
from trailhound.sessions.imports.imported import Tally
from trailhound.sessions.imports.pages_in_logs import NOT_ON_THE_WEB
from trailhound.sessions.imports.succession import in_succession
from trailhound.urls import canonicalize

Access = tuple[bytes, float, bytes | None, bytes]
"""Client, Unix time, URL if it was for a page, referring page or nothing."""

MAX_TIME = 1e11
"""Seconds; far beyond any log, so that arithmetic stays exact."""
_NO_PAGE = -1
_MINUTE, _DAY = 60, 86_400
_PLAIN_ORIGIN = re.compile(rb"https?://[A-Za-z0-9.:-]++(?=/)")


@dataclass(frozen=True)
class GroupFilter:
    """Who counts as a person."""

    max_per_day: int = 2000
    max_per_minute: int = 100
    min_pages: int = 2
    """Fewer pages tell nothing about a way."""

    def is_person(self, times: array[float]) -> bool:
        """Whether accesses at these times may be one person's."""
        if len(times) <= min(self.max_per_minute, self.max_per_day):
            return True
        seconds = np.frombuffer(times, np.float64).astype(np.int64)
        return (
            _most_at_once(seconds // _MINUTE) <= self.max_per_minute
            and _most_at_once(seconds // _DAY) <= self.max_per_day
        )


def _most_at_once(slots: np.ndarray[tuple[int], np.dtype[np.int64]]) -> int:
    return int(np.unique(slots, return_counts=True)[1].max())


@dataclass(slots=True)
class _Client:
    """One client's accesses: 8 bytes each, and 16 more for a page."""

    times: array[float] = field(default_factory=lambda: array("d"))
    page_times: array[float] = field(default_factory=lambda: array("d"))
    pages: array[int] = field(default_factory=lambda: array("l"))
    referers: array[int] = field(default_factory=lambda: array("l"))


class Traces:
    """Sessions made of accesses, one for each person; may be gone through several times."""

    def __init__(
        self, topic: str, recorder: str, name_of: Callable[[bytes], str], *, with_referers: bool
    ) -> None:
        self._topic = topic
        self._recorder = recorder
        self._name_of = name_of
        self._with_referers = with_referers
        self._clients: dict[bytes, _Client] = {}
        self._numbers: dict[bytes, int] = {b"": _NO_PAGE}
        self._urls: list[bytes] = []
        self._origins: dict[bytes, bool] = {}

    def collect(self, accesses: Iterable[Access], tally: Tally, groups: GroupFilter) -> None:
        """Take everything in, and then leave out who is no person."""
        clients, numbers = self._clients, self._numbers
        for name, when, url, referer in accesses:
            client = clients.get(name)
            if client is None:
                client = clients[name] = _Client()
            client.times.append(when)
            if url is None:
                continue
            number = numbers.get(url)
            if number is None:
                number = self._number(url)
            if number == _NO_PAGE:
                tally.skip(NOT_ON_THE_WEB)
                continue
            client.page_times.append(when)
            client.pages.append(number)
            came_from = numbers.get(referer)
            client.referers.append(self._number(referer) if came_from is None else came_from)
        self._keep_people(tally, groups)

    def _number(self, url: bytes) -> int:
        """A new URL's number; that of no page when it is no address on the web."""
        number = _NO_PAGE
        if self._is_on_the_web(url):
            number = len(self._urls)
            self._urls.append(url)
        self._numbers[url] = number
        return number

    def _is_on_the_web(self, url: bytes) -> bool:
        """Whether it has a canonical form. No path spoils that, so origins are looked at once."""
        plain = _PLAIN_ORIGIN.match(url)
        if plain is None:
            return canonicalize(_text(url)) is not None
        origin = plain[0]
        known = self._origins.get(origin)
        if known is None:
            known = self._origins[origin] = canonicalize(_text(origin) + "/") is not None
        return known

    def _keep_people(self, tally: Tally, groups: GroupFilter) -> None:
        kept: dict[bytes, _Client] = {}
        dropped = 0
        for name, client in self._clients.items():
            if not groups.is_person(client.times):
                dropped += 1
                tally.skip(
                    f"by clients with over {groups.max_per_day:,} accesses a day or "
                    f"{groups.max_per_minute:,} a minute",
                    len(client.pages),
                )
            elif len(client.pages) < groups.min_pages:
                if client.pages:
                    tally.skip(
                        f"by clients with under {counted(groups.min_pages, 'page')}",
                        len(client.pages),
                    )
            else:
                kept[name] = client
        tally.notes.append(
            f"{counted(len(self._clients), 'client')}, "
            f"{len(kept):,} of them people with enough pages"
            + (f"; {dropped:,} too busy to be one person" if dropped else "")
        )
        self._clients = kept
        self._numbers = {}
        self._origins = {}

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[Session]:
        # A log in the common format has no place for referring pages.
        named = self._with_referers and any(
            number != _NO_PAGE for client in self._clients.values() for number in client.referers
        )
        for name, client in self._clients.items():
            visits = self._visits(client)
            chained = visits if named else in_succession(visits)
            yield Session(self._topic, tuple(chained), self._name_of(name), self._recorder)

    def _visits(self, client: _Client) -> list[Visit]:
        urls = self._urls
        accesses = sorted(
            zip(client.page_times, client.pages, client.referers, strict=True),
            key=lambda access: access[0],
        )
        return [
            Visit(
                time=when,
                url=_text(urls[page]),
                reached=Reached.LINK if referer != _NO_PAGE else Reached.TYPED,
                from_url=_text(urls[referer]) if referer != _NO_PAGE else None,
            )
            for when, page, referer in accesses
        ]


def _text(url: bytes) -> str:
    return url.decode("utf-8", "replace")
