"""An index that answers: who opened a page, what did a user open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trailhound.sources.traces.folder import TraceHeader, map_columns, read_header
from trailhound.sources.traces.sorting import url_key

Numbers = NDArray[np.uint32]
Times = NDArray[np.float64]
_KNOWN_URLS = 20_000


class TraceIndex:
    """An :class:`~trailhound.sources.AccessTrace` over the columns of an index, mapped or not."""

    def __init__(self, header: TraceHeader, columns: Mapping[str, NDArray[np.generic]]) -> None:
        self.header = header
        self._columns = columns
        self._keys = columns["url-keys"]
        self._url_ends = columns["url-ends"]
        self._urls = columns["urls"]
        self._page_ends = columns["page-ends"]
        self._page_users = columns["page-users"].view(np.uint32)
        self._page_times = columns["page-times"].view(np.float64)
        self._user_ends = columns["user-ends"]
        self._user_pages = columns["user-pages"].view(np.uint32)
        self._user_times = columns["user-times"].view(np.float64)
        self.page_url: Callable[[int], str] = lru_cache(_KNOWN_URLS)(self._page_url)

    @classmethod
    def open(cls, folder: Path) -> TraceIndex:
        """Map an index into memory; SourceError when there is none, or a damaged one."""
        header = read_header(folder)
        return cls(header, map_columns(folder, header))

    def in_memory(self) -> TraceIndex:
        """The same, independent of its files."""
        copies = {name: np.array(column) for name, column in self._columns.items()}
        return TraceIndex(self.header, copies)

    def __len__(self) -> int:
        return self.header.accesses

    @property
    def n_users(self) -> int:
        """People in all."""
        return self.header.users

    @property
    def n_pages(self) -> int:
        """Pages in all."""
        return self.header.pages

    def page_number(self, url: str) -> int | None:
        """The place of a URL's key; the URL itself is compared as well."""
        content = url.encode("utf-8", "surrogatepass")
        page = int(np.searchsorted(self._keys, np.uint64(url_key(content))))
        if page < self.n_pages and self._url_bytes(page) == content:
            return page
        return None

    def _page_url(self, page: int) -> str:
        """The address of a page."""
        return self._url_bytes(page).decode("utf-8", "replace")

    def _url_bytes(self, page: int) -> bytes:
        start = int(self._url_ends[page - 1]) if page else 0
        return self._urls[start : int(self._url_ends[page])].tobytes()

    def visitors(self, page: int) -> tuple[Numbers, Times]:
        """Users and times of all visits to a page."""
        start = int(self._page_ends[page - 1]) if page else 0
        end = int(self._page_ends[page])
        return self._page_users[start:end], self._page_times[start:end]

    def some_visitors(
        self, pages: NDArray[np.int64], limit: int
    ) -> tuple[Numbers, NDArray[np.int64]]:
        """Users of at most ``limit`` visits to each page, and for each the place of the page."""
        starts = np.where(pages > 0, self._page_ends[pages - 1], 0).astype(np.int64)
        visits = self._page_ends[pages].astype(np.int64) - starts
        taken = np.minimum(visits, limit)
        owners = np.repeat(np.arange(len(pages)), taken)
        within = np.arange(len(owners)) - (np.cumsum(taken) - taken)[owners]
        steps = np.maximum(visits // limit, 1)
        return self._page_users[starts[owners] + within * steps[owners]], owners

    def history(self, user: int) -> tuple[Numbers, Times]:
        """Pages and times of all visits of a user."""
        start = int(self._user_ends[user - 1]) if user else 0
        end = int(self._user_ends[user])
        return self._user_pages[start:end], self._user_times[start:end]

    def sample(self, rng: np.random.Generator) -> str:
        """A page, each as likely as any other."""
        return self.page_url(int(rng.integers(self.n_pages)))
