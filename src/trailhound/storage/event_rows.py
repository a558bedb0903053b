"""An event of a crawl as a row of its results: what SQLite can hold of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import msgspec

from trailhound.records import FinishedPage
from trailhound.storage.snippets import snippet_of
from trailhound.utf8 import storable

INSERT_EVENT = """
    INSERT INTO event VALUES (
        NULL, :number, :url, :address, :outcome, :parent, :depth, :priority, :memory, :requests,
        :requests_total, :score, :relevant, :links_found, :links_added, :links_outside, :why,
        :title, :snippet, :language, :duplicate_of, :noindex, :at, :status, :etag, :last_modified,
        :known, :fingerprint, :current
    )
"""


def event_row(finished: FinishedPage) -> dict[str, object]:
    """The columns by name, and fields of the event that are no column."""
    event, result, page = finished.event, finished.result, finished.page
    relevance, fingerprint = event.relevance, finished.fingerprint
    return msgspec.structs.asdict(event) | {
        "address": event.final_url,
        "memory": finished.candidate.memory,
        "score": min(relevance.score, 1.0) if relevance else None,  # rounding may exceed 1
        "relevant": bool(relevance and relevance.relevant),
        "why": storable(event.why),
        "title": storable(event.title),
        "snippet": storable(snippet_of(page)) if page is not None else "",
        "language": page.language if page is not None else "",
        "status": result.status,
        "etag": storable(result.header("ETag")),
        "last_modified": storable(result.header("Last-Modified")),
        "fingerprint": signed(fingerprint),
    }


def signed(fingerprint: int | None) -> int | None:
    """As SQLite keeps it: its integers have a sign."""
    return fingerprint and fingerprint - (fingerprint >> 63 << 64)


def unsigned(kept: int) -> int:
    """A fingerprint that SQLite kept."""
    return kept % (1 << 64)


def kept_fingerprints(connection: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    """Addresses and fingerprints of all pages in results that others may be copies of."""
    query = (
        "SELECT address, fingerprint FROM event "
        "WHERE fingerprint IS NOT NULL AND current AND NOT noindex "
        "ORDER BY duplicate_of IS NOT NULL, id"  # one that was fetched again is no copy of its copy
    )
    for address, fingerprint in connection.execute(query):
        yield address, unsigned(fingerprint)
