"""Topics of a corpus that brings recorded sessions: each session asks for one label's pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from trailhound.errors import TopicError
from trailhound.lab.topics.answers import shown_pages
from trailhound.lab.topics.assembly import Draft
from trailhound.lab.topics.planned import PlannedTopics
from trailhound.sessions.events import Event, Session


class RecordedTopics(PlannedTopics):
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
        answers = self._assembler.key.answers(members, shown)
        self._assembler.require_findable(name, answers, members, at_least=1)

    def _draft(self, name: str, rng: np.random.Generator) -> Draft:
        del rng  # the session is recorded: nothing is drawn
        members = self._labelled(name)
        starts = (self._corpus.page_id(url) for url in self._corpus.start_urls)
        given = tuple(page for page in starts if page is not None)
        return Draft(name, self._sessions[name], members, frozenset(), given_seeds=given)


def joined(sessions: Sequence[Session]) -> Session:
    """Several sessions for one topic as one, in order of time."""
    first, *others = sorted(sessions, key=_begin)
    events: list[Event] = [event for session in (first, *others) for event in session.events]
    return Session(first.topic, tuple(events), first.user, first.recorder)


def _begin(session: Session) -> tuple[float, str]:
    return min((event.time for event in session.events), default=0.0), session.user
