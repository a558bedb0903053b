"""What the strategies of shards learn from each other: news of pages, numbered by who tells them.

A shard notes news of each page that it has fetched, and hands them to whoever asks, from the number
on that the asker has heard last. So a letter that is lost is asked for again, one that comes twice
is heard once, and nothing waits for anybody. The newest are kept: whoever was away for longer has
missed the others, which models would have forgotten as well.

Among many shards a page is told to those that own one of its links, and to the others only now and
then: what one shard hears must not grow with their number. Models learn from a sample as well.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

import msgspec

from trailhound.records import CrawledPage, FinishedPage, Outcome
from trailhound.strategies.base import News, Sharing, Strategy

MAX_KEPT = 2_000
"""Pages that a shard can tell of."""
MAX_TOLD = 500
"""In one letter: those of five seconds in which a shard reads a hundred pages each."""
TELL_ALL = 16
"""Of so many shards all pages are told to all; of twice as many every second one, and so on."""

Heard = Mapping[int, tuple[int, int]]
"""By shard: of which of its openings, and up to which number."""


class Letter(msgspec.Struct, frozen=True, array_like=True):
    """News from one shard to another."""

    sender: int
    epoch: int
    """Each time that a shard is opened, its numbers begin anew."""
    last: int
    """Number of the last one; all have rising ones without gaps."""
    news: list[News]


class NewsDesk:
    """Of one shard, beside its crawl; a sink, as it hears of every page.

    For a strategy that does not share, nothing happens. ``letter`` may be asked for in any thread.
    """

    def __init__(
        self, shard: int, epoch: int, owner: Callable[[str], int], shards: int = 1
    ) -> None:
        self._tell_all_every = max(1, shards // TELL_ALL)
        self._lock = threading.Lock()
        self._shard = shard
        self._epoch = epoch
        self._owner = owner
        self._told: deque[tuple[News, frozenset[int]]] = deque(maxlen=MAX_KEPT)
        self._last = 0
        self._sharing: Sharing | None = None
        self.heard: dict[int, tuple[int, int]] = {}
        """What was heard of others. A shard that is opened again hears it again."""

    def serve(self, strategy: Strategy) -> None:
        """Tell what this one learns. Before the first page."""
        if isinstance(strategy, Sharing):
            self._sharing = strategy
            self._sharing.join(lambda url: self._owner(url) == self._shard)

    @property
    def is_of_use(self) -> bool:
        """Whether the strategy shares what it learns."""
        return self._sharing is not None

    def keep(self, finished: FinishedPage) -> None:
        """Note news of a page that was fetched."""
        page, relevance = finished.page, finished.event.relevance
        if self._sharing is None or page is None or relevance is None:
            return
        if finished.event.outcome is not Outcome.FETCHED:
            return
        news = self._sharing.news(CrawledPage(page, relevance, finished.candidate))
        owners = frozenset(self._owner(link.url) for link in page.links)
        if news.for_all:
            with self._lock:
                self._told.append((news, owners))
                self._last += 1

    def close(self) -> None:
        """Nothing is kept."""

    def letter(self, receiver: int, heard: Heard) -> Letter:
        """What ``receiver`` has not heard yet, or the first of it; what its links say if it may."""
        epoch, last = heard.get(self._shard, (self._epoch, 0))
        known = last if epoch == self._epoch else 0
        with self._lock:
            oldest = self._last - len(self._told)
            first = min(max(known, oldest), self._last)
            told = list(islice(self._told, first - oldest, first - oldest + MAX_TOLD))
        news = [
            self._version(each, number, is_owner=receiver in owners)
            for number, (each, owners) in enumerate(told, first)
        ]
        return Letter(self._shard, self._epoch, first + len(news), news)

    def _version(self, news: News, number: int, *, is_owner: bool) -> News:
        """What one receiver is told of a page; of some nothing, so that numbers have no gaps."""
        if is_owner:
            return news
        return News(b"" if number % self._tell_all_every else news.for_all)

    def open(self, letter: Letter) -> Sequence[News]:
        """What is new in a letter, for the crawl to heed between two pages."""
        epoch, last = self.heard.get(letter.sender, (letter.epoch, 0))
        if self._sharing is None or letter.sender == self._shard or epoch > letter.epoch:
            return []
        known = last if epoch == letter.epoch else 0
        count = min(max(0, letter.last - known), len(letter.news))
        if count:
            self.heard[letter.sender] = letter.epoch, letter.last
        return [each for each in letter.news[len(letter.news) - count :] if each.for_all]
