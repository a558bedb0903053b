"""Topics of a corpus that has labels and nothing more: each label is one, browsed by a walk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trailhound.counting import counted
from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics.assembly import Draft
from trailhound.lab.topics.base import MIN_TARGETS, TopicSource, most_targets, shuffled
from trailhound.lab.topics.seeds import front_page
from trailhound.lab.topics.walks import Errand, walk
from trailhound.sessions.events import Session


class LabelTopics(TopicSource):
    """One topic per label. That nothing can be found from any seed shows when it is built."""

    def _candidates(self) -> Sequence[str]:
        return sorted(self._corpus.labels())

    def _check(self, name: str) -> None:
        members = self._labelled(name)
        if most_targets(len(members)) < MIN_TARGETS:
            raise TopicError(
                f"Label '{name}' is no topic: it has {counted(len(members), 'page')}, and half of "
                f"them must give {MIN_TARGETS} targets."
            )

    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        members = self._labelled(name)
        session = walked_session(self._corpus, name, members, None, rng)
        return Draft(name, session, members, no_seeds=frozenset())


def walked_session(
    corpus: Corpus,
    name: str,
    members: frozenset[int],
    start: int | None,
    rng: np.random.Generator,
) -> Session:
    """A simulated walk to a topic's pages, from ``start`` or a front page that leads to most."""
    begin = _start(corpus, name, members) if start is None else start
    reached = corpus.graph.hops_from([begin])
    goals = [page for page in sorted(members) if reached[page] > 0]
    max_marks = most_targets(len(members))
    if not goals or max_marks == 0:
        raise TopicError(
            f"Topic '{name}' cannot be browsed: of its "
            f"{counted(len(members), 'page')}, {len(goals)} can be reached from "
            f"{corpus.page_urls[begin]}, and half of the topic must be left to find. "
            "Name another start page, add pages, or give a recorded session."
        )
    errand = Errand(begin, shuffled(goals, rng), members, max_marks)
    return walk(corpus.graph, corpus.page_urls, errand, name, rng)


def _start(corpus: Corpus, name: str, members: frozenset[int]) -> int:
    """A start page of the corpus, else any front page, from which most can be reached."""
    urls = corpus.page_urls
    proposed = sorted(set(corpus.page_ids(corpus.start_urls)))
    for pages in (proposed, range(len(urls))):
        outside = [page for page in pages if page not in members]
        found = front_page(corpus.graph, urls, outside, sorted(members))
        if found is not None:
            return found
    raise TopicError(
        f"Topic '{name}' cannot be browsed: no page links to any of its {len(members)} "
        "pages. Give a recorded session."
    )
