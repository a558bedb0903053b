"""A stranger's fetcher, judge or frontier that makes no sense costs a page, not the crawl."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_webs import USER_AGENT

import trailhound as th

SEED = "http://a.example/"
PAGES = {SEED: b"<p>Bees. <a href=/1>1</a> <a href=/2>2</a>", "http://a.example/1": b"<p>Bees."}


class Answers:
    """A web of three pages; of the second it says what it likes."""

    name = "answers"

    def __init__(self, second: Callable[[th.FetchResult], Any]) -> None:
        self._second = second

    async def fetch(self, url: str, *, may_go_on: object = None) -> th.FetchResult:
        body = PAGES.get(url, b"<p>Wasps.")
        result = th.FetchResult(
            url, th.Outcome.FETCHED, url, status=200, content_type="text/html", body=body
        )
        given: th.FetchResult = self._second(result) if url.endswith("/1") else result
        return given

    async def close(self) -> None:
        pass


def crawled(
    fetcher: Answers, judge: Any = lambda page: True, **settings: Any
) -> dict[str, th.PageEvent]:
    with th.crawl(
        None,
        SEED,
        fetcher=fetcher,
        judge=judge,
        strategy="breadth-first",
        user_agent=USER_AGENT,
        delay_seconds=0.01,
        allow_impolite=True,
        max_requests=20,
        **settings,
    ) as crawl:
        events = {page.url: page.event for page in crawl}
        assert len(crawl.to_pandas()) == len(events)
    return events


def with_field(**changes: Any) -> Callable[[th.FetchResult], th.FetchResult]:
    def change(result: th.FetchResult) -> th.FetchResult:
        told = {name: getattr(result, name) for name in result.__struct_fields__}
        return th.FetchResult(**{**told, **changes})

    return change


def cancelled(_: th.FetchResult) -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    "second",
    [
        cancelled,
        lambda _: None,
        with_field(outcome="fetched"),
        with_field(final_url=None),
        with_field(requests=None),
        with_field(requests=0),
        with_field(requests=-3),
        with_field(status=10**30),
        with_field(retry_after_seconds=math.nan),
        with_field(retry_after_seconds=-5.0),
        with_field(headers={"Content-Type": "text/html"}),
        with_field(detail=None),
        with_field(body="<p>Bees."),
    ],
)
def test_a_fetcher_that_makes_no_sense_costs_the_page(second: Callable[..., Any]) -> None:
    events = crawled(Answers(second))
    assert events["http://a.example/1"].outcome is th.Outcome.BROKEN
    assert events["http://a.example/2"].outcome is th.Outcome.FETCHED


def test_a_page_that_is_to_come_again_does_so_three_times_at_most() -> None:
    events = crawled(Answers(with_field(retry_after_seconds=0.01)))
    assert events["http://a.example/1"].outcome is th.Outcome.FETCHED
    assert max(each.requests_total for each in events.values()) == 5


async def never() -> None:
    """Does not end, and takes its time when it is cancelled."""
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    await asyncio.sleep(0.02)


class Silent(Answers):
    """Never answers for the second page, nor when it is closed."""

    async def fetch(self, url: str, *, may_go_on: object = None) -> th.FetchResult:
        if url.endswith("/1"):
            await never()
        return await super().fetch(url)

    async def close(self) -> None:
        await never()


class Stuck:
    """A sink that never has a page."""

    async def keep(self, finished: th.FinishedPage) -> None:
        await never()

    async def close(self) -> None:
        await never()


def test_a_fetcher_that_never_answers_costs_the_page() -> None:
    events = crawled(Silent(lambda result: result), plugin_seconds=0.05)
    assert events["http://a.example/1"].outcome is th.Outcome.BROKEN
    assert events["http://a.example/1"].why == (
        "the fetcher failed: TimeoutError: no answer within 0.05 s (plugin_seconds)"
    )
    assert events["http://a.example/2"].outcome is th.Outcome.FETCHED


def test_a_sink_that_never_answers_costs_itself() -> None:
    told: list[str] = []
    fetcher = Answers(lambda result: result)
    events = crawled(fetcher, sinks=[Stuck()], notify=told.append, plugin_seconds=0.05)
    assert len(events) == 3
    first = next(each for each in told if "Stuck" in each)
    assert first.startswith(f"The sink Stuck failed on {SEED}: TimeoutError: no answer within 0.05")
    assert told[-2:] == [
        "The sink Stuck failed 3 times.",
        "The sink Stuck, being closed, failed 1 time.",
    ]


class Judge:
    """Says what it is told to."""

    name = "judge"

    def __init__(self, verdict: Any) -> None:
        self._verdict = verdict

    def judge(self, page: th.Page) -> th.Relevance:
        given: th.Relevance = self._verdict
        return given if page.url.endswith("/1") else th.Relevance(0.5, True)


def strange(score: Any, relevant: Any) -> th.Relevance:
    """Of whatever types: msgspec checks no object that is made."""
    return th.Relevance(score, relevant)


@pytest.mark.parametrize(
    "verdict",
    [
        True,
        0.5,
        "x",
        None,
        th.Relevance(float("nan"), True),
        th.Relevance(5.0, True),
        strange(0.5, None),
    ],
)
def test_a_judge_that_makes_no_sense_costs_the_page(verdict: Any) -> None:
    events = crawled(Answers(lambda result: result), Judge(verdict))
    assert events["http://a.example/1"].outcome is th.Outcome.BROKEN
    assert events["http://a.example/2"].relevance == th.Relevance(0.5, True)


def test_numbers_of_numpy_are_numbers() -> None:
    verdict = strange(np.float32(0.75), np.bool_(True))
    events = crawled(Answers(lambda result: result), Judge(verdict))
    assert events["http://a.example/1"].relevance == th.Relevance(0.75, True)


SILENT_FRONTIER = """
from trailhound.frontier.memory import MemoryFrontier

class Silent(MemoryFrontier):
    def add(self, candidates):
        super().add(candidates)
"""


def test_a_frontier_that_does_not_say_what_is_new_costs_the_page(tmp_path: Path) -> None:
    own = tmp_path / "silent.py"
    own.write_text(SILENT_FRONTIER)
    events = crawled(Answers(lambda result: result), frontier=str(own), folder=tmp_path / "bees")
    assert {each.outcome for each in events.values()} == {th.Outcome.BROKEN}
    assert "how many addresses were new, not None" in events[SEED].why
