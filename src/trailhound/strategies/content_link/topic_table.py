"""A topic as a short table of words: where they come from, how they grow, what they say."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trailhound.errors import SessionError, SourceError, UsageError
from trailhound.sources import FetchingAhead, SearchSource
from trailhound.strategies.base import Briefing
from trailhound.strategies.parts import DocumentCounts
from trailhound.text.tfidf import Terms
from trailhound.text.tokens import count_terms, tokenize

_log = logging.getLogger(__name__)

TITLE_WEIGHT = 2
"""Eq. 2: a word of the title counts twice, any other once."""


class TopicTable:
    """Words with weights from 0 to 1."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)
        self._squares: float | None = None

    @classmethod
    def from_documents(
        cls, documents: Sequence[Terms], size: int, reference: DocumentCounts | None = None
    ) -> TopicTable:
        """The heaviest words of some documents about the topic, by eq. 1::

            w = tf · df, or with a reference tf · df · rarity        W = w / w_max

        tf is how often a word occurs in all documents, df in how many of them.
        """
        tf: Counter[str] = Counter()
        df: Counter[str] = Counter()
        for terms in documents:
            tf.update(terms)
            df.update(terms.keys())
        raw = {
            term: tf[term] * df[term] * (reference.rarity(term) if reference else 1.0)
            for term in tf
        }
        heaviest = sorted(raw, key=lambda term: (-raw[term], term))[:size]
        largest = raw[heaviest[0]] if heaviest else 0.0
        return cls({term: raw[term] / largest for term in heaviest if raw[term] > 0})

    def __len__(self) -> int:
        return len(self.weights)

    def put(self, term: str, weight: float) -> None:
        """Add a word, or give it another weight."""
        self.weights[term] = weight
        self._squares = None

    def drop_lightest(self) -> None:
        """Take out the word with the least weight; the last one among equals."""
        del self.weights[min(reversed(self.weights), key=self.weights.__getitem__)]
        self._squares = None

    def relevance(self, counts: Mapping[str, float], least_words: int = 1) -> float:
        """Eq. 3, the cosine of the table and a text's counts of the table's words.

        A text that repeats a single word of the table would be very relevant; one with fewer than
        ``least_words`` distinct words of the table gets its share of the cosine only.
        """
        common = squares = 0.0
        distinct = 0
        for term, weight in self.weights.items():
            count = counts.get(term)
            if count:
                common += weight * count
                squares += count * count
                distinct += 1
        if not distinct:
            return 0.0
        enough = min(1.0, distinct / max(1, min(least_words, len(self.weights))))
        if self._squares is None:
            self._squares = sum(weight * weight for weight in self.weights.values())
        # Rounding may lift the cosine of equal directions above 1.
        return enough * min(1.0, common / math.sqrt(self._squares * squares))


def page_counts(terms: Terms, title_terms: Terms) -> Mapping[str, int]:
    """w_kp: words of the text once, words of the title twice. ``terms`` holds the title's too."""
    if not title_terms:
        return terms
    counts = Counter(terms)
    for term, count in title_terms.items():
        counts[term] += (TITLE_WEIGHT - 1) * count
    return counts


MIN_PAGES = 3
"""Very relevant pages in which a word must be the most frequent one."""
MAX_REFERENCE_SHARE = 0.1
"""A word in more of the reference pages is too common."""
MAX_WEIGHT = 0.9
NEWCOMERS_SHARE = 0.5
"""A word that the crawl found itself weighs half of what its pages' relevance says."""
MAX_WAITING = 1000
"""Words on trial."""


