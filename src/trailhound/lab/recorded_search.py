"""The recorded web as a search engine: its own text, ranked by BM25."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from weakref import WeakKeyDictionary

from trailhound.lab.corpora import Corpus
from trailhound.records import Page
from trailhound.search.page_index import IndexedPage, PageIndex
from trailhound.sources import SearchHit

# Topics and strategies take turns on one corpus; indexing it takes seconds, and nothing changes it.
_indexes: WeakKeyDictionary[Corpus, PageIndex] = WeakKeyDictionary()


class RecordedSearch:
    """A search over a corpus, indexed by the first query; one for each run, as it counts.

    ``off_limits`` are URLs of pages that it does not name: a topic's closed part of the web.
    """

    def __init__(self, corpus: Corpus, off_limits: Collection[str] = frozenset()) -> None:
        self._corpus = corpus
        self._off_limits = frozenset(off_limits)
        self.queries = 0
        """What a search engine would charge."""
        self.pages_read = 0
        """Pages that a live crawl would have fetched."""

    def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """Recorded pages with any of the words, best first; equals in the order of recording."""
        self.queries += 1
        hits = _index_of(self._corpus).ranked(query)
        allowed = (hit for hit in hits if hit.url not in self._off_limits)
        return list(islice(allowed, max(0, limit)))

    def page(self, url: str) -> Page | None:
        """The recorded page, unless it is off limits."""
        self.pages_read += 1
        page = self._corpus.page(url)
        return None if page is None or page.url in self._off_limits else page


def _index_of(corpus: Corpus) -> PageIndex:
    index = _indexes.get(corpus)
    if index is None:
        pages = map(corpus.page_by_id, range(len(corpus)))
        index = PageIndex(IndexedPage(page.url, page.title, page.text) for page in pages)
        _indexes[corpus] = index
    return index
