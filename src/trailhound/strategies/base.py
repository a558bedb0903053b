"""What a crawl strategy is: the answer to "which link next?"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol, runtime_checkable

import msgspec

from trailhound.errors import SessionError
from trailhound.models.topic_model import TopicModel
from trailhound.records import Candidate, CrawledPage, Outcome, Page, Relevance, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import AccessTrace, BacklinkSource, SearchSource, Sources
from trailhound.text.tfidf import TargetSimilarity, target_similarity

RESCORE_EVERY = 50
"""Fetched pages after which a strategy that can is asked to rank waiting candidates anew."""


class Pursuit(Protocol):
    """What one crawl has left to find, told as it goes on."""

    def arrived(self, url: str) -> None:
        """The page behind this URL was fetched: it is found, and so are its copies."""
        ...

    def answer(self, url: str) -> int | None:
        """The number of the answer not yet found that this URL brings; ``None`` for no answer."""
        ...

    def worth(self, url: str) -> float:
        """Finds per request on the best way from here, within 0 and 1; 0 when it leads to none."""
        ...


class AnswerKey(Protocol):
    """What the lab knows about the recorded web and no honest strategy may ask."""

    def pursuit(self) -> Pursuit:
        """Begin a crawl that has found nothing yet."""
        ...


@dataclass(frozen=True)
class Briefing:
    """All that a strategy may learn from before the crawl starts."""

    graph: PageGraph
    """Pages, links and targets of the browsing session."""
    seed: int = 0
    """Seed of the strategy's random generator: same seed, same crawl."""
    sources: Sources = field(default_factory=Sources)
    """What may be asked besides the web itself."""
    model: TopicModel | None = None
    """What was learned from the graph before, for strategies that would learn the same again."""
    answers: AnswerKey | None = None
    """Ground truth, present only in the lab and used only by upper bounds such as ``oracle``."""

    @property
    def backlinks(self) -> BacklinkSource | None:
        """Who links to a page, where something knows."""
        return self.sources.backlinks

    @property
    def trace(self) -> AccessTrace | None:
        """What people visited, where something knows."""
        return self.sources.trace

    @property
    def search(self) -> SearchSource | None:
        """Something to put a query to, where there is one."""
        return self.sources.search

    @cached_property
    def similarity(self) -> TargetSimilarity:
        """Likeness to the session's targets: made once, shared by strategies and judges.

        SessionError when there are none.
        """
        if not self.graph.targets:
            raise SessionError(
                "No page is marked useful, so there is nothing that pages could be similar to. "
                "Mark one and learn, or choose a strategy that learns from what its judge finds, "
                "such as trail."
            )
        return target_similarity(self.graph, self.model.weights if self.model else None)


