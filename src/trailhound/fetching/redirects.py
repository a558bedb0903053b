"""Where an answer redirects to."""

from __future__ import annotations

import re

from trailhound.fetching.client import Answer
from trailhound.urls import canonicalize

REDIRECT_STATUSES = frozenset([301, 302, 303, 307, 308])

# Header bytes that were not UTF-8 arrive as lone surrogates: U+DC80 to U+DCFF.
_RAW_BYTE = re.compile("[\udc80-\udcff]")


def redirect_target(answer: Answer, url: str) -> str | None:
    """The canonical URL to which ``answer`` sends who asked for ``url``.

    ``None`` when it is no redirect, says no place, or names one that is not on the web.
    """
    if answer.status not in REDIRECT_STATUSES or not answer.location:
        return None
    # As browsers do: bytes of an old encoding are sent back escaped, as they are.
    location = _RAW_BYTE.sub(lambda raw: f"%{ord(raw[0]) - 0xDC00:02X}", answer.location)
    return canonicalize(location, base=url)
