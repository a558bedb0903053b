"""Which URLs are asked for again, and why their hosts are left alone until then."""

from __future__ import annotations

from collections import Counter

from trailhound.records import Candidate, FetchResult, Outcome
from trailhound.urls import host_key

MAX_ATTEMPTS = 3
"""Requests for one URL whose server asks to come back later."""


class Attempts:
    """Counts the requests for URLs that come again."""

    def __init__(self) -> None:
        self._requested: Counter[str] = Counter()
        self.put_off: dict[str, str] = {}
        """Why hosts are to be asked again later; those that have answered since are gone."""

    def comes_again(self, candidate: Candidate, result: FetchResult) -> bool:
        """Whether the server, or a host's delay, asks us to try this URL later."""
        url, host = candidate.url, host_key(candidate.url)
        if result.retry_after_seconds is None:
            self.put_off.pop(host, None)
            del self._requested[url]
            return False
        if result.requests:  # a wait that sent nothing is no attempt
            self._requested[url] += 1
        if self._requested[url] < MAX_ATTEMPTS:
            self._put_off(host, result)
            return True
        del self._requested[url]
        return False

    def _put_off(self, host: str, result: FetchResult) -> None:
        if result.outcome is Outcome.POSTPONED:  # says less than what it was put off for
            self.put_off.setdefault(host, result.detail)
        else:
            self.put_off[host] = result.detail
