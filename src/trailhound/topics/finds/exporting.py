"""What an export tells of a page: the result, and what archive, marks, paths and its text say.

Main texts are found in processes that hostile pages cannot harm. Besides going along with results,
they become files of Markdown or plain text: one for each page in a folder, or all in one. Each has
a front matter, YAML between two lines of dashes, which tells where it is from.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO, Literal, NamedTuple, Self
from urllib.parse import quote

import msgspec

from trailhound.crawling.processes import (
    PAGE_LIMITS,
    LimitedProcess,
    PageLimits,
    TooCostlyError,
    Work,
    WorkFailedError,
)
from trailhound.errors import StorageError
from trailhound.storage.exporting import ExportedPage, ExportFolder, file_stem, time_in_words
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.text.main_content import (
    PageSource,
    TextForm,
    extractor,
    harmless_markdown,
    require_extractor,
)
from trailhound.topics.crawls.archived_pages import ArchivedContent
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import fetched_page, mark_in_words
from trailhound.topics.finds.explaining import shown_path

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


class Export:
    """Some pages of a crawl, on their way out.

    ``choose`` gives them, and is asked twice. ``form`` says whether and how texts are wanted;
    UsageError when they are and the extractor is missing.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        results: Results,
        choose: Callable[[], Iterable[StoredPage]],
        form: TextForm | None = None,
    ) -> None:
        if form is not None:
            require_extractor()
        self.sources: Mapping[Source, int] = {}
        """How many texts came from where."""
        self._results = results
        self._choose = choose
        self._form = form
        addresses = [page.address for page in choose()]
        self._archive = ArchivedContent(folder.archive, addresses)
        self.total = len(addresses)

    def __iter__(self) -> Iterator[ExportedPage]:
        with self._archive:
            for page, text in self._with_texts():
                yield ExportedPage(
                    page,
                    self._archive.content_type(page.address),
                    mark_in_words(page.marked),
                    shown_path(self._results, page),
                    text,
                )

    def _with_texts(self) -> Iterator[tuple[StoredPage, str | None]]:
        if self._form is None:
            yield from ((page, None) for page in self._choose())
            return
        with MainTexts(self._results, self._archive, self._form) as texts:
            self.sources = texts.counts
            for page, found in texts.iterate(self._choose()):
                yield page, found.text


def main_text_of(
    folder: CrawlFolder, results: Results, address: str
) -> tuple[StoredPage, MainText]:
    """A page that the crawl fetched, and its main text; UsageError names one that it did not."""
    require_extractor()
    page = fetched_page(results, address, folder.topic.name, "there is nothing to read")
    with (
        ArchivedContent(folder.archive, [page.address]) as archive,
        MainTexts(results, archive, processes=1) as texts,
    ):
        return page, texts.of(page)


ENDINGS: dict[TextForm, str] = {"markdown": ".md", "text": ".txt"}
PAGES = "pages"
"""The sub-folder of the pages."""

# What JSON leaves as it is and YAML does not take, or takes for the end of a line.
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_MARKDOWN_SIGNS = re.compile(r"([\\`*_\[\]#|~])")


def write_text_folder(pages: Iterable[ExportedPage], folder: Path, form: TextForm) -> int:
    """One file per page in ``pages/``, and an index of them, best first; how many there were."""
    ending = ENDINGS[form]
    entries: list[str] = []
    with ExportFolder(folder, form, [PAGES]) as files:
        for exported in pages:
            page = exported.page
            name = f"{PAGES}/{file_stem(page.title, page.address)}{ending}"
            files.write(name, document(exported, form).encode("utf-8", "replace"))
            entries.append(_index_entry(exported, name, form))
        index = ("# Pages\n\n" if form == "markdown" else "") + "".join(entries)
        files.write(f"index{ending}", index.encode("utf-8", "replace"))
    return len(entries)


def write_text_stream(pages: Iterable[ExportedPage], out: BinaryIO, form: TextForm) -> int:
    """All pages one after the other; how many there were."""
    written = 0
    for exported in pages:
        out.write(document(exported, form).encode("utf-8", "replace"))
        out.write(b"\n")
        written += 1
    return written


def document(exported: ExportedPage, form: TextForm) -> str:
    """Front matter, title and text of one page."""
    page = exported.page
    title, text = " ".join(page.title.split()), exported.text or ""
    has_heading = form == "text" or not title or text.startswith("# ")
    heading = "" if has_heading else f"# {_escaped(title)}\n\n"
    return f"---\n{''.join(_front_matter(exported))}---\n\n{heading}{text}\n"


def _front_matter(exported: ExportedPage) -> Iterator[str]:
    page = exported.page
    told: dict[str, object] = {
        "url": page.address,
        "title": " ".join(page.title.split()),
        "date": time_in_words(page.at),
        "language": page.language or None,
        "score": round(page.score, 4) if page.score is not None else None,
        "status": page.status,
        "content_type": exported.content_type or None,
        "marked": exported.marked,
    }
    for name, value in told.items():
        if value is not None:
            yield f"{name}: {_yaml(value)}\n"


def _yaml(value: object) -> str:
    """A scalar: YAML reads JSON's strings and numbers."""
    written = msgspec.json.encode(value).decode()
    return _NOT_IN_YAML.sub(lambda sign: f"\\u{ord(sign[0]):04x}", written)


def _index_entry(exported: ExportedPage, name: str, form: TextForm) -> str:
    page = exported.page
    title = " ".join(page.title.split()) or page.address
    if form == "text":
        return f"{title}\n  {name}\n  {page.address}\n"
    address = quote(page.address, safe=":/?&=;,@!$+%~-._[]")
    address = f"<{address}>" if address.startswith(("http://", "https://")) else ""
    return f"- [{_escaped(title)}]({quote(name)}) {address}\n"


def _escaped(text: str) -> str:
    """Text that Markdown takes for nothing but text."""
    return harmless_markdown(_MARKDOWN_SIGNS.sub(r"\\\1", text))
