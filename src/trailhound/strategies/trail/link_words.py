"""The words of a page's links as numbers, field by field.

A word means something else in an anchor than in an address, so that each field has numbers of its
own: a checksum of field and term, cut to ``N_BITS``. Terms that meet in one number share a weight;
with a few thousand in use that is rare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice, repeat
from urllib.parse import unquote
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from trailhound.records import Link, Page
from trailhound.text.tokens import tokenize_lines

N_BITS = 18
N_NUMBERS = 1 << N_BITS
MAX_SAME = 3
"""Links of a page to one URL whose anchors are read."""
MAX_WORDS = 30
"""Of one field of one link."""

_MEMO_SIZE = 200_000


class _Numbers(dict[str, int]):
    """The numbers of one field's terms."""

    def __init__(self, field: str) -> None:
        super().__init__()
        self._field = field

    def __missing__(self, term: str) -> int:
        if len(self) >= _MEMO_SIZE:
            self.clear()
        number = crc32(f"{self._field}:{term}".encode("utf-8", "replace")) & (N_NUMBERS - 1)
        self[term] = number
        return number


FIELDS = ("anchor", "address", "context", "heading", "place", "title")
FIELD_WEIGHTS = (1.0, 0.7, 0.7, 0.5, 0.5, 0.5)
_numbers = {field: _Numbers(field) for field in FIELDS}


def number(field: str, term: str) -> int:
    """The number of a term in a field."""
    return _numbers[field][term]


@dataclass(frozen=True)
class PageLinks:
    """The distinct URLs that a page links to, in order, with their words."""

    urls: list[str]
    groups: NDArray[np.int64]
    """By tag path and heading: links of one list are one group. Shape (n,), from 0."""
    words: NDArray[np.int32]
    """Numbers of all words, link by link."""
    weights: NDArray[np.float32]
    """Weight of each: of its field, over the root of the field's length."""
    lengths: NDArray[np.int64]
    """Words of each link. Shape (n,)."""
    short: NDArray[np.bool_]
    """Whether each word is of anchor or address."""
    around: NDArray[np.bool_]
    """Whether it is of the context."""


def read_links(page: Page) -> PageLinks:
    """All links of a page but those to itself."""
    merged: dict[str, list[Link]] = {}
    for link in page.links:
        if link.url != page.url:
            merged.setdefault(link.url, []).append(link)
    firsts = [links[0] for links in merged.values()]
    headings = list(dict.fromkeys([first.heading for first in firsts]))
    lines = [
        page.title,
        *headings,
        *map(_anchor, merged.values()),
        *map(_path, merged),
        *[f"{first.before} {first.after}" for first in firsts],
    ]
    found = iter(tokenize_lines([line.replace("\n", " ") for line in lines], page.language))
    title = _numbered("title", [next(found)])[0]
    heading = dict(zip(headings, _numbered("heading", islice(found, len(headings))), strict=True))
    n, places = len(merged), _numbers["place"]
    fields = zip(
        _numbered("anchor", islice(found, n)),
        _numbered("address", islice(found, n)),
        _numbered("context", found),
        [heading[first.heading] for first in firsts],
        [[places[first.tag_path]] for first in firsts],
        repeat(title),
        strict=False,  # the title is all links' own
    )
    groups: dict[tuple[str, str], int] = {}
    group_of = [groups.setdefault((link.tag_path, link.heading), len(groups)) for link in firsts]
    return _flat(list(merged), group_of, list(chain.from_iterable(fields)))


def _numbered(field: str, texts: Iterable[list[str]]) -> list[list[int]]:
    numbers = _numbers[field]
    return [[numbers[term] for term in terms[:MAX_WORDS]] for terms in texts]


def _anchor(links: list[Link]) -> str:
    if len(links) == 1:
        return f"{links[0].anchor} {links[0].image_alt}"
    return " ".join(f"{link.anchor} {link.image_alt}" for link in links[:MAX_SAME])


def _path(url: str) -> str:
    """The path of a canonical URL, in readable characters."""
    path = url.partition("://")[2].partition("?")[0].partition("/")[2]
    return unquote(path) if "%" in path else path


def _flat(urls: list[str], groups: list[int], fields: list[list[int]]) -> PageLinks:
    n = len(urls)
    sizes = np.fromiter(map(len, fields), np.int64, len(fields))
    words = np.fromiter(chain.from_iterable(fields), np.int32, int(sizes.sum()))
    by_field = np.tile(FIELD_WEIGHTS, n) / np.sqrt(np.maximum(sizes, 1))
    kinds = np.repeat(np.tile(np.arange(len(FIELDS)), n), sizes)
    return PageLinks(
        urls,
        np.array(groups, np.int64),
        words,
        np.repeat(by_field, sizes).astype(np.float32),
        sizes.reshape(n, len(FIELDS)).sum(axis=1),
        kinds <= FIELDS.index("address"),
        kinds == FIELDS.index("context"),
    )
