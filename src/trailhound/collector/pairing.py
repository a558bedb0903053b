"""The secret that the collector and the user's browsers share, and which browsers have it.

It is kept in the workspace, readable by the user only, so that a browser stays paired when the
collector starts again.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trailhound.errors import StorageError
from trailhound.storage.files import write_whole

FILE_NAME = "collector.json"
MAX_BROWSERS = 50
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_GROUPS, _GROUP_LENGTH = 4, 5
"""Twenty letters of five bits: 100 bits cannot be guessed."""
_EXTENSION_ORIGIN = re.compile(r"chrome-extension://[a-p]{32}|moz-extension://[0-9a-f-]{36}")


class _Stored(msgspec.Struct):
    token: str
    origins: list[str] = []


def is_extension_origin(origin: str) -> bool:
    """Whether a browser names an extension, not a page, as the origin of a request."""
    return _EXTENSION_ORIGIN.fullmatch(origin) is not None


@dataclass
class Pairing:
    """A token and the extensions that have shown it."""

    path: Path
    token: str
    origins: list[str]

    def code(self, port: int) -> str:
        """What the user copies into the popup: port and token."""
        return f"{port}-{self.token}"

    def knows(self, token: str) -> bool:
        """Whether this is the token; takes as long for a near miss as for a far one."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def is_paired(self, origin: str) -> bool:
        """Whether the extension at ``origin`` was paired."""
        return origin in self.origins

    def add(self, origin: str) -> None:
        """Remember an extension that has shown the token; the oldest of very many is dropped."""
        if origin not in self.origins:
            self.origins = [*self.origins, origin][-MAX_BROWSERS:]
            self.save()

    def save(self) -> None:
        """Keep it for the next start, readable by its owner only."""
        before = os.umask(0o077)
        try:
            write_whole(self.path, msgspec.json.encode(_Stored(self.token, self.origins)))
        finally:
            os.umask(before)


def load_pairing(workspace: Path, *, new: bool = False) -> Pairing:
    """The workspace's pairing, made now if there is none; ``new`` unpairs all browsers."""
    path = workspace / FILE_NAME
    try:
        if not new and path.exists():
            stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
            return Pairing(path, stored.token, stored.origins)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StorageError(
            f"{path} cannot be read ({error}). Delete it, and pair your browsers again."
        ) from error
    pairing = Pairing(path, _new_token(), [])
    pairing.save()
    return pairing


def _new_token() -> str:
    groups = (
        "".join(secrets.choice(_ALPHABET) for _ in range(_GROUP_LENGTH)) for _ in range(_GROUPS)
    )
    return "-".join(groups)
