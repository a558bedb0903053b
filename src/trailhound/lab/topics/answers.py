"""What counts as found: the pages of a topic that the session did not show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trailhound.lab.corpora import Corpus
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.urls import canonicalize


@dataclass(frozen=True)
class Answers:
    """Pages to be found. Copies of one page are one answer, counted as the original."""

    originals: tuple[int, ...]
    """One page per answer, ascending."""
    copies: tuple[tuple[int, ...], ...]
    """For each answer, all pages that count as it, the original included."""

    def pages(self) -> frozenset[int]:
        """Originals and copies alike."""
        return frozenset(page for group in self.copies for page in group)


class AnswerKey:
    """Knows which recorded pages are copies of which."""

    def __init__(self, corpus: Corpus) -> None:
        self._originals = _originals(corpus)
        self._copies: dict[int, list[int]] = {}
        for copy, original in sorted(self._originals.items()):
            self._copies.setdefault(original, []).append(copy)

    def original(self, page: int) -> int:
        """The page itself, or what it is a copy of."""
        return self._originals.get(page, page)

    def answers(self, members: Iterable[int], shown: Iterable[int]) -> Answers:
        """The members of a topic but those shown; a page of which a copy was shown was shown."""
        known = {self.original(page) for page in shown}
        originals = sorted({self.original(page) for page in members} - known)
        copies = tuple((page, *self._copies.get(page, ())) for page in originals)
        return Answers(tuple(originals), copies)


def _originals(corpus: Corpus) -> Mapping[int, int]:
    """From the number of each copy to that of its original, where both are recorded."""
    pairs = (
        (corpus.page_id(copy), corpus.page_id(original))
        for copy, original in corpus.duplicates().items()
    )
    return {
        copy: original
        for copy, original in pairs
        if copy is not None and original is not None and copy != original
    }


def shown_pages(corpus: Corpus, session: Session) -> frozenset[int]:
    """Recorded pages that came up in a session, under whatever address."""
    shown: set[int] = set()
    for event in session.events:
        for url in _addresses(event):
            canonical = canonicalize(url)
            page = None if canonical is None else corpus.page_id(canonical)
            if page is not None:
                shown.add(page)
    return frozenset(shown)


def _addresses(event: object) -> list[str]:
    if isinstance(event, Visit):
        return [url for url in (event.url, event.requested_url) if url]
    return [event.url] if isinstance(event, Mark) else []
