"""What a copy of trail makes of pages that other copies have fetched: see :mod:`.news`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from trailhound.records import Link, Page
from trailhound.strategies.base import News
from trailhound.strategies.trail.link_model import LinkModel
from trailhound.strategies.trail.link_table import LinkTable
from trailhound.strategies.trail.news import Described, LinksTold, Turnout, read_news


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
