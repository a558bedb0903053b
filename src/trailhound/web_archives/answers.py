"""One server's answer to one request, wherever it was recorded."""

from __future__ import annotations

from typing import NamedTuple

from trailhound.fetching.media_types import is_html_type, looks_like_html


class ServerAnswer(NamedTuple):
    """What a server said to one request."""

    url: str
    status: int
    content_type: str = ""
    location: str = ""
    """Where a redirect leads."""
    body: bytes = b""

    @property
    def is_page(self) -> bool:
        """A successful answer with HTML in it."""
        if not 200 <= self.status < 300:
            return False
        if self.content_type:
            return is_html_type(self.content_type)
        return looks_like_html(self.body)
