"""The recorded web asked backwards: who links to a page."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trailhound.lab.corpora import Corpus
from trailhound.records import Page


class RecordedBacklinks:
    """A backlink source over a corpus; one for each run, as it counts what is asked.

    ``closed`` are URLs of pages that it knows nothing of.
    """

    def __init__(self, corpus: Corpus, closed: Collection[str] = frozenset()) -> None:
        self._corpus = corpus
        self._closed = frozenset(closed)
        self.queries = 0
        """What a search engine would charge."""
        self.pages_read = 0
        """Pages that a live crawl would have fetched."""

    def linking_to(self, url: str) -> Sequence[str]:
        """Recorded pages with a link to ``url``, by number."""
        self.queries += 1
        number = self._corpus.page_id(url)
        if number is None or self._corpus.page_urls[number] in self._closed:
            return ()
        sources = self._corpus.graph.reversed().links_of(number).tolist()
        urls = (self._corpus.page_urls[source] for source in sources)
        return [url for url in urls if url not in self._closed]

    def page(self, url: str) -> Page | None:
        """The recorded page."""
        self.pages_read += 1
        page = self._corpus.page(url)
        return None if page is None or page.url in self._closed else page
