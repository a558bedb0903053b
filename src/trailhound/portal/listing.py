"""All pages that a portal may show, in columns: ordering 200,000 of them takes milliseconds.

Languages have the names that people give them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trailhound.errors import StorageError, TrailhoundError
from trailhound.storage.listed_pages import ListedFacts, ListedPages
from trailhound.storage.text_index import index_for_search
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import heed_marks, marks_by_url
from trailhound.urls import host_key

_NAMES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nb": "Norwegian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovene",
    "sr": "Serbian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}


def language_name(code: str) -> str:
    """``German`` for ``de``; other codes stay as they are."""
    return _NAMES.get(code, code)


Positions = NDArray[np.intp]
"""Places of pages in a :class:`Listing`."""

FACETS = ("host", "language", "year")

_REST = 10
"""A listing is read anew after so many times as long as reading takes, at the earliest."""
_BEARABLE_SECONDS = 0.2
_SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class Column:
    """One facet: the value of each page, as a number into ``values``."""

    values: tuple[str, ...]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, written: list[str]) -> Column:
        """Values as they come, page by page."""
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(value, len(numbers)) for value in written]
        return cls(tuple(numbers), np.array(codes, dtype=np.intp))


@dataclass(frozen=True)
class Listing:
    """The pages, in the order of their ids; arrays have one value for each."""

    ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    found_at: NDArray[np.float64]
    facets: dict[str, Column]

    def __len__(self) -> int:
        return len(self.ids)

    def positions_of(self, ids: Collection[int]) -> Positions:
        """Where pages are, of those that are listed."""
        wanted = np.fromiter(ids, dtype=np.int64, count=len(ids))
        places = np.searchsorted(self.ids, wanted)
        is_listed = places < len(self.ids)
        is_listed[is_listed] = self.ids[places[is_listed]] == wanted[is_listed]
        return places[is_listed]

    def best(self, limit: int | None) -> Listing:
        """The same with at most ``limit`` pages, those with the best scores."""
        if limit is None or limit >= len(self):
            return self
        kept = np.sort(np.argsort(-self.scores, kind="stable")[:limit])
        facets = {name: Column(each.values, each.codes[kept]) for name, each in self.facets.items()}
        return Listing(self.ids[kept], self.scores[kept], self.found_at[kept], facets)


def read_listing(folder: CrawlFolder) -> Listing:
    """All that may be shown now; pages that the person has rejected are left out."""
    rejected = _rejected(folder)
    with ListedPages(folder.results) as stored:
        facts = [page for page in stored.facts() if page.address not in rejected]
    facts.sort()
    return Listing(
        np.array([page.id for page in facts], dtype=np.int64),
        np.array([page.score for page in facts], dtype=np.float64),
        np.array([page.at for page in facts], dtype=np.float64),
        {name: Column.of([_VALUE_OF[name](page) for page in facts]) for name in FACETS},
    )


def _rejected(folder: CrawlFolder) -> set[str]:
    """Pages marked not useful that the results still list: none, unless they cannot be written."""
    try:
        heed_marks(folder)
    except StorageError:
        return {url for url, useful in marks_by_url(folder.topic).items() if not useful}
    return set()


@lru_cache(maxsize=4096)
def _year_of_day(day: int) -> str:
    return str(datetime.fromtimestamp(day * _SECONDS_PER_DAY, UTC).year)


_VALUE_OF: dict[str, Callable[[ListedFacts], str]] = {
    "host": lambda page: host_key(page.address),
    "language": lambda page: page.language,
    "year": lambda page: _year_of_day(int(page.at // _SECONDS_PER_DAY)),
}


class FreshListing:
    """The listing of a crawl that may be running; may be asked by several threads.

    It follows the stores, and spends a tenth of the time on that at most. Where it takes longer
    than a reader should wait, a thread does it, and the listing may be some seconds behind.
    """

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._listing: Listing | None = None
        self._seen: object = None
        self._seconds = 0.0
        """How long the last reading took."""
        self._fresh_until = 0.0

    def get(self) -> Listing:
        """The pages. The first call may take long: all words are indexed."""
        listing = self._listing
        if listing is None:
            with self._lock:
                return self._listing or self._read()
        if time.monotonic() < self._fresh_until or not self._lock.acquire(blocking=False):
            return listing
        try:
            if self._stamp() == self._seen:
                return listing
            if self._seconds <= _BEARABLE_SECONDS:
                return self._read()
            threading.Thread(target=self._read_behind, daemon=True).start()
            return listing
        finally:
            self._lock.release()

    def _read_behind(self) -> None:
        with self._lock, suppress(TrailhoundError):  # the next reader tries again, and hears of it
            if time.monotonic() >= self._fresh_until:
                self._read()

    def _read(self) -> Listing:
        started = time.monotonic()
        with suppress(StorageError):
            heed_marks(self._folder)  # words of pages that marks take in are indexed as well
        index_for_search(self._folder.results)
        self._seen = self._stamp()  # both have changed it
        self._listing = read_listing(self._folder)
        ended = time.monotonic()
        self._seconds = ended - started
        self._fresh_until = ended + _REST * self._seconds
        return self._listing

    def _stamp(self) -> object:
        """Changes whenever results or marks do."""
        results, topic = self._folder.results, self._folder.topic
        log = results.with_name(f"{results.name}-wal")
        sessions = (topic.sessions_path / name for name in sorted(topic.session_names()))
        return [_stamp_of(path) for path in (results, log, *sessions)]


def _stamp_of(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
