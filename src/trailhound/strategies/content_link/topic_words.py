"""Where a topic's words come from: given words, a search, or the targets of the session."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from trailhound.errors import SessionError, SourceError, UsageError
from trailhound.sources import FetchingAhead, SearchHit, SearchSource
from trailhound.strategies.base import Briefing
from trailhound.strategies.content_link.topic_table import (
    BackgroundWords,
    Terms,
    TopicTable,
)
from trailhound.text.tokens import count_terms, tokenize

_log = logging.getLogger(__name__)


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
    briefing: Briefing, wish: TopicWish, reference: BackgroundWords | None
) -> TopicTable:
    """The table; a search that fails is replaced by the session's targets, with a warning."""
    if wish.keywords:
        table = TopicTable(dict.fromkeys(tokenize(wish.keywords)[: wish.size], 1.0))
    else:
        table = TopicTable.from_documents(await _documents(briefing, wish), wish.size, reference)
    if not len(table):
        raise UsageError(_no_words(wish))
    return table


def background_words(briefing: Briefing) -> BackgroundWords:
    """The pages of the session that are no targets."""
    graph = briefing.graph
    return BackgroundWords.of(
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
        documents = [await _words_of(search, hit) for hit in hits]
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


async def _words_of(search: SearchSource, hit: SearchHit) -> Terms:
    """The page behind a result; what the search says about it when it cannot be had."""
    page = await search.page(hit.url)
    return page.terms if page is not None else count_terms(f"{hit.title} {hit.snippet}")


def _no_words(wish: TopicWish) -> str:
    if wish.keywords:
        return (
            f"Of the keywords '{wish.keywords}' nothing is left without stop words and numbers. "
            "Give words that name the topic."
        )
    return (
        "The pages about the topic have no words that set them apart, so there is no table to "
        "compare with. Mark pages with text as useful, or give keywords=..."
    )
