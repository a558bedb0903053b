"""Turns with a search engine: what to ask, where to start, what to learn from, how far it is.

The third application of the hidden-Markov papers. A turn asks a search for each cluster's strongest
words, crawls from the pages it names, and adds the paths that led to good pages to the training
set. Here is what live crawls and the lab share, with nothing but records going in and out, and
``turns.json``, in which live crawls keep their turns.

A crawl that teaches itself can talk itself into another topic. So finds join the targets under the
rules of :mod:`trailhound.models.adoption` (only the best tenth of what was taken for relevant, few
from each host, few in all), and under three more: they are scored by what people marked themselves
and never by earlier finds, they must score as well as half of the marked pages do, and they may
never outnumber these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from trailhound.counting import counted
from trailhound.errors import UNREADABLE, SourceError, StorageError
from trailhound.models.adoption import MAX_ADOPTED, MAX_PER_HOST, STRONG_QUANTILE
from trailhound.models.cluster_words import log_odds, strongest, term_counts
from trailhound.models.topic_model import TopicModel
from trailhound.sources import SearchSource
from trailhound.storage.files import write_whole
from trailhound.text.tokens import commonest_forms
from trailhound.urls import host_key

MAX_ATTEMPTS = 5
"""How often a turn asks before it gives up finding a new start page."""
_ROUNDING = 1e-6
"""Scores that differ by less are equal: some were kept with single precision."""
_MAX_WINDOWS = 10
"""How often a cluster whose query was asked before may try its next words."""


class TurnLimits(msgspec.Struct, frozen=True):
    """How much one turn may ask for."""

    words: int = 4
    """Of one query."""
    hits: int = 20
    """Results of one query that are looked at."""
    seeds: int = 20
    """New start pages of one turn."""
    hops: float | None = 1.0
    """Ask only for clusters whose pages are in the mean at most so many hops from a target.
    ``None``: for every cluster, as the paper has it."""


class ClusterQuery(msgspec.Struct, frozen=True):
    """What to ask for one cluster of pages."""

    cluster: int
    """0 holds the targets."""
    words: tuple[str, ...]
    """Strongest first, as the pages spell them."""

    @property
    def text(self) -> str:
        """As it is typed."""
        return " ".join(self.words)


class AskedQuery(msgspec.Struct, frozen=True, omit_defaults=True):
    """A query and what came of it."""

    cluster: int
    text: str
    hits: int = 0
    problem: str = ""
    """Why the search could not answer."""


class TurnPlan(msgspec.Struct, frozen=True):
    """Where a turn starts from, and how that was found out."""

    queries: tuple[AskedQuery, ...]
    seeds: tuple[str, ...]

    @property
    def problem(self) -> str:
        """Why there is no new start page; empty when there is one."""
        if self.seeds:
            return ""
        if not self.queries:
            return "every query that the clusters have words for was asked before"
        if all(query.problem for query in self.queries):
            return self.queries[-1].problem
        if not any(query.hits for query in self.queries):
            return f"none of {counted(len(self.queries), 'query')} had a result"
        return "the search named only pages that are known already, or out of scope"


class ScoredFind(NamedTuple):
    """A page that the crawl's judge took for relevant."""

    score: float
    """By what people marked themselves."""
    url: str


def cluster_queries(
    model: TopicModel,
    n_words: int = TurnLimits().words,
    asked: Collection[str] = (),
    max_hops: float | None = None,
) -> tuple[ClusterQuery, ...]:
    """One query for each cluster: the targets first, then by hops to the nearest target.

    Clusters that are farther than ``max_hops`` in the mean are left out. A cluster whose strongest
    words were asked before goes on with its next ones.
    """
    counts = term_counts(model.weights, [page.terms for page in model.graph.pages])
    terms = list(model.weights.vocabulary)
    ranked = {}
    for cluster in _nearest_first(model, max_hops):
        members = model.clusters == cluster
        columns = strongest(log_odds(counts, members), counts, members)
        ranked[cluster] = [terms[column] for column in columns]
    wanted = n_words * _MAX_WINDOWS
    used = {term for words in ranked.values() for term in words[:wanted]}
    forms = commonest_forms(model.graph.pages, used)
    queries = []
    taken = set(asked)
    for cluster, words in ranked.items():
        spelt = list(dict.fromkeys(forms[term] for term in words[:wanted]))
        query = _first_new(cluster, spelt, n_words, taken)
        if query is not None:
            taken.add(query.text)
            queries.append(query)
    return tuple(queries)


def _nearest_first(model: TopicModel, max_hops: float | None) -> list[int]:
    hops = {
        cluster: float(model.levels[model.clusters == cluster].mean())
        for cluster in np.unique(model.clusters).tolist()
    }
    near = [each for each in hops if max_hops is None or hops[each] <= max_hops]
    return sorted(near, key=lambda each: (hops[each], each))


def _first_new(
    cluster: int, words: Sequence[str], n_words: int, asked: Collection[str]
) -> ClusterQuery | None:
    for start in range(0, len(words), n_words):
        query = ClusterQuery(cluster, tuple(words[start : start + n_words]))
        if query.text not in asked:
            return query
    return None


