"""Opening a corpus file, and saying exactly what is wrong with one that cannot be opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from trailhound.errors import CorpusError, UsageError
from trailhound.lab.corpora.schema import (
    APPLICATION_ID,
    FORMAT_VERSION,
    HEADER_BYTES,
    SQLITE_MAGIC,
)

_HOW_TO_MAKE_ONE = "Make one with: trailhound corpus import KIND PATH -o FILE"


def open_database(path: Path) -> sqlite3.Connection:
    """A read-only connection to the corpus at ``path``."""
    _check_header(path, *_read_header(path))
    try:
        # "immutable": nobody changes a finished corpus, so no locks and no journal are needed.
        return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error as error:
        raise damaged(path, error) from error


def damaged(path: Path, error: Exception) -> CorpusError:
    """The error for a corpus whose inside cannot be read."""
    return CorpusError(
        f"The corpus {path} is damaged ({error}). Copy it again from where it came, "
        "or import it again."
    )


def _read_header(path: Path) -> tuple[bytes, int]:
    """The first bytes of the file, and its size."""
    try:
        with path.open("rb") as file:
            return file.read(HEADER_BYTES), path.stat().st_size
    except FileNotFoundError as error:
        raise UsageError(f"There is no corpus at {path}. {_HOW_TO_MAKE_ONE}") from error
    except OSError as error:
        raise CorpusError(
            f"Cannot read the corpus {path}: {error.strerror}. "
            "Check the name and that you may read it."
        ) from error


def _check_header(path: Path, header: bytes, size: int) -> None:
    application_id = int.from_bytes(header[68:72], "big")
    if not header.startswith(SQLITE_MAGIC) or application_id != APPLICATION_ID:
        found = "it is empty" if not size else f"it starts with {header[:16]!r}"
        if header.startswith(SQLITE_MAGIC):
            found = "it is some other SQLite database"
        raise CorpusError(f"{path} is not a Trailhound corpus: {found}. {_HOW_TO_MAKE_ONE}")
    version = int.from_bytes(header[60:64], "big")
    if version > FORMAT_VERSION:
        raise CorpusError(
            f"The corpus {path} has format {version}, and this Trailhound reads formats up to "
            f"{FORMAT_VERSION}. Upgrade Trailhound, or import the corpus again with this one."
        )
    expected = _page_size(header) * int.from_bytes(header[28:32], "big")
    if size < expected:
        raise CorpusError(
            f"The corpus {path} is incomplete: {size:,} of {expected:,} bytes. "
            "Copy it again from where it came, or import it again."
        )


def _page_size(header: bytes) -> int:
    size = int.from_bytes(header[16:18], "big")
    return 65536 if size == 1 else size  # 65536 does not fit into two bytes
