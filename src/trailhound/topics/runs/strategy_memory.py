"""What a strategy learns on the way outlives the process: snapshots, and pages shown again."""

from __future__ import annotations

import logging
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from trailhound.config.settings import Settings
from trailhound.crawling.answers import Troubles
from trailhound.errors import StorageError, plugin_faults
from trailhound.records import Candidate, CrawledPage, FinishedPage, Outcome, Relevance
from trailhound.sessions.shown_pages import page_from_source
from trailhound.storage.files import explaining, write_whole
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.strategies.base import Inheriting, Remembering, Rereading, Strategy
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import archived_sources

KEEP_EVERY = 100
"""Pages between two snapshots; after a crash they are shown to the strategy again."""
BYTES_PER_PAGE = 32_000
"""Of snapshots: large ones are written less often, so that a page costs the same."""
KEEP_AT_LEAST_EVERY = 1000

MAX_SHOWN_AGAIN = 2 * KEEP_AT_LEAST_EVERY
"""The newest. There are more of them only when a snapshot was deleted or cannot be used."""

MAX_READ_AGAIN = 500
"""Pages of a snapshot whose links a strategy may read again: a few seconds."""

_HEAD = struct.Struct("<4sQ")
"""In front of a snapshot: what it is, and the number of the last page in it."""
_MAGIC = b"THS\x02"
_log = logging.getLogger(__name__)


