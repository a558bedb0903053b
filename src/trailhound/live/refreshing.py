"""Queue the relevant pages again, to ask whether they have changed."""

from __future__ import annotations

from pathlib import Path

from trailhound.fetching.crawl_fetcher import Validators
from trailhound.frontier.base import Frontier
from trailhound.records import Candidate
from trailhound.storage.results_reading import Results

PRIORITY = 5e17
"""Between the seeds and all else."""


def queue_refresh(results: Path, frontier: Frontier) -> dict[str, Validators]:
    """The pages that were queued, with what their servers said of them."""
    with Results(results) as stored:
        pages = stored.ranked()
    frontier.requeue(
        Candidate(page.address, PRIORITY, page.memory, page.parent, page.depth) for page in pages
    )
    return {page.address: Validators(page.etag, page.last_modified) for page in pages}
