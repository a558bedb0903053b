"""Who crawls from this workspace, as sites are told: asked once, and remembered for all topics."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trailhound.errors import UNREADABLE
from trailhound.storage.files import write_whole

FILE_NAME = "contact.json"


class _Contact(msgspec.Struct):
    user_agent: str


def remembered_user_agent(workspace: Path) -> str:
    """What was given last; empty when nothing was, or it cannot be read."""
    try:
        content = (workspace / FILE_NAME).read_bytes()
        return msgspec.json.decode(content, type=_Contact).user_agent
    except (OSError, *UNREADABLE):
        return ""


def remember_user_agent(workspace: Path, user_agent: str) -> None:
    """Keep it for the next crawl, of any topic."""
    if user_agent != remembered_user_agent(workspace):
        write_whole(workspace / FILE_NAME, msgspec.json.encode(_Contact(user_agent)))
