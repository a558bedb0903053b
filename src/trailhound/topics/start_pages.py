"""Where a run starts beside its seeds: what a search names, what may be stale or open by now."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from trailhound.counting import counted
from trailhound.crawling.engine import SEED_PRIORITY
from trailhound.crawling.gate import REFRESH_PRIORITY
from trailhound.errors import SourceError
from trailhound.fetching.base import Validators
from trailhound.frontier.base import Frontier
from trailhound.models.topic_model import TopicModel
from trailhound.records import Candidate, Outcome
from trailhound.sources import SearchSource
from trailhound.storage.results_reading import Results
from trailhound.storage.visit_reading import due_pages
from trailhound.strategies.choosing import parse_spec
from trailhound.topics.turn_planning import cluster_queries
from trailhound.urls import host_key

FIRST_HITS = 10
"""Results of a search that are taken for seeds, as in the content-and-link paper."""
QUERY_WORDS = 4
MAY_BE_MENDED = frozenset(
    [
        Outcome.ADDRESS_REFUSED,
        Outcome.UNKNOWN_HOST,
        Outcome.UNREACHABLE,
        Outcome.TIMEOUT,
        Outcome.SERVER_ERROR,
        Outcome.BUSY,
        Outcome.BROKEN,
    ]
)
"""What the user, a server or a plug-in's author may have set right between two runs."""


async def search_seeds(
    search: SearchSource, words: str, in_scope: Callable[[str], bool] | None
) -> tuple[str, ...]:
    """The first results for the topic's words, those in scope; SourceError when there are none."""
    hits = await search.search(words, FIRST_HITS)
    seeds = tuple(hit.url for hit in hits if in_scope is None or in_scope(hit.url))
    if not seeds:
        found = f"{counted(len(hits), 'page')}, none of them in scope" if hits else "no page"
        raise SourceError(
            f"The search names {found} for '{words}'. Try another --search, or name pages to start "
            "from: --seed URL"
        )
    return seeds


def topic_words(strategy: str, model: TopicModel | None, topic: str) -> str:
    """What to ask a search for: the strategy's own words, those of the targets, or the name."""
    options = parse_spec(strategy)[1]
    given = options.get("query") or options.get("keywords")
    if given or model is None:
        return given or re.sub(r"[\W_]+", " ", topic).strip()
    queries = cluster_queries(model, QUERY_WORDS, max_hops=0.0)
    return queries[0].text if queries else topic_words("", None, topic)


def queue_closed(results: Path, frontier: Frontier, hosts: Collection[str]) -> int:
    """Queue pages of these hosts again that asked to log in, and let the hosts be asked at once."""
    with Results(results) as stored:
        pages = [each for each in stored.that_asked_to_log_in() if host_key(each.url) in hosts]
    frontier.requeue(
        Candidate(page.url, page.priority, page.memory, page.parent, page.depth) for page in pages
    )
    return len(pages)


def queue_failed_seeds(frontier: Frontier, seeds: Iterable[str]) -> int:
    """Queue seeds again that came to nothing for a reason that may be gone by now."""
    failed = [url for url in seeds if frontier.outcome_of(url) in MAY_BE_MENDED]
    frontier.requeue(Candidate(url, SEED_PRIORITY) for url in failed)
    return len(failed)


def queue_refresh(
    results: Path, frontier: Frontier, due_by: float | None = None, limit: int | None = None
) -> dict[str, Validators]:
    """Queue the relevant pages again; which, and what their servers said of them.

    Only those that are due by then, and only the best of them, if that is said.
    """
    if due_by is not None:
        pages = due_pages(results, due_by, limit)
    else:
        with Results(results) as stored:
            pages = stored.ranked(limit)
    frontier.requeue(
        Candidate(page.address, REFRESH_PRIORITY, page.memory, page.parent, page.depth)
        for page in pages
    )
    return {page.address: Validators(page.etag, page.last_modified) for page in pages}
