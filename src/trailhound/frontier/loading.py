"""From a frontier file to the index of an open frontier, at every start.

About 2 µs per URL; memory grows by the index alone.
"""

from __future__ import annotations

from itertools import chain

from trailhound.errors import FrontierError
from trailhound.frontier.index import FrontierIndex
from trailhound.frontier.rows import unpack_numbers, unpack_priorities
from trailhound.frontier.store import FrontierStore
from trailhound.records import Outcome

_PART = 500
"""Rows taken in at once: few enough not to set off the garbage collector, a third of the time."""

_HOSTS = "SELECT number, name, until, pages FROM host ORDER BY number"
_URLS = "SELECT site, path FROM url ORDER BY number"
_LAST_NUMBER = "SELECT coalesce(max(number), 0) FROM url"
_PLACES = "SELECT first, numbers, priorities FROM place ORDER BY first"
_RESCORES = "SELECT arrival, numbers, priorities FROM rescore ORDER BY number"
_OUTCOMES = "SELECT number, outcome FROM finished"


def load(store: FrontierStore, index: FrontierIndex) -> None:
    """Fill an empty index. Everything without an outcome waits."""
    _load_hosts(store, index)
    _load_urls(store, index)
    _load_places(store, index)
    _load_rescores(store, index)
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
    join = store.names.join
    take_in = [host.append_unsorted for host in index.hosts.values()]
    for part in store.rows_of(_URLS, _PART):
        sites, paths = zip(*part, strict=True)
        for number, site in enumerate(sites, len(index.seen) + 1):
            take_in[site >> 1](number)
        index.seen.extend(map(join, sites, paths))
    index.standings.expect(len(index.seen))
    (((last,),),) = store.rows_of(_LAST_NUMBER, 1)
    if last != len(index.seen):
        raise _damaged(store, f"of {last} URLs, {len(index.seen)} are there")


def _load_places(store: FrontierStore, index: FrontierIndex) -> None:
    standings = index.standings
    for first, numbers, priorities in chain.from_iterable(store.rows_of(_PLACES, _PART)):
        if first != standings.next_arrival:
            raise _damaged(store, f"arrival {standings.next_arrival} is missing")
        standings.arrive_together(unpack_numbers(numbers), unpack_priorities(priorities))
    store.first_unwritten = standings.next_arrival


def _load_rescores(store: FrontierStore, index: FrontierIndex) -> None:
    for arrival, numbers, priorities in chain.from_iterable(store.rows_of(_RESCORES, 1)):
        unpacked = unpack_numbers(numbers)
        index.standings.rescore(unpacked, unpack_priorities(priorities), arrival)
        store.rescores += unpacked.size


def _load_outcomes(store: FrontierStore, index: FrontierIndex) -> None:
    for number, outcome in chain.from_iterable(store.rows_of(_OUTCOMES, _PART)):
        if number > len(index.seen):
            raise _damaged(store, f"there is no URL number {number}")
        index.standings.finish(number, Outcome(outcome))
    if index.standings.has_lost_places():
        raise _damaged(store, "the places of some URLs are missing")


def _damaged(store: FrontierStore, what: str) -> FrontierError:
    return FrontierError(
        f"The frontier {store.path} is damaged: {what}. Restore it from a copy, or move it away "
        "and start the crawl anew."
    )
