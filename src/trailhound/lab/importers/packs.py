"""Files of a data pack: JSON lines and tab-separated tables, plain or compressed."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from trailhound.errors import UNREADABLE, CorpusError, UsageError

_Record = TypeVar("_Record", bound=msgspec.Struct)

_COMPRESSIONS = (".xz", ".gz", "")
_OPENERS: dict[str, Any] = {".xz": lzma.open, ".gz": gzip.open}
_READ_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)


class Pack:
    """A folder with a data set's files; naming one of the files works too."""

    def __init__(self, source: Path, contents: str) -> None:
        if not source.exists():
            raise UsageError(
                f"There is no file or folder {source}. Give the folder that holds {contents}."
            )
        self.folder = source if source.is_dir() else source.parent

    def required(self, name: str) -> Path:
        """The file ``name``, perhaps compressed; CorpusError lists what was found instead."""
        found = self.optional(name)
        if found is not None:
            return found
        names = sorted(entry.name for entry in self.folder.iterdir())
        listing = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise CorpusError(
            f"{self.folder} holds no {name}.xz (nor {name}.gz, nor {name}); "
            f"found: {listing or 'nothing'}. Give the folder that holds the data set."
        )

    def optional(self, pattern: str) -> Path | None:
        """The first file that matches ``pattern``, perhaps compressed, if there is one."""
        for compression in _COMPRESSIONS:
            for path in sorted(self.folder.glob(pattern + compression)):
                if path.is_file():
                    return path
        return None


def read_json_lines(path: Path, record_type: type[_Record]) -> Iterator[_Record]:
    """One record per line; unknown fields are ignored, blank lines too."""
    decoder = msgspec.json.Decoder(record_type)
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            yield decoder.decode(line)
        except UNREADABLE as error:
            raise CorpusError(
                f"{path}, line {number}, is not a record of this data set ({error}). "
                "Check that the right kind was named."
            ) from error


def read_table(path: Path) -> Iterator[list[str]]:
    """Tab-separated fields of every line but blank ones and comments (``#``)."""
    for line in _lines(path):
        text = line.decode("utf-8", errors="replace").rstrip("\r\n")
        if text.strip() and not text.startswith("#"):
            yield text.split("\t")


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as file:
            yield from file
    except _READ_ERRORS as error:
        raise CorpusError(
            f"Cannot read {path} to its end ({error}). The file is damaged or was cut short: "
            "fetch it again."
        ) from error
