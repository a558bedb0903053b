"""Finding WARC files: single ones, folders of them, and WACZ packages (zip files of WARCs)."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from trailhound.errors import CorpusError, UsageError

_WARC_ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".warc.lz4")
_PACKAGE_ENDING = ".wacz"

# Pages deflate to a fifth, WARC files that are compressed already not at all.
_MAX_UNPACKING = 200
_HARMLESS_BYTES = 50_000_000


@dataclass(frozen=True)
class Archive:
    """One WARC file, on disk or inside a package."""

    name: str
    """For messages."""
    open: Callable[[], IO[bytes]]


def find_archives(source: Path) -> Iterator[Archive]:
    """All archives at ``source``, in order of name."""
    if source.is_dir():
        paths = [path for path in sorted(source.rglob("*")) if _looks_like_archive(path)]
        if not paths:
            endings = ", ".join((*_WARC_ENDINGS, _PACKAGE_ENDING))
            raise CorpusError(
                f"The folder {source} holds no web archive (files ending in {endings}). "
                "Give a folder with such files, or one file."
            )
    elif source.is_file():
        paths = [source]
    else:
        raise UsageError(
            f"There is no file or folder {source}. Give a WARC file, a WACZ file, or a folder."
        )
    for path in paths:
        yield from _archives_in(path)


def _looks_like_archive(path: Path) -> bool:
    name = path.name.lower()
    return path.is_file() and name.endswith((*_WARC_ENDINGS, _PACKAGE_ENDING))


def _archives_in(path: Path) -> Iterator[Archive]:
    members = _members(path)
    for member in members:
        yield Archive(f"{path.name}/{member}", partial(_open_member, path, member))
    if not members:
        yield Archive(path.name, partial(_open_file, path))


def _members(path: Path) -> list[str]:
    """The WARC files inside a package; none when it is no package."""
    try:
        with zipfile.ZipFile(path) as package:
            names = package.namelist()
    except (zipfile.BadZipFile, OSError):
        return []
    return sorted(name for name in names if name.lower().endswith(_WARC_ENDINGS))


def is_zip_bomb(member: zipfile.ZipInfo) -> bool:
    """Whether a file in a package unpacks to far more than any archive does."""
    limit = max(_HARMLESS_BYTES, _MAX_UNPACKING * member.compress_size)
    return member.file_size > limit


def _open_file(path: Path) -> IO[bytes]:
    return path.open("rb")


def _open_member(path: Path, member: str) -> IO[bytes]:
    package = zipfile.ZipFile(path)
    if is_zip_bomb(package.getinfo(member)):
        package.close()
        raise OSError("it would unpack to far more than any web archive does")
    # The open file keeps the package open until it is closed itself.
    return package.open(member)
