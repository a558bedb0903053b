"""What a page can be about: a subject with its words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    """The words of one subject, by the place they can take in a sentence."""

    key: str
    label: str
    things: tuple[str, ...]
    """Plural noun phrases: *brood frames*."""
    processes: tuple[str, ...]
    """Noun phrases without an article: *winter feeding*."""
    qualities: tuple[str, ...]
    """Adjectives that go with the things: *overwintered*."""
    settings: tuple[str, ...]
    """Where or when: *along field margins*."""
    activities: tuple[str, ...]
    """What people do: *counting fallen mites*."""
    neighbours: tuple[str, ...] = ()
    """Keys of subjects that share vocabulary with this one."""


def define(key: str, label: str, near: str, **words: str) -> Subject:
    """A subject whose word lists, and the list of neighbours, are comma-separated."""
    lists = {name: _split(text) for name, text in words.items()}
    return Subject(key=key, label=label, neighbours=_split(near), **lists)


def _split(text: str) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in text.split(","))
