"""Where a crawl begins besides its seeds: with what the session has shown already.

Links of the session's pages are known without a request, and wait from the beginning; but only
those of hosts on which a page was marked. Other pages of a session may be anybody's, a mailbox for
instance, and their links nothing that a crawl should ask for. These pages, and those with links
beyond the best :data:`MOST_SHOWN`, are gateways, that may be fetched themselves.
"""

from __future__ import annotations

import numpy as np

from trailhound.records import Candidate
from trailhound.strategies.trail.columns import Ids, stretches
from trailhound.strategies.trail.features import describe
from trailhound.strategies.trail.gateways import logs, shut_gateways
from trailhound.strategies.trail.host_shares import against_hosts
from trailhound.strategies.trail.link_model import LinkModel
from trailhound.strategies.trail.link_table import LinkTable
from trailhound.strategies.trail.reasons import memories
from trailhound.urls import asks_a_search

MOST_SHOWN = 2_000
"""Links of the session's pages that wait from the beginning: as many as are ranked anew."""
MOST_GATEWAYS = 50
"""Pages of the session that are queued from the beginning; others when a link to them is found."""


def shown_links(table: LinkTable, model: LinkModel, crowding: Ids) -> list[Candidate]:
    """The best links of the session's pages; they wait from now on, here or elsewhere."""
    nodes, parents = _shown(table)
    scores, parts = model.score_and_parts(*describe(table, nodes))
    scores -= against_hosts(table, nodes, crowding)
    best = np.argsort(-scores, kind="stable")[:MOST_SHOWN]
    nodes, parents, scores = nodes[best], parents[best], scores[best]
    table.nodes["queued"][nodes], table.nodes["told"][nodes] = True, scores
    told = zip(nodes, parents, scores.tolist(), memories(parts[best]), strict=True)
    return [
        Candidate(table.urls[node], score, memory, table.urls[parent], depth=1)
        for node, parent, score, memory in told
        if not table.nodes["elsewhere"][node]
    ]


def _shown(table: LinkTable) -> tuple[Ids, Ids]:
    """What may be fetched, and was not, of the links; and the first page that has each."""
    nodes, size = table.nodes, table.nodes.size
    is_vouched = table.places["vouched"].take(nodes["host"][:size])
    session = np.flatnonzero(nodes["browsed"][:size] & (nodes["page"][:size] >= 0) & is_vouched)
    first, last = (table.pages[end].take(nodes["page"].take(session)) for end in ("first", "last"))
    children = table.links["child"].take(stretches(first, last - first))
    shown, places = np.unique(children, return_index=True)
    parents = np.repeat(session, last - first)[places]
    is_open = ~(nodes["known"] | nodes["closed"] | nodes["done"])[shown]
    return shown[is_open].astype(np.int64), parents[is_open]


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
