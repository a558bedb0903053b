"""What is the same for all topics: limits, draws, trying candidates, and finishing them.

A source of topics (:class:`TopicSource`) has candidates and says why some fail. Of each it makes a
:class:`Draft`, a session and the pages of the topic, and by the same rules for all a
:class:`LabTopic` comes of that: nothing that the session showed counts as found, and every seed is
two hops or more from everything that does.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import msgspec
import numpy as np

from trailhound.counting import counted
from trailhound.errors import TopicError, UsageError, unknown_name
from trailhound.lab.corpora import Corpus, LinkGraph
from trailhound.lab.corpora.link_graph import AnswerReach, links_outside
from trailhound.lab.ground_truth import Answers, Copies, shown_pages
from trailhound.lab.topics.seeds import MIN_HOPS, SeedGround, SeedSet, choose_seed_sets, generality
from trailhound.sessions.events import Event, Mark, Reached, Session, Visit
from trailhound.sessions.page_graph import PageGraph, build_page_graph
from trailhound.urls import canonicalize

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


@dataclass(frozen=True)
class LabTopic:
    """One experiment's question, the same for every strategy."""

    name: str
    session: Session
    """The browsing that strategies may learn from."""
    graph: PageGraph
    """The session's page graph."""
    relevant: frozenset[str]
    """Ground truth: URLs of pages that count as found. None of them is a target of the session."""
    seed_sets: tuple[tuple[str, ...], ...]
    """Start pages of each run: general pages at least two hops from every relevant page."""
    findable: tuple[int, ...]
    """For each seed set, how many relevant pages can be reached from it by links."""
    off_limits: frozenset[str] = frozenset()
    """Recorded pages that the crawl may not visit: the site that was browsed, for instance."""
    closed: frozenset[str] = frozenset()
    """Those of them that nothing may be learned from either: for session, crawl, backlinks, trace
    and search they had never been recorded."""


@dataclass(frozen=True)
class Draft:
    """A topic without its seeds."""

    name: str
    session: Session
    members: frozenset[int]
    """Pages that count as found unless the session showed them."""
    no_seeds: frozenset[int]
    """Pages where no crawl may start, beside the members."""
    off_limits: frozenset[int] = frozenset()
    """Pages that the crawl may not visit at all; no path leads through them."""
    given_seeds: tuple[int, ...] = ()
    """Proposed as the first seed set; those that break the rule are passed over …"""
    insists: bool = False
    """… or, if this is set, are an error."""


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


@dataclass(frozen=True)
class _OpenWeb:
    """Links that a crawl may follow, and what they lead to."""

    graph: LinkGraph
    reach: AnswerReach


