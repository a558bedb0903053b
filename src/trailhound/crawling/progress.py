"""A crawl in figures while it runs: for displays, metrics and the summary at its end."""

from __future__ import annotations

from collections import Counter, deque

from trailhound.crawling.budget import Budget
from trailhound.frontier.url_columns import SeenUrls
from trailhound.records import PageEvent
from trailhound.urls import host_key

SPEED_WINDOW_SECONDS = 30.0
MAX_BUCKETS = 48
"""Parts of the crawl whose harvest rate is told apart; as it grows, so do they."""
FIRST_BUCKET_PAGES = 5
BARREN_PAGES = 200
"""Pages without a relevant one after which a crawl is said to be starving."""


class Harvest:
    """Relevant pages per page, over the course of the crawl."""

    def __init__(self) -> None:
        self._per_bucket = FIRST_BUCKET_PAGES
        self._buckets: list[tuple[int, int]] = []
        self._pages = 0
        self._found = 0

    def add(self, found: bool) -> None:
        """One more page."""
        self._pages += 1
        self._found += found
        if self._pages == self._per_bucket:
            self._buckets.append((self._pages, self._found))
            self._pages = self._found = 0
            if len(self._buckets) == MAX_BUCKETS:
                self._merge()

    def _merge(self) -> None:
        pairs = zip(self._buckets[::2], self._buckets[1::2], strict=True)
        self._buckets = [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]
        self._per_bucket *= 2

    def rates(self) -> list[float]:
        """Share of relevant pages in each part, in order; at most ``MAX_BUCKETS`` parts."""
        parts = [*self._buckets, (self._pages, self._found)] if self._pages else self._buckets
        return [found / pages for pages, found in parts]


class CrawlProgress:
    """Counts events. Times are on the crawl's clock, in seconds."""

    def __init__(
        self, budget: Budget, started_at: float, *, requests_before: int = 0, barren: int = 0
    ) -> None:
        self._budget = budget
        self._started_at = started_at
        self._requests_before = requests_before
        self._recent: deque[float] = deque()
        self._hosts = SeenUrls()  # fourteen bytes each: there may be a million
        self.pages = 0
        """Pages of this run."""
        self.requests = requests_before
        """Of all runs."""
        self.relevant = 0
        """Relevant pages of this run, without duplicates."""
        self.duplicates = 0
        self.barren = barren
        """Pages since the last relevant one."""
        self.outcomes: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        """For each outcome the first page that came to it, and why."""
        self.harvest = Harvest()
        self.latest: PageEvent | None = None
        """The relevant page that was found last."""

    def add(self, event: PageEvent) -> None:
        """Count one event."""
        self.pages += 1
        self.requests = event.requests_total
        self.outcomes[event.outcome.value] += 1
        if event.outcome.value not in self.examples:
            why = f": {event.why}" if event.why else ""
            self.examples[event.outcome.value] = f"{event.final_url}{why}"
        host = host_key(event.final_url)
        if not self._hosts.find(host):
            self._hosts.add(host)
        self._recent.append(event.at)
        self._forget_before(event.at - SPEED_WINDOW_SECONDS)
        if event.relevance is not None:
            found = event.is_find
            self.relevant += found
            self.duplicates += event.relevance.relevant and event.duplicate_of is not None
            self.latest = event if found else self.latest
            self.barren = 0 if found else self.barren + 1
            self.harvest.add(found)

    @property
    def hosts(self) -> int:
        """Hosts that were asked in this run."""
        return len(self._hosts)

    def elapsed(self, now: float) -> float:
        """Length of this run so far."""
        return max(0.0, now - self._started_at)

    def pages_per_second(self, now: float) -> float:
        """Over the last half minute."""
        window = min(SPEED_WINDOW_SECONDS, max(1.0, self.elapsed(now)))
        self._forget_before(now - SPEED_WINDOW_SECONDS)
        return len(self._recent) / window

    def _forget_before(self, moment: float) -> None:
        recent = self._recent
        while recent and recent[0] < moment:
            try:
                recent.popleft()
            except IndexError:  # somebody else was looking too
                break

    def share_done(self, now: float) -> float:
        """Of the budget, 0 to 1: whichever part of it is nearer to its end."""
        pages = self.requests / self._budget.max_requests if self._budget.max_requests else 0.0
        time = self.elapsed(now) / self._budget.max_seconds if self._budget.max_seconds else 0.0
        return min(1.0, max(pages, time))

    def seconds_left(self, now: float) -> float | None:
        """Until the budget is spent at the present speed; ``None`` when that cannot be said."""
        left = []
        if self._budget.max_seconds is not None:
            left.append(max(0.0, self._budget.max_seconds - self.elapsed(now)))
        done = self.requests - self._requests_before
        if self._budget.max_requests is not None and done > 0 and self.elapsed(now) > 0:
            speed = done / self.elapsed(now)
            left.append(max(0, self._budget.max_requests - self.requests) / speed)
        return min(left, default=None)

    @property
    def starving(self) -> bool:
        """Whether nothing relevant has turned up for long."""
        return self.barren >= BARREN_PAGES
