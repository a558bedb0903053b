"""Trail: follows links as the session's own did, and as those on the way have turned out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import msgspec
import numpy as np

from trailhound.records import Candidate, CrawledPage, Link, Outcome, Page, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.sources import AccessTrace
from trailhound.strategies.base import Briefing, FoundLink, Lesson, News, Reason
from trailhound.strategies.parts import AsCrawled, as_crawled, check_at_least, kept_in, was_read
from trailhound.strategies.trail.columns import Flags, Ids
from trailhound.strategies.trail.entrances import ShownLinks, ways_in
from trailhound.strategies.trail.features import describe
from trailhound.strategies.trail.gateways import Gateways
from trailhound.strategies.trail.host_shares import (
    LASTING,
    REFUSALS,
    against_hosts,
    crowding,
    is_held_back,
)
from trailhound.strategies.trail.keeping import Kept, put_back, what_to_keep
from trailhound.strategies.trail.lessons import lessons
from trailhound.strategies.trail.link_model import LinkModel
from trailhound.strategies.trail.link_table import N_LIKE, LinkTable
from trailhound.strategies.trail.link_words import read_links_of
from trailhound.strategies.trail.meaning import Meaning
from trailhound.strategies.trail.news import Described, Example, Hearing, make_news
from trailhound.strategies.trail.readers import suggestions
from trailhound.strategies.trail.reasons import memories, reasons
from trailhound.strategies.trail.wanted_words import WantedWords
from trailhound.urls import strip_tracking

RANKED_ANEW = 2_000
"""Waiting addresses that are ranked anew after a fit: the best, and as many with new links."""
RANKED_BETWEEN = 300
"""The same between two fits."""
MOVED = 0.05
"""A priority (a logarithm) that has moved by less stays as it is."""
REFIT_EVERY = 20
"""Pages between two fits at first; later, when a page is less of what is known, a tenth of all."""
REFIT_AT_LEAST_EVERY = 1_000
"""Tables may exceed their bounds until then."""
LEAST_OWN_SHARE, LEAST_OWN, MOST_OWN = 10, 5, 250
"""A fit takes time: one of several copies fits after a tenth of its own pages at the soonest,
within these numbers, however many pages the others have."""


class TrailStrategy:
    """Priority of a link: the log of its chance to be wanted, or to lead to what is."""

    name: ClassVar[str] = "trail"
    summary: ClassVar[str] = "a model of links, learned from the session and then on every page"
    paper: ClassVar[str] = ""
    rescore_every = 10
    much_better: ClassVar[float] = 0.5
    """Of the logarithm: a link with 1.6 times the chance is worth a wait."""

    def __init__(
        self,
        graph: PageGraph,
        *,
        hub: float = 0.3,
        gate: float = 1.0,
        enter: bool = True,
        trace: AccessTrace | None = None,
    ) -> None:
        check_at_least(0.0, hub=hub, gate=gate)
        self._table = LinkTable(trace)
        self._wanted = WantedWords(graph)
        self._meaning = Meaning(graph.pages)
        self._model = LinkModel(self._table, hub, self._meaning.basis, len(graph.targets))
        self._hearing = Hearing(self._table, self._model, self._read)
        self._gate = gate
        self._enters = enter and gate > 0
        self._pages = 0
        self._own_pages = self._own_pages_fitted = 0
        self._next_fit = REFIT_EVERY
        self._latest: Described | None = None
        """How the link to the page observed last was described; ``None`` when none was known."""
        self._suggested: tuple[Link, ...] = ()
        """What people opened near the page observed last, and it has no link to."""
        self._open: Ids = np.zeros(0, np.int64)
        self._described = describe(self._table, self._open)
        self._relinked: set[int] = set()
        self._gateways = Gateways(self._table, self._model.score, gate)
        self._crowding: Ids = np.zeros(0, np.int64)
        self._is_fitted = False
        """Since what waits was ranked last."""
        self._is_read_again = False
        """What waits was told another priority, in another process."""
        self.is_rank_due = False
        """A gateway was opened: what others would open may be in reach already."""
        self.is_entry_due = False
        """A host has answered, and more of what the session has shown there may wait."""
        self._as_crawled = AsCrawled()
        pages = list(map(as_crawled, graph.pages))
        self._learn_session(graph, pages)
        self._shown = ShownLinks(self._table, pages)

    @classmethod
    def from_briefing(
        cls,
        briefing: Briefing,
        *,
        hub: float = 0.3,
        gate: float = 1.0,
        enter: bool = True,
        trace: bool = True,
    ) -> TrailStrategy:
        """Learn from the session's own links; people's visits count where a trace is known."""
        known = briefing.trace if trace else None
        return cls(briefing.graph, hub=hub, gate=gate, enter=enter, trace=known)

    def _learn_session(self, graph: PageGraph, pages: Sequence[Page]) -> None:
        """``pages`` are those of the graph, as the crawl asks for them."""
        table, labels, targets = self._table, dict[int, float](), graph.targets
        addresses: dict[int, list[str]] = {}
        for number, (page, browsed) in enumerate(zip(pages, graph.pages, strict=True)):
            if number in targets or was_read(page):
                node = table.node(page.url)
                labels[node] = max(float(number in targets), labels.get(node, 0.0))
                addresses.setdefault(node, [page.url]).append(browsed.url)
        table.label(labels, browsed=True)
        for node, label in labels.items():
            table.readers.note(table.readers.opened_near(*addresses[node]), label)
        for number, page in enumerate(pages):
            if page.links:
                self._read((page, float(number in targets)), in_full=True)
        table.end_session()
        rows, _ = describe(table, np.fromiter(labels, np.int64, len(labels)))
        for (node, label), row in zip(labels.items(), rows, strict=True):
            self._model.add(node, label, row)
        self._model.end_session()

    def _read(self, *pages: tuple[Page, float], in_full: bool = False, beside: bool = False) -> Ids:
        """Take pages and their relevance into the table; together, they cost less than alone.

        ``in_full``: words around links to pages that are known are needed, too. ``beside``: what
        people opened near the pages stands for their links. Gives the addresses behind the links.
        """
        table, phrases = self._table, self._table.phrases
        new, first = phrases.columns.size, table.links.size
        said_enough = None if in_full else table.said_enough
        found = read_links_of([page for page, _ in pages], phrases, said_enough)
        phrases.sum_up(new, likeness=self._wanted.tables, models=self._model.tables)
        for (page, relevance), links in zip(pages, found, strict=True):
            meant = self._meaning.of_links(phrases, links.phrases)
            table.add_page(table.node(page.url), links, relevance, meant, beside=beside)
        last = table.links.size
        if first < last:
            read = self._wanted.read(phrases, table.links["phrases"][first:last])
            table.links["words"][first:last, :N_LIKE] = read
            self._model.read(first, last)
        return table.links["child"][first:last].astype(np.int64)

    def observe(self, crawled: CrawledPage) -> None:
        """Learn how a link has turned out, and read the links of its page."""
        crawled = self._as_crawled(crawled)
        table, page = self._table, crawled.page
        asked, node = table.node(crawled.candidate.url), table.node(page.url)
        table.note_done([asked, node])
        self._pages += 1
        self._own_pages += 1
        self._latest, self._suggested = None, ()
        if self._enters:
            self.is_entry_due |= self._shown.note_answers(crawled.candidate.url, page.url)
        if not table.nodes["browsed"][node]:
            self._learn(asked, node, crawled)
        else:
            if table.has_new_links(node, page):  # it was read in the session, and has changed since
                self._read((page, float(table.nodes["label"][node])))
            self._open = table.open_children(node)
            self._described = describe(table, self._open)
            self._gateways.note_opened()
            self.is_rank_due = True
        if self._is_fit_due():
            self._fit()
            self._described = describe(table, self._open)

    def _is_fit_due(self) -> bool:
        least = min(max(LEAST_OWN, self._own_pages // LEAST_OWN_SHARE), MOST_OWN)
        has_own = self._own_pages - self._own_pages_fitted >= least
        return has_own and self._pages >= self._next_fit

    def _fit(self) -> None:
        pause = min(max(REFIT_EVERY, self._pages // 10), REFIT_AT_LEAST_EVERY)
        self._next_fit, self._own_pages_fitted = self._pages + pause, self._own_pages
        if self._table.is_full:
            self._forget()
        self._model.fit()
        self._gateways.note_moved()
        self._is_fitted = True

    def _learn(self, asked: int, node: int, crawled: CrawledPage) -> None:
        table, believed = self._table, crawled.relevance.score
        is_news = not table.nodes["known"][node]
        if table.nodes["n_links"][asked]:
            (row,), (words,) = describe(table, np.array([asked]))
            believed = self._model.believed(crawled.relevance.score, row, words)
            self._latest = row, *table.words_of(asked)
            self._model.add_described(asked, crawled.relevance.score, *self._latest)
        table.label(dict.fromkeys((asked, node), believed))
        self._read((crawled.page, believed))
        table.nodes["page"][asked] = table.nodes["page"][node]
        beside = self._read_beside(crawled, believed, is_news=bool(is_news))
        self._open = np.concatenate([table.open_children(node), beside])
        self._described = describe(table, self._open)

    def _read_beside(self, crawled: CrawledPage, believed: float, *, is_news: bool) -> Ids:
        """What people opened near a page hears how it turned out, and may be worth a fetch."""
        table, page = self._table, crawled.page
        near = table.readers.opened_near(page.url, crawled.candidate.url)
        if is_news:
            table.readers.note(near, believed)
        self._suggested = suggestions(near, page, believed)
        if not self._suggested:
            return np.zeros(0, np.int64)
        beside = msgspec.structs.replace(page, links=self._suggested)
        nodes = self._read((beside, believed), beside=True)
        is_done: Flags = table.nodes["done"].take(nodes)
        return nodes[~is_done]

    def _forget(self) -> None:
        numbers = self._table.forget()
        self._model.renumber(numbers)
        self._open = numbers[self._open]
        self._relinked = {int(numbers[node]) for node in self._relinked if numbers[node] >= 0}
        self._gateways.note_moved()
        self._crowding = crowding(self._table)

    def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
        """Each link to a page that was not fetched yet, and what people opened near the page."""
        table = self._table
        new = np.flatnonzero(~table.nodes["known"].take(self._open))
        nodes = self._open.take(new)
        described = (each.take(new, axis=0) for each in self._described)
        scores, parts = self._model.score_and_parts(*described)
        scores -= against_hosts(table, nodes, self._crowding)
        again: Flags = table.nodes["queued"].take(nodes)
        self._relinked.update(nodes[again].tolist())
        table.nodes["queued"][nodes] = True
        # What waits with a higher priority keeps it until it is ranked anew.
        waiting_as = np.where(again, table.nodes["told"].take(nodes), -np.inf)
        table.nodes["told"][nodes] = np.maximum(scores, waiting_as)
        opinions = zip(scores.tolist(), memories(parts), strict=True)
        told = dict(zip(nodes.tolist(), opinions, strict=True))
        for node, worth in self._worth_of_session_pages(self._open).items():
            told[node] = worth, b""
        ranked, plain = [], self._as_crawled(crawled).page.links
        both = zip(crawled.page.links, plain, strict=True)
        for link, asked in (*both, *((each, each) for each in self._suggested)):
            found = told.pop(table.numbers.get(asked.url, -1), None)
            if found is not None:
                ranked.append(ScoredLink(link, *found))
        return ranked

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        """The best of what waits, and what has new links, by what is known by now."""
        table, self.is_rank_due = self._table, False
        self._crowding = crowding(table)
        nodes = table.await_absent(self._to_rank_anew(), candidates)
        scores = self._model.score(nodes) - against_hosts(table, nodes, self._crowding)
        moved = np.abs(scores - table.nodes["told"][nodes]) >= MOVED
        moved |= self._is_read_again
        self._is_read_again = False
        nodes, scores = nodes[moved], scores[moved]
        table.nodes["told"][nodes] = scores
        told = dict(
            zip((table.urls[node] for node in nodes.tolist()), scores.tolist(), strict=True)
        )
        session = np.flatnonzero(table.nodes["browsed"][: table.nodes.size])
        for node, worth in self._worth_of_session_pages(session).items():
            told[table.urls[node]] = worth
        return told or None

    def _to_rank_anew(self) -> Ids:
        nodes, size = self._table.nodes, self._table.nodes.size
        is_out = nodes["done"] | nodes["elsewhere"] | nodes["closed"]
        waiting = np.flatnonzero((nodes["queued"] & ~is_out)[:size])
        limit = RANKED_ANEW if self._is_fitted else RANKED_BETWEEN
        self._is_fitted = False
        if len(waiting) > limit:
            relinked = np.fromiter(self._relinked, np.int64, len(self._relinked))[-limit:]
            relinked = relinked[~is_out[relinked]]
            told = nodes["told"][waiting]
            awaited = np.isneginf(told)
            newest, waiting, told = waiting[awaited][-limit:], waiting[~awaited], told[~awaited]
            held = is_held_back(told)
            too_many = ~held & np.isin(nodes["host"][waiting], self._crowding)
            best = self._best(waiting, limit), self._best(waiting[held], limit)
            waiting = np.unique(np.concatenate([*best, newest, waiting[too_many], relinked]))
        self._relinked.clear()
        return waiting

    def _best(self, waiting: Ids, limit: int) -> Ids:
        if len(waiting) <= limit:
            return waiting
        told = self._table.nodes["told"][waiting]
        return waiting[np.argpartition(told, -limit)[-limit:]]

    def _worth_of_session_pages(self, nodes: Ids) -> dict[int, float]:
        """Logarithms of what pages of the session among them are worth as gateways."""
        flags = self._table.nodes
        browsed = nodes[flags["browsed"][nodes] & ~flags["done"][nodes]]
        if not self._gate or not len(browsed):
            return {}
        worth = self._gateways.worth(browsed, self._pages)
        worth -= against_hosts(self._table, browsed, self._crowding)
        return dict(zip(browsed.tolist(), worth.tolist(), strict=True))

    def entrances(self, in_scope: Callable[[str], bool]) -> Iterable[Candidate]:
        """What the session has shown already, and its pages from which there is most to find."""
        if self.is_entry_due:
            self.is_entry_due = False
            return self._shown.follow(self._model, self._crowding)
        self._table.keep_to(in_scope)
        if not self._enters:
            return []
        self._is_read_again |= self._pages > 0  # what waits since an earlier run keeps its priority
        shown = self._shown.take(self._model, self._crowding)
        return [*shown, *ways_in(self._table, self._model, self._gate)]

    def restock(self) -> Iterable[Candidate]:
        """More of what the session has shown, of hosts that have not answered yet."""
        return self._shown.take(self._model, self._crowding) if self._enters else []

    def regret(self, candidate: Candidate, outcome: Outcome) -> None:
        """There is no more to find there; a host that refuses all it is asked for is to wait."""
        refused, lasts = outcome in REFUSALS, outcome in LASTING
        self._table.note_failed(strip_tracking(candidate.url), refused=refused, lasts=lasts)

    def join(self, owns: Callable[[str], bool]) -> None:
        """Rank only what is fetched here."""
        self._table.leave_to_others(owns)

    def news(self, crawled: CrawledPage) -> News:
        """How the link to the page was described and turned out; and the links of the page."""
        crawled = self._as_crawled(crawled)
        example = Example.of(*self._latest) if self._latest is not None else None
        believed = float(self._table.nodes["label"][self._table.node(crawled.page.url)])
        return make_news(crawled, believed, example, self._table.owns)

    def heed(self, news: Sequence[News]) -> None:
        """Take pages of others for examples; their links that are fetched here are ranked anew."""
        heard = self._hearing.take_in(news)
        self._pages += heard.pages
        self._relinked.update(heard.relinked)
        if heard.opened:
            self._gateways.note_opened()
        if self._is_fit_due():
            self._fit()

    def reasons(self, found: FoundLink) -> Sequence[Reason]:
        """What moved the priority of a link: its words as weighed now, the rest as it was then."""
        node = self._table.numbers.get(found.url, -1)
        if not found.memory and node >= 0 and self._table.nodes["browsed"][node]:
            return [Reason("a page of your sessions, worth what its links would bring")]
        session = np.flatnonzero(self._table.nodes["browsed"][: self._table.nodes.size])
        labels = self._table.nodes["label"][session] > 0.5
        known = zip((self._table.urls[node] for node in session), labels.tolist(), strict=True)
        outcomes = {**dict(known), **found.outcomes}
        return reasons(replace(found, outcomes=outcomes), self._model, self._wanted)

    def lessons(self, pages: Iterable[Page]) -> Sequence[Lesson]:
        """Weights of the first model, is it wanted: those that have moved most first."""
        return lessons(self._model.wanted, self._meaning, pages)

    def snapshot(self) -> bytes:
        """Both models, their examples, and how fetched pages turned out; links are read again."""
        return msgspec.msgpack.encode(what_to_keep(self._pages, self._model, self._table))

    def restore(self, snapshot: bytes) -> None:
        """Go on from there."""
        kept = kept_in(snapshot, Kept, "what was learned of links")
        self._model.take(kept.model)
        self._pages = kept.pages
        self._next_fit = kept.pages + REFIT_EVERY
        put_back(kept, self._table)
        self._crowding = crowding(self._table)

    def read_again(self, crawled: CrawledPage) -> None:
        """Its links wait under a priority of old, and are ranked anew when it is time."""
        crawled = self._as_crawled(crawled)
        table, node = self._table, self._table.node(crawled.page.url)
        asked, browsed = table.node(crawled.candidate.url), bool(table.nodes["browsed"][node])
        if table.nodes["page"][node] >= 0 and not browsed:
            return
        if not browsed or table.has_new_links(node, crawled.page):
            label, is_known = table.nodes["label"][node], table.nodes["known"][node]
            relevance = float(label) if is_known else crawled.relevance.score
            self._read((crawled.page, relevance), in_full=True)  # known pages may be looked at anew
        table.note_done([asked, node])
        table.nodes["page"][asked] = table.nodes["page"][node]
        nodes = table.await_children(node)
        table.nodes["told"][nodes] = self._model.score(nodes)
        self._is_read_again = self._is_fitted = True

    def inherit(self, snapshot: bytes, *, in_full: bool) -> None:
        """Begin with what an earlier crawl has learned of links; its addresses are not taken."""
        kept = kept_in(snapshot, Kept, "what was learned of links")
        self._model.inherit(kept.model, in_full=in_full)
