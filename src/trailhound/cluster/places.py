"""Files at an fsspec URL: a shared folder (``file:///…``), ``s3://…``, ``gs://…``, ``memory://…``.

A few whole-file operations, which every kind of store has, with errors that a user can act on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from trailhound.errors import StorageError, UsageError


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
