"""From rows of the ``url`` table to candidates, and back."""

from __future__ import annotations

from typing import Any

from trailhound.records import Candidate

READ = (
    "SELECT u.number, u.site, u.path, u.priority, u.parent, u.depth, u.memory, p.site, p.path "
    "FROM url AS u LEFT JOIN url AS p ON p.number = u.parent "
)
"""What :meth:`SiteNames.candidate` takes; a ``WHERE`` clause is to follow."""


class SiteNames:
    """The names of the hosts by number: the part of a URL that is stored once per host."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def append(self, host: str) -> None:
        """Name the next host."""
        self._names.append(host)

    def split(self, url: str, host_number: int) -> tuple[int, str]:
        """``site`` and ``path`` of a canonical URL."""
        https = url.startswith("https")
        start = len("https://" if https else "http://") + len(self._names[host_number])
        return 2 * host_number + https, url[start:]

    def join(self, site: int, path: str) -> str:
        """The URL."""
        return ("https://" if site & 1 else "http://") + self._names[site >> 1] + path

    def candidate(self, row: tuple[Any, ...]) -> tuple[str, Candidate | None]:
        """A row's URL and, unless it was never queued, its candidate."""
        _, site, path, priority, parent, depth, memory, parent_site, parent_path = row
        url = self.join(site, path)
        if priority is None:
            return url, None
        if parent_site is not None:
            parent = self.join(parent_site, parent_path)
        return url, Candidate(url, priority, memory, parent, depth)