class TableGrowth:
    """The most frequent word of each very relevant page joins the table.

    As published it joins at once, with the page's relevance for its weight, and the table has no
    limit. Repaired, it must be the most frequent word of three such pages and rare elsewhere; it
    gets half the weight, and the lightest word of a full table makes room for it.
    """

    def __init__(self, size: int, reference: DocumentCounts | None) -> None:
        self._size = size
        self._reference = reference
        self.trials: dict[str, list[float]] = {}
        """Relevance of the pages in which each word on trial was the most frequent one."""

    def learn(self, table: TopicTable, terms: Terms, relevance: float) -> bool:
        """See a very relevant page; whether the table has changed."""
        if not terms:
            return False
        word = max(terms, key=terms.__getitem__)
        if self._reference is None:
            table.put(word, relevance)
            return True
        if self._reference.share(word) >= MAX_REFERENCE_SHARE:
            return False
        seen = self.trials.setdefault(word, [])
        seen.append(relevance)
        if len(self.trials) > MAX_WAITING:
            del self.trials[next(iter(self.trials))]
        if len(seen) < MIN_PAGES:
            return False
        weight = NEWCOMERS_SHARE * min(MAX_WEIGHT, sum(seen) / len(seen))
        del seen[:-MIN_PAGES]
        return self._admit(table, word, weight)

    def _admit(self, table: TopicTable, word: str, weight: float) -> bool:
        if weight <= table.weights.get(word, 0.0):
            return False
        if word not in table.weights and len(table) >= self._size:
            if weight <= min(table.weights.values()):
                return False
            table.drop_lightest()
        table.put(word, weight)
        return True


@dataclass(frozen=True)
class TopicWish:
    """How the user names the topic."""

    keywords: str = ""
    """Words that stand for it, all of weight 1."""
    query: str = ""
    """What to put to the search source."""
    results: int = 10
    """K: results of the search that are read."""
    size: int = 50
    """Words in the table."""

    def __post_init__(self) -> None:
        if self.keywords and self.query:
            raise UsageError(
                "Options keywords and query both name the topic. Give one of them: keywords are "
                "taken as they are, a query is put to the search source."
            )
        if self.size < 1 or self.results < 1:
            raise UsageError(
                f"Options words ({self.size}) and results ({self.results}) should be 1 or more."
            )


async def make_topic_table(
    briefing: Briefing, wish: TopicWish, reference: DocumentCounts | None
) -> TopicTable:
    """The table; a search that fails is replaced by the session's targets, with a warning."""
    if wish.keywords:
        table = TopicTable(dict.fromkeys(tokenize(wish.keywords)[: wish.size], 1.0))
    else:
        table = TopicTable.from_documents(await _documents(briefing, wish), wish.size, reference)
    if len(table):
        return table
    if wish.keywords:
        raise UsageError(
            f"Of the keywords '{wish.keywords}' nothing is left without stop words and numbers. "
            "Give words that name the topic."
        )
    raise UsageError(
        "The pages about the topic have no words that set them apart, so there is no table to "
        "compare with. Mark pages with text as useful, or give keywords=..."
    )


def background_words(briefing: Briefing) -> DocumentCounts:
    """The pages of the session that are no targets."""
    graph = briefing.graph
    return DocumentCounts.of(
        page.terms for number, page in enumerate(graph.pages) if number not in graph.targets
    )


async def _documents(briefing: Briefing, wish: TopicWish) -> list[Terms]:
    targets: list[Terms] = [briefing.graph.pages[i].terms for i in sorted(briefing.graph.targets)]
    if wish.query:
        if briefing.search is None:
            raise UsageError(
                f"The query '{wish.query}' needs something to search with, and there is nothing. "
                "Name a search source with --search, or give keywords=... instead."
            )
        found = await _found(briefing.search, wish, fallback=bool(targets))
        if found:
            return found
    if not targets:
        raise SessionError(
            "The session has no page marked useful, so there are no words to look for. Mark a "
            "page as useful, or name the topic by keywords=... or query=..."
        )
    return targets


async def _found(search: SearchSource, wish: TopicWish, *, fallback: bool) -> list[Terms]:
    """The words of each result; none when the search fails and there is something else."""
    try:
        hits = await search.search(wish.query, wish.results)
        if isinstance(search, FetchingAhead):
            await search.expect([hit.url for hit in hits])
        documents: list[Terms] = []
        for hit in hits:
            page = await search.page(hit.url)
            # What the search says about it when it cannot be had.
            terms = count_terms(f"{hit.title} {hit.snippet}") if page is None else page.terms
            documents.append(terms)
    except SourceError as error:
        if not fallback:
            raise
        _log.warning("%s The topic's words are taken from the session's targets instead.", error)
        return []
    if not any(documents):
        _log.warning(
            "The search for '%s' found nothing to read; the topic's words are taken from the "
            "session's targets instead.",
            wish.query,
        )
        return []
    return documents
