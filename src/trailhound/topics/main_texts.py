"""Main texts of archived pages, found in processes that hostile pages cannot harm."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import Literal, NamedTuple, Self

import msgspec

from trailhound.crawling.limited_process import (
    LimitedProcess,
    TooCostlyError,
    Work,
    WorkFailedError,
)
from trailhound.crawling.page_limits import PAGE_LIMITS, PageLimits
from trailhound.errors import StorageError
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.text.main_content import (
    PageSource,
    TextForm,
    extractor,
    harmless_markdown,
    require_extractor,
)
from trailhound.topics.archived_pages import ArchivedContent

MAX_PROCESSES = 4
_AHEAD = 4
"""Pages that wait for each process: none is idle while one page takes long."""

Source = Literal["main", "whole", "costly", "none"]


class MainText(NamedTuple):
    """What a page says, and where that comes from."""

    text: str
    source: Source
    """``main`` content; else all that the page shows, since no main content was found (``whole``)
    or finding it took too much (``costly``); ``none`` when the crawl has not kept the page."""


class MainTexts:
    """Finds main texts of one crawl's pages. Close it, or use it in a ``with`` statement.

    UsageError when the extractor is not installed. ``counts`` tells where texts came from.
    """

    def __init__(
        self,
        results: Results,
        archive: ArchivedContent,
        form: TextForm = "text",
        *,
        limits: PageLimits = PAGE_LIMITS,
        processes: int | None = None,
        recipe: Callable[[TextForm], Work] = extractor,
    ) -> None:
        require_extractor()
        self.counts: Counter[Source] = Counter()
        self._results = results
        self._archive = archive
        self._form = form
        self._n_processes = processes or min(MAX_PROCESSES, os.cpu_count() or 1)
        self._idle: SimpleQueue[LimitedProcess] = SimpleQueue()
        self._closing = ExitStack()
        for _ in range(self._n_processes):
            made = LimitedProcess(partial(recipe, form), limits)
            self._idle.put(self._closing.enter_context(made))
        self._threads = ThreadPoolExecutor(self._n_processes, "trailhound-reader")

    def of(self, page: StoredPage) -> MainText:
        """The text of one page."""
        return self._settled(page, self._extracted(self._source_of(page)))

    def iterate(self, pages: Iterable[StoredPage]) -> Iterator[tuple[StoredPage, MainText]]:
        """The texts of many pages, in their order, with several processes at work."""
        coming = iter(pages)
        waiting: deque[tuple[StoredPage, Future[MainText]]] = deque()
        while True:
            for page in islice(coming, self._n_processes * _AHEAD - len(waiting)):
                waiting.append((page, self._begun(page)))
            if not waiting:
                return
            page, found = waiting.popleft()
            yield page, self._settled(page, found.result())

    def _begun(self, page: StoredPage) -> Future[MainText]:
        """The archive is read here, as threads may not share it."""
        return self._threads.submit(self._extracted, self._source_of(page))

    def _source_of(self, page: StoredPage) -> PageSource | None:
        """``None`` for a page that was not archived, or cannot be read any more."""
        with suppress(StorageError):
            answer = self._archive.answer(page.address)
            if answer is not None and answer.body:
                return PageSource(answer.body, page.address, answer.content_type)
        return None

    def _extracted(self, source: PageSource | None) -> MainText:
        """In a thread: the main content, or all that is shown."""
        if source is None:
            return MainText("", "whole")
        process = self._idle.get()
        try:
            text, _, whole = process.ask(msgspec.msgpack.encode(source)).decode().partition("\0")
            return MainText(text, "main") if text else MainText(whole, "whole")
        except TooCostlyError:
            return MainText("", "costly")
        except WorkFailedError:
            return MainText("", "whole")
        finally:
            self._idle.put(process)

    def _settled(self, page: StoredPage, found: MainText) -> MainText:
        """Not in a thread, which may not read the results: else what is indexed."""
        text, source = found
        if source != "main":
            text = text or self._results.text_of(page.address)
            text = harmless_markdown(text) if self._form == "markdown" else text
        source = source if text else "none"
        self.counts[source] += 1
        return MainText(text, source)

    def close(self) -> None:
        """End all processes."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._closing.close()
        self._threads.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
