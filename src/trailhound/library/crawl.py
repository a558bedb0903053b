"""A crawl for a program: the live crawl of the command line behind an ordinary loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from aiohttp.abc import AbstractResolver

from trailhound.config.layers import by_section, in_short, said_in
from trailhound.config.settings import Settings
from trailhound.counting import counted
from trailhound.crawling.budget import StopReason
from trailhound.crawling.build import Knowledge, OwnParts
from trailhound.crawling.sinks import Sink
from trailhound.errors import UsageError, in_arguments, told_to_programs
from trailhound.fetching.base import Fetcher
from trailhound.judges.base import RelevanceJudge
from trailhound.library.crawl_result import CrawlResult
from trailhound.library.learning import load_topic
from trailhound.library.parts import split_parts
from trailhound.notebooks import data_frame, html_table
from trailhound.records import FinishedPage, Page, PageEvent
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.strategies.base import Strategy
from trailhound.topics.crawls.folder import CrawlFolder, NoCrawlFolder
from trailhound.topics.crawls.marking import open_results
from trailhound.topics.learned import LearnedTopic
from trailhound.topics.model_folder import save_model, saved_fingerprint
from trailhound.topics.runs.crawl import TopicCrawl
from trailhound.topics.runs.opening import figures_served, open_crawl
from trailhound.topics.runs.plan import CrawlRequest, knowledge_from
from trailhound.topics.workspace import TopicFolder

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")
NAMELESS = "crawl"
"""The topic of a crawl that has none."""
SHOWN_FINDS = 20

_log = logging.getLogger(__name__)


@told_to_programs()
def crawl(
    topic: LearnedTopic | str | Path | None,
    seeds: str | Iterable[str] = (),
    folder: str | Path | None = None,
    *,
    strategy: str | Path | Strategy | None = None,
    judge: str | Path | RelevanceJudge | Callable[[Page], bool | float] | None = None,
    fetcher: str | Fetcher | None = None,
    resolver: AbstractResolver | None = None,
    sinks: str | Sink | Iterable[str | Sink] = (),
    settings: Settings | None = None,
    notify: Callable[[str], None] | None = None,
    **named: Any,
) -> Crawl:
    """A crawl of the web for ``topic``, to be iterated over: one :class:`CrawlResult` per URL.

    * ``topic``: what :func:`learn` gave, or where it was saved; ``None`` for a crawl that goes by
      its ``judge`` alone.
    * ``seeds``: where it starts; without any, from pages of the session that led on to useful ones.
    * ``folder`` is where everything is kept. When it holds a crawl, that goes on: with further
      ``seeds``, if any, and the settings it had, but for those that are given now. Without a folder
      everything is in memory.
    * ``strategy``, ``judge`` (or a function of a page), ``fetcher`` and ``sinks`` are names as on
      the command line, or objects of your own; ``resolver`` says where hosts are.
    * ``notify`` is told what a person should know; the crawl's ``notices`` have it, too.
    * Everything else that can be set goes by its name: ``max_requests=500``,
      ``user_agent="bees-bot (+https://example.org/bot)"``, ``scope=["*.example.org"]``,
      ``delay_seconds=2``. ``settings`` holds many at once.

    Mistakes are raised here, or when the crawl begins: by ``with``, or by the first step of a loop.
    """
    objects, values = split_parts(strategy, judge, fetcher, resolver, sinks)
    given = by_section({**values, **named})
    if settings is not None:
        given = {**said_in(settings), **given}
    if (said := by_section({"seeds": seeds}))["crawl.seeds"]:
        given |= said
    wish = _Wish(_checked_topic(topic), _place(folder), given, OwnParts(**objects))
    return Crawl(wish, notify or (lambda _: None))


def _checked_topic(topic: Any) -> LearnedTopic | str | Path | None:
    if topic is None or isinstance(topic, LearnedTopic | str | Path):
        return topic
    raise UsageError(
        f"topic is {in_short(topic)}, which is none. Give what learn() gave, where that was saved, "
        "or None for a crawl that goes by its judge alone."
    )


def _place(folder: Any) -> Path | None:
    if folder is None:
        return None
    if not isinstance(folder, str | PathLike) or "\0" in str(folder):
        raise UsageError(
            f"folder is {in_short(folder)}, which is no path of a folder. Name another."
        )
    return Path(folder).expanduser()


@dataclass(frozen=True)
class _Wish:
    """What a crawl was asked to be."""

    topic: LearnedTopic | str | Path | None
    place: Path | None
    given: dict[str, Any]
    """Settings that were named, by ``section.name``."""
    own: OwnParts

    def open(self, notify: Callable[[str], None], latest: Sink) -> TopicCrawl:
        """Begin, or go on."""
        topic = self.topic
        if isinstance(topic, str | Path):
            topic = load_topic(topic)
        name = topic.origin.topic if topic is not None else NAMELESS
        known = knowledge_from(topic) if topic is not None else Knowledge()
        folder = _folder(self.place, name)
        model = folder.topic.model_path
        if topic is not None and folder.is_kept and saved_fingerprint(model) != known.fingerprint:
            save_model(topic, model)
        request = CrawlRequest(
            Settings().changed(self.given), self.given, resume=folder.exists(), may_be_spent=True
        )
        own = replace(self.own, sinks=[*self.own.sinks, latest])
        return open_crawl(folder.topic, request, notify, folder=folder, known=known, own=own)


def _folder(place: Path | None, topic: str) -> CrawlFolder:
    if place is None:
        return NoCrawlFolder(topic)
    folder = CrawlFolder(TopicFolder(place, topic), place)
    folder.make()
    if folder.exists() and (before := folder.read().topic) != topic:
        raise UsageError(
            f"{place} holds a crawl for the topic '{before}', and this one is for '{topic}'. Name "
            "another folder."
        )
    return folder


class Crawl:
    """One run of a crawl. Iterate over it, in a ``with`` statement that closes everything.

    In a coroutine, ``async with`` and ``async for`` do the same without holding up its event loop.
    Leave the loop at any time: every page so far is kept, and :func:`crawl` with the same folder
    goes on. What was found can be read during the crawl and after it.
    """

    def __init__(self, wish: _Wish, notify: Callable[[str], None]) -> None:
        self._tell = _Teller(notify)
        self.notices: list[str] = self._tell.notices
        """What a person should know about this run."""
        self._wish = wish
        self._running: TopicCrawl | None = None
        self._events: Generator[PageEvent]
        self._figures = ExitStack()
        """Serves them, where a port is set."""
        self._latest = _Latest()
        self._page: CrawlResult | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._is_closed = False
        self._is_to_stop = False

    @property
    def folder(self) -> Path | None:
        """Where everything is kept; ``None`` for a crawl in memory."""
        return self._wish.place

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the crawl ended; ``None`` before that."""
        return self._running.stop_reason if self._running is not None else None

    @property
    def settings(self) -> Settings:
        """Those in use."""
        return self._opened().settings

    def stop(self) -> None:
        """Start no further fetch, and end when those in flight are dealt with.

        May be called from anywhere: another thread, a signal handler, the loop itself. Before the
        crawl has begun, it begins, and ends without a page.
        """
        self._is_to_stop = True  # first: it may be opened in another thread meanwhile
        if self._running is not None:
            self._running.stop()

    def close(self) -> None:
        """Let everything go; what is on disk is complete."""
        self._is_closed = True
        if self._running is not None:
            self._figures.close()
            self._events.close()
            self._running.close()

    def __del__(self) -> None:
        """A loop that was left without ``with`` holds its folder no longer than its crawl lives."""
        with suppress(Exception):
            self.close()

    def __enter__(self) -> Self:
        self._begun()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> CrawlResult:
        self._begun()
        with told_to_programs():
            event = next(self._events, None)
        if event is None or self._latest.finished is None:
            self.close()
            raise StopIteration
        if self._page is not None:
            self._page.let_go()
        self._page = CrawlResult(self._latest.finished, self._archive)
        return self._page

    async def __aenter__(self) -> Self:
        try:
            await self._in_thread(self._begun)
        except asyncio.CancelledError:
            self.stop()
            if self._thread is not None:  # what is opened there meanwhile is closed afterwards
                self._thread.submit(self.close)
                self._thread.shutdown(wait=False)
                self._thread = None
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._in_thread(self.close)
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> CrawlResult:
        try:
            page = await self._in_thread(lambda: next(self, None))
        except asyncio.CancelledError:
            self.stop()
            raise
        if page is None:
            raise StopAsyncIteration
        return page

    def results(
        self,
        limit: int | None = None,
        *,
        min_score: float | None = None,
        everything: bool = False,
        only_new: bool = False,
    ) -> list[StoredPage]:
        """The relevant pages of all runs, best first; see :meth:`Results.ranked`."""
        with self._read() as results:
            return results.ranked(
                limit, min_score=min_score, everything=everything, only_new=only_new
            )

    def search(self, words: str, limit: int | None = None) -> list[StoredPage]:
        """Relevant pages that hold all ``words``, the best match first."""
        with self._read() as results:
            return results.search(words, limit)

    def to_pandas(self) -> DataFrame:
        """A row for each URL that was dealt with, in order; needs ``trailhound[pandas]``."""
        with self._read() as results:
            pages = results.since(0)
        columns = [name for name in StoredPage.__struct_fields__ if name != "memory"]
        rows = [{name: getattr(page, name) for name in columns} for page in pages]
        for row in rows:
            row["outcome"] = row["outcome"].value
        return data_frame(rows, columns)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._state()}>"

    def _repr_html_(self) -> str:
        """The best finds, for notebooks."""
        finds = self.results(SHOWN_FINDS) if self._running is not None else []
        rows = [(f"{page.score or 0.0:.2f}", page.title, page.address) for page in finds]
        return html_table(self._state(), ("score", "title", "address"), rows)

    def _state(self) -> str:
        place = f"in {self.folder}" if self.folder is not None else "in memory"
        if self._running is None:
            return f"{place}, {'closed' if self._is_closed else 'not begun'}"
        done = self._running.progress
        figures = f"{counted(done.pages, 'page')}, {done.relevant:,} relevant"
        now = "it was closed" if self._is_closed else "it goes on"
        return f"{place}: {figures}; {self.stop_reason or now}"

    def _begun(self) -> None:
        """Begin if it has not; UsageError when it was closed before it did anything.

        One that has ended, or was left, has nothing more: its loop just ends.
        """
        if self._is_closed and self.stop_reason is None:
            raise self._was_closed()
        self._opened()

    def _was_closed(self) -> UsageError:
        again = "with the same folder goes on" if self.folder is not None else "begins anew"
        return UsageError(f"The crawl was closed. Make another: crawl() {again}.")

    def _opened(self) -> TopicCrawl:
        if self._running is None and self._is_closed:
            raise self._was_closed()
        if self._running is None:
            with told_to_programs():
                running = self._wish.open(self._tell, self._latest)
                try:
                    self._figures.enter_context(figures_served(running, self._tell))
                except BaseException:
                    running.close()
                    raise
            self._running, self._events = running, running.run()
            if self._is_to_stop:
                running.stop()
        return self._running

    @property
    def _archive(self) -> Path | None:
        running = self._opened()
        kept = running.folder.is_kept and running.settings.output.archive
        return running.folder.archive if kept else None

    @contextmanager
    def _read(self) -> Iterator[Results]:
        running = self._opened()
        is_kept, store = running.folder.is_kept, running.results
        with open_results(running.folder) if is_kept else Results.of(store) as results:
            yield results

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """All in the same thread, one after the other: the crawl's own event loop runs there."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="trailhound-crawl")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


class _Teller:
    """Keeps what is told, and passes it on. The running crawl has this, and not the :class:`Crawl`,
    which could not go while anything of it runs."""

    def __init__(self, notify: Callable[[str], None]) -> None:
        self.notices: list[str] = []
        self._notify = notify

    def __call__(self, message: str) -> None:
        message = in_arguments(message)
        self.notices.append(message)
        _log.info(message)
        self._notify(message)


class _Latest:
    """A sink that holds on to the page which came last."""

    def __init__(self) -> None:
        self.finished: FinishedPage | None = None

    def keep(self, finished: FinishedPage) -> None:
        self.finished = finished

    def close(self) -> None:
        """Nothing is open."""
