"""Topics of any corpus, named in a topics file by the user."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from trailhound.counting import counted
from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics.assembly import Draft
from trailhound.lab.topics.draws import shuffled
from trailhound.lab.topics.generality import front_page
from trailhound.lab.topics.limits import most_targets
from trailhound.lab.topics.planned import PlannedTopics
from trailhound.lab.topics.predicates import fitting_pages
from trailhound.lab.topics.topics_file import FileTopic, read_topics_file
from trailhound.lab.topics.walks import Errand, walk
from trailhound.sessions.events import Session
from trailhound.sessions.files import read_session
from trailhound.urls import canonicalize

_log = logging.getLogger(__name__)


class FileTopics(PlannedTopics):
    """The topics of one file. All of them are listed; a topic's faults show when it is built."""

    def __init__(self, corpus: Corpus, path: Path) -> None:
        super().__init__(corpus)
        self._topics = read_topics_file(path)

    def _candidates(self) -> Sequence[str]:
        return list(self._topics)

    def _check(self, name: str) -> None:
        """Nothing: finding a topic's pages may mean reading the whole corpus."""

    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        topic = self._topics[name]
        members = self._members(topic)
        if not members:
            raise TopicError(
                f"Topic '{name}' is empty: no recorded page fits it. Check its URLs and patterns "
                "against the corpus, in full and with their scheme."
            )
        if topic.session is not None:
            session = read_session(topic.session)
        else:
            session = self._walk(topic, members, rng)
        given = tuple(self._page(name, "seed", url) for url in topic.seeds)
        return Draft(name, session, members, frozenset(), given_seeds=given, insists=True)

    def _members(self, topic: FileTopic) -> frozenset[int]:
        listed = [self._find(url) for url in topic.urls]
        if None in listed:
            _log.warning(
                "%d of the %d URLs listed for topic '%s' are not in the corpus.",
                listed.count(None),
                len(listed),
                topic.name,
            )
        known = (page for page in listed if page is not None)
        return (frozenset(known) | self._fitting[topic.name]) - self._assembler.closed

    @cached_property
    def _fitting(self) -> dict[str, frozenset[int]]:
        """For each topic, the pages that fit its patterns and words."""
        predicates = [topic.predicate for topic in self._topics.values()]
        return dict(zip(self._topics, fitting_pages(self._corpus, predicates), strict=True))

    def _walk(self, topic: FileTopic, members: frozenset[int], rng: np.random.Generator) -> Session:
        corpus = self._corpus
        start = self._start(topic, members)
        reached = corpus.graph.hops_from([start])
        goals = [page for page in sorted(members) if reached[page] > 0]
        max_marks = most_targets(len(members))
        if not goals or max_marks == 0:
            raise TopicError(
                f"Topic '{topic.name}' cannot be browsed: of its "
                f"{counted(len(members), 'page')}, {len(goals)} can be reached from "
                f"{corpus.page_urls[start]}, and half of the topic must be left to find. "
                "Name another start page, add pages, or give a recorded session."
            )
        errand = Errand(start, shuffled(goals, rng), members, max_marks)
        return walk(corpus.graph, corpus.page_urls, errand, topic.name, rng)

    def _start(self, topic: FileTopic, members: frozenset[int]) -> int:
        """The start page named, else a front page of the corpus from which most can be reached."""
        if topic.start is not None:
            return self._page(topic.name, "start page", topic.start)
        urls = self._corpus.page_urls
        found_starts = (self._find(url) for url in self._corpus.start_urls)
        proposed = sorted({page for page in found_starts if page is not None})
        for pages in (proposed, range(len(urls))):
            outside = [page for page in pages if page not in members]
            found = front_page(self._corpus.graph, urls, outside, sorted(members))
            if found is not None:
                return found
        raise TopicError(
            f"Topic '{topic.name}' cannot be browsed: no page links to any of its {len(members)} "
            "pages. Give a recorded session."
        )

    def _page(self, topic: str, role: str, url: str) -> int:
        page = self._find(url)
        if page is None:
            raise TopicError(
                f"The {role} {url} of topic '{topic}' is not in the corpus. Name a recorded page."
            )
        return page

    def _find(self, url: str) -> int | None:
        canonical = canonicalize(url)
        return None if canonical is None else self._corpus.page_id(canonical)
