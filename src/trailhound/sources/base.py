"""What may be asked besides the web itself: who links to a page, what people visited, a search.

Protocols only. The lab answers from a recorded web; a live crawl from files, its own link graph or
an HTTP endpoint. All answers come in a fixed order, and a source that fails raises
:class:`trailhound.errors.SourceError`: strategies go on without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailhound.records import Page


class BacklinkSource(Protocol):
    """Who links to a page, and what those pages say."""

    def linking_to(self, url: str) -> Sequence[str]:
        """URLs of pages with a link to ``url``, in a fixed order."""
        ...

    def page(self, url: str) -> Page | None:
        """The page behind a URL, if it can be had."""
        ...


@runtime_checkable
class FetchingAhead(Protocol):
    """Optional: a source that can have many pages fetched at once, where one by one takes long."""

    def expect(self, urls: Sequence[str]) -> None:
        """These pages will be asked for next."""
        ...


class SearchHit(msgspec.Struct, frozen=True):
    """One result of a search."""

    url: str
    title: str = ""
    snippet: str = ""


class SearchSource(Protocol):
    """Pages for a query, best first."""

    def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """At most ``limit`` results for a few words."""
        ...

    def page(self, url: str) -> Page | None:
        """The page behind a result, if it can be had."""
        ...


class Visit(msgspec.Struct, frozen=True):
    """Somebody opened a page."""

    user: int
    """People are numbers here: who they are is nobody's business."""
    at: float
    """Seconds since 1970."""
    url: str


class AccessTrace(Protocol):
    """Who opened what, and when; far more than fits into memory, perhaps."""

    def __len__(self) -> int:
        """Accesses in all."""
        ...

    def visits_to(self, url: str) -> Sequence[Visit]:
        """All visits to a page, in order of time; empty for a page that nobody opened."""
        ...

    def visits_by(self, user: int) -> Sequence[Visit]:
        """All visits of a user, in order of time."""
        ...

    def sample(self, rng: np.random.Generator) -> str:
        """A page of the trace, drawn at random from all its pages."""
        ...

    # The same in numbers, for whoever asks for thousands at a time.

    @property
    def n_users(self) -> int:
        """People in all; they are numbered from 0."""
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
