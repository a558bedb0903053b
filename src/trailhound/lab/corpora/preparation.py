"""From a page's source to what is stored of it: extracted, encoded, compressed.

This is nearly all of an import's work, so it runs in worker processes when there are several
jobs. Results come back in the order of submission: the corpus is the same for any number of jobs.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

import msgspec
import zstandard

from trailhound.errors import CorpusError
from trailhound.text.extract import extract_page
from trailhound.text.parse_guard import GENEROUS

# Pages sent to a worker at a time: a few milliseconds each, against 0.2 ms for a message.
BATCH_PAGES = 16
# Batches under way per worker: enough that none waits, few enough to stay small in memory.
BATCHES_PER_JOB = 3


def new_compressor() -> zstandard.ZstdCompressor:
    """For one thread. Level 9 costs 1 ms for a page of 40 KB; above, size barely falls."""
    return zstandard.ZstdCompressor(level=9, write_checksum=True)


class SourcePage(NamedTuple):
    """A page as it came from its source."""

    url: str
    """Canonical."""
    body: bytes
    content_type: str
    status: int


class PreparedPage(NamedTuple):
    """A page as it is stored."""

    url: str
    status: int
    content_type: str
    record: bytes
    """The compressed :class:`trailhound.records.Page`."""
    source: bytes
    """The compressed body."""
    source_length: int
    digest: bytes
    """Hash of record and body before compression, which may differ between zstd versions."""
    language: str
    links: tuple[str, ...]
    """Distinct URLs the page links to, in document order."""


def prepare_page(source: SourcePage) -> PreparedPage:
    """Extract and compress one page."""
    page = extract_page(source.body, source.url, source.content_type, limits=GENEROUS)
    # Terms in the extractor's order, so that sums over them are those of a live crawl to the bit.
    record = msgspec.msgpack.encode(page)
    return PreparedPage(
        url=source.url,
        status=source.status,
        content_type=source.content_type,
        record=_own.compress(record),
        source=_own.compress(source.body),
        source_length=len(source.body),
        digest=hashlib.sha256(record + source.body).digest(),
        language=page.language,
        links=tuple(dict.fromkeys(link.url for link in page.links)),
    )


def _prepare_batch(batch: list[SourcePage]) -> list[PreparedPage]:
    return [prepare_page(source) for source in batch]


class _OfThread(threading.local):
    """A compressor for each thread: one that two use at once ends the process."""

    def __init__(self) -> None:
        self.compress = new_compressor().compress


_own = _OfThread()


class PagePreparation:
    """Prepares pages in this process (``jobs=1``) or in several others, in order."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._batch: list[SourcePage] = []
        self._under_way: deque[Future[list[PreparedPage]]] = deque()

    def submit(self, source: SourcePage) -> Iterable[PreparedPage]:
        """Hand in one page; get those that are ready, which may be none or earlier ones."""
        if self._jobs <= 1:
            return (prepare_page(source),)
        self._batch.append(source)
        if len(self._batch) < BATCH_PAGES:
            return ()
        self._send_batch()
        return self._collect(leave=BATCHES_PER_JOB * self._jobs)

    def drain(self) -> Iterator[PreparedPage]:
        """Everything still under way."""
        if self._batch:
            self._send_batch()
        return self._collect(leave=0)

    def close(self) -> None:
        """Stop the workers, whatever they are doing."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _send_batch(self) -> None:
        if self._pool is None:
            # "spawn" behaves alike on all systems and is safe beside threads.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._jobs, mp_context=context)
        self._under_way.append(self._pool.submit(_prepare_batch, self._batch))
        self._batch = []

    def _collect(self, leave: int) -> Iterator[PreparedPage]:
        while len(self._under_way) > leave:
            try:
                yield from self._under_way.popleft().result()
            except BrokenProcessPool as error:
                raise CorpusError(
                    "A worker process was killed while extracting pages, perhaps for lack of "
                    "memory. Try again with --jobs 1."
                ) from error
