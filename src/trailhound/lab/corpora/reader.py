"""A recorded web. Nothing is loaded before it is asked for, and then once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from trailhound.fetching.replay import RecordedResponse
from trailhound.lab.corpora.addresses import AddressBook
from trailhound.lab.corpora.information import CorpusInfo
from trailhound.lab.corpora.link_graph import LinkGraph
from trailhound.lab.corpora.store import CorpusStore
from trailhound.lab.corpora.trails import Access, Trail, access_log
from trailhound.records import Page
from trailhound.sessions.events import Session


class Corpus:
    """A recorded web, made by :class:`~trailhound.lab.corpora.writer.CorpusWriter`.

    Pages are numbered from 0 in the order in which they were recorded. URLs are given in
    canonical form. Use one object per thread and process; opening is cheap.
    """

    def __init__(self, store: CorpusStore) -> None:
        self._store = store
        self._info = store.info()

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a corpus file; CorpusError says what is wrong with one that cannot be read."""
        store = CorpusStore(Path(path))
        try:
            return cls(store)
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._store.path

    def info(self) -> CorpusInfo:
        """Counts, origin and fingerprint."""
        return self._info

    def __len__(self) -> int:
        """Number of pages."""
        return self._info.pages

    def __contains__(self, url: object) -> bool:
        """Whether anything was recorded for ``url``: a page, a redirect or an error."""
        return url in self._addresses

    def lookup(self, url: str) -> RecordedResponse | None:
        """What was recorded for ``url``; a redirect is an answer of its own."""
        number = self._addresses.pages.get(url)
        if number is not None:
            return self._store.response(number)
        entry = self._addresses.others.get(url)
        if entry is None:
            return None
        if entry.is_alias and (number := self.page_id(url)) is not None:
            return self._store.response(number)
        target = entry.target if entry.is_redirect else None
        return RecordedResponse(
            url, entry.status, redirect_to=target, content_type=entry.content_type
        )

    def page_id(self, url: str) -> int | None:
        """The number of the page that a visitor of ``url`` ends on, redirects followed."""
        return self._addresses.resolve(url)

    def page(self, url: str) -> Page | None:
        """The page that a visitor of ``url`` ends on; ``None`` when there is none."""
        number = self.page_id(url)
        return None if number is None else self._store.page(number)

    def page_by_id(self, number: int) -> Page:
        """The page with this number."""
        return self._store.page(number)

    def html(self, url: str) -> bytes | None:
        """The source of the page that a visitor of ``url`` ends on."""
        number = self.page_id(url)
        return None if number is None else self._store.source(number)

    @cached_property
    def page_urls(self) -> Sequence[str]:
        """URL of every page, by number."""
        return tuple(self._addresses.pages)

    @cached_property
    def graph(self) -> LinkGraph:
        """The links between pages."""
        return self._store.graph()

    def labels(self) -> Mapping[str, frozenset[int]]:
        """Numbers of the pages that carry each label."""
        return self._labels

    def groups(self) -> Mapping[str, frozenset[int]]:
        """Numbers of the pages in each group; a page is in one group at most."""
        return self._groups

    def duplicates(self) -> Mapping[str, str]:
        """URLs of pages that repeat others, with the URL of the original."""
        return dict(self._store.duplicates())

    def trails(self) -> Iterator[Trail]:
        """Recorded walks of many users, in the order in which they were recorded."""
        return self._store.trails()

    def access_log(self) -> Iterator[Access]:
        """The trails as one log of who asked for what, in order of time."""
        return access_log(self.trails())

    def sessions(self) -> tuple[Session, ...]:
        """Recorded browsing sessions."""
        return tuple(self._store.sessions())

    @property
    def start_urls(self) -> tuple[str, ...]:
        """Where browsing this web would begin; may be empty."""
        return self._info.start_urls

    @cached_property
    def _addresses(self) -> AddressBook:
        return self._store.addresses()

    @cached_property
    def _labels(self) -> Mapping[str, frozenset[int]]:
        return _gathered(self._store.labels())

    @cached_property
    def _groups(self) -> Mapping[str, frozenset[int]]:
        return _gathered(self._store.groups())


def _gathered(pairs: Iterable[tuple[str, int]]) -> Mapping[str, frozenset[int]]:
    members: defaultdict[str, set[int]] = defaultdict(set)
    for name, page in pairs:
        members[name].add(page)
    return {name: frozenset(pages) for name, pages in members.items()}