class StrategyMemory:
    """Snapshots of a strategy that has something to remember; for others, nothing happens.

    A sink, because it counts pages. Without a ``path`` nothing outlives the process.
    """

    def __init__(
        self, strategy: Strategy, path: Path | None, troubles: Troubles | None = None
    ) -> None:
        self._remembering = strategy if isinstance(strategy, Remembering) and path else None
        self._strategy = strategy
        self._path = path or Path()
        self._pages = 0
        self._next_at = KEEP_EVERY
        self._troubles = troubles or Troubles()
        self._has_inherited = False
        self.known_until = 0
        """Number of the crawl's last page that the strategy has learned from."""

    def restore(self, notify: Callable[[str], None]) -> None:
        """Give back what an earlier run learned."""
        if self._remembering is None or not self._path.is_file():
            return
        with explaining(self._path):
            content = self._path.read_bytes()
        known_until, snapshot = _opened(content)
        try:
            self._remembering.restore(snapshot)
        except plugin_faults() as error:  # not ValueError alone: a broken strategy ends nothing
            notify(
                f"What the strategy had learned on the way cannot be used ({error}); it learns "
                "anew, and nothing else is lost."
            )
        else:
            self.known_until = known_until

    def inherit(self, earlier: Path, *, in_full: bool, notify: Callable[[str], None]) -> None:
        """Begin with what another crawl has learned, whose snapshot is ``earlier``."""
        strategy = self._strategy
        if self._remembering is None or not isinstance(strategy, Inheriting):
            return
        try:
            strategy.inherit(_opened(earlier.read_bytes())[1], in_full=in_full)
        except plugin_faults() as error:  # whatever is wrong with it: nobody needs it to begin
            notify(f"What an earlier crawl has learned is of no use here: {error}.")
            return
        self._has_inherited = True
        notify(told_of_lessons(in_full=in_full))

    def begin(self) -> None:
        """Write down what was inherited: a crawl that is killed soon is resumed with it."""
        if self._has_inherited:
            self.write()

    def catch_up(self, pages_since: Callable[[int], Iterable[tuple[int, CrawledPage]]]) -> None:
        """Show the strategy what was fetched after the snapshot: numbers and pages, in order.

        Their links are in the queue already; scoring them again is part of what it learns.
        """
        if self._remembering is None:
            return
        rereading = self._strategy if isinstance(self._strategy, Rereading) else None
        again = MAX_READ_AGAIN if rereading is not None else 0
        for number, crawled in pages_since(max(self.known_until - again, 0)):
            try:
                if rereading is not None and number <= self.known_until:
                    rereading.read_again(crawled)
                    continue
                self._strategy.observe(crawled)
                list(self._strategy.score_links(crawled))
            except plugin_faults():  # as in the crawl: an error of ours costs that page
                _log.exception("Page %s could not be looked at again", crawled.page.url)
            self.known_until = max(self.known_until, number)

    def keep(self, finished: FinishedPage) -> None:
        """Count a page by its number in the crawl; write a snapshot every so many."""
        self.count(finished.event.number)

    def count(self, number: int) -> None:
        """The same for whoever has only the number."""
        self.known_until = number
        self._pages += 1
        if self._pages >= self._next_at:
            self.write()

    def close(self) -> None:
        """Nothing: whether the last page is whole, only the crawl knows."""

    def write(self) -> None:
        """Write a snapshot now."""
        if self._remembering is not None:
            head = _HEAD.pack(_MAGIC, self.known_until)
            try:
                content = head + self._remembering.snapshot()
            except plugin_faults() as error:  # the crawl goes on; the last good snapshot stays
                self._troubles.note("The strategy, remembering what it learned,", error)
                return
            write_whole(self._path, content)
            pause = max(KEEP_EVERY, len(content) // BYTES_PER_PAGE)
            self._next_at = self._pages + min(pause, KEEP_AT_LEAST_EVERY)


def told_of_lessons(*, in_full: bool) -> str:
    """What a person is told when a crawl begins with the lessons of another."""
    told = "It begins with what an earlier crawl has learned of links (--fresh: without)"
    less = "; as topic or judge have changed since, that counts no more than the sessions do"
    return f"{told}." if in_full else f"{told}{less}."


def _opened(content: bytes) -> tuple[int, bytes]:
    """(last page in it, snapshot). One of an earlier version has no head: all pages are in it."""
    if content[: len(_MAGIC)] != _MAGIC or len(content) < _HEAD.size:
        return sys.maxsize, content
    return int(_HEAD.unpack_from(content)[1]), content[_HEAD.size :]


def numbered_snapshot(path: Path, number: int) -> bytes:
    """A snapshot for a crawl in which its last page has another number."""
    with explaining(path):
        return _HEAD.pack(_MAGIC, number) + _opened(path.read_bytes())[1]


def remembered_until(path: Path) -> int | None:
    """The number of the last page in a snapshot; ``None`` in one of an earlier version."""
    with explaining(path):
        until = _opened(path.read_bytes())[0]
    return None if until == sys.maxsize else until


def latest_snapshot(crawl: CrawlFolder) -> Path | None:
    """Where it is written what a crawl has learned; of shards, by the one with the most pages.

    What it had learned before it was in shards, they have begun with.
    """
    shards = [shard for shard in crawl.shards() if shard.strategy.is_file()]
    largest = max(shards, key=_pages_of, default=None)
    own = crawl.strategy if crawl.strategy.is_file() else None
    if largest is not None and (own is None or _pages_of(largest)):
        return largest.strategy
    return own


def _pages_of(crawl: CrawlFolder) -> int:
    with suppress(StorageError), Results(crawl.results) as results:
        return results.summary().pages
    return 0


def _has_fetched_nothing(crawl: CrawlFolder) -> bool:
    if not crawl.shards():
        with suppress(StorageError), Results(crawl.results) as results:
            return results.summary().fetched == 0
    return False


def crawl_to_learn_from(
    folder: CrawlFolder, settings: Settings, model: str
) -> tuple[Path, bool] | None:
    """A snapshot of the topic's newest crawl in which the same strategy has learned.

    And whether all else is the same: the topic's model, of which ``model`` is the checksum, and the
    judge. Options of the strategy may differ. A shard learns from crawls that were set aside: its
    own has only begun.
    """
    wanted = settings.crawl.strategy.partition(":")[0]
    found: list[tuple[float, Path, bool]] = []
    whole = CrawlFolder(folder.topic)
    crawls = folder.crawls() if folder.whole is None else set(whole.crawls()) - {whole.path}
    for path in crawls:
        crawl = CrawlFolder(folder.topic, path)
        with suppress(StorageError):  # damaged, or begun by another version
            record = crawl.read()
            strategy = record.settings.crawl.strategy.partition(":")[0]
            snapshot = latest_snapshot(crawl) if strategy == wanted else None
            if snapshot is not None and not _has_fetched_nothing(crawl):
                same = record.model == model and record.settings.judge == settings.judge
                found.append((record.created_at, snapshot, same))
    return max(found)[1:] if found else None


def pages_since(folder: CrawlFolder, number: int) -> Iterator[tuple[int, CrawledPage]]:
    """Fetched pages after the one with this number, in order; those that were archived."""
    with Results(folder.results) as results:
        events = [each for each in results.since(number) if each.outcome is Outcome.FETCHED]
    newest = events[-MAX_SHOWN_AGAIN:]
    if not newest:
        return
    sources = archived_sources(folder.archive, {event.address for event in newest})
    for event in newest:
        if event.address in sources:
            yield event.number, _crawled(event, sources[event.address])


def _crawled(event: StoredPage, html: str) -> CrawledPage:
    return CrawledPage(
        page_from_source(html, event.address),
        Relevance(event.score or 0.0, event.relevant),
        Candidate(event.url, event.priority, event.memory, event.parent, event.depth),
    )
