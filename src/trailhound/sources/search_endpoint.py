"""A search engine behind an HTTP address: one GET for a query, an answer in JSON.

The answer may have any of the shapes that are in use:

* ``["https://…", …]``: addresses;
* ``[{"url": …, "title": …, "content": …}, …]``, alone or under ``results``, ``items``, ``hits`` or
  ``data``, the shape of SearXNG and many others; ``link`` or ``href`` do for ``url``, ``name`` for
  ``title``, ``snippet`` or ``description`` for ``content``;
* ``[query, titles, descriptions, addresses]``: OpenSearch suggestions.

Nothing in it is believed: addresses that are none on the web are dropped, texts are cut.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from aiohttp.abc import AbstractResolver

from trailhound.counting import counted
from trailhound.errors import SourceError, UsageError
from trailhound.records import Page
from trailhound.sources import PageSource, SearchHit
from trailhound.sources.endpoint import JsonEndpoint, host_of
from trailhound.urls import canonicalize

MAX_ANSWER_BYTES = 2_000_000
MAX_QUERY_CHARS = 400
TIMEOUT_SECONDS = 15.0
MAX_TEXT_CHARS = 500
"""Of a title or a snippet."""
MAX_URL_CHARS = 2_000

_NEAR = ("localhost", "127.", "[::1]")
_LISTS = ("results", "items", "hits", "data")
_URLS = ("url", "link", "href")
_TITLES = ("title", "name")
_SNIPPETS = ("content", "snippet", "description")


class HttpSearch:
    """Asks ``template``, an address with ``{query}`` in it and, if it likes, ``{limit}``.

    Between two queries to another machine ``pause_seconds`` pass. ``pages`` has the pages behind
    results.
    """

    def __init__(
        self,
        template: str,
        user_agent: str,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        max_bytes: int = MAX_ANSWER_BYTES,
        pause_seconds: float = 0.0,
        resolver: AbstractResolver | None = None,
        pages: PageSource | None = None,
        clock: Callable[[], float] = time.monotonic,
        before_asking: Callable[[], None] = lambda: None,
    ) -> None:
        self._template = template
        host = _checked_host(template)
        self._name = f"The search at {host}"
        self._pause_seconds = 0.0 if host.startswith(_NEAR) else pause_seconds
        self._pages = pages
        self._clock = clock
        self._asked_at = float("-inf")
        self._endpoint = JsonEndpoint(
            self._name,
            host,
            user_agent,
            timeout_seconds=timeout_seconds,
            max_bytes=max_bytes,
            resolver=resolver,
            clock=clock,
            before_asking=before_asking,
        )

    @property
    def queries(self) -> int:
        """Questions put to it so far."""
        return self._endpoint.queries

    @property
    def pages_read(self) -> int:
        """Pages behind results that were fetched."""
        return 0 if self._pages is None else self._pages.pages_read

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """What the endpoint answers; SourceError says why it does not."""
        url = _filled(self._template, query, limit)
        await asyncio.sleep(max(0.0, self._asked_at + self._pause_seconds - self._clock()))
        try:
            return await self._endpoint.ask(
                url,
                partial(hits_in, limit=limit),
                lambda reason: (
                    f"{self._name} is of no use for '{query}': {reason}. Try the address in a "
                    f"browser: {url}"
                ),
            )
        finally:
            self._asked_at = self._clock()

    async def expect(self, urls: Sequence[str]) -> None:
        """Have the pages behind results fetched."""
        if self._pages is not None:
            await self._pages.expect(urls)

    async def page(self, url: str) -> Page | None:
        """The page behind a result, if it can be had."""
        return None if self._pages is None else await self._pages.page(url)


def _checked_host(template: str) -> str:
    host = host_of(_filled(template, "bees", 10)) if "{query}" in template else None
    if host is None:
        raise UsageError(
            f"'{template}' is no search. Write an address with {{query}} in it, for example "
            "'http://localhost:8888/search?q={query}&format=json'."
        )
    return host


def _filled(template: str, query: str, limit: int) -> str:
    asked = quote(query[:MAX_QUERY_CHARS], safe="", errors="replace")
    url = template.replace("{limit}", str(limit)).replace("{query}", asked)
    return canonicalize(url) or url


def hits_in(answer: Any, limit: int) -> list[SearchHit]:
    """At most ``limit`` results, each page once; SourceError when the answer makes no sense."""
    entries = _entries(answer)
    hits: dict[str, SearchHit] = {}
    for hit in _hits(entries):
        if len(hits) >= limit:
            break
        hits.setdefault(hit.url, hit)
    if entries and not hits and limit > 0:
        raise SourceError(f"none of {counted(len(entries), 'result')} has an address on the web")
    return list(hits.values())


def _entries(answer: Any) -> list[Any]:
    """The list of results, wherever it is."""
    if isinstance(answer, list):
        return list(_suggestions(answer)) if _is_suggestions(answer) else answer
    if isinstance(answer, dict):
        for name in _LISTS:
            if isinstance(answer.get(name), list):
                return list(answer[name])
    raise SourceError(
        "the answer is JSON, but holds no list of results: it should be a list of addresses, or "
        '{"results": [{"url": …}]}'
    )


def _is_suggestions(answer: list[Any]) -> bool:
    return (
        len(answer) == 4
        and isinstance(answer[0], str)
        and all(isinstance(part, list) for part in answer[1:])
    )


def _suggestions(answer: list[Any]) -> Iterator[dict[str, Any]]:
    _, titles, descriptions, urls = answer
    for number, url in enumerate(urls):
        title = titles[number] if number < len(titles) else ""
        content = descriptions[number] if number < len(descriptions) else ""
        yield {"url": url, "title": title, "content": content}


def _hits(entries: Iterable[Any]) -> Iterator[SearchHit]:
    for entry in entries:
        named = {"url": entry} if isinstance(entry, str) else entry
        if not isinstance(named, dict):
            continue
        url = _first(named, _URLS, MAX_URL_CHARS + 1)
        canonical = canonicalize(url) if 0 < len(url) <= MAX_URL_CHARS else None
        if canonical is not None:
            yield SearchHit(canonical, _text(named, _TITLES), _text(named, _SNIPPETS))


def _text(entry: dict[str, Any], names: Iterable[str]) -> str:
    """On one line, without characters that would move a terminal's cursor."""
    text = _first(entry, names, 4 * MAX_TEXT_CHARS)
    tidy = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return tidy[:MAX_TEXT_CHARS]


def _first(entry: dict[str, Any], names: Iterable[str], length: int) -> str:
    found = (entry[name] for name in names if isinstance(entry.get(name), str))
    return next(found, "")[:length]
