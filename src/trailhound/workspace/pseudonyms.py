"""Names for people that do not tell who they are.

An address becomes a keyed hash. The key, a salt that never leaves the workspace, makes the same
address the same person in all imports; without it nobody can try out addresses.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Callable
from pathlib import Path

from trailhound.errors import StorageError
from trailhound.storage.files import write_whole

SALT_NAME = "address-salt"
_SALT_BYTES = 32


def pseudonyms(workspace: Path) -> Callable[[bytes], str]:
    """A function from addresses to names, with the workspace's own salt, made at the first use."""
    salt = _salt(workspace / SALT_NAME)

    def name_of(address: bytes) -> str:
        return "u" + hashlib.blake2b(address, key=salt, digest_size=8).hexdigest()

    return name_of


def _salt(path: Path) -> bytes:
    if not path.exists():
        write_whole(path, secrets.token_bytes(_SALT_BYTES))
        with contextlib.suppress(OSError):  # Windows, and file systems without permissions
            path.chmod(0o600)
    try:
        salt = path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(salt) != _SALT_BYTES:
        raise StorageError(
            f"{path} is damaged. Delete it; people in logs imported later get new names."
        )
    return salt
