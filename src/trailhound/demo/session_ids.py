"""Session ids in addresses: the server ignores them."""

from __future__ import annotations

import re

_SESSION_ID = re.compile(r"[?&](?:sid|PHPSESSID)=[0-9a-f]+\Z", re.ASCII)


def without_session_id(url: str) -> str:
    """``url`` without the session id at its end."""
    return _SESSION_ID.sub("", url)
