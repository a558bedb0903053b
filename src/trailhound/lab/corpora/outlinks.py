"""The links of all pages while a corpus is being written."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable

from trailhound.lab.corpora.link_graph import LinkGraph


class Outlinks:
    """Who links to which URL. Each URL is kept once: a site's pages share most of their links."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows: list[array[int]] = []

    @property
    def n_pages(self) -> int:
        """Pages added so far."""
        return len(self._rows)

    @property
    def urls(self) -> Collection[str]:
        """Every URL that some page links to, in order of first appearance."""
        return self._numbers.keys()

    def add_page(self, links: Iterable[str]) -> None:
        """Add the distinct links of the next page."""
        numbers = self._numbers
        self._rows.append(array("i", [numbers.setdefault(url, len(numbers)) for url in links]))

    def count(self, wanted: Callable[[str], bool]) -> int:
        """How many (page, URL) pairs have a URL that is ``wanted``."""
        chosen = [wanted(url) for url in self._numbers]
        return sum(chosen[number] for row in self._rows for number in row)

    def graph(self, resolve: Callable[[str], int | None]) -> LinkGraph:
        """The links between pages; ``resolve`` gives the page that a URL leads to."""
        pages = [resolve(url) for url in self._numbers]
        rows = [
            [page for number in row if (page := pages[number]) is not None] for row in self._rows
        ]
        return LinkGraph.from_rows(rows)
