"""Archives of a cluster's shards, seen as one: the same files, under names that say the shard.

Files are linked, not copied: they take no room twice, and what a shard goes on to write is seen at
once. Only the lines of their indexes are copied, with the new names. Where a file system has no
such links, complete files are copied, and those that are still written to come later.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from trailhound.storage.cdxj import INDEX_NAME, PART_SUFFIX, write_part
from trailhound.storage.files import OPEN_SUFFIX, PARTIAL_SUFFIX, explaining, replace_file
from trailhound.storage.warc_repair import WARC_SUFFIX, gathered_name

_OPEN = WARC_SUFFIX + OPEN_SUFFIX


class GatheredArchive:
    """The whole crawl's archive in ``target``, to which those of shards are added."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._copied: dict[Path, int] = {}
        """Bytes of each growing index that are here."""

    def take(self, shard: str, source: Path) -> int:
        """Bring in what is new in a shard's archive; how many files were completed."""
        if not source.is_dir():
            return 0
        with explaining(self._target):
            self._target.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in source.glob(f"*{WARC_SUFFIX}*")}
        completed = 0
        for name in sorted(names):
            with suppress(FileNotFoundError):  # it gets its final name at this moment
                if name.endswith(WARC_SUFFIX):
                    completed += self._complete(shard, source / name)
                elif name.endswith(_OPEN):
                    self._grow(shard, source / name)
        self._drop_strays(shard, names)
        return completed

    def _complete(self, shard: str, path: Path) -> bool:
        here = self._target / gathered_name(path.name, shard)
        is_there = here.exists()
        if is_there and _is_same(path, here):
            return False
        if is_there:  # it was mended since
            self._drop_lines(here.name)
        part = path.name.removesuffix(WARC_SUFFIX) + PART_SUFFIX
        lines = list(_renamed(_lines_about(path), path.name, here.name))
        write_part(self._target / gathered_name(part, shard), lines)
        _bring(path, here)
        self._drop_open(here.name)
        return True

    def _grow(self, shard: str, path: Path) -> None:
        here = self._target / gathered_name(path.name, shard)
        if not here.exists() and not _link(path, here):
            return
        final = path.name.removesuffix(OPEN_SUFFIX)
        index = path.with_name(final.removesuffix(WARC_SUFFIX) + PART_SUFFIX + OPEN_SUFFIX)
        own = self._target / gathered_name(index.name, shard)
        renamed = gathered_name(final, shard)
        with index.open("rb") as lines, explaining(own), own.open("ab") as out:
            lines.seek(self._copied_of(own, len(renamed) - len(final)))
            new = lines.read()
            whole = new[: new.rfind(b"\n") + 1]
            out.writelines(_renamed(whole.splitlines(keepends=True), final, renamed))
            self._copied[own] += len(whole)

    def _copied_of(self, own: Path, longer: int) -> int:
        """Bytes of a shard's index that are in ``own``, whose lines are longer by some bytes."""
        if own not in self._copied:
            content = own.read_bytes() if own.exists() else b""
            self._copied[own] = max(0, len(content) - longer * content.count(b"\n"))
        return self._copied[own]

    def _drop_open(self, name: str) -> None:
        """A file is complete: what was linked while it grew is of no use any more."""
        index = self._target / (name.removesuffix(WARC_SUFFIX) + PART_SUFFIX + OPEN_SUFFIX)
        with explaining(self._target):
            (self._target / (name + OPEN_SUFFIX)).unlink(missing_ok=True)
            index.unlink(missing_ok=True)
        self._copied.pop(index, None)

    def _drop_strays(self, shard: str, names: set[str]) -> None:
        """Files that grew in a shard, and that are not there any more."""
        for path in self._target.glob(f"*.s{shard}{_OPEN}"):
            name = path.name.replace(f".s{shard}{_OPEN}", _OPEN)
            if name not in names:
                self._drop_open(path.name.removesuffix(OPEN_SUFFIX))

    def _drop_lines(self, name: str) -> None:
        index = self._target / INDEX_NAME
        if index.exists():
            replace_file(index, _lines_without(index, _about(name)))


def _lines_about(path: Path) -> Iterator[bytes]:
    """The index of a complete file: of its own, or as part of its archive's."""
    part = path.with_name(path.name.removesuffix(WARC_SUFFIX) + PART_SUFFIX)
    about = _about(path.name)
    for index in (part, path.with_name(INDEX_NAME)):
        with suppress(FileNotFoundError), index.open("rb") as lines:
            yield from (line for line in lines if about in line)


def _lines_without(index: Path, about: bytes) -> Iterator[bytes]:
    with index.open("rb") as lines:
        yield from (line for line in lines if about not in line)


def _about(name: str) -> bytes:
    return b'"filename":"%b"' % name.encode()


def _renamed(lines: Iterable[bytes], old: str, new: str) -> Iterator[bytes]:
    return (line.replace(_about(old), _about(new)) for line in lines)


def _is_same(path: Path, here: Path) -> bool:
    theirs, ours = path.stat(), here.stat()
    if theirs.st_ino == ours.st_ino and theirs.st_dev == ours.st_dev:
        return True
    return theirs.st_size == ours.st_size and ours.st_mtime_ns >= theirs.st_mtime_ns


def _bring(path: Path, here: Path) -> None:
    """Link a complete file, or copy it; one that is there is replaced."""
    partial = here.with_name(f".{here.name}{PARTIAL_SUFFIX}")
    with explaining(here):
        partial.unlink(missing_ok=True)
        if not _link(path, partial):
            shutil.copy2(path, partial)
        partial.replace(here)
        partial.unlink(missing_ok=True)  # two links of one file are left as they are


def _link(path: Path, here: Path) -> bool:
    try:
        os.link(path, here)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    return True
