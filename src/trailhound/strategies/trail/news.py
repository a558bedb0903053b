"""What copies of trail tell each other about a page: how its link turned out, and its own links.

All copies get the first, as an example for their models and for the counts of host, folder and
siblings. Those that own the address of one of the links get the second, but for links that the
teller owns itself, and so know all pages that link to what they may fetch.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import islice

import msgspec
import numpy as np
from isal import isal_zlib

from trailhound.records import CrawledPage, Link
from trailhound.strategies.base import News
from trailhound.strategies.parts import kept_in
from trailhound.strategies.trail.columns import Integers, Reals
from trailhound.strategies.trail.features import N_FEATURES
from trailhound.strategies.trail.link_words import MAX_SAME, links_by_url
from trailhound.strategies.trail.phrases import N_NUMBERS

MAX_LINKS_TOLD = 1_000
"""Addresses that one page may name to others: the first."""


Described = tuple[Reals, Integers, Reals]
"""Features of a link, numbers of its words, and what each of them weighs."""


class Example(msgspec.Struct, frozen=True, array_like=True):
    """A link as its owner had described it, arrays as bytes."""

    row: bytes
    numbers: bytes
    weights: bytes

    @classmethod
    def of(cls, row: Reals, numbers: Integers, weights: Reals) -> Example:
        """As it is written down."""
        return cls(
            row.astype("<f4").tobytes(),
            numbers.astype("<i4").tobytes(),
            weights.astype("<f2").tobytes(),
        )

    def arrays(self) -> Described:
        """The same; ValueError when they do not fit together."""
        row = np.frombuffer(self.row, "<f4")
        numbers = np.frombuffer(self.numbers, "<u4")
        weights = np.frombuffer(self.weights, "<f2")
        if len(row) != N_FEATURES or len(numbers) != len(weights):
            raise ValueError("links were described by other features")
        if numbers.max(initial=0) >= N_NUMBERS:
            raise ValueError("words were numbered otherwise")
        return row, numbers, weights


class Turnout(msgspec.Struct, frozen=True, array_like=True):
    """How a page has turned out."""

    asked: str
    url: str
    score: float
    """By the judge."""
    believed: float
    """By the judge and by the links to it, as its owner knew them."""
    example: Example | None = None
    """``None`` for one to which no link was known."""


class LinksTold(msgspec.Struct, frozen=True, array_like=True):
    """What a page says of addresses that others fetch."""

    title: str
    language: str
    n_links: int
    """Of the page, to different addresses."""
    links: tuple[Link, ...]


def make_news(
    crawled: CrawledPage,
    believed: float,
    example: Example | None,
    owns: Callable[[str], bool] | None,
) -> News:
    """About a page that was fetched here, by the copy that ``owns`` some addresses."""
    page = crawled.page
    score = crawled.relevance.score
    turnout = Turnout(crawled.candidate.url, page.url, score, believed, example)
    linked = links_by_url(page)
    told = (same for url, same in linked.items() if owns is None or not owns(url))
    links = tuple(link for same in islice(told, MAX_LINKS_TOLD) for link in same[:MAX_SAME])
    said = b""
    if links:
        said = msgspec.msgpack.encode(LinksTold(page.title, page.language, len(linked), links))
    return News(msgspec.msgpack.encode(turnout), isal_zlib.compress(said, 1) if said else b"")


def read_news(news: News) -> tuple[Turnout, Described | None, LinksTold | None]:
    """How the page turned out, how its link was described; and its links if they are told."""
    turnout = kept_in(news.for_all, Turnout, "how a page turned out")
    described = turnout.example.arrays() if turnout.example else None
    if not news.for_owners:
        return turnout, described, None
    try:
        told = zlib.decompress(news.for_owners)
    except zlib.error as error:
        raise ValueError(f"the links of {turnout.url} cannot be read: {error}") from error
    return turnout, described, kept_in(told, LinksTold, "the links of a page")
