"""Folders that are gone at once, and what an interruption has left of them."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from trailhound.errors import StorageError
from trailhound.storage.files import cannot_write

_LEFT_BEHIND = re.compile(r"\.(.+)\.\d+\.forgotten")


def remove_folder(path: Path) -> None:
    """At once to other programs, even if deleting takes long or is interrupted."""
    finish_removing(path.parent, path.name)
    if not path.exists():
        return
    doomed = path.with_name(f".{path.name}.{os.getpid()}.forgotten")
    try:
        path.rename(doomed)
    except OSError as error:
        raise cannot_write(path, error) from error
    _delete(doomed)


def finish_removing(parent: Path, name: str | None = None) -> None:
    """Delete what earlier removals in ``parent`` have left, of all folders or the one called so."""
    for doomed in left_behind(parent, name):
        _delete(doomed)


def left_behind(parent: Path, name: str | None = None) -> list[Path]:
    """What was to be deleted in ``parent``, and is there still."""
    found = ((path, _LEFT_BEHIND.fullmatch(path.name)) for path in parent.glob(".*.forgotten"))
    return [path for path, match in found if match and name in (None, match[1])]


def _delete(doomed: Path) -> None:
    try:
        shutil.rmtree(doomed)
    except FileNotFoundError:
        return  # another process is at it, too
    except OSError as error:
        raise StorageError(
            f"Cannot delete {error.filename}: {error.strerror or error}. Check that you may write "
            "in its folder, and give the command again: it goes on with what is left."
        ) from error