async def plan_turn(
    model: TopicModel,
    search: SearchSource,
    is_known: Callable[[str], bool],
    asked: Collection[str] = (),
    limits: TurnLimits | None = None,
) -> TurnPlan:
    """Ask for each cluster, and choose start pages that are not known yet.

    While there is none, the clusters' next words are asked for, a few times. A query that the
    search cannot answer is noted and costs nothing else.
    """
    chosen = limits or TurnLimits()
    answered: list[AskedQuery] = []
    seeds: tuple[str, ...] = ()
    for _ in range(MAX_ATTEMPTS):
        before = {*asked, *(query.text for query in answered)}
        now, results = await _asked(
            cluster_queries(model, chosen.words, before, chosen.hops), search, chosen
        )
        answered += now
        seeds = choose_seeds(results, is_known, chosen.seeds)
        if seeds or not results:
            break
    return TurnPlan(tuple(answered), seeds)


async def _asked(
    queries: Iterable[ClusterQuery], search: SearchSource, limits: TurnLimits
) -> tuple[list[AskedQuery], list[list[str]]]:
    """What came of each query, and the results of those that were answered."""
    answered: list[AskedQuery] = []
    results: list[list[str]] = []
    for query in queries:
        try:
            hits = [hit.url for hit in await search.search(query.text, limits.hits)]
        except SourceError as error:
            answered.append(AskedQuery(query.cluster, query.text, problem=str(error)))
            continue
        answered.append(AskedQuery(query.cluster, query.text, len(hits)))
        results.append(hits)
    return answered, results


def choose_seeds(
    results: Iterable[Sequence[str]], is_known: Callable[[str], bool], limit: int
) -> tuple[str, ...]:
    """The best new result of each query, then the second best, and so on; each page once."""
    new = ([url for url in urls if not is_known(url)] for urls in results)
    turns = (url for rank in zip_longest(*new) for url in rank if url is not None)
    return tuple(dict.fromkeys(turns))[:limit]


def strong_finds(
    finds: Collection[ScoredFind], *, adopted: Collection[str], own_scores: Sequence[float]
) -> list[str]:
    """Which of a turn's finds are good enough to be learned from, best first.

    A find must be among the best tenth of the turn's, and reach the median of ``own_scores``: those
    of the pages that people marked, each judged as if it had not been shown. ``adopted`` joined in
    earlier turns; no more may join in all than people have marked. At most three come from one
    host, or as many as fill the places when there are few hosts.
    """
    if not finds or not own_scores:
        return []
    best_tenth = float(np.quantile([find.score for find in finds], STRONG_QUANTILE))
    threshold = max(best_tenth, float(np.median(own_scores)))
    room = min(MAX_ADOPTED, len(own_scores)) - len(adopted)
    per_host = Counter(map(host_key, adopted))
    hosts = {*per_host, *(host_key(find.url) for find in finds)}
    most = max(MAX_PER_HOST, MAX_ADOPTED // len(hosts))
    strong: list[str] = []
    for find in sorted(finds, key=lambda find: (-find.score, find.url)):
        host = host_key(find.url)
        if find.score >= threshold - _ROUNDING and per_host[host] < most and len(strong) < room:
            per_host[host] += 1
            strong.append(find.url)
    return strong


FORMAT_NAME = "trailhound-turns"
FORMAT_VERSION = 1


class TurnReport(msgspec.Struct, frozen=True, kw_only=True):
    """A finished turn in figures."""

    number: int
    """From 1, over all runs."""
    queries: tuple[AskedQuery, ...]
    seeds: int
    """New start pages."""
    requests: int
    """Of the crawl and to the search."""
    relevant: int
    """Pages that the judge took for relevant, without copies."""
    adopted: int
    """Those of them that were learned from."""
    pages_learned_from: int
    """Pages of the topic's graph afterwards."""
    crawl_ended: str
    """Why its crawl ended; empty when that was not heard."""


class OpenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that was planned and is not finished."""

    number: int
    queries: tuple[AskedQuery, ...]
    n_seeds: int
    seeds: tuple[str, ...] = ()
    """Until the crawl has them."""
    questions: int = 0
    """Requests that asking the search has cost."""
    pages_before: int
    """Pages that the crawl had dealt with."""
    requests_before: int
    until_requests: int
    """When its crawl is to end."""


class TurnsRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The file."""

    last_turn: int = 0
    """With which the run that was asked for is done."""
    turns: tuple[TurnReport, ...] = ()
    open: OpenTurn | None = None
    crawl_begun_at: float | None = None
    """Tells this crawl from one that was begun anew."""
    format: str = FORMAT_NAME
    version: int = FORMAT_VERSION

    @property
    def asked(self) -> frozenset[str]:
        """Every query so far."""
        return frozenset(query.text for turn in self.turns for query in turn.queries)

    @property
    def unfinished(self) -> bool:
        """Whether a run was interrupted."""
        return self.open is not None or len(self.turns) < self.last_turn


class TurnsFile:
    """Reads and writes it; nothing is there before the first turn."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> TurnsRecord:
        """What was kept; StorageError says what is wrong with it."""
        try:
            record = msgspec.json.decode(self._path.read_bytes(), type=TurnsRecord)
        except FileNotFoundError:
            return TurnsRecord()
        except (OSError, *UNREADABLE) as error:
            raise StorageError(
                f"{self._path} cannot be read ({error}). Delete it: the next turn begins anew, and "
                "what was crawled and learned stays."
            ) from error
        if record.format != FORMAT_NAME or record.version > FORMAT_VERSION:
            raise StorageError(
                f"{self._path} has format '{record.format}' version {record.version}, and this "
                f"Trailhound reads '{FORMAT_NAME}' up to {FORMAT_VERSION}. Upgrade Trailhound."
            )
        return record

    def write(self, record: TurnsRecord) -> None:
        """Replace it in one step."""
        write_whole(self._path, msgspec.json.format(msgspec.json.encode(record), indent=1))
