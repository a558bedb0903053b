"""Servers' answers into a corpus, sorted as the live crawler sorts them."""

from __future__ import annotations

from typing import NamedTuple

from trailhound.fetching.media_types import is_html_type, looks_like_html
from trailhound.fetching.redirects import REDIRECT_STATUSES
from trailhound.lab.corpora.writer import CorpusWriter

# Answers to questions that a crawler never asks: part of a file, or nothing new.
_BESIDE_THE_POINT = frozenset([206, 304])


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


def record_answer(answer: ServerAnswer, writer: CorpusWriter) -> bool:
    """Record a page, a redirect, an error or a file; ``True`` for a new page."""
    if answer.status < 200 or answer.status in _BESIDE_THE_POINT:
        writer.skip(f"answer with status {answer.status}")
    elif answer.is_page:
        content_type = answer.content_type or "text/html"
        return writer.add_page(answer.url, answer.body, content_type, answer.status)
    elif answer.status in REDIRECT_STATUSES and answer.location:
        writer.add_redirect(answer.url, answer.location, answer.status)
    else:
        writer.add_error(answer.url, answer.status, answer.content_type)
    return False
