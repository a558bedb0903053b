"""Marks count at once: what people have said of pages is taken into the results of a crawl.

Marks are in the sessions of a topic: those made while browsing, and those of results
(``marks.jsonl``). The results keep them beside the pages, fetched or not, so that lists need not
look them up; they are taken over whenever the session files have changed since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from trailhound.errors import StorageError
from trailhound.sessions.events import Mark
from trailhound.sessions.files import header_of, marks_in
from trailhound.sessions.path_sessions import SEARCH_TURNS
from trailhound.storage.results_reading import Results
from trailhound.storage.verdicts import Changes, Verdicts, marks_are_from
from trailhound.topics.archived_pages import ArchivedContent
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.gathering import gather_first
from trailhound.topics.workspace import TopicFolder
from trailhound.urls import canonicalize, strip_tracking


def heed_marks(folder: CrawlFolder) -> Changes:
    """Let all marks of the topic count in the results of its crawl; what that changed.

    Cheap when no session has changed since the last time. StorageError when the results cannot be
    written.
    """
    if not folder.results.is_file():
        return Changes()
    checksum = _checksum(folder.topic)
    if marks_are_from(folder.results, checksum):
        return Changes()
    marks = marks_by_url(folder.topic)
    with Verdicts(folder.results) as verdicts:
        by_address = {_address(verdicts, url): useful for url, useful in marks.items()}
        words = _words(folder.archive, verdicts.lacking_words(by_address))
        return verdicts.mark(by_address, words, checksum)


def open_results(folder: CrawlFolder) -> Results:
    """The results of a crawl, with all marks heeded as far as the file can be written."""
    gather_first(folder)
    with suppress(StorageError):
        heed_marks(folder)
    return Results(folder.results)


def marks_by_url(topic: TopicFolder) -> dict[str, bool]:
    """Which pages people have marked useful, and which not useful, by canonical URL.

    As in learning: the last mark of each label counts, of a topic with a label that label's alone,
    and a page that is useful by any is useful.
    """
    label = topic.record().label if topic.exists() else None
    marks = [mark for path in _sessions(topic) for mark in marks_in(path)]
    verdicts: dict[tuple[str, str], bool | None] = {}
    for mark in sorted(marks, key=_time):
        if label is None or mark.label == label:
            verdicts[canonicalize(mark.url) or mark.url, mark.label] = mark.useful
    found: dict[str, bool] = {}
    for (url, _), useful in verdicts.items():
        if useful is not None:
            found[url] = useful or found.get(url, False)
    return found


def marked_as(folder: CrawlFolder, addresses: Collection[str]) -> list[str]:
    """By which URLs people have marked these pages: a redirect may have led on from there."""
    with Verdicts(folder.results) as verdicts:
        return [url for url in marks_by_url(folder.topic) if _address(verdicts, url) in addresses]


def mark_in_words(useful: bool | None) -> str | None:
    """``useful`` or ``not useful``; ``None`` for a page that is not marked."""
    return None if useful is None else "useful" if useful else "not useful"


def _time(mark: Mark) -> float:
    return mark.time


def _sessions(topic: TopicFolder) -> list[Path]:
    """Those that people recorded."""
    paths = [topic.sessions_path / name for name in sorted(topic.session_names())]
    return [path for path in paths if header_of(path).recorder != SEARCH_TURNS]


def _checksum(topic: TopicFolder) -> bytes:
    """Another one when a session came, went or was written to, or the topic has another label."""
    digest = hashlib.sha256()
    for name in sorted(topic.session_names()):
        with suppress(OSError):
            stat = (topic.sessions_path / name).stat()
            digest.update(f"{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    digest.update(repr(topic.record().label if topic.exists() else None).encode())
    return digest.digest()


def _address(verdicts: Verdicts, url: str) -> str:
    """Where the page is that was marked: a redirect may have led on from there."""
    return verdicts.address_of(url) or verdicts.address_of(strip_tracking(url)) or url


def _words(archive: Path, addresses: Collection[str]) -> dict[str, tuple[str, str]]:
    """Title and text of pages, as far as they are archived."""
    if not addresses:
        return {}
    with ArchivedContent(archive, addresses) as content:
        pages = {address: content.page(address) for address in addresses}
    return {address: (page.title, page.text) for address, page in pages.items() if page is not None}
