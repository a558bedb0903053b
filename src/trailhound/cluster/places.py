"""Where a shard is kept, and who may write there: whoever has its highest *epoch*, nobody else.

A place is an fsspec URL: a shared folder (``file:///…``), ``s3://…``, ``gs://…``, ``memory://…``,
with a few whole-file operations that every kind of store has, and errors that a user can act on.

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

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from trailhound.errors import StorageError, UsageError
from trailhound.storage.files import explaining


class Place:
    """A folder at ``url``; a plain path is one, too. UsageError when its kind cannot be used."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise UsageError(
                f"{url} is reached by the package fsspec, which is not installed. Install it with: "
                "pip install 'trailhound[cluster]'"
            ) from None
        try:
            self._files, root = url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise UsageError(
                f"{url} cannot be used: {error}. Install the package that this kind of address "
                "needs, such as s3fs or gcsfs, or take a folder: file:///…"
            ) from error
        self._root: str = root.rstrip("/")

    def __truediv__(self, name: str) -> Place:
        return Place(f"{self.url}/{name}")

    def names(self, folder: str = "") -> list[str]:
        """Names of the files directly in a folder below, sorted; none where there is no folder."""
        path = self._path(folder)
        with self._explaining(folder):
            self._files.invalidate_cache(path)  # others write there
            try:
                found: list[Any] = self._files.ls(path, detail=False)
            except FileNotFoundError:
                return []
        return sorted(name.rstrip("/").rpartition("/")[2] for name in found)

    def read(self, name: str) -> bytes:
        """The content of a file; StorageError when it is not there."""
        with self._explaining(name):
            content: bytes = self._files.cat_file(self._path(name))
            return content

    def write(self, name: str, content: bytes) -> None:
        """Make a file, or replace it. Readers may see half of it on some kinds of stores."""
        path = self._path(name)
        with self._explaining(name):
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(path, content)

    def remove(self, name: str) -> None:
        """Leave nothing of a file, if there is one."""
        with self._explaining(name), suppress(FileNotFoundError):
            self._files.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    @contextmanager
    def _explaining(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(
                f"{self.url}/{name} cannot be read or written ({error.strerror or error}). Check "
                "the address, your access to it and the room there, then resume the crawl."
            ) from error


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


LOOK_EVERY_SECONDS = 1.0
"""Between two looks, page by page, whether a shard was given to another."""


class Epoch:
    """Of one opening of a shard, behind its :class:`~trailhound.cluster.places.Fence`.

    Whoever opens a shard claims a new one, and every earlier holder is out: it finds that before
    the next batch that it sends, and within a second of pages. (The lock of the shard's folder
    keeps the new holder out until then, where the file system has locks.)
    """

    def __init__(self, fence: Fence, number: int) -> None:
        self.number = number
        self._fence = fence
        self._looked_at = time.monotonic()

    @classmethod
    def claim(cls, folder: Path, owner: str = "", kept_at: str = "") -> Epoch:
        """Open a shard's folder; ``kept_at`` is where it is kept, if that is elsewhere."""
        with explaining(folder):
            folder.mkdir(parents=True, exist_ok=True)
        fence = Fence(kept_at or str(folder))
        return cls(fence, fence.advance(owner))

    def check(self) -> None:
        """FencedError when another process has opened the shard since."""
        self._looked_at = time.monotonic()
        self._fence.check(self.number)

    def check_now_and_then(self) -> None:
        """The same, once in a second at most."""
        if time.monotonic() - self._looked_at >= LOOK_EVERY_SECONDS:
            self.check()
