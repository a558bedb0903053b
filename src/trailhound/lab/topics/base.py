"""What all sources of topics share: limits, draws, trying candidates and saying why some fail."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from trailhound.errors import TopicError, UsageError, unknown_name
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics.assembly import Assembler, Draft, LabTopic

Item = TypeVar("Item")

FEW_PAGES = 100
"""A walk with fewer distinct pages looks around for more."""
COMFORTABLE_PAGES = 150
"""Distinct pages at which a session has shown enough."""
MAX_PAGES = 200
MAX_TARGETS = 30
MIN_TARGETS = 3
"""Fewer pages marked useful teach nothing general."""
MIN_RELEVANT = 10
"""Fewer pages to find make a curve of steps."""
MIN_FINDABLE = 5
"""At least so many of them must be in reach of some seeds."""


def most_targets(n_pages: int) -> int:
    """How many of a topic's pages a session may show: half of them, at most ``MAX_TARGETS``."""
    return min(MAX_TARGETS, n_pages // 2)


def generator_for(seed: int, *names: str) -> np.random.Generator:
    """A generator that is the same for the same arguments in every process and on every machine.

    Python's own ``hash`` of a string changes from process to process; a digest does not.
    """
    digest = hashlib.blake2b(repr((seed, names)).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def shuffled(items: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    """The items in random order; the argument is left alone."""
    return [items[int(position)] for position in rng.permutation(len(items))]


class TopicSource(ABC):
    """Makes topics for one corpus; decides from it which of its candidates are usable."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._assembler = Assembler(corpus)

    def close(self, beginnings: Sequence[str]) -> None:
        """Pages whose URLs begin so exist for no session and no crawl. Before anything is built."""
        if beginnings:
            self._assembler.close(tuple(beginnings))

    def _labelled(self, label: str) -> frozenset[int]:
        """Pages with a label, those that are closed left out."""
        return self._corpus.labels().get(label, frozenset()) - self._assembler.closed

    def names(self) -> tuple[str, ...]:
        """Topics that can be built, in a fixed order."""
        return tuple(name for name, reason in self._verdicts.items() if reason is None)

    def left_out(self) -> Mapping[str, str]:
        """Candidates that are no topics, each with the reason."""
        return {name: reason for name, reason in self._verdicts.items() if reason is not None}

    def build(self, name: str, n_seed_sets: int, seed: int) -> LabTopic:
        """Build one topic; the same arguments give the same topic.

        TopicError says why when it has no targets, no seeds, or nothing to find.
        """
        if n_seed_sets < 1:
            raise UsageError(f"{n_seed_sets} seed sets were asked for. Ask for at least one.")
        if name not in self._verdicts:
            raise unknown_name("topic", name, self.names())
        reason = self._verdicts[name]
        if reason is not None:
            raise TopicError(reason)
        draft = self._draft(name, generator_for(seed, name, "session"))
        return self._assembler.finish(draft, n_seed_sets, generator_for(seed, name, "seeds"))

    @cached_property
    def _verdicts(self) -> dict[str, str | None]:
        """For every candidate, ``None`` or why it is no topic."""
        verdicts: dict[str, str | None] = {}
        for name in self._candidates():
            try:
                self._check(name)
                verdicts[name] = None
            except TopicError as error:
                verdicts[name] = str(error)
        return verdicts

    @abstractmethod
    def _candidates(self) -> Sequence[str]:
        """Names that may be topics, in a fixed order."""

    @abstractmethod
    def _check(self, name: str) -> None:
        """Raise :class:`TopicError` when the candidate is no topic, whatever the seed."""

    @abstractmethod
    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        """The topic's session and pages."""
