"""Search over a listing: which pages match, how many by facet, and what to show of each.

Up to :data:`MAX_WEIGHED` matches are ordered by how well they match. Words that more pages hold
tell them apart no better than the judge does: then titles that match come first, and the others
by score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from trailhound.portal.listing import FACETS, Listing, Positions
from trailhound.storage.listed_pages import (
    MATCH_ENDS,
    MATCH_STARTS,
    ListedPages,
    Passage,
)
from trailhound.storage.page_rows import tidied
from trailhound.storage.results_reading import StoredPage
from trailhound.storage.text_index import apart
from trailhound.urls import host_key

MAX_QUERY_CHARS = 300
MAX_QUERY_WORDS = 16
MIN_BEGINNING_CHARS = 3
"""Of a word with a star: shorter ones have too many endings."""
MAX_WEIGHED = 10_000
FACET_VALUES = 12
"""Values of a facet that are offered, the most frequent first."""
PAGE_SIZE = 20

Order = Literal["best", "newest"]

_PIECE = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
_MARKED = re.compile(f"{MATCH_STARTS}([^{MATCH_STARTS}{MATCH_ENDS}]*){MATCH_ENDS}")
_MARKS = str.maketrans("", "", MATCH_STARTS + MATCH_ENDS)
_LINKABLE = ("http://", "https://")


class Segment(NamedTuple):
    """A piece of text, and whether it is what was searched for."""

    text: str
    is_match: bool = False


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One page of an answer."""

    address: str
    link: str | None
    """The address if it may be followed: strangers write ``javascript:`` as well."""
    host: str
    title: tuple[Segment, ...]
    snippet: tuple[Segment, ...]
    language: str
    found_at: float
    """Seconds since 1970."""
    score: float


