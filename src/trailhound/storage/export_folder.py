"""A folder that an export fills, and the next export of the same kind renews."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from trailhound.errors import UsageError
from trailhound.storage.files import cannot_write, whole_file

MARKER = ".trailhound-export"
"""A file by which we know what we may overwrite; it names the kind of export."""

MAX_NAME_CHARS = 60
MAX_NAME_BYTES = 120
_NO_WORD = re.compile(r"[\W_]+")


class ExportFolder:
    """Write files into ``path``, in a ``with`` statement.

    The folder is made when it is missing. One that holds other things than an export of the same
    ``kind`` is refused with a UsageError. The sub-folders ``owned`` are ours: what an earlier
    export left there goes when all is written; whatever else a user has put there stays.
    """

    def __init__(self, path: Path, kind: str, owned: Sequence[str]) -> None:
        self._path = path
        self._kind = kind
        self._owned = owned
        self._written: set[Path] = set()

    def __enter__(self) -> Self:
        marker = self._path / MARKER
        try:
            self._check(marker)
            for name in self._owned:
                (self._path / name).mkdir(parents=True, exist_ok=True)
            marker.write_text(f"{self._kind}\n", "utf-8")
        except OSError as error:
            raise cannot_write(self._path, error) from error
        return self

    def _check(self, marker: Path) -> None:
        if marker.is_file() and marker.read_text("utf-8", "replace").strip() == self._kind:
            return
        if self._path.exists() and (not self._path.is_dir() or any(self._path.iterdir())):
            raise UsageError(
                f"{self._path} is not an empty folder, nor an earlier export as {self._kind}. Name "
                "a folder that does not exist yet, or empty it."
            )

    def write(self, name: str, content: bytes) -> None:
        """Write one file; ``name`` is of our making, with a slash before a name in a sub-folder."""
        path = self._path / name
        try:
            with whole_file(path, sync=False) as file:
                file.write(content)
        except OSError as error:
            raise cannot_write(path, error) from error
        self._written.add(path)

    def __exit__(self, error: object, *_: object) -> None:
        if error is not None:
            return
        for name in self._owned:
            for path in (self._path / name).iterdir():
                if path not in self._written and path.is_file():
                    path.unlink()


def file_stem(title: str, address: str) -> str:
    """A name that every system can have: words of the title, and a checksum of the address.

    It is the same in every export, whatever the rank of the page.
    """
    words = _NO_WORD.sub("-", unicodedata.normalize("NFC", title).lower())[:MAX_NAME_CHARS]
    words = words.encode("utf-8", "ignore")[:MAX_NAME_BYTES].decode("utf-8", "ignore").strip("-")
    checksum = hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{words}-{checksum}" if words else checksum
