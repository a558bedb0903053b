"""A search over web archives: WARC and WACZ files that one has, indexed when first asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

from trailhound.errors import CorpusError, SourceError, UsageError
from trailhound.records import Page
from trailhound.search.page_index import IndexedPage, PageIndex
from trailhound.sources import SearchHit
from trailhound.text.extract import extract_page
from trailhound.urls import canonicalize
from trailhound.web_archives.captures import ArchiveDamageError, read_captures
from trailhound.web_archives.files import find_archives


class ArchivedPagesSearch:
    """Searches a WARC or WACZ file, or a folder of them; of several captures the last counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pages: dict[str, Page] = {}

    def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """Archived pages with any of the words, by BM25."""
        return list(islice(self._index.ranked(query), max(0, limit)))

    def page(self, url: str) -> Page | None:
        """The archived page."""
        _ = self._index
        return self._pages.get(url)

    @cached_property
    def _index(self) -> PageIndex:
        try:
            self._pages = {page.url: page for page in self._archived()}
        except (CorpusError, UsageError) as error:
            raise SourceError(f"The archive cannot be searched: {error}") from error
        if not self._pages:
            raise SourceError(f"{self._path} holds no page to search in. Name another archive.")
        return PageIndex(
            IndexedPage(page.url, page.title, page.text) for page in self._pages.values()
        )

    def _archived(self) -> Iterator[Page]:
        for archive in find_archives(self._path):
            try:
                for capture in read_captures(archive):
                    answer = capture.answer
                    url = canonicalize(answer.url) if answer.is_page and answer.body else None
                    if url is not None:
                        yield extract_page(answer.body, url, answer.content_type)
            except ArchiveDamageError:
                continue  # what came before the damage is worth having