class FacetValue(NamedTuple):
    """One value of a facet."""

    value: str
    pages: int
    """How many one would see by choosing it."""
    is_chosen: bool


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One page of results."""

    query: str
    order: Order
    chosen: dict[str, str]
    """Facets that were filtered by."""
    total: int
    page: int
    """From 1."""
    pages: int
    hits: tuple[Hit, ...]
    facets: dict[str, tuple[FacetValue, ...]]


def search_listing(
    listing: Listing,
    results: Path,
    query: str = "",
    *,
    page: int = 1,
    facets: Mapping[str, str] | None = None,
    order: Order = "best",
    page_size: int = PAGE_SIZE,
) -> Answer:
    """One page of what matches all words; of everything without any.

    ``"in quotes"`` words follow each other, ``bee*`` is any word that begins so, ``-wasp`` leaves
    pages out. Facets that do not exist are passed over; a page beyond the last is the last.
    UsageError when the search takes too long.
    """
    query = " ".join(query.split())[:MAX_QUERY_CHARS]
    expression = fts_expression(query)
    chosen = {name: value for name, value in (facets or {}).items() if name in FACETS and value}
    with ListedPages(results) as stored:
        matches = _matches(listing, stored, query, expression)
        left = _filtered(listing, matches, chosen)
        pages = max(1, -(-len(left) // page_size))
        page = min(max(1, page), pages)
        ordered = _ordered(listing, stored, left, expression, order, len(matches))
        shown = listing.ids[ordered[(page - 1) * page_size : page * page_size]].tolist()
        return Answer(
            query=query,
            order=order,
            chosen=chosen,
            total=len(left),
            page=page,
            pages=pages,
            hits=tuple(_hits(stored, shown, expression)),
            facets={name: _counts(listing, matches, chosen, name) for name in FACETS},
        )


def fts_expression(query: str) -> str:
    """A person's words for FTS5, in which everything she writes is quoted; empty without words.

    Also empty when she only leaves pages out: FTS5 has no word for all pages.
    """
    wanted, unwanted = _quoted_words(query)
    if not wanted:
        return ""
    return f"({' AND '.join(wanted)})" + "".join(f" NOT {each}" for each in unwanted)


def only_leaves_out(query: str) -> bool:
    """Whether it says what pages are not to hold, and nothing that they are to."""
    wanted, unwanted = _quoted_words(query)
    return bool(unwanted) and not wanted


def _quoted_words(query: str) -> tuple[list[str], list[str]]:
    """What pages are to hold, and what not."""
    wanted: list[str] = []
    unwanted: list[str] = []
    for minus, phrase, word in _PIECE.findall(query)[:MAX_QUERY_WORDS]:
        text = phrase or word
        if not any(map(str.isalnum, text)):
            continue
        quoted = '"' + apart(text).replace('"', "").replace("\0", "") + '"'
        if word.endswith("*") and len(word) > MIN_BEGINNING_CHARS:
            quoted += "*"
        (unwanted if minus else wanted).append(quoted)
    return wanted, unwanted


def _matches(listing: Listing, stored: ListedPages, query: str, expression: str) -> Positions:
    if expression:
        return listing.positions_of(stored.matching(expression))
    return np.arange(0 if query else len(listing), dtype=np.intp)


def _filtered(listing: Listing, positions: Positions, chosen: Mapping[str, str]) -> Positions:
    for name, value in chosen.items():
        column = listing.facets[name]
        if value not in column.values:
            return positions[:0]
        positions = positions[column.codes[positions] == column.values.index(value)]
    return positions


def _ordered(
    listing: Listing,
    stored: ListedPages,
    left: Positions,
    expression: str,
    order: Order,
    n_matches: int,
) -> Positions:
    """Best or newest first; what is equal then, in the order it was found."""
    if order == "newest":
        return left[np.lexsort((-left, -listing.found_at[left]))]
    merits = listing.scores[left]  # 0 to 1
    if expression and n_matches <= MAX_WEIGHED:
        weights = stored.weights(expression)
        fits = np.array([weights.get(each, 0.0) for each in listing.ids[left].tolist()])
        return left[np.lexsort((left, -merits, -fits))]
    if expression:
        is_titled = np.zeros(len(listing))
        is_titled[listing.positions_of(stored.matching(f"title : {expression}"))] = 2
        merits = merits + is_titled[left]
    return left[np.argsort(-merits, kind="stable")]


def _counts(
    listing: Listing, matches: Positions, chosen: Mapping[str, str], name: str
) -> tuple[FacetValue, ...]:
    """The most frequent values, the chosen one always among them; years go by themselves."""
    others = {facet: value for facet, value in chosen.items() if facet != name}
    column = listing.facets[name]
    codes = column.codes[_filtered(listing, matches, others)]
    counts = np.bincount(codes, minlength=len(column.values))
    best = np.argsort(-counts, kind="stable")[:FACET_VALUES].tolist()
    if name == "year":
        best.sort(key=lambda code: column.values[code], reverse=True)
    mine = chosen.get(name)
    if mine in column.values and column.values.index(mine) not in best:
        best.append(column.values.index(mine))
    return tuple(
        FacetValue(column.values[code], int(counts[code]), column.values[code] == mine)
        for code in best
        if column.values[code] and (counts[code] or column.values[code] == mine)
    )


def _hits(stored: ListedPages, ids: list[int], expression: str) -> Iterator[Hit]:
    pages = stored.pages(ids)
    passages = stored.passages(expression, ids) if expression else {}
    for each in ids:
        if each in pages:  # it may have been forgotten since the listing was read
            yield hit_of(pages[each], passages.get(each))


def hit_of(page: StoredPage, passage: Passage | None = None) -> Hit:
    """What is shown of a page: the place that fits the search, or what it says of itself."""
    title = page.title or page.address
    shown = passage or Passage(title, page.snippet)
    if not any(MATCH_STARTS in part for part in shown):
        shown = Passage(title, page.snippet)
    return Hit(
        address=page.address,
        link=page.address if page.address.startswith(_LINKABLE) else None,
        host=host_key(page.address),
        title=segments(shown.title or title),
        snippet=segments(shown.text),
        language=page.language,
        found_at=page.at,
        score=page.score or 0.0,
    )


def segments(marked: str) -> tuple[Segment, ...]:
    """Text cut at the marks around matches, in one line."""
    pieces = _MARKED.split(tidied(marked))
    return tuple(
        Segment(text, is_match=bool(number % 2))
        for number, piece in enumerate(pieces)
        if (text := piece.translate(_MARKS))
    )
