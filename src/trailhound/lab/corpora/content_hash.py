"""A hash over structured content: the same on every machine, different for different content."""

from __future__ import annotations

import hashlib

import msgspec

_encoder = msgspec.msgpack.Encoder(order="deterministic")


class ContentHash:
    """Takes values one after the other."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, *values: object) -> None:
        """Take values of which MessagePack says where each ends: ("ab", "c") is not ("a", "bc")."""
        self._hash.update(_encoder.encode(values))

    def hexdigest(self) -> str:
        """The hash of all values so far."""
        return self._hash.hexdigest()
