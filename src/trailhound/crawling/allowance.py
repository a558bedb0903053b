"""Requests that a crawl may still make, however many fetches are in flight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable


class Allowance:
    """At most ``max_requests``, of which the crawl has ``spent()``; ``None`` is no limit.

    A fetch in flight has a request set aside for it, and asks for one more before it follows a
    redirect. What it has really made counts as spent when it is settled.
    """

    def __init__(self, max_requests: int | None, spent: Callable[[], int]) -> None:
        self._max_requests = max_requests
        self._spent = spent
        self._set_aside: Counter[str] = Counter()

    def left(self) -> int | None:
        """Requests that nobody has been promised; ``None`` without a limit."""
        if self._max_requests is None:
            return None
        return max(0, self._max_requests - self._spent() - self._set_aside.total())

    def begin(self, url: str) -> None:
        """Set a request aside for a new fetch."""
        self._set_aside[url] += 1

    def go_on(self, url: str) -> bool:
        """Set one more aside for this fetch; whether there was one."""
        if self.left() == 0:
            return False
        self._set_aside[url] += 1
        return True

    def settle(self, url: str) -> None:
        """This fetch is over; what it cost is counted elsewhere."""
        del self._set_aside[url]
