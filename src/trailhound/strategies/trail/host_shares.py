"""What speaks against a host, whatever its links promise: it was seen, or has had its share.

While nothing was found, hosts that were not seen yet come sooner: where we have been there is
nothing, it seems. Every find makes that matter less.

A host may have more than its share while its pages are better than those of others: then it holds
more of what was found than of what was fetched. That is believed of hosts on which the person
has marked a page, and of hosts that have shown bad pages as well. Another on which everything looks
wanted may say what we like to hear, whatever is asked of it, and what it says of itself is no
evidence.

A host that has refused several requests and answered none waits until all else has been asked: its
robots.txt, a login or a firewall may close all of it, and the session may have shown much there.
"""

from __future__ import annotations

import numpy as np

from trailhound.records import Outcome
from trailhound.strategies.trail.columns import Flags, Ids, Vector
from trailhound.strategies.trail.link_table import LinkTable

SHARE = 0.4
"""Of all fetched pages. Below a half, as a host is looked at every few pages only."""
FREE_PAGES = 10
"""That any host may have beyond its share."""
CURIOSITY = 0.5
"""Taken from the priority of what is on hosts that were seen, over 1 + the sum of all scores."""
LEAST_MISSES = 0.1
"""Of a host's pages must have been bad, so that its good ones are believed for themselves."""
REFUSALS = frozenset(
    {Outcome.ROBOTS, Outcome.LOGIN_WANTED, Outcome.ADDRESS_REFUSED, Outcome.BUSY}
    | {Outcome.NOT_FOUND, Outcome.CLIENT_ERROR, Outcome.SERVER_ERROR}
    | {Outcome.TIMEOUT, Outcome.UNREACHABLE, Outcome.UNKNOWN_HOST}
)
"""Ends of a request that brought nothing from its host."""
LASTING = frozenset({Outcome.ROBOTS, Outcome.NOT_FOUND, Outcome.CLIENT_ERROR, Outcome.NOT_HTML})
"""Ends that are the same in another run: no login and no network changes them."""
MOST_REFUSED = 5
"""Requests in vain to a host that has answered none."""
HELD_BACK = 30.0
"""Taken from the priority of what a host would have beyond its share: all else comes first, as
priorities are logarithms of chances from 1e-9 on."""


def against_hosts(table: LinkTable, nodes: Ids, crowded: Ids) -> Vector:
    """What to take from the priority of each address, given the hosts that should wait."""
    hosts = table.nodes["host"].take(nodes)
    seen: Vector = np.minimum(table.places["fetched"].take(hosts), 1.0)
    less = seen * (CURIOSITY / (1.0 + table.gained))
    if len(crowded):
        less += HELD_BACK * np.isin(hosts, crowded)
    return less


def is_held_back(told: Vector) -> Flags:
    """Whether that was taken from priorities."""
    return told < -HELD_BACK + 5


def crowding(table: LinkTable) -> Ids:
    """Hosts that should wait until others have had their share, as places of the table."""
    return np.union1d(_too_large(table), _refusing(table))


def _refusing(table: LinkTable) -> Ids:
    refused = np.flatnonzero(table.places["refused"][: table.places.size] >= MOST_REFUSED)
    if not len(refused):
        return refused
    answered: Flags = table.places["answered"][refused]
    return refused[~answered]


def _too_large(table: LinkTable) -> Ids:
    """None as long as there is one host alone."""
    hosts = table.places
    fetched = hosts["fetched"][: hosts.size]
    large = np.flatnonzero(fetched > FREE_PAGES + SHARE * table.fetched)
    large = large[fetched[large] < table.fetched]
    gained, pages = hosts["gained"][large], fetched[large]
    elsewhere = (table.gained - gained) / (table.fetched - pages)
    believed = hosts["vouched"][large] | (hosts["missed"][large] >= LEAST_MISSES * pages)
    return np.asarray(large[~(believed & (gained / pages > elsewhere))])
