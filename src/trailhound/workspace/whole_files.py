"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import os
from pathlib import Path

from trailhound.errors import StorageError


def write_whole(path: Path, content: bytes) -> None:
    """Write under a temporary name beside ``path`` and rename; StorageError when that fails."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> StorageError:
    """What to tell a user whose disk or folder refused a file."""
    return StorageError(
        f"Cannot write {path}: {error.strerror or error}. Free space, or choose another place."
    )
