"""URLs that a user gives on the command line, in a file, or both."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def listed_urls(given: Sequence[str], file: Path | None, noun: str) -> list[str]:
    """All of them; comments (#) and empty lines of the file are left out, ``-`` is stdin."""
    urls = list(given)
    if file is not None:
        lines = (line.strip() for line in _read(file, noun).splitlines())
        urls += [line for line in lines if line and not line.startswith("#")]
    return urls


def _read(file: Path, noun: str) -> str:
    from trailhound.errors import UsageError

    try:
        if str(file) == "-":
            return sys.stdin.read()
        return file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The {noun} {file} cannot be read: {error}.") from error
