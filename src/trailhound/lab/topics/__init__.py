"""Topics in the lab: what was browsed, what should be found, and where crawls start.

:func:`topic_source` looks at what a corpus holds and returns the source of its topics. Each source
makes a session and a set of pages in its own way (recorded sessions, trails, groups, labels alone,
a topics file); :mod:`~trailhound.lab.topics.base` turns both into a topic by rules that are the
same for all. See ``docs/lab-topics.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus, CorpusInfo
from trailhound.lab.topics.base import LabTopic, TopicSource
from trailhound.lab.topics.labels import GroupTopics, LabelTopics
from trailhound.lab.topics.recorded import RecordedTopics, TrailTopics
from trailhound.lab.topics.topics_file import EXAMPLE, FileTopics, digest_of_topics

__all__ = [
    "LabTopic",
    "TopicOverview",
    "TopicSource",
    "brings_topics",
    "describe_topics",
    "digest_of_topics",
    "topic_source",
]


def topic_source(
    corpus: Corpus, topics_file: Path | None = None, *, without: Sequence[str] = ()
) -> TopicSource:
    """The topics of a corpus: those of the file if one is given, else those it brings itself.

    Recorded sessions come first, then labels with trails that end in their pages, then labels in
    groups of pages, then labels alone. A corpus with none of these needs a file. Pages whose URLs
    begin with one of ``without`` exist for no session and no crawl.
    """
    kind = _kind_of_topics(corpus.info())
    if topics_file is not None:
        source: TopicSource = FileTopics(corpus, topics_file)
    elif kind is not None:
        source = kind(corpus)
    else:
        raise TopicError(
            "This corpus brings no topics: it holds no recorded sessions and no labels. Name "
            f"topics in a file and give it with --topics FILE, for example:\n{EXAMPLE}"
        )
    source.close(without)
    return source


def brings_topics(held: CorpusInfo) -> bool:
    """Whether a corpus has topics without a file that names some."""
    return _kind_of_topics(held) is not None


def _kind_of_topics(held: CorpusInfo) -> type[TopicSource] | None:
    if held.sessions:
        return RecordedTopics
    if held.labels and held.trails_finished:
        return TrailTopics
    if held.labels:
        return GroupTopics if held.groups else LabelTopics
    return None


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
        told = []
        for name in source.names():
            try:
                topic = source.build(name, n_seed_sets=n_seed_sets, seed=seed)
            except TopicError as error:
                told.append(TopicOverview(name, problem=str(error)))
            else:
                pages, targets = len(topic.graph.pages), len(topic.graph.targets)
                found = TopicOverview(name, pages, targets, len(topic.relevant), topic.findable)
                told.append(found)
        return told
