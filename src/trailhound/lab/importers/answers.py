"""Servers' answers into a corpus, sorted as the live crawler sorts them."""

from __future__ import annotations

from trailhound.fetching.redirects import REDIRECT_STATUSES
from trailhound.lab.corpora.writer import CorpusWriter
from trailhound.web_archives.answers import ServerAnswer

# Answers to questions that a crawler never asks: part of a file, or nothing new.
_BESIDE_THE_POINT = frozenset([206, 304])


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
