"""What all topic sources share: trying candidates, and saying why some are no topics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from trailhound.errors import TopicError, UsageError, unknown_name
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics.assembly import Assembler, Draft
from trailhound.lab.topics.base import LabTopic
from trailhound.lab.topics.draws import generator_for


class PlannedTopics(ABC):
    """A topic source that decides from the corpus which of its candidates are usable."""

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
        """Build one topic; the same arguments give the same topic."""
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
        return {name: self._verdict(name) for name in self._candidates()}

    def _verdict(self, name: str) -> str | None:
        try:
            self._check(name)
        except TopicError as error:
            return str(error)
        return None

    @abstractmethod
    def _candidates(self) -> Sequence[str]:
        """Names that may be topics, in a fixed order."""

    @abstractmethod
    def _check(self, name: str) -> None:
        """Raise :class:`TopicError` when the candidate is no topic, whatever the seed."""

    @abstractmethod
    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        """The topic's session and pages."""
