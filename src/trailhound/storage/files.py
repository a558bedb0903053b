"""Files that are written wholly or not at all, and explained failures.

What is *durable when*: a write is in the system's hands when the call returns, so a killed process
loses nothing of it. A power cut may take what was written since the last :meth:`AppendFile.sync`.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from trailhound.errors import StorageError
from trailhound.utf8 import storable

OPEN_SUFFIX = ".open"
"""Ends the name of a file that is still written to, or whose writer was killed."""

PARTIAL_SUFFIX = ".partial"
"""Ends the name of a file that will replace another one when it is complete."""
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would turn line ends into its own


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn the system's errors into ones a user can act on."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} {_advice(error)} ({error.strerror or error})") from error


_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_AGAIN = "then try again (a crawl: with --resume)."
MAKE_ROOM = (
    "Make room, then try again (a crawl that had begun: with --resume; everything up to the last "
    "finished page is safe)."
)


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"cannot grow: the disk is full. {MAKE_ROOM}"
    if error.errno in _FORBIDDEN:
        return f"cannot be written. Check that you may write in its folder, {_AGAIN}"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"cannot be opened. Check that its folder exists, {_AGAIN}"
    if error.errno == errno.EISDIR:
        return "is a folder. Give the name of a file."
    if error.errno == errno.EEXIST:
        return "cannot be made: something of that name is there. Choose another name."
    return (
        "cannot be read or written. See that the disk is well, then try again (a crawl that had "
        "begun: with --resume; everything up to the last finished page is safe)."
    )


class AppendFile:
    """A file that grows by whole pieces; a piece that cannot be written leaves no trace.

    It must be new, unless it ``may_exist``: then it is added to.
    """

    def __init__(self, path: Path, *, may_exist: bool = False) -> None:
        self.path = path
        with explaining(path):
            self._file = path.open("ab" if may_exist else "xb", buffering=0)
            self.size = os.fstat(self._file.fileno()).st_size

    def append(self, piece: bytes) -> None:
        """Write all of ``piece``; after a failure the file is as it was before."""
        try:
            with explaining(self.path):
                rest = memoryview(piece)
                while rest:
                    rest = rest[self._file.write(rest) :]
        except BaseException:
            self.cut(self.size)
            raise
        self.size += len(piece)

    def cut(self, size: int) -> None:
        """Take back everything behind the first ``size`` bytes."""
        with explaining(self.path):
            self._file.truncate(size)
            self._file.seek(size)
        self.size = size

    def sync(self) -> None:
        """Put everything so far on the disk itself."""
        with explaining(self.path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let the file go; it is as it is."""
        self._file.close()

    def discard(self) -> None:
        """Leave nothing of it."""
        self.close()
        self.path.unlink(missing_ok=True)


@contextmanager
def whole_file(path: Path, *, sync: bool = True, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file to write to, which appears under its name, on the disk, when it is complete.

    After any error ``path`` is as it was before; an ``OSError`` is left to the caller to explain.
    Without ``sync`` a power cut within seconds may undo it. ``mode`` says who may read it, as far
    as the umask lets.
    """
    writer = f"{os.getpid()}-{threading.get_ident()}"  # several may write one file at once
    partial = path.with_name(f".{path.name}.{writer}{PARTIAL_SUFFIX}")
    try:
        opened = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, mode)
        with os.fdopen(opened, "wb") as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    if sync:
        _sync_folder(path.parent)


@contextmanager
def named_file(path: Path) -> Iterator[BinaryIO]:
    """A file that a person has named to be written, in whole as :func:`whole_file` does it.

    A link stays, and what it leads to is written. What is no file (a device, a named pipe) takes
    what it gets at once; so does stdout, by whatever name, which may hold something already.
    """
    if is_written_straight(path):
        descriptor = os.dup(1) if _is_stdout(path) else os.open(path, os.O_WRONLY | _BINARY)
        with os.fdopen(descriptor, "wb") as file:
            yield file
    else:
        with whole_file(Path(os.path.realpath(path))) as file:
            yield file


def is_written_straight(path: Path) -> bool:
    """Whether what has this name can be written to, but not be replaced."""
    return path.exists() and (_is_stdout(path) or not (path.is_file() or path.is_dir()))


def _is_stdout(path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(1), path.stat())
    except OSError:  # it is closed
        return False


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Give a crawl's file a new content: complete and on the disk, or as it was before."""
    with explaining(path), whole_file(path) as file:
        file.writelines(pieces)


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write a file in one go; its folder is made when it is missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, mode=mode) as file:
            file.write(content)
    except OSError as error:
        raise cannot_write(path, error) from error


def write_named(path: Path, content: bytes) -> None:
    """The same of a file that a person has named: see :func:`named_file`."""
    try:
        with named_file(path) as file:
            file.write(content)
    except OSError as error:
        raise cannot_write(path, error) from error


def write_private(path: Path, content: bytes) -> None:
    """The same, readable by its owner only from the first byte on: secrets."""
    write_whole(path, content, mode=0o600)


def cannot_write(path: Path, error: OSError) -> StorageError:
    """What to tell a user whose disk or folder refused a file."""
    remedy = "Free space"
    if error.errno in _FORBIDDEN:
        remedy = "Check that you may write there"
    elif error.errno == errno.ENOENT:
        remedy = "Check its name"
    elif error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR):
        remedy = "Something else has that name: move it"
    return StorageError(
        f"Cannot write {path}: {error.strerror or error}. {remedy}, or choose another place."
    )


def make_folder(path: Path) -> None:
    """Make a folder, unless it is there; StorageError where that cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def check_writable(folder: Path) -> None:
    """StorageError unless files can be made in a folder, which is made if need be."""
    make_folder(folder)
    if not os.access(folder, os.W_OK):
        raise cannot_write(folder, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def rename_file(path: Path, new_name: str) -> None:
    """Give a file that is on the disk its final name."""
    with explaining(path):
        path.replace(path.with_name(new_name))
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Put the names in ``folder`` on the disk. Windows does that by itself."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def json_of(value: object) -> bytes:
    """As JSON, whatever strangers have put into it: what UTF-8 cannot carry is replaced."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_storable_parts(msgspec.to_builtins(value)))


def _storable_parts(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_storable_parts(name): _storable_parts(each) for name, each in value.items()}
    return list(map(_storable_parts, value)) if isinstance(value, list | tuple) else value
