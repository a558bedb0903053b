"""Who may write a shard: whoever was given its highest *epoch*, and nobody else.

A worker that is believed dead may only be slow. Before another one opens its shard, the driver
raises the shard's epoch; the slow one then finds that its own is no longer the highest, and stops
before it writes, uploads or sends anything more.

::

    fence = Fence(place_of_the_shard)
    epoch = fence.advance("node-7")     # the driver, before an actor may open the shard
    fence.check(epoch)                  # the actor, before each page, batch and checkpoint

An epoch is a file whose name is its number: a name appears at once or not at all, on every kind of
store, and none is ever written twice.
"""

from __future__ import annotations

from trailhound.cluster.places import Place
from trailhound.errors import StorageError

_FOLDER = "epochs"
_DIGITS = 12


class FencedError(StorageError):
    """A writer is too late: its shard has been given to another."""


class Fence:
    """The epochs of one shard, below ``url``: the shard's folder, or where it is checkpointed.

    Asking lists a small folder: some 50 µs on a file system, some 50 ms in an object store. Where
    that is too long, ask at checkpoints only, and let receivers of batches refuse an epoch below
    the highest that they have seen of a sender.
    """

    def __init__(self, url: str) -> None:
        self._place = Place(url)

    def current(self) -> int:
        """The highest epoch so far; 0 when nobody was given any."""
        return max(map(_number, self._place.names(_FOLDER)), default=0)

    def owner(self) -> str:
        """Whoever was given the highest epoch; empty when nobody was."""
        epoch = self.current()
        return self._place.read(_name(epoch)).decode("utf-8", "replace") if epoch else ""

    def advance(self, owner: str = "") -> int:
        """Give the shard to another: the new epoch. Only the driver does so, one at a time."""
        epoch = self.current() + 1
        self._place.write(_name(epoch), owner.encode())
        for name in self._place.names(_FOLDER):
            if _number(name) < epoch - 1:
                self._place.remove(f"{_FOLDER}/{name}")
        return epoch

    def check(self, epoch: int) -> None:
        """FencedError when ``epoch`` is not the highest."""
        current = self.current()
        if epoch != current:
            raise FencedError(
                f"The shard at {self._place.url} was given to another worker (epoch {current}; "
                f"this one has {epoch}). Nothing is written here any more; the crawl goes on there."
            )


def _name(epoch: int) -> str:
    return f"{_FOLDER}/{epoch:0{_DIGITS}d}"


def _number(name: str) -> int:
    return int(name) if name.isdigit() else 0
