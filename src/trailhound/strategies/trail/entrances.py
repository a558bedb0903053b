"""Where a crawl begins besides its seeds: with what the session has shown already.

Links of the session's pages are known without a request, and wait from the beginning; but only
those of pages on hosts where a page was marked. Other pages of a session may be anybody's, a
mailbox for instance, and their links nothing that a crawl should ask for. These pages, and those
with links beyond the best :data:`MOST_SHOWN`, are gateways, that may be fetched themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trailhound.command_links import commands_by_address, commands_by_words
from trailhound.records import Candidate, Page
from trailhound.strategies.trail.columns import Ids
from trailhound.strategies.trail.features import describe
from trailhound.strategies.trail.gateways import logs, shut_gateways
from trailhound.strategies.trail.host_shares import against_hosts, hosts_that_answered
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
        self._parents = _shown_in(table, pages)
        """By address the first page that shows it."""
        self._room = MOST_SHOWN
        self._untried = MOST_UNTRIED
        self._held: frozenset[str] = frozenset()
        """Hosts that have to answer first."""

    def may_follow(self, url: str) -> bool:
        """Whether more of them may wait now that the host of an address has answered."""
        return bool(self._held) and host_key(url) in self._held

    def take(self, model: LinkModel, crowding: Ids) -> list[Candidate]:
        """The best that may be fetched and were not; they wait from now on, here or elsewhere."""
        table, flags = self._table, self._table.nodes
        nodes = table.nodes_of(list(self._parents))
        is_out = flags["known"] | flags["closed"] | flags["done"] | flags["queued"]
        nodes = nodes[~is_out[nodes]]
        scores, parts = model.score_and_parts(*describe(table, nodes))
        scores -= against_hosts(table, nodes, crowding)
        order = np.argsort(-scores, kind="stable")
        hosts = flags["host"][nodes[order]]
        is_ready = np.isin(hosts, hosts_that_answered(table)) | (_ranks(hosts) < self._untried)
        now, later = order[is_ready][: self._room], nodes[order[~is_ready]]
        flags["queued"][nodes[now]], flags["told"][nodes[now]] = True, scores[now]
        ranked = zip(nodes[now].tolist(), scores[now].tolist(), memories(parts[now]), strict=True)
        found = [
            Candidate(table.urls[node], score, memory, self._parents[table.urls[node]])
            for node, score, memory in ranked
            if not flags["elsewhere"][node]
        ]
        self._room, self._untried = self._room - len(now), 0
        self._parents = {
            table.urls[node]: self._parents[table.urls[node]] for node in later.tolist()
        }
        self._held = frozenset(map(host_key, self._parents))
        return found


def _shown_in(table: LinkTable, pages: Iterable[Page]) -> dict[str, str]:
    found, left = dict[str, str](), set[str]()
    vouched, hosts = table.places["vouched"], table.nodes["host"]
    for page in pages:
        if page.nofollow or not vouched[hosts[table.node(page.url)]]:
            continue
        for link in page.links:
            if commands_by_words(link):
                left.add(link.url)
            elif not link.nofollow:
                found.setdefault(link.url, page.url)
    followed = (url for url in found if url not in left and not commands_by_address(url))
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
