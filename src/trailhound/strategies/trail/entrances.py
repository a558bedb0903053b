"""Where a crawl begins besides its seeds: with what the session has shown already.

Links of the session's pages are known without a request, and wait from the beginning; but only
those of pages on hosts where a page was marked. Other pages of a session may be anybody's, a
mailbox for instance, and their links nothing that a crawl should ask for. These pages, and those
with links beyond the best :data:`MOST_SHOWN`, are gateways, that may be fetched themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from trailhound.command_links import acts_by_address, commands_by_words
from trailhound.records import Candidate, Page
from trailhound.strategies.trail.columns import Ids
from trailhound.strategies.trail.features import describe
from trailhound.strategies.trail.gateways import logs, shut_gateways
from trailhound.strategies.trail.host_shares import against_hosts
from trailhound.strategies.trail.link_model import LinkModel
from trailhound.strategies.trail.link_table import LinkTable
from trailhound.strategies.trail.reasons import memories
from trailhound.urls import asks_a_search, host_key

MOST_SHOWN = 2_000
"""Links of the session's pages that wait from the beginning: as many as are ranked anew."""
MOST_UNTRIED = 20
"""Of them on one host that has not answered yet: it may be closed to crawls, all of it."""
MOST_GATEWAYS = 50
"""Pages of the session that are queued from the beginning; others when a link to them is found."""


class ShownLinks:
    """Links of the session's pages, until they wait; the person was perhaps logged in.

    What logs out or changes something is left to her, and what is not to be followed
    (``nofollow``) is found, if at all, when its page is fetched.
    """

    def __init__(self, table: LinkTable, pages: Iterable[Page]) -> None:
        self._table = table
        self._left = _by_host(_shown_in(table, pages))
        """Those that do not wait yet, by host; by address the first page that shows it."""
        self._answered: set[str] = set()
        """Hosts that have answered, and of which there are some."""
        self._room = MOST_SHOWN

    def note_answers(self, *urls: str) -> bool:
        """The hosts of addresses have answered; whether more of what was shown there may wait."""
        self._answered.update(host for host in map(host_key, urls) if host in self._left)
        return bool(self._answered)

    def take(self, model: LinkModel, crowding: Ids) -> list[Candidate]:
        """The best that may be fetched and were not; they wait from now on, here or elsewhere.

        Of a host that has not answered yet a few, and as many more every time.
        """
        return self._take(list(self._left), model, crowding, untried=MOST_UNTRIED)

    def follow(self, model: LinkModel, crowding: Ids) -> list[Candidate]:
        """The best on hosts that have answered since."""
        hosts = [host for host in self._left if host in self._answered]
        self._answered.clear()
        return self._take(hosts, model, crowding, untried=0)

    def _take(
        self, hosts: Sequence[str], model: LinkModel, crowding: Ids, *, untried: int
    ) -> list[Candidate]:
        """The best on ``hosts``, no more than ``untried`` of any that has not answered."""
        parents = {url: page for host in hosts for url, page in self._left.pop(host).items()}
        table, nodes = self._table, self._table.nodes_of(list(parents))
        flags, answered = table.nodes, table.places["answered"]
        is_out = flags["known"] | flags["closed"] | flags["done"] | flags["queued"]
        nodes = nodes[~is_out[nodes]]
        scores, parts = model.score_and_parts(*describe(table, nodes))
        scores -= against_hosts(table, nodes, crowding)
        order = np.argsort(-scores, kind="stable")
        places = flags["host"][nodes[order]]
        is_ready = answered[places] | (_ranks(places) < untried)
        now, later = order[is_ready][: self._room], nodes[order[~is_ready]]
        flags["queued"][nodes[now]], flags["told"][nodes[now]] = True, scores[now]
        self._room -= len(now)
        if self._room:
            urls = map(table.urls.__getitem__, later.tolist())
            self._left |= _by_host({url: parents[url] for url in urls})
        else:
            self._left = {}  # they are found, if at all, behind gateways
        ranked = zip(nodes[now].tolist(), scores[now].tolist(), memories(parts[now]), strict=True)
        return [
            Candidate(table.urls[node], score, memory, parents[table.urls[node]])
            for node, score, memory in ranked
            if not flags["elsewhere"][node]
        ]


def _by_host(parents: Mapping[str, str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for url, page in parents.items():
        found.setdefault(host_key(url), {})[url] = page
    return found


def _shown_in(table: LinkTable, pages: Iterable[Page]) -> dict[str, str]:
    found, left = dict[str, str](), set[str]()
    vouched, hosts = table.places["vouched"], table.nodes["host"]
    for page in pages:
        number = table.numbers.get(page.url)
        if number is None or page.nofollow or not vouched[hosts[number]]:
            continue
        for link in page.links:
            if commands_by_words(link):
                left.add(link.url)
            elif not link.nofollow:
                found.setdefault(link.url, page.url)
    followed = (url for url in found if url not in left and not acts_by_address(url))
    return {url: found[url] for url in followed}


def _ranks(hosts: Ids) -> Ids:
    """How many of the same host come before each."""
    order = np.argsort(hosts, kind="stable")
    _, first, counts = np.unique(hosts[order], return_index=True, return_counts=True)
    ranks = np.empty(len(hosts), np.int64)
    ranks[order] = np.arange(len(hosts)) - np.repeat(first, counts)
    return ranks


def ways_in(table: LinkTable, model: LinkModel, gate: float) -> list[Candidate]:
    """The best gateways, each by what it would bring beyond those before it.

    Answers of search engines are left out. Others may fetch some of them: what those open is
    counted, and they are left to them.
    """
    found: list[Candidate] = []
    shut = shut_gateways(table, model.score)
    urls = [table.urls[node] for node in shut.gateways.tolist()]
    is_left = np.array([not asks_a_search(url) for url in urls], np.bool_)
    for _ in range(min(MOST_GATEWAYS, len(shut.gateways))):
        finds = shut.finds_per_request()
        place = int(np.argmax(finds * is_left))
        if finds[place] * is_left[place] <= 0:
            break
        if not table.nodes["elsewhere"][shut.gateways[place]]:
            found.append(Candidate(urls[place], float(logs(gate * finds[place]))))
        shut.chances[shut.children[shut.owners == place]] = 0.0
        is_left[place] = False
    return found
