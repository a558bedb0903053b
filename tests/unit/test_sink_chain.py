"""When a sink that fails is let be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from trailhound.crawling import choosing
from trailhound.crawling.answers import Troubles
from trailhound.crawling.sinks import MAX_FAILURES, JsonLinesSink, Sink, SinkChain, close_sinks
from trailhound.errors import StorageError, UsageError
from trailhound.records import FinishedPage, Relevance
from trailhound.testing import BrokenPromiseError, check_sink
from trailhound.testing.pages import finished_pages


class Choosy:
    """Fails on the pages that it does not like."""

    def __init__(self, dislikes: Callable[[int, bool], bool]) -> None:
        self._dislikes = dislikes
        self.given = 0
        self.is_vital = False

    def keep(self, finished: FinishedPage) -> None:
        self.given += 1
        relevance = finished.event.relevance
        if self._dislikes(finished.event.number, relevance is not None and relevance.relevant):
            raise ValueError("full")

    def close(self) -> None:
        pass


def pages(relevant: Iterable[bool]) -> Iterable[FinishedPage]:
    any_page = finished_pages()[0]
    for number, good in enumerate(relevant, start=1):
        event = msgspec.structs.replace(
            any_page.event, number=number, relevance=Relevance(0.5, relevant=good)
        )
        yield msgspec.structs.replace(any_page, event=event)


def told_after(sink: Choosy, relevant: Iterable[bool]) -> list[str]:
    told: list[str] = []
    chain = SinkChain([sink], Troubles(told.append))

    async def keep_all() -> None:
        for finished in pages(relevant):
            await chain.keep(finished)

    asyncio.run(keep_all())
    return [each for each in told if "let be" in each]


def test_a_crawl_without_its_own_stores_ends() -> None:
    sink = Choosy(lambda number, _: number > 3)
    sink.is_vital = True
    with pytest.raises(StorageError, match=r"10 pages in a row could not be kept.*full"):
        told_after(sink, [False] * 20)
    assert sink.given == 3 + MAX_FAILURES


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b""),
        (b'{"a": 1}\n{"url":"http://a/"', b'{"a": 1}\n'),
        (b'{"a": 1}\n{"url":"http://a/"}', b'{"a": 1}\n{"url":"http://a/"}\n'),
        (b"a letter of mine", b"a letter of mine\n"),
        (b'{"url":"http://a/"}\n', b'{"url":"http://a/"}\n'),
    ],
)
def test_what_is_in_a_file_stays_but_half_a_line_of_ours(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    path = tmp_path / "finds.jsonl"
    path.write_bytes(before)
    JsonLinesSink(path).close()
    assert path.read_bytes() == after


def test_one_that_fails_on_relevant_pages_alone_is_let_be() -> None:
    sink = Choosy(lambda _, relevant: relevant)
    (told,) = told_after(sink, [False, True] * 2 * MAX_FAILURES)
    assert told == "The sink Choosy failed on 10 relevant pages in a row and is let be."
    assert sink.given == 2 * MAX_FAILURES


def test_one_that_fails_on_everything_is_let_be_after_ten() -> None:
    sink = Choosy(lambda *_: True)
    (told,) = told_after(sink, [False, True] * MAX_FAILURES)
    assert told == "The sink Choosy failed on 10 pages in a row and is let be."
    assert sink.given == MAX_FAILURES


def test_one_that_keeps_some_relevant_pages_stays() -> None:
    sink = Choosy(lambda number, _: number % 6 != 0)
    assert told_after(sink, [False, True] * 5 * MAX_FAILURES) == []
    picky = Choosy(lambda _, relevant: not relevant)
    assert told_after(picky, [False, True] * 5 * MAX_FAILURES) == []


class SlowToClose(Choosy):
    """Its ``close`` is a coroutine."""

    summary = "for a test"
    closed: ClassVar[list[str]] = []

    @classmethod
    def open(cls, topic: str, folder: Path | None) -> Sink:
        return cls(lambda *_: False)

    async def close(self) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        self.closed.append("closed")


def test_sinks_are_closed_when_a_later_one_cannot_be_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def make(spec: str, *_: object) -> Sink:
        if spec == "broken":
            raise UsageError("no such place")
        return SlowToClose.open("topic", None)

    monkeypatch.setattr(choosing._sinks, "make", make)
    with pytest.raises(UsageError):
        choosing.open_sinks(["good", "broken"], "topic", None)
    assert SlowToClose.closed == ["closed"]


class Queueing(Choosy):
    """Ends a task of its own when it is closed, and waits for it."""

    def __init__(self) -> None:
        super().__init__(lambda *_: False)

    async def close(self) -> None:  # type: ignore[override]
        task = asyncio.get_running_loop().create_future()
        task.cancel()
        await task


def test_a_sink_whose_own_task_was_cancelled_keeps_no_other_open(tmp_path: Path) -> None:
    SlowToClose.closed.clear()
    troubles = Troubles()
    asyncio.run(close_sinks([Queueing(), SlowToClose.open("topic", None)], troubles))
    assert SlowToClose.closed == ["closed"]
    assert "CancelledError" in troubles.first["The sink Queueing, being closed,"]
    with pytest.raises(BrokenPromiseError, match="A sink can be closed"):
        check_sink(lambda _: Queueing(), tmp_path)


class Waiting(Choosy):
    """Never has a page kept."""

    def __init__(self) -> None:
        super().__init__(lambda *_: False)

    async def keep(self, finished: FinishedPage) -> None:  # type: ignore[override]
        await asyncio.sleep(60)


def test_a_crawl_that_is_cancelled_waits_for_no_sink() -> None:
    async def cancelled() -> None:
        keeping = asyncio.ensure_future(SinkChain([Waiting()]).keep(next(iter(pages([True])))))
        await asyncio.sleep(0)
        keeping.cancel()
        await keeping

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
