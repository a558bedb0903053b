"""The chain of hops that one fetch walks, and the result it ends in."""

from __future__ import annotations

from http import HTTPStatus

from trailhound.fetching.base import NO_REQUEST_LEFT
from trailhound.fetching.client import Answer
from trailhound.fetching.robots_tags import read_robots_tags
from trailhound.records import Exchange, FetchResult, Outcome

_MAX_DETAIL_CHARS = 500  # servers have a say in it: addresses and broken headers are quoted


class Hops:
    """URLs from the one asked for to the present one, with what was answered on the way."""

    def __init__(self, url: str, product: str) -> None:
        self.urls = [url]
        self.remark = ""
        """Something worth saying about a fetched page."""
        self._product = product
        self._exchanges: list[Exchange] = []

    @property
    def last(self) -> str:
        """The present URL."""
        return self.urls[-1]

    def note(self, answer: Answer) -> None:
        """Keep what the archive wants of an answer."""
        if answer.exchange is not None:
            self._exchanges.append(answer.exchange)

    def result(self, outcome: Outcome, answer: Answer, detail: str = "") -> FetchResult:
        """What came of the last hop; without a ``detail``, the answer's own."""
        fetched = outcome is Outcome.FETCHED
        fallback = self.remark if fetched else status_in_words(answer.status)
        headers = answer.exchange.headers if answer.exchange is not None else ()
        wishes = [value for name, value in headers if name.lower() == "x-robots-tag"]
        tags = read_robots_tags(wishes, self._product)
        return FetchResult(
            url=self.urls[0],
            outcome=outcome,
            final_url=self.last,
            requests=self._requests(outcome),
            status=answer.status,
            content_type=answer.content_type,
            body=answer.body if fetched else b"",
            detail=(detail or answer.detail or fallback)[:_MAX_DETAIL_CHARS],
            headers=headers,
            exchanges=tuple(self._exchanges),
            noindex=tags.noindex,
            nofollow=tags.nofollow,
            retry_after_seconds=answer.retry_after_seconds,
        )

    def _requests(self, outcome: Outcome) -> int:
        # What was postponed was not asked for.
        return len(self.urls) - (outcome is Outcome.POSTPONED)


def redirect_to_nowhere(hops: Hops, answer: Answer) -> FetchResult:
    """The result of a redirect that names no place on the web."""
    if not answer.location:
        detail = f"{status_in_words(answer.status)}, without saying where to"
        return hops.result(Outcome.SERVER_ERROR, answer, detail)
    detail = f"redirects to {answer.location!r}, which is no web address"
    return hops.result(Outcome.OUT_OF_SCOPE, answer, detail)


def unfollowed_redirect(hops: Hops, answer: Answer) -> FetchResult:
    """The result of a redirect to the last URL, which there was no request left for."""
    return hops.result(Outcome.POSTPONED, answer, f"redirects to {hops.last}; {NO_REQUEST_LEFT}")


def status_in_words(status: int | None) -> str:
    """``HTTP 404 Not Found``."""
    try:
        return f"HTTP {status} {HTTPStatus(status or 0).phrase}"
    except ValueError:
        return f"HTTP {status}"
