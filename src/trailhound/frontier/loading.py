"""From a frontier file to the index of an open frontier, at every start.

About 2 µs per URL; memory grows by the index alone.
"""

from __future__ import annotations

from itertools import chain

from trailhound.errors import FrontierError
from trailhound.frontier.index import FrontierIndex
from trailhound.frontier.store import FrontierStore
from trailhound.records import Outcome

_PART = 500
"""Rows taken in at once: few enough not to set off the garbage collector, a third of the time."""

_HOSTS = "SELECT number, name, until, pages FROM host ORDER BY number"
_URLS = "SELECT site, path, coalesce(priority, 0.0), arrival FROM url ORDER BY number"
_LAST_NUMBER = "SELECT coalesce(max(number), 0) FROM url"
_OUTCOMES = "SELECT number, outcome FROM finished"


def load(store: FrontierStore, index: FrontierIndex) -> None:
    """Fill an empty index. Everything without an outcome waits."""
    _load_hosts(store, index)
    _load_urls(store, index)
    _load_outcomes(store, index)
    index.load_queues()


def _load_hosts(store: FrontierStore, index: FrontierIndex) -> None:
    for number, name, until, pages in chain.from_iterable(store.rows_of(_HOSTS, _PART)):
        host = index.add_host(name)
        if host.number != number:
            raise _damaged(store, f"host {number} is out of order")
        host.pages = pages
        host.until = until
        store.names.append(name)


def _load_urls(store: FrontierStore, index: FrontierIndex) -> None:
    join, standings = store.names.join, index.standings
    take_in = [host.append_unsorted for host in index.hosts.values()]
    for part in store.rows_of(_URLS, _PART):
        sites, paths, priorities, arrivals = zip(*part, strict=True)
        for number, site in enumerate(sites, len(index.seen) + 1):
            take_in[site >> 1](number)
        index.seen.extend(map(join, sites, paths))
        standings.extend(priorities, arrivals)
    (((last,),),) = store.rows_of(_LAST_NUMBER, 1)
    if last != len(index.seen):
        raise _damaged(store, f"of {last} URLs, {len(index.seen)} are there")


def _load_outcomes(store: FrontierStore, index: FrontierIndex) -> None:
    for number, outcome in chain.from_iterable(store.rows_of(_OUTCOMES, _PART)):
        if number > len(index.seen):
            raise _damaged(store, f"there is no URL number {number}")
        index.standings.finish(number, Outcome(outcome))


def _damaged(store: FrontierStore, what: str) -> FrontierError:
    return FrontierError(
        f"The frontier {store.path} is damaged: {what}. Restore it from a copy, or move it away "
        "and start the crawl anew."
    )
