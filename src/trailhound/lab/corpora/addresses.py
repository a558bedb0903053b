"""Which URLs a corpus knows, and where each of them leads."""

from __future__ import annotations

from typing import NamedTuple

from trailhound.fetching.replay import MAX_REDIRECTS


class OtherEntry(NamedTuple):
    """A recorded URL that is not a page's own address."""

    status: int
    """HTTP status; 0 when the server could not be reached."""
    target: str | None = None
    """Where it leads: by a redirect (status 3xx), or as another spelling of a page (status 200)."""
    content_type: str = ""

    @property
    def is_redirect(self) -> bool:
        """Asking for it costs a request and leads on."""
        return self.target is not None and 300 <= self.status < 400

    @property
    def is_alias(self) -> bool:
        """Asking for it brings the target's page at once."""
        return self.target is not None and not self.is_redirect

    @property
    def is_error(self) -> bool:
        """Asking for it fails."""
        return self.status == 0 or self.status >= 400


class AddressBook:
    """Pages by number, everything else by URL."""

    def __init__(self) -> None:
        self.pages: dict[str, int] = {}
        """Page numbers by URL, in order of number."""
        self.others: dict[str, OtherEntry] = {}

    def __contains__(self, url: object) -> bool:
        return url in self.pages or url in self.others

    def resolve(self, url: str) -> int | None:
        """The page that a visitor of ``url`` ends on; ``None`` for errors, loops, unknown URLs."""
        for _ in range(MAX_REDIRECTS + 1):
            number = self.pages.get(url)
            if number is not None:
                return number
            entry = self.others.get(url)
            if entry is None or entry.target is None:
                return None
            url = entry.target
        return None
