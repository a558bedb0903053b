"""The recorded web asked backwards: who links to a page."""

from __future__ import annotations

from collections.abc import Sequence

from trailhound.lab.corpora import Corpus
from trailhound.records import Page


class RecordedBacklinks:
    """A backlink source over a corpus; one for each run, as it counts what is asked."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self.queries = 0
        """What a search engine would charge."""
        self.pages_read = 0
        """Pages that a live crawl would have fetched."""

    def linking_to(self, url: str) -> Sequence[str]:
        """Recorded pages with a link to ``url``, by number."""
        self.queries += 1
        number = self._corpus.page_id(url)
        if number is None:
            return ()
        sources = self._corpus.graph.reversed().links_of(number).tolist()
        return [self._corpus.page_urls[source] for source in sources]

    def page(self, url: str) -> Page | None:
        """The recorded page."""
        self.pages_read += 1
        return self._corpus.page(url)
