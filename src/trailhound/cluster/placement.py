"""Which shard owns a URL, and which one gives out turns at an address.

Shards are virtual: their number is fixed when a crawl begins, and they move between machines as
wholes. All hosts under one registered domain are in the same shard, so that what a site redirects
to and links to most is at home, and its hosts are asked by one crawl.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from trailhound.urls import host_key, registered_domain

DEFAULT_SHARDS = 8
MAX_SHARDS = 1_000
_MAX_HOSTS = 16_384
"""Whose owners are remembered."""


@dataclass(frozen=True)
class Placement:
    """A web in so many shards, numbered from 0. The same in every process, for ever."""

    shards: int
    _owners: _Owners = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_owners", _Owners(self.shards))

    def owner(self, url: str) -> int:
        """The shard that asks for a canonical URL."""
        return self._owners[host_key(url)]

    def owner_of_address(self, address: str) -> int:
        """The shard that says who may ask an address next, whatever hosts are there."""
        return _part(f"address {address}", self.shards)


class _Owners(dict[str, int]):
    """By host. Every link is asked for, so that it is found out once."""

    def __init__(self, shards: int) -> None:
        super().__init__()
        self._shards = shards

    def __missing__(self, host: str) -> int:
        if len(self) >= _MAX_HOSTS:
            self.clear()
        owner = _part(registered_domain(f"http://{host}/").removesuffix("."), self._shards)
        self[host] = owner
        return owner


def _part(name: str, parts: int) -> int:
    """An even, stable choice; Python's own hash differs from process to process."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % parts
