"""A simulated person who browses from a start page to pages she wants, with wrong turns.

She knows roughly where things are: mostly she clicks a link that brings her nearer to her next
goal, sometimes one that does not, looks at what came up, and goes back. Whatever she sees of what
she wants she marks as useful. She makes more wrong turns while she has seen few pages for the
number of goals behind her, so that sessions are of similar size on large and small sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trailhound.lab.corpora import LinkGraph
from trailhound.lab.topics.base import COMFORTABLE_PAGES, FEW_PAGES, MAX_PAGES
from trailhound.sessions.events import Event, Mark, Reached, Session, Submit, Visit

_DISTRACTED = 0.3  # chance at each click to take a wrong turn, and after each to stray further
_DISTRACTED_WHEN_FEW_SEEN = 0.85
_FARTHEST_STRAY = 6  # clicks before she turns back
_EXTRA_LOOKS = 12
_READING_SECONDS = (4.0, 40.0)
_FIRST_TIME = 1_577_836_800.0  # 1 January 2020, UTC: sessions need some date, and always the same


class Transcript:
    """Collects what somebody did; each visit knows the page before it."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._shown: str | None = None
        self._time = 0.0

    def visit(self, time: float, url: str, reached: Reached = Reached.LINK) -> None:
        """A page was shown. A typed address starts afresh: it comes from no page."""
        from_url = None if reached is Reached.TYPED else self._shown
        self._events.append(Visit(time=time, url=url, reached=reached, from_url=from_url))
        self._shown = url
        self._time = time

    def mark_useful(self) -> None:
        """*Useful* was pressed on the page shown last."""
        if self._shown is not None:
            self._events.append(Mark(time=self._time, url=self._shown))

    def session(self, topic: str, recorder: str) -> Session:
        """The whole session, submitted at its end."""
        events = (*self._events, Submit(time=self._time))
        return Session(topic=topic, events=events, recorder=recorder)


@dataclass(frozen=True)
class Errand:
    """What a walk is for."""

    start: int
    goals: Sequence[int]
    """Pages to head for, in this order; all must be reachable from ``start``."""
    wanted: frozenset[int]
    """Pages that are marked whenever they are shown, the goals among them."""
    max_marks: int
    """The walk ends with this many pages marked."""


def walk(
    graph: LinkGraph, urls: Sequence[str], errand: Errand, topic: str, rng: np.random.Generator
) -> Session:
    """Browse along the links of ``graph`` and return the session."""
    transcript = _Walker(graph, urls, errand, rng).run()
    return transcript.session(topic, recorder="simulated walk")


class _Walker:
    def __init__(
        self, graph: LinkGraph, urls: Sequence[str], errand: Errand, rng: np.random.Generator
    ) -> None:
        self._transcript = Transcript()
        self._graph = graph
        self._urls = urls
        self._errand = errand
        self._rng = rng
        self._opened: list[int] = []  # the pages that back clicks lead to, the shown one last
        self._seen: set[int] = set()
        self._marked: set[int] = set()
        self._time = _FIRST_TIME

    def run(self) -> Transcript:
        self._type_start()
        for goal in self._errand.goals:
            if self._done():
                break
            if goal not in self._marked:
                self._head_for(goal)
        for _ in range(_EXTRA_LOOKS):  # after a short errand, look around for a while
            if len(self._seen) >= FEW_PAGES:
                break
            self._type_start()
            self._wrong_turn()
        return self._transcript

    def _done(self) -> bool:
        return len(self._marked) >= self._errand.max_marks or len(self._seen) >= MAX_PAGES

    def _head_for(self, goal: int) -> None:
        hops: list[int] = self._graph.hops_to([goal]).tolist()
        if self._is_distracted():
            self._wrong_turn()
        self._return_towards(hops)
        while self._opened[-1] != goal and not self._done():
            # Every wrong turn shows an unseen page, every other click comes nearer: this ends.
            if not (self._is_distracted() and self._wrong_turn()):
                shown = self._opened[-1]
                nearer = [page for page in self._links_of(shown) if hops[page] == hops[shown] - 1]
                self._click(self._pick(nearer))

    def _return_towards(self, hops: Sequence[int]) -> None:
        """Back to the opened page from which the goal is fewest clicks away, or start again."""
        shown = len(self._opened) - 1
        costs = [
            (shown - position + hops[page], -position)
            for position, page in enumerate(self._opened)
            if hops[page] >= 0
        ]
        if not costs:
            self._type_start()
            return
        for _ in range(shown + min(costs)[1]):
            self._back()

    def _is_distracted(self) -> bool:
        goals_behind = (len(self._marked) + 1) / self._errand.max_marks
        few_seen = len(self._seen) < COMFORTABLE_PAGES * goals_behind
        chance = _DISTRACTED_WHEN_FEW_SEEN if few_seen else _DISTRACTED
        return float(self._rng.random()) < chance

    def _wrong_turn(self) -> bool:
        """Look around and come back; whether anything new was seen."""
        seen_before = len(self._seen)
        strayed = 0
        while strayed == 0 or (strayed < _FARTHEST_STRAY and self._is_distracted()):
            page = self._distraction()
            if page is None or len(self._seen) >= MAX_PAGES:
                break
            self._click(page)
            strayed += 1
        for _ in range(strayed):
            self._back()
        return len(self._seen) > seen_before

    def _distraction(self) -> int | None:
        """A link to something that is not wanted: new, or with something new behind it."""
        others = self._unwanted_links(self._opened[-1])
        fresh = [page for page in others if page not in self._seen]
        if not fresh:
            fresh = [page for page in others if set(self._unwanted_links(page)) - self._seen]
        return self._pick(fresh or others) if others else None

    def _unwanted_links(self, page: int) -> list[int]:
        return [linked for linked in self._links_of(page) if linked not in self._errand.wanted]

    def _links_of(self, page: int) -> list[int]:
        links: list[int] = self._graph.links_of(page).tolist()
        return links

    def _pick(self, pages: Sequence[int]) -> int:
        return pages[int(self._rng.integers(len(pages)))]

    def _type_start(self) -> None:
        self._opened = [self._errand.start]
        self._show(Reached.TYPED)

    def _click(self, page: int) -> None:
        self._opened.append(page)
        self._show(Reached.LINK)

    def _back(self) -> None:
        self._opened.pop()
        self._show(Reached.BACK)

    def _show(self, reached: Reached) -> None:
        page = self._opened[-1]
        self._transcript.visit(self._time, self._urls[page], reached)
        self._time += round(float(self._rng.uniform(*_READING_SECONDS)), 1)
        self._seen.add(page)
        if page in self._errand.wanted and page not in self._marked:
            self._marked.add(page)
            self._transcript.mark_useful()
