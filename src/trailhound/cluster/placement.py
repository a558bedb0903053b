"""Which shard owns a URL, and which one gives out turns at an address.

Shards are virtual: their number is fixed when a crawl begins, and they move between machines as
wholes. All hosts under one registered domain are in the same shard, so that what a site redirects
to and links to most is at home, and its hosts are asked by one crawl.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from trailhound.urls import host_key, registered_domain

DEFAULT_SHARDS = 8
MAX_SHARDS = 1_000


@dataclass(frozen=True)
class Placement:
    """A web in so many shards, numbered from 0. The same in every process, for ever."""

    shards: int

    def owner(self, url: str) -> int:
        """The shard that asks for a canonical URL."""
        return _owner_of_host(host_key(url), self.shards)

    def owner_of_address(self, address: str) -> int:
        """The shard that says who may ask an address next, whatever hosts are there."""
        return _part(f"address {address}", self.shards)


@lru_cache(maxsize=16_384)
def _owner_of_host(host: str, shards: int) -> int:
    return _part(registered_domain(f"http://{host}/").removesuffix("."), shards)


def _part(name: str, parts: int) -> int:
    """An even, stable choice; Python's own hash differs from process to process."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % parts
