"""What the options of the collaborative crawler mean, and which make no sense."""

from __future__ import annotations

from dataclasses import dataclass

from trailhound.errors import UsageError
from trailhound.models.collaborative.page_signatures import (
    NoSignatures,
    PageSignatures,
    TopicSignatures,
    WordSignatures,
)
from trailhound.sessions.topic_set import read_topic_set
from trailhound.sources import AccessTrace

SIGNATURES = ("words", "topics", "none")
DIVISORS = ("predicate", "user")


@dataclass(frozen=True)
class Habits:
    """How the crawl goes on, apart from the formulas."""

    threshold: float = 1.0
    """The interest ratio above which a page becomes a candidate."""
    min_pages: int = 100
    """Pages to crawl at least: until then, random pages of the trace fill an empty queue."""
    refresh: int = 100
    """Pages after which all waiting candidates are ranked again."""
    explore: float = 0.0
    """Share of fetches that go to random pages of the trace."""
    one_sample: bool = False
    """One random page at a time, as published."""


def needed_trace(trace: AccessTrace | None) -> AccessTrace:
    """The trace; UsageError when there is none."""
    if trace is None:
        raise UsageError(
            "The strategy 'collaborative' needs to know who visited what, and nothing here does. "
            "For a live crawl, name an access log with --trace FILE, or the topic's own sessions "
            "with --trace sessions. In the lab, take a recorded web with trails of many people, "
            "such as wikispeedia."
        )
    return trace


def page_signatures(kind: str, topics: str) -> PageSignatures:
    """What the options ask for."""
    if kind == "topics":
        if not topics:
            raise UsageError(
                "signatures=topics needs a set of topics: add topics=PATH, a folder of "
                "descriptions or a JSON file."
            )
        return TopicSignatures(read_topic_set(topics))
    return WordSignatures() if kind == "words" else NoSignatures()
