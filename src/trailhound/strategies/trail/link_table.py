"""What a crawl remembers of addresses, pages and the links between them.

Everything has a number: an address (*node*), a page that was read, a link from a page to an
address, a *group* of links that stand in one list of a page, a *place* (host or folder). Counts are
kept of how pages turned out, wherever that may say something about others: *hits*, the sum of their
relevance s, *seen*, their number, and *unsure*, the sum of s (1 - s).

Memory is bounded: when there are too many links or addresses, the older half of the pages goes, but
for those of the session.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

import numpy as np

from trailhound.records import Page
from trailhound.sources import AccessTrace
from trailhound.strategies.trail.columns import Columns, Flags, Ids, Matrix, Vector, renumbered
from trailhound.strategies.trail.link_words import PageLinks, links_by_url
from trailhound.strategies.trail.meaning import N_DIRECTIONS, N_MEANINGS
from trailhound.strategies.trail.phrases import FIELDS, Phrases, Weights
from trailhound.strategies.trail.readers import Readers
from trailhound.urls import host_key

MAX_PARENTS = 8
"""Links to one address that are looked at: the newest."""
FAILED, REFUSED = 1, 2
"""Of an address that has brought no page: whether that speaks against its host."""
MAX_READ = 4
"""Links to one fetched page whose words are learned from: the newest."""
MAX_LINKS = 150_000
MAX_NODES = 100_000
NEAR = ((1, 1.0), (2, 0.5), (3, 0.33), (4, 0.25), (6, 0.17), (8, 0.125))
"""Distances on a page within which links say something about each other, and how much."""
MAX_DEPTH = 8

REACH = max(distance for distance, _ in NEAR)
_SHARES: Matrix = np.array([[dict(NEAR).get(abs(step), 0.0)] for step in range(-REACH, REACH + 1)])
"""The same, link by link, from the farthest before one to the farthest behind."""

_AROUND = FIELDS.index("context")

N_COUNTS = 3
"""Hits, seen and unsure."""
N_LIKE, N_MODELS = 4, 2
"""Numbers for what the words of a link say: by :class:`WantedWords`, and by the two models."""


class LinkTable:
    """All of it, in columns."""

    def __init__(self, trace: AccessTrace | None = None) -> None:
        self.readers = Readers(trace)
        self.urls: list[str] = []
        self.numbers: dict[str, int] = {}
        self.nodes = Columns(
            {
                "label": "f4",
                "known": "?",
                "browsed": "?",
                "done": "?",
                "queued": "?",
                "elsewhere": "?",
                "closed": "?",
                "failed": "i1",
                "told": "f4",
                "page": "i4",
                "host": "i4",
                "folder": "i4",
                "depth": "f4",
                "n_links": "i4",
                "links": "i4",
                "meaning": "f4",
            },
            fill={"page": -1, "links": -1},
            links=MAX_PARENTS,
            meaning=N_MEANINGS,
        )
        self.pages = Columns(
            {"relevance": "f8", "out": "f4", "host": "i4", "first": "i4", "last": "i4"}
            | {"counts": "f8"},
            counts=N_COUNTS,
        )
        self.links = Columns(
            {"page": "i4", "child": "i4", "group": "i4", "near": "f4", "phrases": "i4"}
            | {"words": "f4"},
            near=N_COUNTS,
            phrases=len(FIELDS),
            words=N_LIKE + N_MODELS,
        )
        self.groups = Columns({"counts": "f8"}, counts=N_COUNTS)
        self.phrases = Phrases()
        self.places = Columns(
            {"counts": "f8", "fetched": "f8", "gained": "f8", "missed": "f8"}
            | {"refused": "f8", "answered": "?", "vouched": "?"},
            counts=N_COUNTS,
        )
        self._place_numbers: dict[str, int] = {}
        self._folders: dict[str, tuple[int, int, int]] = {}
        """What was found out of the addresses in a folder."""
        self._browsed_pages = 0
        self.owns: Callable[[str], bool] | None = None
        """Of one of several copies: which addresses are fetched here."""
        self._in_scope: Callable[[str], bool] | None = None
        self.hits = self.seen = 0.0
        self.gained = self.fetched = 0.0
        """The same without pages of the session."""

    @property
    def base_rate(self) -> float:
        """Mean relevance of the pages so far, never 0 or 1."""
        return (self.hits + 0.5) / (self.seen + 1.0)

    @property
    def is_full(self) -> bool:
        """Whether it is time to forget."""
        return self.links.size > MAX_LINKS or self.nodes.size > MAX_NODES

    def node(self, url: str) -> int:
        """The number of an address."""
        known = self.numbers.get(url)
        return int(self.nodes_of([url])[0]) if known is None else known

    def nodes_of(self, urls: list[str]) -> Ids:
        """The numbers of different addresses."""
        found = list(map(self.numbers.get, urls))
        if None in found:
            self._add_nodes([url for url, known in zip(urls, found, strict=True) if known is None])
            found = list(map(self.numbers.get, urls))
        return np.array(found, np.int64)

    def _add_nodes(self, urls: list[str]) -> None:
        first, nodes = self.nodes.add(len(urls)), self.nodes
        self.numbers.update(zip(urls, range(first, nodes.size), strict=True))
        self.urls += urls
        places = np.array([self._places_of(url) for url in urls]).T
        for column, values in zip(("host", "folder", "depth"), places, strict=True):
            nodes[column][first : nodes.size] = values
        if self.owns is not None:
            nodes["elsewhere"][first : nodes.size] = [not self.owns(url) for url in urls]
        if self._in_scope is not None:
            nodes["closed"][first : nodes.size] = [not self._in_scope(url) for url in urls]

    def leave_to_others(self, owns: Callable[[str], bool]) -> None:
        """What the crawl does not own waits elsewhere, and is fetched there."""
        self.owns = owns
        self.nodes["elsewhere"][: self.nodes.size] = [not owns(url) for url in self.urls]

    def keep_to(self, in_scope: Callable[[str], bool]) -> None:
        """The crawl fetches nothing else; what is closed to it is worth nothing to anybody."""
        self._in_scope = in_scope
        closed = np.array([not in_scope(url) for url in self.urls], np.bool_)
        failed: Flags = self.nodes["failed"][: self.nodes.size] > 0
        self.nodes["closed"][: self.nodes.size] = closed | failed

    def await_absent(self, nodes: Ids, waiting: Container[str]) -> Ids:
        """Those of the nodes that wait; others are awaited, to be ranked when they have come.

        They are under way, or come later than what was heard of them. Or a rule of the crawl has
        left them out for the sake of the page with the link, and another page may bring them in.
        """
        waits = np.fromiter((self.urls[node] in waiting for node in nodes.tolist()), np.bool_)
        self.nodes["told"][nodes[~waits]] = -np.inf
        return nodes[waits]

    def note_failed(self, url: str, *, refused: bool, lasts: bool = True) -> None:
        """An address has brought no page, and is worth nothing to anybody.

        ``refused``: that speaks against its host; ``lasts``: it is the same in another run.
        """
        if refused:
            host, _, _ = self._places_of(url)  # first: columns may become others
            self.places["refused"][host] += 1.0
        node = self.numbers.get(url)
        if node is not None:
            self.nodes["closed"][node] = True
            self.nodes["failed"][node] = lasts * (REFUSED if refused else FAILED)

    def note_done(self, nodes: Sequence[int]) -> None:
        """Addresses were fetched, so that their hosts have answered."""
        self.nodes["done"][nodes] = True
        self.places["answered"][self.nodes["host"][nodes]] = True

    def _places_of(self, url: str) -> tuple[int, int, int]:
        """Host and folder of an address, and how deep that is."""
        path = url.partition("?")[0]
        folder = path[: path.rfind("/", len("https://")) + 1] or path
        known = self._folders.get(folder)
        if known is None:
            inside = folder.partition("://")[2]
            host, place = self._place(f"h{host_key(url)}"), self._place(f"f{inside}")
            known = self._folders[folder] = host, place, min(inside.count("/"), MAX_DEPTH)
        return known

    def _place(self, name: str) -> int:
        known = self._place_numbers.get(name)
        if known is None:
            known = self._place_numbers[name] = self.places.add()
        return known

    def add_page(
        self,
        node: int,
        found: PageLinks,
        relevance: float,
        meant: Weights | None = None,
        *,
        beside: bool = False,
    ) -> tuple[int, int]:
        """A page was read: the numbers of its first link, and of the one behind its last.

        ``meant`` is what the words of each link mean. ``beside``: these are no links of the page,
        but what people opened near it.
        """
        nodes, pages, links = self.nodes, self.pages, self.links
        children = self.nodes_of(found.urls)
        page, first = pages.add(), links.add(len(children))
        last = first + len(children)
        pages["relevance"][page] = relevance
        pages["out"][page] = np.log1p(len(children))
        pages["host"][page] = nodes["host"][node]
        pages["first"][page], pages["last"][page] = first, last
        if not beside:
            nodes["page"][node] = page
        if len(children):
            links["page"][first:last] = page
            links["child"][first:last] = children
            groups = found.groups + self.groups.add(int(found.groups.max()) + 1)
            links["group"][first:last] = groups
            links["phrases"][first:last] = found.phrases
            place = nodes["n_links"][children] % MAX_PARENTS
            self._keep_words_around(nodes["links"][children, place], first)
            nodes["links"][children, place] = np.arange(first, last)
            if meant is not None:
                self._add_meaning(children, meant)
            nodes["n_links"][children] += 1
            self._count_known(page, children, groups)
        return first, last

    def _add_meaning(self, children: Ids, meant: Weights) -> None:
        """Words around count of as many links as are looked at: more are not read everywhere."""
        meant[self.nodes["n_links"][children] >= MAX_PARENTS, N_DIRECTIONS:] = 0.0
        self.nodes["meaning"][children] += meant

    def _keep_words_around(self, displaced: Ids, first: int) -> None:
        """A link that takes the place of another has its words around (:meth:`said_enough`)."""
        heirs = np.flatnonzero(displaced >= 0)
        said = self.links["phrases"]
        said[first + heirs, _AROUND] = said[displaced[heirs], _AROUND]

    def _count_known(self, page: int, children: Ids, groups: Ids) -> None:
        """Some of a new page's links lead to pages that were fetched before."""
        if not self.nodes["known"].take(children).any():
            return
        counts = self.labels_of(children)
        self.pages["counts"][page] += counts.sum(axis=0)
        first, first_group = int(self.pages["first"][page]), int(groups.min())
        for column, values in enumerate(counts.T):
            of_groups = np.bincount(groups - first_group, weights=values)
            self.groups["counts"][first_group : first_group + len(of_groups), column] = of_groups
            of_near = np.convolve(values, _SHARES[:, 0])[REACH:-REACH]
            self.links["near"][first : first + len(values), column] = of_near

    def label(self, labels: Mapping[int, float], *, browsed: bool = False) -> None:
        """Pages turned out so relevant, by node; what was said of one before stands."""
        nodes = self.nodes
        said = np.fromiter(labels, np.int64, len(labels))
        new = ~nodes["known"][said]
        said, values = said[new], np.fromiter(labels.values(), np.float64, len(labels))[new]
        nodes["known"][said], nodes["label"][said] = True, values
        nodes["browsed"][said] = browsed
        for node, value in zip(said.tolist(), values.tolist(), strict=True):
            self._count(node, np.array([value, 1.0, value * (1.0 - value)]))
        if browsed:
            self.places["vouched"][nodes["host"][said[values > 0.5]]] = True
        else:
            self._count_fetched(nodes["host"][said], values)
        self.hits += values.sum()
        self.seen += len(values)

    def _count(self, node: int, counts: Vector) -> None:
        """A page has turned out: that is added wherever it says something of others."""
        links = self.nodes["links"][node]
        for link in links[links >= 0].tolist():  # a few, and slices are cheaper than places
            page = self.links["page"][link]
            self.pages["counts"][page] += counts
            self.groups["counts"][self.links["group"][link]] += counts
            first = max(int(self.pages["first"][page]), link - REACH)
            last = min(int(self.pages["last"][page]), link + REACH + 1)
            shares = _SHARES[REACH + first - link : REACH + last - link]
            self.links["near"][first:last] += shares * counts
        for place in (self.nodes["host"][node], self.nodes["folder"][node]):
            self.places["counts"][place] += counts

    def _count_fetched(self, hosts: Ids, labels: Vector) -> None:
        """What hosts gave to the crawl; a miss is less than half of what pages give on average."""
        missed = labels < self.base_rate / 2
        for column, values in (("fetched", 1.0), ("gained", labels), ("missed", missed)):
            np.add.at(self.places[column], hosts, values)
        self.gained += labels.sum()
        self.fetched += len(labels)

    def children(self, page: int) -> Ids:
        """The addresses that a page links to, each once."""
        span = slice(self.pages["first"][page], self.pages["last"][page])
        return self.links["child"][span].astype(np.int64)

    def open_children(self, node: int) -> Ids:
        """Those of the page at an address that may be fetched, and were not yet."""
        children = self.children(int(self.nodes["page"][node]))
        is_out: Flags = self.nodes["done"][children] | self.nodes["closed"][children]
        return children[~is_out]

    def await_children(self, node: int) -> Ids:
        """What the page at an address leads to waits, by another's word: it is to be ranked."""
        waiting = self.open_children(node)
        known: Flags = self.nodes["known"][waiting]
        waiting = waiting[~known]
        self.nodes["queued"][waiting], self.nodes["told"][waiting] = True, np.inf
        return waiting

    def said_enough(self, url: str) -> bool:
        """Whether the words around one more link to an address need not be read.

        It is known how its page turned out; or as many links to it are at hand as are looked at,
        and the new one gets the words around the one whose place it takes.
        """
        node = self.numbers.get(url)
        if node is None:
            return False
        place = self.nodes["n_links"][node] % MAX_PARENTS
        return bool(self.nodes["known"][node] or self.nodes["links"][node, place] >= 0)

    def has_new_links(self, node: int, page: Page) -> bool:
        """Whether the page at an address says something that was not read."""
        slot = int(self.nodes["page"][node])
        known = set(self.children(slot).tolist()) if slot >= 0 else set()
        linked = set(self.nodes_of(list(links_by_url(page))).tolist())
        return slot < 0 or not linked <= known

    def parents(self, nodes: Ids) -> tuple[Ids, Ids, Ids]:
        """Links to the nodes, one node after the other; the place of each one's node; counts."""
        found = self.nodes["links"].take(nodes, axis=0)
        there = np.flatnonzero(found >= 0)
        owners = there // MAX_PARENTS
        return found.take(there), owners, np.bincount(owners, minlength=len(nodes))

    def labels_of(self, nodes: Ids) -> Matrix:
        """What the nodes add to counts; nothing, where not known. Shape (n, N_COUNTS)."""
        known = self.nodes["known"].take(nodes)
        label = self.nodes["label"].take(nodes) * known
        return np.array([label, known, label * (1.0 - label)], np.float64).T

    def words_of(self, node: int) -> tuple[Ids, Vector]:
        """Numbers and weights of the words in the links to a node, each word once."""
        links = np.sort(self.nodes["links"][node])[-MAX_READ:]
        links = links[links >= 0]
        said, weights = self.phrases.words_of(self.links["phrases"].take(links, axis=0).ravel())
        total: dict[int, float] = {}  # some fifty words: numpy would take longer
        for number, weight in zip(said.tolist(), weights.tolist(), strict=True):
            total[number] = total.get(number, 0.0) + weight
        numbers = sorted(total)
        summed = np.array([total[number] for number in numbers])
        return np.array(numbers, np.int64), summed / np.sqrt(max(len(links), 1))

    def end_session(self) -> None:
        """Pages so far are those of the session; they stay."""
        self._browsed_pages = self.pages.size

    def forget(self) -> Ids:
        """Forget the older half of the pages, and what only they led to.

        The new number of each node, -1 for those that are gone.
        """
        pages = np.arange(self.pages.size)
        oldest = (self._browsed_pages + self.pages.size) // 2
        kept_pages = (pages < self._browsed_pages) | (pages >= oldest)
        kept_links = kept_pages[self.links["page"][: self.links.size]]
        link_numbers = self.links.keep(kept_links)
        page_numbers = self.pages.keep(kept_pages)
        counts = self.pages["last"][: self.pages.size] - self.pages["first"][: self.pages.size]
        behind = np.cumsum(counts)
        self.pages["first"][: self.pages.size] = behind - counts
        self.pages["last"][: self.pages.size] = behind
        span = slice(0, self.links.size)
        self.links["page"][span] = page_numbers[self.links["page"][span]]
        self._forget_phrases()
        self._forget_groups()
        return self._forget_nodes(link_numbers, page_numbers)

    def _forget_phrases(self) -> None:
        used = np.zeros(self.phrases.columns.size, np.bool_)
        used[self.links["phrases"][: self.links.size]] = True
        span = slice(0, self.links.size)
        self.links["phrases"][span] = self.phrases.keep(used)[self.links["phrases"][span]]

    def _forget_groups(self) -> None:
        used = np.zeros(self.groups.size, np.bool_)
        used[self.links["group"][: self.links.size]] = True
        span = slice(0, self.links.size)
        self.links["group"][span] = self.groups.keep(used)[self.links["group"][span]]

    def _forget_nodes(self, link_numbers: Ids, page_numbers: Ids) -> Ids:
        nodes, size = self.nodes, self.nodes.size
        nodes["links"][:size] = renumbered(nodes["links"][:size], link_numbers)
        nodes["page"][:size] = renumbered(nodes["page"][:size], page_numbers)
        kept = (nodes["page"][:size] >= 0) | nodes["browsed"][:size]
        kept[self.links["child"][: self.links.size]] = True
        numbers = nodes.keep(kept)
        self.urls = [url for url, stays in zip(self.urls, kept.tolist(), strict=True) if stays]
        self.numbers = {url: number for number, url in enumerate(self.urls)}
        span = slice(0, self.links.size)
        self.links["child"][span] = numbers[self.links["child"][span]]
        self._forget_places()
        return numbers

    def _forget_places(self) -> None:
        used = np.zeros(self.places.size, np.bool_)
        span = slice(0, self.nodes.size)
        for column in ("host", "folder"):
            used[self.nodes[column][span]] = True
        used[self.pages["host"][: self.pages.size]] = True
        numbers = self.places.keep(used)
        for column in ("host", "folder"):
            self.nodes[column][span] = numbers[self.nodes[column][span]]
        hosts = slice(0, self.pages.size)
        self.pages["host"][hosts] = numbers[self.pages["host"][hosts]]
        self._folders.clear()
        places = self._place_numbers.items()
        self._place_numbers = {
            name: int(numbers[place]) for name, place in places if numbers[place] >= 0
        }

    def failed_pages(self) -> dict[str, bool]:
        """Addresses that bring no page in any run; whether that speaks against their host."""
        nodes, size = self.nodes, self.nodes.size
        failed = np.flatnonzero(nodes["failed"][:size])
        silent = ~self.places["answered"][nodes["host"][failed]]
        speaks = ((nodes["failed"][failed] == REFUSED) & silent).tolist()
        urls = (self.urls[node] for node in failed.tolist())
        return dict(zip(urls, speaks, strict=True))

    def known_labels(self) -> dict[str, float]:
        """What fetched pages turned out to be, by address; those of the session left out."""
        size = self.nodes.size
        chosen = np.flatnonzero(self.nodes["known"][:size] & ~self.nodes["browsed"][:size])
        labels = self.nodes["label"][chosen].tolist()
        return dict(zip((self.urls[node] for node in chosen.tolist()), labels, strict=True))

    def opened_pages(self) -> list[str]:
        """Addresses of the session's pages that were fetched."""
        size = self.nodes.size
        opened = np.flatnonzero(self.nodes["browsed"][:size] & self.nodes["done"][:size])
        return [self.urls[node] for node in opened.tolist()]
