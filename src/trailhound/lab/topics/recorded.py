"""Topics of a corpus that brings recorded browsing: whole sessions, or many users' trails.

Of a recorded session, the pages of its label are the topic. Where there are only trails, a label
with a middling number of pages is a topic. Its session is made of the trails of people who found
what they were looking for, where that was a page of the label. The page at the end of a trail is
marked useful; the pages on the way are visits, back clicks included. Pages of the label that were
passed on the way stay unmarked, and do not count as found later either: the session showed them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import count

import numpy as np

from trailhound.counting import counted
from trailhound.errors import TopicError
from trailhound.lab.corpora import BACK, Trail
from trailhound.lab.ground_truth import shown_pages
from trailhound.lab.topics.base import (
    COMFORTABLE_PAGES,
    MAX_PAGES,
    MIN_FINDABLE,
    MIN_TARGETS,
    Draft,
    TopicSource,
    most_targets,
    shuffled,
)
from trailhound.lab.topics.walks import Transcript
from trailhound.sessions.events import Reached, Session

MIN_LABEL_PAGES = 25
MAX_LABEL_PAGES = 200


class RecordedTopics(TopicSource):
    """One topic per topic of the recorded sessions."""

    def _candidates(self) -> Sequence[str]:
        return sorted(self._sessions)

    @cached_property
    def _sessions(self) -> dict[str, Session]:
        by_topic: dict[str, list[Session]] = {}
        for session in self._corpus.sessions():
            by_topic.setdefault(session.topic, []).append(session)
        return {topic: joined(sessions) for topic, sessions in by_topic.items()}

    def _check(self, name: str) -> None:
        members = self._labelled(name)
        if not members:
            raise TopicError(
                f"Topic '{name}' has a recorded session, but no page of the corpus carries that "
                "label, so nothing would count as found."
            )
        shown = shown_pages(self._corpus, self._sessions[name])
        answers = self._assembler.copies.answers(members, shown)
        self._assembler.require_findable(name, answers, members, at_least=1)

    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        del rng  # the session is recorded: nothing is drawn
        given = tuple(self._corpus.page_ids(self._corpus.start_urls))
        members = self._labelled(name)
        return Draft(name, self._sessions[name], members, frozenset(), given_seeds=given)


def joined(sessions: Sequence[Session]) -> Session:
    """Several sessions for one topic as one, in order of time."""

    def begin(session: Session) -> tuple[float, str]:
        return min((event.time for event in session.events), default=0.0), session.user

    ordered = sorted(sessions, key=begin)
    events = tuple(event for session in ordered for event in session.events)
    return Session(ordered[0].topic, events, ordered[0].user, ordered[0].recorder)


class TrailTopics(TopicSource):
    """One topic per label, taught by recorded trails."""

    def _candidates(self) -> Sequence[str]:
        return sorted(self._corpus.labels())

    def _check(self, name: str) -> None:
        members = self._labelled(name)
        if not MIN_LABEL_PAGES <= len(members) <= MAX_LABEL_PAGES:
            raise TopicError(
                f"Label '{name}' is no topic: it has {counted(len(members), 'page')}, and a topic "
                f"has {MIN_LABEL_PAGES} to {MAX_LABEL_PAGES}."
            )
        n_ends = sum(page in self._by_end for page in members)
        if n_ends < MIN_TARGETS:
            raise TopicError(
                f"Label '{name}' is no topic: finished trails end in {n_ends} of its pages, "
                f"and a session needs {MIN_TARGETS}."
            )
        answers = self._assembler.copies.answers(members, shown=())
        self._assembler.require_findable(name, answers, members, MIN_FINDABLE)

    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        members = self._labelled(name)
        ending = [trail for page in sorted(members) for trail in self._by_end.get(page, ())]
        trails = by_different_users_first(shuffled(ending, rng))
        urls = frozenset(self._corpus.page_urls[page] for page in members)
        session = trails_session(name, choose_trails(trails, urls))
        return Draft(name, session, members, no_seeds=frozenset())

    @cached_property
    def _by_end(self) -> dict[int, list[Trail]]:
        """Trails to learn from by the page they end on."""
        found: dict[int, list[Trail]] = {}
        for trail in self._corpus.trails():
            end = self._corpus.page_id(trail.steps[-1]) if is_lesson(trail) else None
            if end is not None:
                found.setdefault(end, []).append(trail)
        return found


def is_lesson(trail: Trail) -> bool:
    """Whether a trail shows how somebody got from one page to another that was wanted."""
    if not trail.finished or len(trail.steps) < 2:
        return False
    return trail.steps[-1] not in (trail.steps[0], BACK)


def by_different_users_first(trails: Sequence[Trail]) -> list[Trail]:
    """Everybody's first trail, then everybody's second, and so on."""
    turns: defaultdict[str, Iterator[int]] = defaultdict(count)
    ranks = [next(turns[trail.user]) for trail in trails]
    return [trails[position] for position in np.argsort(ranks, kind="stable")]


def choose_trails(trails: Iterable[Trail], members: frozenset[str]) -> list[Trail]:
    """Trails, in the order given, for one session of a fair size.

    The session shows at most half of the topic's pages, whether at the end of a trail or on its
    way, and so leaves the other half to be found.
    """
    chosen: list[Trail] = []
    seen: set[str] = set()
    ends: set[str] = set()
    for trail in trails:
        if len(seen) >= COMFORTABLE_PAGES:
            break
        seen_then = seen.union(visit.url for visit in trail.visits())
        ends_then = ends | {trail.steps[-1]}
        if (
            len(seen_then) <= MAX_PAGES
            and len(ends_then) <= most_targets(len(members))
            and len(seen_then & members) <= len(members) // 2
        ):
            chosen.append(trail)
            seen, ends = seen_then, ends_then
    return chosen


def trails_session(topic: str, trails: Iterable[Trail]) -> Session:
    """Several users' trails as one session: one after the other, each begun by a typed address."""
    transcript = Transcript()
    free_from = 0.0
    for trail in sorted(trails, key=lambda trail: (trail.time, trail.user, trail.steps)):
        # Two users may have been at it at the same time; one person cannot.
        delay = max(0.0, free_from - trail.time)
        for visit in trail.visits():
            reached = Reached.BACK if visit.back else Reached.LINK
            if visit.from_url is None:
                reached = Reached.TYPED
            transcript.visit(visit.time + delay, visit.url, reached)
        transcript.mark_useful()
        free_from = trail.time + trail.duration_seconds + delay + 1.0
    return transcript.session(topic, recorder="recorded trails")
