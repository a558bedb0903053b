"""What a search endpoint's JSON says, in the shapes that are in use.

* ``["https://…", …]``: addresses;
* ``[{"url": …, "title": …, "content": …}, …]``, alone or under ``results``, ``items``, ``hits`` or
  ``data``, the shape of SearXNG and many others; ``link`` or ``href`` do for ``url``, ``name`` for
  ``title``, ``snippet`` or ``description`` for ``content``;
* ``[query, titles, descriptions, addresses]``: OpenSearch suggestions.

Nothing in it is believed: addresses that are none on the web are dropped, texts are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from trailhound.counting import counted
from trailhound.errors import SourceError
from trailhound.sources import SearchHit
from trailhound.urls import canonicalize

MAX_TEXT_CHARS = 500
"""Of a title or a snippet."""
MAX_URL_CHARS = 2_000

_LISTS = ("results", "items", "hits", "data")
_URLS = ("url", "link", "href")
_TITLES = ("title", "name")
_SNIPPETS = ("content", "snippet", "description")


def hits_in(body: bytes, limit: int) -> list[SearchHit]:
    """At most ``limit`` results, each page once; SourceError when the answer makes no sense."""
    try:
        answer = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        begins = body[:40].decode("utf-8", "replace").strip()
        raise SourceError(f"the answer is no JSON ({error}); it begins with {begins!r}") from error
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