class Assembler:
    """Finishes topics of one corpus; keeps what all of them need."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.closed: frozenset[int] = frozenset()
        """Pages that do not exist for any topic."""
        self._open_webs: dict[frozenset[int], _OpenWeb] = {}
        self._closed_beginnings: tuple[str, ...] = ()

    def close(self, beginnings: tuple[str, ...]) -> None:
        """Close pages to sessions and crawls of all topics; UsageError when there are none."""
        urls = self.corpus.page_urls
        for beginning in beginnings:
            if not any(url.startswith(beginning) for url in urls):
                raise UsageError(
                    f"No page of the corpus begins with '{beginning}'. Give whole beginnings of "
                    f"URLs, such as {urls[0] if urls else 'https://example.org/index/'}."
                )
        pages = enumerate(urls)
        self.closed = frozenset(page for page, url in pages if url.startswith(beginnings))
        self._closed_beginnings = beginnings

    def finish(self, draft: Draft, n_seed_sets: int, rng: np.random.Generator) -> LabTopic:
        """Choose the seeds and put everything together."""
        session = without_pages(draft.session, self._is_closed) if self.closed else draft.session
        graph = build_page_graph([session], self.corpus.page)
        self._require_targets(draft, graph)
        members = draft.members - self.closed
        answers = self.copies.answers(members, shown_pages(self.corpus, draft.session))
        seed_sets = self._seed_sets(draft, answers, n_seed_sets, rng)
        urls = self.corpus.page_urls
        return LabTopic(
            name=draft.name,
            session=session,
            graph=graph,
            relevant=frozenset(urls[page] for page in answers.originals),
            seed_sets=tuple(tuple(urls[page] for page in each.pages) for each in seed_sets),
            findable=tuple(each.findable for each in seed_sets),
            off_limits=frozenset(urls[page] for page in draft.off_limits | self.closed),
            closed=frozenset(urls[page] for page in self.closed),
        )

    def _is_closed(self, url: str) -> bool:
        canonical = canonicalize(url)
        if canonical is None:
            return False
        page = self.corpus.page_id(canonical)
        return page in self.closed or (
            page is None and canonical.startswith(self._closed_beginnings)
        )

    def _require_targets(self, draft: Draft, graph: PageGraph) -> None:
        if graph.targets:
            return
        events = draft.session.events
        closed = " and ".join(self._closed_beginnings)
        if closed and any(isinstance(event, Mark) and event.useful for event in events):
            raise TopicError(
                f"The session of topic '{draft.name}' loses every page that was marked useful "
                f"when {closed} is closed, so there is nothing to learn from. Close less, or "
                "leave the topic out."
            )
        raise TopicError(
            f"The session of topic '{draft.name}' has no page marked useful, so there is nothing "
            "to learn from. Mark at least one page of the recorded web."
        )

    def require_findable(
        self,
        name: str,
        answers: Answers,
        no_seeds: frozenset[int],
        at_least: int,
        off_limits: frozenset[int] = frozenset(),
    ) -> None:
        """Raise :class:`TopicError` unless seeds are possible from which enough is in reach."""
        ground = self.seed_ground(answers, no_seeds | answers.pages(), off_limits)
        in_reach = ground.reach(ground.candidates).bit_count()
        if in_reach < at_least:
            raise TopicError(_too_little_in_reach(name, len(answers.originals), in_reach))

    @cached_property
    def copies(self) -> Copies:
        """Which pages are copies of which."""
        return Copies(self.corpus)

    def seed_ground(
        self, answers: Answers, no_seeds: frozenset[int], off_limits: frozenset[int]
    ) -> SeedGround:
        """Pages from which a crawl for these answers may start."""
        web = self._open_web(off_limits)
        hops = web.graph.hops_to(sorted(answers.pages()))
        far_enough: list[int] = np.flatnonzero(hops >= MIN_HOPS).tolist()
        candidates = [page for page in far_enough if page not in no_seeds]
        return SeedGround(candidates, web.reach.masks(answers.copies), self._generality)

    def _seed_sets(
        self, draft: Draft, answers: Answers, n_seed_sets: int, rng: np.random.Generator
    ) -> Sequence[SeedSet]:
        if not answers.originals:
            raise TopicError(
                f"Topic '{draft.name}' has nothing left to find: its session showed all of it, "
                f"{counted(len(draft.members), 'page')}. Show fewer pages, or add pages to "
                "the topic."
            )
        ground = self.seed_ground(answers, draft.no_seeds | draft.members, draft.off_limits)
        if not ground.candidates:
            raise TopicError(_too_little_in_reach(draft.name, len(answers.originals), 0))
        given = list(dict.fromkeys(draft.given_seeds))
        candidates = frozenset(ground.candidates)
        refused = [page for page in given if page not in candidates]
        if refused and draft.insists:
            raise TopicError(
                f"{self.corpus.page_urls[refused[0]]} cannot be a seed of topic '{draft.name}': "
                f"it is less than {MIN_HOPS} hops from a page to be found, or leads to none. "
                "Name a more general page, or no seeds."
            )
        allowed = [page for page in given if page in candidates]
        return choose_seed_sets(ground, n_seed_sets, rng, allowed)

    def _open_web(self, off_limits: frozenset[int]) -> _OpenWeb:
        """The part of the corpus that a crawl may visit. Several topics share one."""
        off_limits |= self.closed
        web = self._open_webs.get(off_limits)
        if web is None:
            graph = links_outside(self.corpus.graph, off_limits)
            web = self._open_webs[off_limits] = _OpenWeb(graph, AnswerReach(graph))
        return web

    @cached_property
    def _generality(self) -> list[float]:
        return generality(self.corpus.graph, self.corpus.page_urls)


def _too_little_in_reach(name: str, n_answers: int, in_reach: int) -> str:
    return (
        f"Topic '{name}' has too few seeds: from pages that are {MIN_HOPS} or more hops away from "
        f"everything to be found, links lead to {in_reach} of {counted(n_answers, 'page')}. "
        "Record more of the web around them, or choose a narrower topic."
    )


_ONWARD = (Reached.LINK, Reached.FORM)


def without_pages(session: Session, is_closed: Callable[[str], bool]) -> Session:
    """Leave out visits to closed pages and marks on them.

    A page that was reached from a closed one takes its place: it comes from where that page came
    from, typed if that was typed. Links are read from pages, so this invents none.
    """
    left_out: dict[str, Visit] = {}
    events: list[Event] = []
    for event in session.events:
        if not isinstance(event, Visit | Mark):
            events.append(event)
            continue
        moved = _moved(event, left_out) if isinstance(event, Visit) else event
        if not is_closed(event.url):
            events.append(moved)
        elif isinstance(moved, Visit):
            left_out[moved.url] = moved
    return msgspec.structs.replace(session, events=tuple(events))


def _moved(visit: Visit, left_out: dict[str, Visit]) -> Visit:
    """The visit, from a page that exists."""
    before = left_out.get(visit.from_url or "")
    if before is None:
        return visit
    reached = before.reached if visit.reached in _ONWARD else visit.reached
    return msgspec.structs.replace(visit, from_url=before.from_url, reached=reached)
