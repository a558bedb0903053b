"""What may be asked besides the web itself: who links to a page, what people visited, a search.

The lab answers from a recorded web; a live crawl from files, its own link graph or an HTTP
endpoint. Links and searches are asked asynchronously: a crawl goes on fetching while it waits. All
answers come in a fixed order, and a source that fails raises
:class:`trailhound.errors.SourceError`: strategies go on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.records import Page


class BacklinkSource(Protocol):
    """Who links to a page, and what those pages say."""

    async def linking_to(self, url: str) -> Sequence[str]:
        """URLs of pages with a link to ``url``, in a fixed order."""
        ...

    async def page(self, url: str) -> Page | None:
        """The page behind a URL, if it can be had."""
        ...


@runtime_checkable
class FetchingAhead(Protocol):
    """Optional: a source that can have many pages fetched at once, where one by one takes long."""

    async def expect(self, urls: Sequence[str]) -> None:
        """These pages will be asked for next."""
        ...


@runtime_checkable
class Charged(Protocol):
    """Optional: a source that costs requests. They count in the crawl's budget.

    In the lab every question counts as the live web would charge for it; live, what a file or a
    store on this machine answers costs nothing.
    """

    @property
    def queries(self) -> int:
        """Questions put to it so far."""
        ...

    @property
    def pages_read(self) -> int:
        """Pages that were fetched to answer them."""
        ...


class PageSource(Protocol):
    """Pages of the web, fetched when they are asked for."""

    @property
    def pages_read(self) -> int:
        """Pages that were fetched so far."""
        ...

    async def page(self, url: str) -> Page | None:
        """The page behind a URL, if it can be had."""
        ...

    async def expect(self, urls: Sequence[str]) -> None:
        """These pages will be asked for next."""
        ...


class SearchHit(msgspec.Struct, frozen=True):
    """One result of a search."""

    url: str
    title: str = ""
    snippet: str = ""


class SearchSource(Protocol):
    """Pages for a query, best first."""

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """At most ``limit`` results for a few words."""
        ...

    async def page(self, url: str) -> Page | None:
        """The page behind a result, if it can be had."""
        ...


class AccessTrace(Protocol):
    """Who opened what, and when; far more than fits into memory, perhaps.

    Times are in seconds since 1970.
    """

    def __len__(self) -> int:
        """Accesses in all."""
        ...

    def sample(self, rng: np.random.Generator) -> str:
        """A page of the trace, drawn at random from all its pages."""
        ...

    @property
    def n_users(self) -> int:
        """People in all; they are numbered from 0, and who they are is nobody's business."""
        ...

    @property
    def n_pages(self) -> int:
        """Pages in all; they are numbered from 0."""
        ...

    def page_number(self, url: str) -> int | None:
        """The number of a page; ``None`` for a page that nobody opened."""
        ...

    def page_url(self, page: int) -> str:
        """The address of a page."""
        ...

    def visitors(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Users and times of all visits to a page, in order of time; not to be written to."""
        ...

    def some_visitors(
        self, pages: NDArray[np.int64], limit: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Users of at most ``limit`` visits to each page, taken at even distances.

        Returns the users, and for each of them the place of the page in ``pages``.
        """
        ...

    def history(self, user: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Pages and times of all visits of a user, in order of time; not to be written to."""
        ...


class Sources:
    """What a crawl may ask. Each is opened when somebody first looks at it, and at most once."""

    def __init__(
        self,
        *,
        backlinks: Callable[[], BacklinkSource | None] = lambda: None,
        trace: Callable[[], AccessTrace | None] = lambda: None,
        search: Callable[[], SearchSource | None] = lambda: None,
    ) -> None:
        self._open_backlinks = backlinks
        self._open_trace = trace
        self._open_search = search
        self.before_asking: Callable[[], None] = lambda: None
        """Called before each question that costs a request; SourceError when none is left."""

    @classmethod
    def of(
        cls,
        *,
        backlinks: BacklinkSource | None = None,
        trace: AccessTrace | None = None,
        search: SearchSource | None = None,
    ) -> Sources:
        """Of what is open already."""
        return cls(backlinks=lambda: backlinks, trace=lambda: trace, search=lambda: search)

    @cached_property
    def backlinks(self) -> BacklinkSource | None:
        """Who links to a page, where something knows."""
        return self._open_backlinks()

    @cached_property
    def trace(self) -> AccessTrace | None:
        """What people visited, where something knows."""
        return self._open_trace()

    @cached_property
    def search(self) -> SearchSource | None:
        """Something to put a query to, where there is one."""
        return self._open_search()

    def looked_at(self, name: str) -> bool:
        """Whether somebody wanted ``backlinks``, ``trace`` or ``search``."""
        return name in vars(self)

    def close(self) -> None:
        """Let files go that were opened."""
        for source in vars(self).values():
            close = getattr(source, "close", None)
            if close is not None:
                close()

    def asked(self) -> int:
        """Requests that questions have cost so far, pages read through them included."""
        opened = (vars(self).get(name) for name in ("backlinks", "search"))
        return sum(
            getattr(each, "queries", 0) + getattr(each, "pages_read", 0)  # a protocol takes longer
            for each in opened
            if each is not None
        )
