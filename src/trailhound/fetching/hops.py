"""One fetch on its way: the URLs that it has come along, what they answered, and how it ends."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus

from trailhound.fetching.client import Answer
from trailhound.fetching.headers import robots_tags_of
from trailhound.fetching.login_pages import login_wanted_at
from trailhound.media_types import document_kind
from trailhound.records import Exchange, FetchResult, Outcome

_MAX_DETAIL_CHARS = 500  # servers have a say in it: addresses and broken headers are quoted


class Hops:
    """URLs from the one asked for to the present one, with what was answered on the way.

    With ``keeps_parts``, the result of a body that could not be read to its end has what was read.
    """

    def __init__(self, url: str, product: str, *, keeps_parts: bool = False) -> None:
        self.urls = [url]
        self._keeps_parts = keeps_parts
        self.shown: dict[str, dict[str, str]] = {}
        """What each URL, when it was last asked for, was shown of the person."""
        self._repeated = 0
        self.remark = ""
        """Something worth saying about a fetched page."""
        self._product = product
        self._exchanges: list[Exchange] = []

    @property
    def last(self) -> str:
        """The present URL."""
        return self.urls[-1]

    def note(self, answer: Answer) -> None:
        """Keep what the archive wants of an answer, and count what it cost."""
        self._repeated += answer.was_repeated
        if answer.exchange is not None:
            self._exchanges.append(answer.exchange)

    def result(self, outcome: Outcome, answer: Answer, detail: str = "") -> FetchResult:
        """What came of the last hop; without a ``detail``, the answer's own."""
        fetched = outcome is Outcome.FETCHED
        fallback = self._remark_on(answer) if fetched else status_in_words(answer.status)
        headers = answer.exchange.headers if answer.exchange is not None else ()
        tags = robots_tags_of(headers, self._product)
        return FetchResult(
            url=self.urls[0],
            outcome=outcome,
            final_url=self.last,
            # What was postponed was not asked for, as a rule.
            requests=len(self.urls)
            + self._repeated
            - (outcome is Outcome.POSTPONED and not answer.was_sent),
            status=answer.status,
            content_type=answer.content_type,
            body=answer.body if fetched or (self._keeps_parts and answer.succeeded) else b"",
            detail=(detail or answer.detail or fallback)[:_MAX_DETAIL_CHARS],
            headers=headers,
            exchanges=tuple(self._exchanges),
            noindex=tags.noindex,
            nofollow=tags.nofollow,
            retry_after_seconds=answer.retry_after_seconds,
        )

    def _remark_on(self, answer: Answer) -> str:
        kind = document_kind(answer.body, answer.content_type)
        told = f"it was read as {kind.in_words}" if kind is not None else ""
        return "; ".join(filter(None, (self.remark, told)))

    def redirected_nowhere(self, answer: Answer) -> FetchResult:
        """The result of a redirect that names no place on the web."""
        if not answer.location:
            detail = f"{status_in_words(answer.status)}, without saying where to"
            return self.result(Outcome.SERVER_ERROR, answer, detail)
        detail = f"redirects to {answer.location!r}, which is no web address"
        return self.result(Outcome.OUT_OF_SCOPE, answer, detail)

    def login_wanted(self, answer: Answer, why: str) -> FetchResult:
        """The result of a page that only those may read who have logged in."""
        detail = login_wanted_at(self.last, why)
        return self.result(Outcome.LOGIN_WANTED, replace(answer, retry_after_seconds=None), detail)

    def unfollowed(self, answer: Answer, why: str) -> FetchResult:
        """The result of a redirect to the last URL, which is not asked for here and now."""
        detail = f"redirects to {self.last}; {why}"
        return self.result(Outcome.POSTPONED, answer, detail)


def status_in_words(status: int | None) -> str:
    """``HTTP 404 Not Found``."""
    try:
        return f"HTTP {status} {HTTPStatus(status or 0).phrase}"
    except ValueError:
        return f"HTTP {status}"
