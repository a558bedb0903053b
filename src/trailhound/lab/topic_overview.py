"""What each topic of a corpus offers: the answer of ``trailhound lab topics``."""

from __future__ import annotations

from pathlib import Path

import msgspec

from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.base import TopicSource


class TopicOverview(msgspec.Struct, frozen=True, omit_defaults=True):
    """One topic in numbers."""

    topic: str
    session_pages: int = 0
    """Distinct pages of the browsing session."""
    targets: int = 0
    """Of these, marked useful."""
    relevant: int = 0
    """Pages that count as found."""
    findable: tuple[int, ...] = ()
    """For each seed set, how many of them can be reached from it."""
    problem: str = ""
    """Why nothing can be measured with this topic, when that is so."""


def describe_topics(
    corpus: Path, topics_file: Path | None, *, n_seed_sets: int, seed: int
) -> list[TopicOverview]:
    """Build every topic and count."""
    with Corpus.open(corpus) as opened:
        source = topic_source(opened, topics_file)
        return [_describe(source, name, n_seed_sets, seed) for name in source.names()]


def _describe(source: TopicSource, name: str, n_seed_sets: int, seed: int) -> TopicOverview:
    try:
        topic = source.build(name, n_seed_sets=n_seed_sets, seed=seed)
    except TopicError as error:
        return TopicOverview(topic=name, problem=str(error))
    return TopicOverview(
        topic=name,
        session_pages=len(topic.graph.pages),
        targets=len(topic.graph.targets),
        relevant=len(topic.relevant),
        findable=topic.findable,
    )
