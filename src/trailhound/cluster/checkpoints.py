"""A shard's folder kept at an fsspec URL, so that any machine can go on with it.

::

    checkpoint = Checkpoint("s3://crawls/bees/007")
    epoch = checkpoint.fence.advance("node-7")   # the driver, before anybody opens the shard
    checkpoint.restore(folder, epoch)            # the new owner, into an empty folder
    checkpoint.save(folder, epoch)               # the owner, every some seconds, and at the end

Files are cut into chunks named by what they hold, so that only what is new is uploaded: of a
growing archive its new end, of a database the parts that have changed. A *manifest* says which
chunks make which file, and is written last: one that is there is complete. The stores of a crawl
are taken in the order opposite to that in which pages are written, so that a checkpoint is what a
kill at that moment would have left, and opening the shard makes up for it
(:mod:`trailhound.topics.runs.mending`).

What an owner has promised to others must be in a checkpoint first: links that it received are
durable only then, and are to be acknowledged only then.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from trailhound.cluster.places import Fence, Place
from trailhound.errors import UNREADABLE, StorageError
from trailhound.storage.files import OPEN_SUFFIX, PARTIAL_SUFFIX, explaining, write_whole
from trailhound.storage.warc_repair import WARC_SUFFIX
from trailhound.topics.crawls.status import CONTROL, STATUS

CHUNK_BYTES = 4 << 20
_MANIFESTS, _CHUNKS = "manifests", "chunks"
_RESTORED = "restored.json"
"""In a folder: which manifest it was last restored from."""
_SNAPSHOT = ".snapshot.db"
_LEFT_OUT = (".lock", "-wal", "-shm", PARTIAL_SUFFIX, STATUS, CONTROL, _RESTORED, _SNAPSHOT)
_FIRST = ("frontier.db", "strategy.bin")
_LAST = ("results.db", "log.jsonl")
_ARCHIVE = 20
"""Rank of what is neither; the archive is among it."""
_GROWING = (".jsonl", WARC_SUFFIX, WARC_SUFFIX + OPEN_SUFFIX)
_KEPT_MANIFESTS = 2
_SQLITE = b"SQLite format 3\0"


class _File(msgspec.Struct, frozen=True):
    name: str
    """Relative to the folder, with slashes."""
    size: int
    chunks: tuple[str, ...]


class _Manifest(msgspec.Struct, frozen=True):
    epoch: int
    serial: int
    files: tuple[_File, ...]
    is_closed: bool = False

    @property
    def name(self) -> str:
        return f"{_MANIFESTS}/{self.epoch:012d}-{self.serial:012d}.json"

    def chunks(self) -> set[str]:
        return {chunk for file in self.files for chunk in file.chunks}


class Saved(NamedTuple):
    """What a checkpoint took."""

    files: int
    bytes: int
    """Of all files."""
    uploaded: int
    """Bytes that were not there yet."""


class Checkpoint:
    """The checkpoints of one shard at ``url``, and the fence that guards them.

    One writer at a time is right; of two, the one with the lower epoch is refused, and what it may
    have uploaded is never restored.
    """

    def __init__(self, url: str) -> None:
        self.place = Place(url)
        self.fence = Fence(url)
        self.was_closed = False
        """Whether what was restored last had been closed in order."""
        self.uploaded = 0
        """Bytes that were written so far, also of a checkpoint that is being made."""
        self._last: _Manifest | None = None

    def exists(self) -> bool:
        """Whether there is anything to restore."""
        return bool(self.place.names(_MANIFESTS))

    def save(self, folder: Path, epoch: int, *, is_closed: bool = False) -> Saved:
        """Keep the folder as it is now, while its owner may write to it, unless it ``is_closed``.

        FencedError when the shard was given to another. After any error the last checkpoint holds.
        """
        self.fence.check(epoch)
        before = self._own(epoch)
        uploads = _Uploads(self.place, before, self._count)
        files = tuple(uploads.keep(folder, path) for path in _files_of(folder))
        (folder / _SNAPSHOT).unlink(missing_ok=True)
        self.fence.check(epoch)
        serial = before.serial + 1 if before.epoch == epoch else 0
        self._write(_Manifest(epoch, serial, files, is_closed))
        return Saved(len(files), sum(file.size for file in files), uploads.bytes)

    def _count(self, uploaded: int) -> None:
        self.uploaded += uploaded

    def restore(self, folder: Path, epoch: int | None = None) -> bool:
        """Bring the last checkpoint into ``folder``; whether there was one.

        A folder that was restored before is brought up to date, by what has changed. With an
        ``epoch`` the shard is taken over: earlier owners' checkpoints no longer count.
        """
        if epoch is not None:
            self.fence.check(epoch)
        found = self._latest()
        if found is None:
            return False
        have = _restored(folder)
        (folder / _RESTORED).unlink(missing_ok=True)
        try:
            for file in found.files:
                self._bring(folder, file, have)
            names = {file.name for file in found.files}
            # Whoever was killed while it copied has noted nothing down.
            for gone in (have.keys() | {name + OPEN_SUFFIX for name in names}) - names:
                (folder / gone).unlink(missing_ok=True)
                have.pop(gone, None)
        finally:
            _note_restored(folder, found, have)  # also after an error: the next one brings the rest
        self.was_closed = found.is_closed
        if epoch is not None:
            self._write(_Manifest(epoch, 0, found.files, found.is_closed))
        return True

    def _bring(self, folder: Path, file: _File, have: dict[str, tuple[str, ...]]) -> None:
        """Fetch a file, unless ``have`` knows that it is there; whatever happens, it knows then."""
        is_complete_now = file.name not in have and file.name + OPEN_SUFFIX in have
        if is_complete_now:
            have[file.name] = have.pop(file.name + OPEN_SUFFIX)
            with suppress(FileNotFoundError):
                (folder / (file.name + OPEN_SUFFIX)).replace(folder / file.name)
        before = have.pop(file.name, ())
        if (folder / file.name).is_file():
            have[file.name] = before[: _equal(file.chunks, before)]
        self._fetch(folder, file, before)
        have[file.name] = file.chunks

    def _own(self, epoch: int) -> _Manifest:
        """What the last checkpoint holds; nothing when there is none."""
        if self._last is None or self._last.epoch != epoch:
            self._last = self._latest()
        return self._last or _Manifest(epoch, -1, ())

    def _latest(self) -> _Manifest | None:
        """The highest that is whole: the last may be half written.

        StorageError when the store does not give one at the moment: an earlier one, or none, would
        be taken for all that there is.
        """
        for name in reversed(self.place.names(_MANIFESTS)):
            with suppress(*UNREADABLE):
                content = self.place.read(f"{_MANIFESTS}/{name}")
                return msgspec.json.decode(content, type=_Manifest)
        return None

    def _write(self, manifest: _Manifest) -> None:
        self.place.write(manifest.name, msgspec.json.encode(manifest))
        self._last = manifest
        self._tidy(manifest)

    def _tidy(self, manifest: _Manifest) -> None:
        """Remove what only checkpoints of this owner before the last need.

        The last two stay: a new owner may be restoring one of them at this moment.
        """
        names = self.place.names(_MANIFESTS)
        old = names[:-_KEPT_MANIFESTS]
        if not old or names[-1] != manifest.name.rpartition("/")[2]:
            return
        gone = self._chunks_in(old)
        for name in old:
            self.place.remove(f"{_MANIFESTS}/{name}")
        for chunk in gone - self._chunks_in(names[-_KEPT_MANIFESTS:]):
            self.place.remove(f"{_CHUNKS}/{chunk}")

    def _chunks_in(self, manifests: Iterable[str]) -> set[str]:
        found: set[str] = set()
        for name in manifests:
            with suppress(*UNREADABLE):
                content = self.place.read(f"{_MANIFESTS}/{name}")
                found |= msgspec.json.decode(content, type=_Manifest).chunks()
        return found

    def _fetch(self, folder: Path, file: _File, have: tuple[str, ...]) -> None:
        path = folder / file.name
        with explaining(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            is_there = path.is_file()
            first = _equal(file.chunks, have) if is_there else 0
            for beside in ("-wal", "-shm"):  # of a database as it was
                path.with_name(path.name + beside).unlink(missing_ok=True)
            if first == len(file.chunks) == len(have):
                return
            partial = path
            if is_there and not file.name.endswith(_GROWING):  # somebody may be reading it
                partial = path.with_name(path.name + PARTIAL_SUFFIX)
                shutil.copyfile(path, partial)
            with partial.open("r+b" if is_there else "w+b") as out:
                out.seek(first * CHUNK_BYTES)
                for chunk in file.chunks[first:]:
                    out.write(self._chunk(chunk))
                out.truncate(file.size)
            partial.replace(path)

    def _chunk(self, name: str) -> bytes:
        content = self.place.read(f"{_CHUNKS}/{name}")
        if sha256(content).hexdigest() != name:
            raise StorageError(
                f"{self.place.url}/{_CHUNKS}/{name} is damaged: it does not hold what was written. "
                "Restore that file from a copy of the store, or begin the crawl anew."
            )
        return content


class _Uploads:
    """Brings files to a place, chunk by chunk, unless ``before`` has them.

    ``tell`` hears how many bytes were written, each time.
    """

    def __init__(self, place: Place, before: _Manifest, tell: Callable[[int], None]) -> None:
        self.bytes = 0
        self._tell = tell
        self._place = place
        self._before = {_plain(file.name): file for file in before.files}
        self._known = before.chunks()

    def keep(self, folder: Path, path: Path) -> _File:
        name = path.relative_to(folder).as_posix()
        with explaining(path), _opened(path) as file:
            if file.read(len(_SQLITE)) == _SQLITE:
                path = _snapshot(path, folder / _SNAPSHOT)
        with explaining(path), _opened(path) as file:
            chunks = list(self._unchanged(file, name)) if name.endswith(_GROWING) else []
            file.seek(len(chunks) * CHUNK_BYTES)
            while content := file.read(CHUNK_BYTES):
                chunks.append(self._upload(content))
            return _File(name, file.tell(), tuple(chunks))

    def _unchanged(self, file: BinaryIO, name: str) -> Iterator[str]:
        """Whole chunks of a growing file that are there; the last of them is looked at."""
        before = self._before.get(_plain(name))
        whole = before.chunks[: before.size // CHUNK_BYTES] if before is not None else ()
        if whole:
            file.seek((len(whole) - 1) * CHUNK_BYTES)
            if sha256(file.read(CHUNK_BYTES)).hexdigest() == whole[-1]:
                yield from whole

    def _upload(self, content: bytes) -> str:
        name = sha256(content).hexdigest()
        if name not in self._known:
            self._place.write(f"{_CHUNKS}/{name}", content)
            self._known.add(name)
            self.bytes += len(content)
            self._tell(len(content))
        return name


def _files_of(folder: Path) -> Iterator[Path]:
    """In the order in which they are to be taken: what is written last comes first.

    The archive is looked for when all else was taken: a file of it may be begun meanwhile.
    """
    for are_stores in (True, False):
        found = (path for path in folder.rglob("*") if path.is_file())
        taken = (path for path in found if (_rank(path)[0] < _ARCHIVE) is are_stores)
        yield from sorted((p for p in taken if not p.name.endswith(_LEFT_OUT)), key=_rank)


def _rank(path: Path) -> tuple[int, str]:
    name = path.name
    if name in _FIRST:
        return _FIRST.index(name), name
    if name in _LAST:
        return 10 + _LAST.index(name), name
    return (5 if name.endswith(".db") else _ARCHIVE), name


def _opened(path: Path) -> BinaryIO:
    """A file of the archive may get its final name at this moment."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        return path.with_name(path.name.removesuffix(OPEN_SUFFIX)).open("rb")


def _snapshot(path: Path, copy: Path) -> Path:
    """A database as it is at one moment, its write-ahead log included."""
    copy.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
    except sqlite3.Error as error:
        raise StorageError(
            f"{path} cannot be copied for a checkpoint: {error}. Check the disk, then resume."
        ) from error
    return copy


def _plain(name: str) -> str:
    return name.removesuffix(OPEN_SUFFIX)


def _equal(some: Iterable[str], others: Iterable[str]) -> int:
    """How many first ones are the same."""
    pairs = zip(some, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _note_restored(folder: Path, found: _Manifest, have: dict[str, tuple[str, ...]]) -> None:
    sizes = {file.name: file.size for file in found.files}
    files = tuple(_File(name, sizes.get(name, 0), chunks) for name, chunks in have.items())
    noted = msgspec.structs.replace(found, files=files)
    with explaining(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / _RESTORED, msgspec.json.encode(noted))


def _restored(folder: Path) -> dict[str, tuple[str, ...]]:
    """What is in a folder that was restored before, by name."""
    with suppress(OSError, *UNREADABLE):
        found = msgspec.json.decode((folder / _RESTORED).read_bytes(), type=_Manifest)
        return {file.name: file.chunks for file in found.files}
    return {}
