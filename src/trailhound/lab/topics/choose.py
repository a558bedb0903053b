"""Which kind of topics a corpus has follows from what it holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics.base import TopicSource
from trailhound.lab.topics.file import FileTopics
from trailhound.lab.topics.groups import GroupTopics
from trailhound.lab.topics.planned import PlannedTopics
from trailhound.lab.topics.recorded import RecordedTopics
from trailhound.lab.topics.topics_file import EXAMPLE
from trailhound.lab.topics.trails import TrailTopics


def topic_source(
    corpus: Corpus, topics_file: Path | None = None, *, without: Sequence[str] = ()
) -> TopicSource:
    """The topics of a corpus: those of the file if one is given, else those it brings itself.

    Recorded sessions come first, then labels with trails that end in their pages, then labels in
    groups of pages. A corpus with none of these needs a file. Pages whose URLs begin with one of
    ``without`` exist for no session and no crawl.
    """
    source = _source(corpus, topics_file)
    source.close(without)
    return source


def _source(corpus: Corpus, topics_file: Path | None) -> PlannedTopics:
    if topics_file is not None:
        return FileTopics(corpus, topics_file)
    held = corpus.info()
    if held.sessions:
        return RecordedTopics(corpus)
    if held.labels and held.trails_finished:
        return TrailTopics(corpus)
    if held.labels and held.groups:
        return GroupTopics(corpus)
    raise TopicError(
        "This corpus brings no topics: it holds no recorded sessions, and no labels with trails "
        f"or groups. Name topics in a file and give it with --topics FILE, for example:\n{EXAMPLE}"
    )
