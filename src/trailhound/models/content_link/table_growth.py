"""How a topic table grows from very relevant pages, without letting the topic drift."""

from __future__ import annotations

from trailhound.models.content_link.topic_table import BackgroundWords, Terms, TopicTable

MIN_PAGES = 3
"""Very relevant pages in which a word must be the most frequent one."""
MAX_REFERENCE_SHARE = 0.1
"""A word in more of the reference pages is too common."""
MAX_WEIGHT = 0.9
NEWCOMERS_SHARE = 0.5
"""A word that the crawl found itself weighs half of what its pages' relevance says."""
MAX_WAITING = 1000
"""Words on trial."""


class TableGrowth:
    """The most frequent word of each very relevant page joins the table.

    As published it joins at once, with the page's relevance for its weight, and the table has no
    limit. Repaired, it must be the most frequent word of three such pages and rare elsewhere; it
    gets half the weight, and the lightest word of a full table makes room for it.
    """

    def __init__(self, size: int, reference: BackgroundWords | None) -> None:
        self._size = size
        self._reference = reference
        self.trials: dict[str, list[float]] = {}
        """Relevance of the pages in which each word on trial was the most frequent one."""

    def learn(self, table: TopicTable, terms: Terms, relevance: float) -> bool:
        """See a very relevant page; whether the table has changed."""
        if not terms:
            return False
        word = max(terms, key=terms.__getitem__)
        if self._reference is None:
            table.put(word, relevance)
            return True
        if self._reference.share(word) >= MAX_REFERENCE_SHARE:
            return False
        return self._try(table, word, relevance)

    def _try(self, table: TopicTable, word: str, relevance: float) -> bool:
        seen = self.trials.setdefault(word, [])
        seen.append(relevance)
        if len(self.trials) > MAX_WAITING:
            del self.trials[next(iter(self.trials))]
        if len(seen) < MIN_PAGES:
            return False
        weight = NEWCOMERS_SHARE * min(MAX_WEIGHT, sum(seen) / len(seen))
        del seen[:-MIN_PAGES]
        return self._admit(table, word, weight)

    def _admit(self, table: TopicTable, word: str, weight: float) -> bool:
        if weight <= table.weights.get(word, 0.0):
            return False
        if word not in table and len(table) >= self._size:
            if weight <= min(table.weights.values()):
                return False
            table.drop_lightest()
        table.put(word, weight)
        return True