class Strategy(Protocol):
    """Ranks the links of fetched pages. No base class is needed, only these names.

    A strategy also has a class method ``from_briefing(briefing, *, option=default, ...)`` that
    learns from the session. Its keyword arguments are the strategy's options: the catalogue reads
    their names, types and defaults, and turns ``name:option=value`` into a call. It may be
    ``async def``, for one that asks the briefing's sources: it is awaited before the crawl starts.
    It registers under the entry-point group ``trailhound.strategies``;
    ``examples/short_urls.py`` is a complete one.

    What else a class may say of itself, all of it optional:

    * ``lab_only = True`` keeps one that needs known answers away from live crawls.
    * ``needs_trace = True``: it goes by ``briefing.trace`` and can start from it without seeds.
    * ``remembers_states = True``: the memory of its candidates has a number for each hidden state
      of the topic's model, so that a crawl is not resumed with a model of more or fewer.
    * ``rescore_every = 50`` and ``rescore_best = None``: see :class:`Rescoring`.
    * ``much_better = None``: by how much the priority of a link must be above another's for the
      crawl to wait until its host may be asked.
    * ``learns_online = False`` and ``reads_surroundings = False``: see the functions below.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for ``trailhound strategies``."""
    paper: ClassVar[str]
    """Where it was published; empty when it was not."""

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Give each link worth queueing a priority; leave out the others.

        Links of the page, as a rule. A strategy that knows of other pages, by who links here or by
        who else came here, may return links to them as well.
        """
        ...

    def observe(self, crawled: CrawledPage) -> None:
        """Learn from a fetched page. Called before its links are scored."""
        ...


def learns_online(strategy: Strategy) -> bool:
    """Whether links must be scored page by page, in the order of the crawl.

    A strategy may say ``learns_online = False``, as a class attribute or a property. That is a
    promise: ``score_links`` depends on the page it is given and on nothing that happened since the
    crawl began, neither on ``observe`` nor on earlier calls (a random generator, say). Its links
    may then be scored in any order, by copies of it in other processes; ``observe`` is still
    called once for each page. A strategy that says nothing is taken to learn, and so is one that
    has merely inherited the promise: it may have changed what was promised.
    """
    if isinstance(strategy, Rescoring) or "learns_online" not in vars(type(strategy)):
        return True
    return bool(getattr(strategy, "learns_online", True))


def reads_surroundings(strategy: Strategy) -> bool:
    """Whether links must come with what surrounds them: words, heading, tag path.

    A strategy class that looks at pages and addresses alone may say ``reads_surroundings = False``;
    its live crawls then take less time to read a page. A class that has merely inherited it is
    taken to read them.
    """
    return bool(vars(type(strategy)).get("reads_surroundings", True))


@runtime_checkable
class Explaining(Protocol):
    """Optional: a strategy that can put the memory of a candidate into words."""

    def explain(self, memory: bytes) -> Mapping[str, float]:
        """What it expected behind a link, as named figures; empty when it remembers nothing."""
        ...


@dataclass(frozen=True)
class FoundLink:
    """A link as a crawl has found it, to be explained later."""

    url: str
    memory: bytes
    page: Page | None = None
    """Where it was found, if that can still be read."""
    outcomes: Mapping[str, bool] = field(default_factory=dict)
    """Pages that were fetched by then, and whether each was relevant."""


class Reason(msgspec.Struct, frozen=True):
    """Something that moved the priority of a link."""

    words: str
    moved: float | None = None
    """How far, in units of log odds: 0.7 doubles the odds; ``None`` when there is no figure."""


@runtime_checkable
class Reasoning(Protocol):
    """Optional: a strategy that can say in words what moved the priority of a link."""

    def reasons(self, found: FoundLink) -> Sequence[Reason]:
        """The strongest first, by what was known when the link was found and is learned by now."""
        ...


class Lesson(msgspec.Struct, frozen=True):
    """What a strategy has learned about one trait of links."""

    field: str
    """Where a word stands: ``anchor``, ``address``, …; empty for what is no word."""
    name: str
    weight: float
    """In units of log odds."""
    prior: float = 0.0
    """What the weight was before anything was learned."""


@runtime_checkable
class Telling(Protocol):
    """Optional: a strategy that can tell what it has learned about links."""

    def lessons(self, pages: Iterable[Page]) -> Sequence[Lesson]:
        """What has moved most from its prior first; of words those that links of ``pages`` have."""
        ...


@runtime_checkable
class Rescoring(Protocol):
    """Optional: a strategy whose opinion of waiting candidates changes as it learns.

    It is asked every ``rescore_every`` fetched pages: an attribute of class or instance,
    ``RESCORE_EVERY`` when it has none. With an attribute ``is_rank_due`` it is asked after any page
    that has made that true. It is shown all waiting candidates, or the ``rescore_best``
    best if it has that attribute too. They are read when it looks at them, and what waits behind
    the best comes into view as those are fetched or sink.
    """

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """New priorities by URL, given each candidate's memory; ``None`` when nothing has moved."""
        ...


@runtime_checkable
class Judging(Protocol):
    """Optional: a strategy whose own verdict may decide what is kept, not the crawl's judge."""

    def verdict(self, crawled: CrawledPage) -> Relevance | None:
        """What it says of the page it has observed last; ``None`` leaves it to the judge."""
        ...


