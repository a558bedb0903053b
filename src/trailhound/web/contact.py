"""Who crawls from this workspace, as sites are told: asked once, and remembered for all topics."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trailhound.demo.crawl import DEMO_USER_AGENT
from trailhound.errors import UNREADABLE
from trailhound.storage.files import write_whole

FILE_NAME = "contact.json"


class _Contact(msgspec.Struct):
    user_agent: str


def remembered_user_agent(workspace: Path) -> str:
    """What was given last; empty when nothing was, or it cannot be read."""
    try:
        content = (workspace / FILE_NAME).read_bytes()
        return unless_made_up(msgspec.json.decode(content, type=_Contact).user_agent)
    except (OSError, *UNREADABLE):
        return ""


def remember_user_agent(workspace: Path, user_agent: str) -> None:
    """Keep it for the next crawl, of any topic; not that of the demo web, which is nobody's."""
    if unless_made_up(user_agent) and user_agent != remembered_user_agent(workspace):
        write_whole(workspace / FILE_NAME, msgspec.json.encode(_Contact(user_agent)))


def unless_made_up(user_agent: str) -> str:
    """Empty for the one of the demo web: real sites must not be told that they can reach it."""
    return "" if user_agent == DEMO_USER_AGENT else user_agent
