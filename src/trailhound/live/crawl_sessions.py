"""Sessions made from a crawl: the paths that led to pages, with what the archive kept of them."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable
from pathlib import Path

from trailhound.errors import StorageError
from trailhound.sessions.events import Session
from trailhound.sessions.path_sessions import PathPage, session_of_paths
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.storage.warc_export import write_warc
from trailhound.text.encoding import decode
from trailhound.urls import canonicalize
from trailhound.web_archives.captures import ArchiveDamageError, read_captures
from trailhound.web_archives.files import Archive


def archived_sources(archive: Path, addresses: Collection[str]) -> dict[str, str]:
    """The HTML of pages by address, as it was fetched last; what is not archived is left out."""
    copy = io.BytesIO()
    try:
        write_warc(archive, addresses, copy)
    except StorageError:
        return {}  # the crawl was run without an archive
    found: dict[str, str] = {}
    try:
        for capture in read_captures(Archive("archive", lambda: io.BytesIO(copy.getvalue()))):
            answer = capture.answer
            address = canonicalize(answer.url) or ""
            if address in addresses and answer.is_page and answer.body:
                found[address] = decode(answer.body, answer.content_type).text
    except ArchiveDamageError:
        pass  # what came before the damage is worth having
    return found


def path_of(results: Results, page: StoredPage) -> list[PathPage]:
    """The pages from a seed to ``page``, as the crawl met them."""
    path = []
    for address in results.path_to(page):
        events = [page] if address == page.address else results.events_of(address)
        if events:
            first = events[0]
            path.append(PathPage(first.address, first.at, first.title, first.url))
    return path


def session_of_crawl(
    topic: str,
    results: Results,
    pages: Iterable[StoredPage],
    archive: Path,
    *,
    recorder: str,
    label: str = "",
) -> Session | None:
    """The ways to ``pages`` as a session that marks them useful.

    Pages whose source was not kept teach nothing and are left out; ``None`` when none is left.
    """
    paths = [path_of(results, page) for page in pages]
    sources = archived_sources(archive, {each.url for path in paths for each in path})
    kept = [
        [page for page in path if page.url in sources]
        for path in paths
        if path and path[-1].url in sources
    ]
    if not kept:
        return None
    return session_of_paths(topic, kept, recorder=recorder, label=label, source=sources.get)