@runtime_checkable
class Asking(Protocol):
    """Optional: a strategy that asks sources about fetched pages, who links to them for instance.

    The crawl goes on fetching while it waits for an answer. Pages are taken in one after the
    other all the same: the next is not looked at before this one is done.
    """

    async def ask(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Links to other pages, to be queued like the page's own. Called after ``score_links``."""
        ...


@runtime_checkable
class Entering(Protocol):
    """Optional: a strategy that knows ways in, besides the seeds."""

    def entrances(self, in_scope: Callable[[str], bool]) -> Iterable[Candidate]:
        """URLs to begin with; asked when the crawl starts or goes on.

        With an attribute ``is_entry_due`` it is asked again after any page that has made that true.
        Those that are not ``in_scope`` are left out in any case.
        """
        ...


@runtime_checkable
class Regretting(Protocol):
    """Optional: a strategy that learns from candidates that brought no page."""

    def regret(self, candidate: Candidate, outcome: Outcome) -> None:
        """How one ended: a failure, or what is no page. Each ends once.

        What the crawl's own rules have left out, without asking, is not told.
        """
        ...


@runtime_checkable
class Restocking(Protocol):
    """Optional: a strategy that knows where to go on when nothing is left to fetch."""

    def restock(self) -> Iterable[Candidate]:
        """URLs to go on with; asked again when none is new. The crawl ends when there are none."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """Optional: a strategy that learns while crawling and can go on learning in another process.

    A live crawl keeps the snapshot every few pages and gives it back on ``--resume``. After a crash
    it is a few pages old: those that are in the archive are then observed and scored once more.
    What must never be lost belongs into the memory of candidates.
    """

    def snapshot(self) -> bytes:
        """All that was learned since the crawl began."""
        ...

    def restore(self, snapshot: bytes) -> None:
        """Go on from there; ValueError when it makes no sense, and then nothing has changed."""
        ...


@runtime_checkable
class Rereading(Protocol):
    """Optional: one whose snapshot leaves out the links of pages, as they would be too many.

    On ``--resume`` it is shown the newest pages of its snapshot again, as far as they are in the
    archive, before those that were fetched since.
    """

    def read_again(self, crawled: CrawledPage) -> None:
        """Read the links of a page that the snapshot knows: they are waiting or were fetched."""
        ...


@runtime_checkable
class Inheriting(Protocol):
    """Optional: a remembering strategy that can begin with what an earlier crawl has learned."""

    def inherit(self, snapshot: bytes, *, in_full: bool) -> None:
        """Take what is not about single pages from a crawl of the same topic.

        Not ``in_full`` when the topic or its judge is another by now: the session comes first.
        ValueError when it makes no sense, and then nothing has changed.
        """
        ...


class News(msgspec.Struct, frozen=True, array_like=True):
    """What one copy of a strategy has to tell others about a page that it has observed.

    Each part is short: a few hundred bytes, and of links some dozen bytes each.
    """

    for_all: bytes
    """How the page turned out; empty when that is nobody's business."""
    for_owners: bytes = b""
    """What its links say, for those copies that own the address of one."""


@runtime_checkable
class Sharing(Protocol):
    """Optional: a strategy that learns while crawling, of which copies crawl one topic together.

    Every address has an owner, one of the copies. A page is fetched, observed and scored by its
    owner; links go to theirs with the priority and memory that ``score_links`` gave them. News may
    come late, in any order, twice or never: a page that was heeded before changes nothing, and
    after the same news, whatever their order, copies should rank alike. One that misses some has
    learned less, and nothing else.
    """

    def join(self, owns: Callable[[str], bool]) -> None:
        """The crawl is one of several, and fetches the addresses that it ``owns``. Said first."""
        ...

    def news(self, crawled: CrawledPage) -> News:
        """What others may learn from the page that was observed and scored last."""
        ...

    def heed(self, news: Sequence[News]) -> None:
        """Learn from pages of others; ``for_owners`` is empty where no link is to an own address.

        ValueError for what makes no sense. What waits is ranked anew afterwards.
        """
        ...
