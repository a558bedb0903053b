"""A folder that an export fills, and the next export of the same kind renews."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from trailhound.errors import UsageError
from trailhound.storage.files import cannot_write, whole_file

MARKER = ".trailhound-export"
"""A file by which we know what we may overwrite: the kind of export, and its files, in lines."""

_OUR_NAMES = re.compile(
    r"site\.js|(terms|pages)-\d+\.js|\d+\.html|([\w-]+-)?[0-9a-f]{12}\.(md|txt)"
)
"""What files in sub-folders are called, for exports that have no list of them yet."""

MAX_NAME_CHARS = 60
MAX_NAME_BYTES = 120
_NO_WORD = re.compile(r"[\W_]+")


class ExportFolder:
    """Write files into ``path``, in a ``with`` statement.

    The folder is made when it is missing. One that holds other things than an export of the same
    ``kind`` is refused with a UsageError. What an earlier export has left in the sub-folders
    ``owned`` goes when all is written; whatever a user has put anywhere stays.
    """

    def __init__(self, path: Path, kind: str, owned: Sequence[str]) -> None:
        self._path = path
        self._marker = path / MARKER
        self._kind = kind
        self._owned = owned
        self._earlier: set[str] = set()
        self._written: set[str] = set()

    def __enter__(self) -> Self:
        self._check()
        with _explaining(self._path):
            self._path.mkdir(parents=True, exist_ok=True)
            self._earlier = self._written_earlier()
            self._mark(self._earlier)  # first, lest a full disk leave a folder that is refused
            for name in self._owned:
                (self._path / name).mkdir(exist_ok=True)
        return self

    def _check(self) -> None:
        with _explaining(self._path):
            lines = self._marker_lines()
            is_free = not self._path.exists() or (
                self._path.is_dir() and not any(self._path.iterdir())
            )
        if lines[:1] != [self._kind] and not is_free:
            raise UsageError(
                f"{self._path} is not an empty folder, nor an earlier export as {self._kind}. Name "
                "a folder that does not exist yet, or empty it."
            )

    def _marker_lines(self) -> list[str]:
        return (
            self._marker.read_text("utf-8", "replace").splitlines()
            if self._marker.is_file()
            else []
        )

    def _written_earlier(self) -> set[str]:
        """Names of files in the sub-folders that are ours."""
        lines = self._marker_lines()
        if len(lines) > 1:
            return {line for line in lines[1:] if self._is_owned(line)}
        return {
            f"{name}/{path.name}"
            for name in self._owned
            for path in (self._path / name).glob("*")
            if _OUR_NAMES.fullmatch(path.name)
        }

    def _is_owned(self, name: str) -> bool:
        folder, _, file = name.partition("/")
        return folder in self._owned and file not in ("", "..") and "/" not in file

    def _mark(self, names: Iterable[str]) -> None:
        with whole_file(self._marker, sync=False) as file:
            file.writelines(f"{line}\n".encode() for line in (self._kind, *sorted(names)))

    def write(self, name: str, content: bytes) -> None:
        """Write one file; ``name`` is of our making, with a slash before a name in a sub-folder."""
        path = self._path / name
        with _explaining(path):
            if name not in self._earlier:  # known before it is there, should we be killed
                with self._marker.open("ab") as marker:
                    marker.write(f"{name}\n".encode())
            with whole_file(path, sync=False) as file:
                file.write(content)
        self._written.add(name)

    def __exit__(self, error: object, *_: object) -> None:
        if error is not None:
            return
        with _explaining(self._path):
            for name in self._earlier - self._written:
                (self._path / name).unlink(missing_ok=True)
            self._mark(self._written)


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


def file_stem(title: str, address: str) -> str:
    """A name that every system can have: words of the title, and a checksum of the address.

    It is the same in every export, whatever the rank of the page.
    """
    words = _NO_WORD.sub("-", unicodedata.normalize("NFC", title).lower())[:MAX_NAME_CHARS]
    words = words.encode("utf-8", "ignore")[:MAX_NAME_BYTES].decode("utf-8", "ignore").strip("-")
    checksum = hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{words}-{checksum}" if words else checksum
