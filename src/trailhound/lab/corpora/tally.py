"""Counting what goes into a corpus while it is written."""

from __future__ import annotations

from collections import Counter

from trailhound.lab.corpora.preparation import PreparedPage
from trailhound.lab.corpora.trails import Trail


class Tally:
    """Running counts for ``corpus info``."""

    def __init__(self) -> None:
        self.languages: Counter[str] = Counter()
        self.html_bytes = 0
        self.trails = 0
        self.trails_finished = 0
        self.users: set[str] = set()
        self.sessions: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()

    def count_page(self, page: PreparedPage) -> None:
        """One more page."""
        self.languages[page.language] += 1
        self.html_bytes += page.source_length

    def count_trail(self, trail: Trail) -> None:
        """One more trail."""
        self.trails += 1
        self.trails_finished += trail.finished
        self.users.add(trail.user)

    def skipped_notes(self) -> tuple[str, ...]:
        """What was left out, how often and why."""
        return tuple(f"{count} × {reason}" for reason, count in sorted(self.skipped.items()))
