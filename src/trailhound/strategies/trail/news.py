"""What copies of trail tell each other about a page, and what each makes of it.

All copies are told how its link turned out, as an example for their models and for the counts of
host, folder and siblings. Those that own the address of one of its links are told of these links,
but for those that the teller owns itself, and so know all pages that link to what they may fetch.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np
from isal import isal_zlib

from trailhound.records import CrawledPage, Link, Page
from trailhound.strategies.base import News
from trailhound.strategies.parts import kept_in
from trailhound.strategies.trail.columns import Integers, Reals
from trailhound.strategies.trail.features import N_FEATURES
from trailhound.strategies.trail.link_model import LinkModel
from trailhound.strategies.trail.link_table import LinkTable
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


class Heard(NamedTuple):
    """What news have come to."""

    pages: int
    """That were new."""
    relinked: set[int]
    """Addresses that wait here, and that these pages link to."""
    opened: bool
    """Whether there are pages of the session among them."""


class Hearing:
    """Takes pages of others for examples, and what they say of addresses that are fetched here.

    ``read`` takes pages and their relevance into the table.
    """

    def __init__(self, table: LinkTable, model: LinkModel, read: Callable[..., object]) -> None:
        self._table = table
        self._model = model
        self._read = read

    def take_in(self, news: Sequence[News]) -> Heard:
        """Learn from it; many together cost less than one by one."""
        told = list(map(read_news, news))
        named = (url for turnout, _, _ in told for url in (turnout.asked, turnout.url))
        self._table.nodes_of(list(dict.fromkeys(named)))
        pages, opened = self._note_turnouts((turnout, said) for turnout, said, _ in told)
        said = [(turnout, said) for turnout, _, said in told if said is not None]
        self._read_links(said)
        relinked = (self._await_links(turnout) for turnout, _ in said)
        return Heard(pages, set().union(*relinked), opened)

    def _note_turnouts(self, told: Iterable[tuple[Turnout, Described | None]]) -> tuple[int, bool]:
        """How pages turned out, as far as that is new; of how many, and of any of the session."""
        table, labels, new, opened = self._table, dict[int, float](), 0, False
        done, browsed = table.nodes["done"], table.nodes["browsed"]
        for turnout, described in told:
            asked, node = table.numbers[turnout.asked], table.numbers[turnout.url]
            if done[node]:
                continue
            table.note_done([asked, node])
            new += 1
            opened |= bool(browsed[node])
            if not browsed[node]:
                labels[asked] = labels[node] = turnout.believed
                near = table.readers.opened_near(turnout.url, turnout.asked)
                table.readers.note(near, turnout.believed)
                if described is not None:
                    self._model.add_described(asked, turnout.score, *described)
        table.label(labels)
        return new, opened

    def _read_links(self, told: Iterable[tuple[Turnout, LinksTold]]) -> None:
        table, pages, sizes = self._table, dict[int, Page](), dict[int, int]()
        for turnout, said in told:
            links = self._links_of_use(said.links)
            if not links:
                continue
            node = table.node(turnout.url)
            page = Page(turnout.url, title=said.title, language=said.language, links=links)
            if self._is_to_read(node, page):
                pages[node], sizes[node] = page, said.n_links
        if pages:
            labels = table.nodes["label"]
            self._read(*((page, float(labels[node])) for node, page in pages.items()))
            slots = table.nodes["page"][np.fromiter(sizes, np.int64, len(sizes))]
            table.pages["out"][slots] = np.log1p(list(sizes.values()))

    def _links_of_use(self, links: tuple[Link, ...]) -> tuple[Link, ...]:
        """Those to what may be fetched here, and those that stand in one list with them."""
        lists = {(link.heading, link.tag_path) for link in links if self._may_fetch(link.url)}
        if not lists:
            return ()
        return tuple(link for link in links if (link.heading, link.tag_path) in lists)

    def _may_fetch(self, url: str) -> bool:
        """Whether the address is fetched here, and was not yet."""
        table = self._table
        if table.owns is not None and not table.owns(url):
            return False
        known = table.numbers.get(url)
        return known is None or not table.nodes["done"][known]

    def _is_to_read(self, node: int, page: Page) -> bool:
        if self._table.nodes["browsed"][node]:
            return self._table.has_new_links(node, page)
        return bool(self._table.nodes["page"][node] < 0)

    def _await_links(self, turnout: Turnout) -> set[int]:
        """What a page links to waits now; who told of it gave it another priority than we would."""
        table, nodes = self._table, self._table.nodes
        asked, node = table.node(turnout.asked), table.node(turnout.url)
        if nodes["page"][node] < 0:  # it has nothing for us
            return set()
        nodes["page"][asked] = nodes["page"][node]
        waiting = table.await_children(node)
        return set(waiting[~nodes["elsewhere"][waiting]].tolist())
