"""The library as ``docs/library.md`` shows it, against servers on loopback."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, cast
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pytest
from examples.focused_crawl import main
from live_webs import USER_AGENT, Resource, Site, TinySite

import trailhound as th
from trailhound.demo import DemoWeb
from trailhound.demo.web import with_sources, write_demo_sessions
from trailhound.errors import ConfigError, ModelError, StorageError, UsageError
from trailhound.topics.workspace import TopicFolder, Workspace

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def learned(web: DemoWeb, topic_name: str) -> th.LearnedTopic:
    return th.learn(with_sources(web.sessions[topic_name], web))


@pytest.fixture
def reach(port: int) -> dict[str, Any]:
    """How a crawl gets to the demo web."""
    return reaching("*.demo.test", port)


def reaching(host: str, port: int) -> dict[str, Any]:
    return {
        "user_agent": USER_AGENT,
        "resolve": f"{host}=127.0.0.1:{port}",
        "allow_addresses": host,
        "strategy": "best-first",
    }


def test_the_example_runs_and_goes_on(
    web: DemoWeb,
    port: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    session = str(write_demo_sessions(web, tmp_path / "sessions")[0])
    settings = reaching("*.demo.test", port)
    del settings["user_agent"]
    for max_requests in (60, 120):
        main(session, *web.start_urls, max_requests=max_requests, **settings)
    with th.Results("bees/results.db") as results:
        assert results.summary().requests == 120
        found = results.ranked()
    printed = capsys.readouterr().out.splitlines()
    assert sorted(line.split()[1] for line in printed) == sorted(page.address for page in found)


def test_the_documentation_shows_the_example_as_it_is() -> None:
    source = (ROOT / "examples" / "focused_crawl.py").read_text("utf-8")
    document = (ROOT / "docs" / "library.md").read_text("utf-8")
    assert source[source.index("import sys") :] in document


def test_a_crawl_is_resumed_by_its_folder(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "bees"
    with th.crawl(learned, web.start_urls, folder, max_requests=20, **reach) as crawl:
        first = list(crawl)
    assert crawl.stop_reason is th.StopReason.REQUESTS_SPENT
    with th.crawl(folder, folder=folder, max_requests=40) as crawl:
        second = list(crawl)
    pages = first + second
    assert [page.event.number for page in pages] == list(range(1, len(pages) + 1))
    assert pages[-1].event.requests_total == 40
    assert len({page.event.url for page in pages}) == len(pages), "nothing is fetched twice"
    with th.crawl(learned, folder=folder, max_requests=40) as crawl:
        assert not list(crawl)
    assert crawl.stop_reason is th.StopReason.REQUESTS_SPENT
    assert {"archive", "crawl.json", "log.jsonl", "model", "results.db"} <= {
        path.name for path in folder.iterdir()
    }


def test_pages_carry_their_content_and_afterwards_the_archive_has_it(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    with th.crawl(learned, web.start_urls, tmp_path / "bees", max_requests=8, **reach) as crawl:
        pages = []
        for page in crawl:
            pages.append(page)
            assert pages[0].html == web.respond(pages[0].url).body.decode()
            if page.outcome is th.Outcome.FETCHED:
                assert page.title in (page.html or "")
                assert page.text
                assert len(page.links) == page.event.links_found
    seed = pages[0]
    assert seed.parent is None
    assert seed.depth == 0
    assert seed.url in web.start_urls
    assert seed.url in repr(seed)
    fetched = [page for page in pages if page.outcome is th.Outcome.FETCHED]
    assert all(page.score is not None and page.text and page.links for page in fetched)


def test_a_crawl_works_where_an_event_loop_is_running(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    async def notebook() -> list[th.CrawlResult]:
        with th.crawl(
            learned, web.start_urls, tmp_path / "bees", max_requests=20, **reach
        ) as crawl:
            return list(crawl)

    assert asyncio.run(notebook())[-1].event.requests_total == 20


def test_a_crawl_that_was_begun_in_a_script_goes_on_in_a_coroutine_and_back(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any]
) -> None:
    async def three_more(crawl: th.Crawl) -> list[int]:
        return [next(crawl).event.number for _ in range(3)]

    with th.crawl(learned, web.start_urls, max_requests=20, **reach) as crawl:
        numbers = [next(crawl).event.number]
        numbers += asyncio.run(three_more(crawl))
        numbers += [page.event.number for page in crawl]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 4
    assert crawl.stop_reason is th.StopReason.REQUESTS_SPENT


class Interrupting:
    """A sink during which somebody presses Ctrl-C."""

    def keep(self, finished: th.FinishedPage) -> None:
        if finished.event.number == 3:
            os.kill(os.getpid(), signal.SIGINT)

    def close(self) -> None:
        pass


def test_an_interrupt_reaches_a_crawl_beside_a_running_loop(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    async def notebook() -> None:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as notebooks have it
        try:
            with th.crawl(
                learned, web.start_urls, tmp_path, sinks=[Interrupting()], **reach
            ) as crawl:
                list(crawl)
        finally:
            signal.signal(signal.SIGINT, before)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(notebook())
    with th.crawl(learned, folder=tmp_path, max_requests=30) as crawl:
        assert next(crawl).event.number > 3


def test_a_crawl_is_iterated_over_in_a_coroutine(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any]
) -> None:
    turns = 0

    async def something_else() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def program() -> int:
        other = asyncio.create_task(something_else())
        pages = 0
        async with th.crawl(learned, web.start_urls, max_requests=20, **reach) as crawl:
            async for page in crawl:
                pages += 1
                assert page.event.number == pages
        other.cancel()
        assert crawl.stop_reason is th.StopReason.REQUESTS_SPENT
        return pages

    assert asyncio.run(program()) > 0
    assert turns > 20, "the program's own loop went on"


def test_a_coroutine_that_is_cancelled_leaves_the_crawl_in_order(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    async def program() -> None:
        async with th.crawl(learned, web.start_urls, tmp_path, **reach) as crawl:
            async for page in crawl:
                if page.event.number == 5:
                    raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(program())
    with th.crawl(learned, folder=tmp_path, max_requests=30) as crawl:
        assert next(crawl).event.number == 6


def test_a_crawl_that_was_cancelled_as_it_was_opened_leaves_its_folder(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    crawl = th.crawl(learned, web.start_urls, tmp_path, **reach)

    async def program() -> None:
        entering = asyncio.ensure_future(crawl.__aenter__())
        await asyncio.sleep(0.002)
        entering.cancel()
        await entering

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(program())
    until = time.monotonic() + 20
    while any("trailhound-crawl" in each.name for each in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.05)
    with th.crawl(learned, web.start_urls, tmp_path, max_requests=1, **reach) as other:
        assert len(list(other)) == 1


def test_a_crawl_that_is_stopped_before_it_has_begun_fetches_nothing(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    crawl = th.crawl(learned, web.start_urls, tmp_path, **reach)
    crawl.stop()
    assert not list(crawl)
    assert crawl.stop_reason is th.StopReason.INTERRUPTED
    told: list[str] = []

    def stop(notice: str) -> None:
        told.append(notice)
        untaught.stop()

    untaught = th.crawl(
        None, web.start_urls, judge="keywords:words=the", notify=stop, **{**reach, **ANY}
    )
    assert not list(untaught), "stopped as it was opened"
    assert told
    with th.crawl(learned, folder=tmp_path, max_requests=2) as crawl:
        assert len(list(crawl)) == 2


ANY: dict[str, Any] = {"strategy": "breadth-first"}
"""A strategy that needs no topic."""


def test_a_crawl_in_memory_leaves_nothing_behind(
    learned: th.LearnedTopic,
    web: DemoWeb,
    reach: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    targets = sorted(learned.model.graph.targets)
    seeds = [learned.model.graph.pages[number].url for number in targets]
    with th.crawl(learned, seeds, max_requests=12, **reach) as crawl:
        pages = list(crawl)
    assert not list(tmp_path.iterdir())
    assert pages[0].html == web.respond(pages[0].url).body.decode()
    found = crawl.results()
    assert found
    assert {page.address for page in found} == {page.url for page in pages if page.relevant}
    assert crawl.search(found[0].title.split()[0])
    assert len(crawl.to_pandas()) == len(pages)


def calendar(months: int) -> dict[str, Resource]:
    """A calendar in which each month leads to the next."""

    def path(month: int) -> str:
        return f"/calendar/{2000 + month // 12}/{month % 12 + 1:02d}"

    pages = {}
    for month in range(months):
        html = f'<title>Month {month}</title>No events. <a href="{path(month + 1)}">next</a>'
        pages[path(month)] = Resource(html.encode())
    return pages


def test_a_trap_holds_it_no_longer_than_a_crawl_of_the_command_line(
    learned: th.LearnedTopic, topic: TopicFolder, tmp_path: Path
) -> None:
    seed = "http://tiny.test/calendar/2000/01"
    with TinySite(calendar(400)) as server:
        site = Site(topic, server.port, "tiny.test")
        with site.begun(crawl__seeds=[seed]) as crawl:
            live = len(list(crawl.run()))
        with th.crawl(learned, seed, **reaching("tiny.test", server.port)) as own:
            assert len(list(own)) == live
    assert 50 < live < 150
    assert own.stop_reason is crawl.stop_reason


def test_a_loop_may_be_left_and_a_crawl_stopped(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    with th.crawl(learned, web.start_urls, tmp_path, **reach) as crawl:
        in_use = rf"running in the folder {tmp_path}\..* its stop\(\) or close\(\)"
        with pytest.raises(StorageError, match=in_use), th.crawl(learned, folder=tmp_path):
            pass
        assert next(crawl).event.number == 1
        for page in crawl:
            assert page.event.number == 2
            break
    assert crawl.stop_reason is th.StopReason.INTERRUPTED
    assert not list(crawl)
    again = th.crawl(learned, folder=tmp_path)
    pages = []
    for page in again:  # without a with statement, the last page closes it
        pages.append(page)
        again.stop()
    assert again.stop_reason is th.StopReason.INTERRUPTED
    with th.crawl(learned, folder=tmp_path) as crawl:
        assert next(crawl).event.number == pages[-1].event.number + 1


def test_a_loop_left_without_with_holds_its_folder_no_longer(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    for page in th.crawl(learned, web.start_urls, tmp_path, max_requests=5, **reach):
        assert page.event.number == 1
        break
    gc.collect()
    with th.crawl(learned, folder=tmp_path) as crawl:
        assert next(crawl).event.number == 2


def test_a_document_has_the_same_source_now_and_later(tmp_path: Path) -> None:
    notes = Resource(b"Bees & <b>hives", headers={"Content-Type": "text/plain"})
    with TinySite({"/": notes}) as server:
        way = {
            **reaching("tiny.test", server.port),
            "judge": lambda _: True,
            "strategy": "breadth-first",
        }
        with th.crawl(None, "http://tiny.test/", tmp_path, **way) as crawl:
            page = next(crawl)
            now = page.html
            assert now is not None
            assert "Bees &amp; &lt;b&gt;hives" in now
            assert not list(crawl)
        assert page.html == now


class ShortUrls:
    """A strategy of one's own."""

    name: ClassVar[str] = "short-urls"
    summary: ClassVar[str] = "short addresses first"
    paper: ClassVar[str] = ""

    def score_links(self, crawled: th.CrawledPage) -> Iterator[th.ScoredLink]:
        for link in crawled.page.links:
            yield th.ScoredLink(link, 1 / len(link.url))

    def observe(self, crawled: th.CrawledPage) -> None:
        pass


class Notebook:
    """A sink of one's own."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.is_closed = False

    def keep(self, finished: th.FinishedPage) -> None:
        self.titles.append(finished.event.title)

    async def close(self) -> None:
        self.is_closed = True


class Answers:
    """A fetcher of one's own: no network at all."""

    def __init__(self, web: DemoWeb) -> None:
        self._web = web
        self.is_closed = False

    async def fetch(self, url: str, *, may_go_on: object = None) -> th.FetchResult:
        body = self._web.respond(url).body
        return th.FetchResult(url, th.Outcome.FETCHED, url, body=body, content_type="text/html")

    async def close(self) -> None:
        self.is_closed = True


def test_parts_may_be_objects_of_a_program(
    learned: th.LearnedTopic, web: DemoWeb, tmp_path: Path
) -> None:
    sink, fetcher = Notebook(), Answers(web)
    own: dict[str, Any] = {
        "strategy": ShortUrls(),
        "judge": lambda page: "the" in page.text,
        "fetcher": fetcher,
        "sinks": sink,
        "delay_seconds": 0,
        "allow_impolite": True,
    }
    for max_requests, expected in ((10, 10), (15, 5)):
        sink.is_closed = fetcher.is_closed = False
        with th.crawl(learned, web.start_urls, tmp_path, max_requests=max_requests, **own) as crawl:
            pages = list(crawl)
        assert len(pages) == expected
        assert sink.is_closed
        assert fetcher.is_closed
    assert len(sink.titles) == 15
    assert crawl.results()
    assert crawl.settings.crawl.strategy == "short-urls"
    with pytest.raises(UsageError, match="'short-urls', and what waits was ranked by it") as raised:
        th.crawl(learned, folder=tmp_path, **{**own, "strategy": "best-first"}).__enter__()
    assert str(raised.value).endswith(
        "Resume without strategy, or begin anew with 'best-first' and another folder."
    )


def test_a_resumed_crawl_wants_the_objects_again_that_it_was_made_with(
    learned: th.LearnedTopic, web: DemoWeb, tmp_path: Path
) -> None:
    own: dict[str, Any] = {
        "strategy": ShortUrls(),
        "judge": by_its_length,
        "fetcher": Answers(web),
        "sinks": Notebook(),
    }
    names = {"strategy": "short-urls", "judge": "by_its_length", "fetcher": "Answers"}
    reach: dict[str, Any] = {"user_agent": USER_AGENT, "delay_seconds": 0, "allow_impolite": True}
    with th.crawl(learned, web.start_urls, tmp_path, max_requests=3, **own, **reach) as crawl:
        list(crawl)
    for part, name in names.items():
        rest = {key: value for key, value in own.items() if key != part}
        with pytest.raises(UsageError) as raised:
            th.crawl(learned, folder=tmp_path, **rest).__enter__()
        assert f"It was crawled with a {part} of your own ({name}): give it" in str(raised.value)
    del own["sinks"]
    with th.crawl(learned, folder=tmp_path, max_requests=4, **own) as crawl:
        assert len(list(crawl)) == 1
        assert any("sinks of your own (Notebook), and this one" in each for each in crawl.notices)
    own["judge"] = "keywords:words=the"
    with th.crawl(learned, folder=tmp_path, max_requests=5, **own) as crawl:
        assert len(list(crawl)) == 1
        assert not any("sinks of your own" in each for each in crawl.notices)
    del own["judge"]
    with th.crawl(learned, folder=tmp_path, max_requests=6, **own) as crawl:
        assert len(list(crawl)) == 1


def by_its_length(page: th.Page) -> bool:
    return len(page.text) > 10


def test_a_crawl_may_ask_the_links_of_its_own_archive(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    reach |= {"strategy": "best-first:back_crawl=2", "backlinks": "crawl"}
    told = []
    for max_requests in (10, 12):
        with th.crawl(
            learned, web.start_urls, tmp_path, max_requests=max_requests, **reach
        ) as crawl:
            list(crawl)
        told.append(any("archived no page yet" in notice for notice in crawl.notices))
    assert told == [True, False]


def test_a_resolver_says_where_hosts_are_and_a_resumed_crawl_wants_it_again(
    learned: th.LearnedTopic, web: DemoWeb, port: int, reach: dict[str, Any], tmp_path: Path
) -> None:
    resolve = reach.pop("resolve")
    resolver = th.MappedResolver({"*.demo.test": f"127.0.0.1:{port}"}, use_dns=False)
    reach |= {"resolver": resolver, "max_requests": 3}
    with th.crawl(learned, web.start_urls, tmp_path, **reach) as crawl:
        assert {page.outcome for page in crawl} == {th.Outcome.FETCHED}
    with pytest.raises(UsageError, match=r"a resolver of your own \(MappedResolver\): give it"):
        th.crawl(learned, folder=tmp_path, max_requests=4).__enter__()
    for place in ({"resolver": resolver}, {"resolve": resolve}):
        with th.crawl(learned, folder=tmp_path, max_requests=4, **place) as crawl:
            list(crawl)


def test_a_crawl_without_a_topic_goes_by_its_judge(web: DemoWeb, reach: dict[str, Any]) -> None:
    reach |= {"strategy": "intelligent", "judge": "keywords:words=directory"}
    with th.crawl(None, web.start_urls, max_requests=5, **reach) as crawl:
        assert any(page.relevant for page in crawl)
    assert "Nothing has been learned" in crawl.notices[0]


def test_settings_go_by_name_or_in_one_piece(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any]
) -> None:
    settings = th.Settings(crawl=th.CrawlSettings(max_requests=2, max_time=60.0))
    with th.crawl(
        learned,
        web.start_urls[0],
        settings=settings,
        max_requests=1,
        scope="*.demo.test",
        max_idle="1m30s",
        **reach,
    ) as crawl:
        assert len(list(crawl)) == 1
    used = crawl.settings
    assert used.crawl.scope == ("*.demo.test",)
    assert used.crawl.max_time == 60.0
    assert used.crawl.max_idle == 90.0
    assert used.crawl.max_requests == 1
    numbers: dict[str, Any] = {"max_requests": np.int64(1), "delay_seconds": np.float32(0.5)}
    with th.crawl(learned, web.start_urls, **reach, **numbers) as crawl:
        assert (crawl.settings.crawl.max_requests, crawl.settings.fetch.delay_seconds) == (1, 0.5)


def test_a_message_shows_little_of_what_is_long(web: DemoWeb, topic_name: str) -> None:
    session = web.sessions[topic_name]
    wrongs: list[dict[str, Any]] = [{"topic": session}, {"strategy": session}]
    for wrong in wrongs:
        with pytest.raises(UsageError) as raised:
            th.crawl(**{"topic": None, **wrong})
        assert len(str(raised.value)) < 600


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_request": 3}, "Unknown setting 'max_request'. Did you mean max_requests"),
        ({"max_pages": 3}, "'max_pages' is called 'max_requests' now"),
        ({"max_requests": 0}, "max_requests is 0: expected int >= 1"),
        ({"strategy": "best-frist"}, "Did you mean best-first"),
        ({"judge": "cosin"}, "Did you mean cosine"),
        ({"user_agent": ""}, "must say who it is"),
        ({"seeds": (), "scope": ["elsewhere.test"]}, "is in scope. Name others with seeds=URL"),
        ({"search": "crawl"}, "Name a folder for it"),
        ({"scope": 5}, "scope is 5: expected a text, or several"),
        ({"scope": None}, "scope is None: expected a text, or several"),
        ({"seeds": None}, "seeds is None: expected a text, or several"),
        ({"seeds": [None]}, r"seeds is \[None\]: expected str"),
        ({"topic": 5}, "topic is 5, which is none. Give what learn"),
        ({"folder": "a\0b"}, "which is no path of a folder"),
        ({"folder": 5}, "folder is 5, which is no path of a folder"),
        ({"timeout_seconds": math.inf}, "timeout_seconds is inf: write a number that has an end"),
        ({"wait_for_better": -1}, "Nor when max_time alone limits the crawl"),
        ({"topic": None}, "no topic, and the judge 'auto' .* with judge=: a function of a page"),
        ({"strategy": th.BestFirstStrategy}, "is a class. .* or its name: strategy='best-first'"),
        ({"strategy": 5}, "strategy: 5 has no 'score_links'"),
        ({"judge": 5}, "judge: 5 has no 'judge'. Give a name, a function of a page"),
        ({"judge": th.KeywordsJudge}, "judge: KeywordsJudge is a class"),
        ({"fetcher": object()}, "fetcher: <object .* has no 'fetch'"),
        ({"resolver": th.MappedResolver}, "resolver: MappedResolver is a class"),
        ({"sinks": [print]}, "has no 'keep'. Give a name, or an object with all that a sink needs"),
        ({"sinks": None}, "sinks: None has no 'keep'"),
    ],
)
def test_mistakes_are_told_with_what_was_meant(
    learned: th.LearnedTopic, reach: dict[str, Any], wrong: dict[str, Any], message: str
) -> None:
    usual = {"topic": learned, "seeds": "http://www.demo.test/"}
    asked: dict[str, Any] = {**usual, **reach, **wrong}
    with pytest.raises((UsageError, ConfigError), match=message):
        th.crawl(**asked).__enter__()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (th.Settings(crawl=th.CrawlSettings(concurrency=0)), "concurrency is 0: expected int >= 1"),
        (th.Settings(crawl=th.CrawlSettings(max_requests=-5)), "max_requests is -5: expected int"),
        (th.Settings(crawl=th.CrawlSettings(workers=-2)), "workers is -2: expected int >= 1"),
        (
            th.Settings(crawl=th.CrawlSettings(concurrency=cast(int, "many"))),
            "settings.crawl.concurrency is 'many': expected int",
        ),
        (
            th.Settings(crawl=th.CrawlSettings(scope=cast(Any, 5))),
            "settings.crawl.scope is 5: expected a text, or several",
        ),
        (th.Settings(judge=th.JudgeSettings(threshold=math.nan)), "threshold is nan: expected"),
        (th.Settings(crawl=cast(Any, {"scope": 5})), "settings.crawl is of the type dict"),
        ({"crawl": {}}, "settings is of the type dict, and it should be Settings"),
    ],
)
def test_settings_in_one_piece_are_checked_like_single_ones(wrong: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        th.crawl(None, "http://www.demo.test/", settings=wrong)


def test_settings_in_one_piece_may_be_written_as_single_ones_are() -> None:
    settings = th.Settings(
        crawl=th.CrawlSettings(max_time=cast(float, "2h"), scope=cast(Any, "*.demo.test")),
        fetch=th.FetchSettings(user_agent=USER_AGENT, fetcher="http"),
    )
    seeds = "http://www.demo.test/"
    with th.crawl(None, seeds, judge=lambda page: True, settings=settings) as crawl:
        assert crawl.settings.crawl.max_time == 7200.0
        assert crawl.settings.crawl.scope == ("*.demo.test",)


def test_a_folder_is_for_one_topic(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    with th.crawl(learned, web.start_urls, tmp_path, max_requests=1, **reach) as crawl:
        list(crawl)
    other = next(name for name in web.sessions if name != learned.origin.topic)
    topic = th.learn(with_sources(web.sessions[other], web))
    with pytest.raises(UsageError, match="Name another folder"):
        th.crawl(topic, web.start_urls, tmp_path, **reach).__enter__()


def test_topics_are_learned_saved_and_loaded(
    learned: th.LearnedTopic, web: DemoWeb, topic: TopicFolder, topic_name: str, tmp_path: Path
) -> None:
    paths = write_demo_sessions(web, tmp_path / "sessions")
    assert th.learn(*paths[:2]).origin.sessions == 2
    assert th.learn(tmp_path / "sessions", n_states=3).model.hmm.n_states == 3
    assert th.learn([paths[0]], name="bees").origin.topic == "bees"
    with pytest.raises(UsageError, match="Did you mean n_states"):
        th.learn(paths[0], n_state=3)
    with pytest.raises(UsageError, match="nothing to learn from"):
        th.learn()
    for nothing in (None, [None], 5):
        with pytest.raises(UsageError, match=r"is none\. Give session files"):
            th.learn(cast(Any, nothing))
    for wrong, message in (
        ({"n_states": "x"}, "n_states is 'x', and it should be of the type int"),
        ({"n_states": 2.5}, "n_states is 2.5, and it should be of the type int"),
        ({"smoothing": math.nan}, "smoothing is nan"),
        ({"threshold": math.nan}, "threshold is nan: expected float"),
        ({"threshold": 5}, "threshold is 5: expected float <= 1.0"),
    ):
        with pytest.raises(ConfigError, match=message):
            th.learn(paths[0], **cast(dict[str, Any], wrong))
    saved = learned.save(tmp_path / "saved")
    for loaded in (
        th.load_topic(saved),
        th.load_topic(topic.path),
        th.load_topic(topic_name, workspace=topic.path.parent.parent),
    ):
        assert repr(loaded) == repr(learned)
    with pytest.raises(UsageError, match="Unknown topic 'wasps'"):
        th.load_topic("wasps", workspace=topic.path.parent.parent)
    assert Workspace(topic.path.parent.parent).topics() == (topic_name,)


def test_a_folder_with_a_topics_name_does_not_hide_it(
    learned: th.LearnedTopic,
    topic: TopicFolder,
    topic_name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workspace = topic.path.parent.parent
    monkeypatch.setenv("TRAILHOUND_WORKSPACE", str(workspace))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / topic_name
    folder.mkdir()
    assert th.load_topic(topic_name).origin == learned.origin, "the folder is no topic's"
    with pytest.raises(ModelError):
        th.load_topic(f"./{topic_name}")
    learned.save(folder / "model")  # as a crawl has it
    with pytest.warns(UserWarning, match="a folder with a topic here, which was loaded"):
        th.load_topic(topic_name)
    for of_one in (
        th.load_topic(f"./{topic_name}"),
        th.load_topic(folder),
        th.load_topic(topic_name, workspace=workspace),
    ):
        assert of_one.origin == learned.origin


def test_what_is_shown_of_topics_and_crawls(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any], tmp_path: Path
) -> None:
    assert repr(learned).startswith(f"<LearnedTopic '{learned.origin.topic}': ")
    assert "judge fields, F1 " in repr(learned)
    shown = learned._repr_html_()
    words = learned.diagnosis.clusters[0].log_odds
    assert shown.count("<tr>") == learned.model.n_clusters + 2
    assert words[0].word in shown
    seeds = [learned.model.graph.pages[number].url for number in learned.model.graph.targets]
    crawl = th.crawl(learned, seeds, tmp_path, max_requests=3, **reach)
    assert "not begun" in repr(crawl)
    with crawl:
        assert "it goes on" in repr(crawl)
        list(crawl)
    assert repr(crawl).endswith("the request budget is spent>")
    best = crawl.results(1)[0]
    assert f'<a href="{best.address}"' in crawl._repr_html_()


def test_a_crawl_that_was_closed_says_so(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any]
) -> None:
    with th.crawl(learned, web.start_urls, max_requests=3, **reach) as crawl:
        pass
    assert repr(crawl).endswith("; it was closed>")
    with pytest.raises(UsageError, match=r"The crawl was closed\. Make another"):
        next(crawl)

    async def notebook() -> None:
        with pytest.raises(UsageError, match="The crawl was closed"):
            async for _ in crawl:
                pass
        async with th.crawl(learned, web.start_urls, max_requests=3, **reach) as ended:
            assert [page async for page in ended]
        assert not [page async for page in ended]

    asyncio.run(notebook())
    never_begun = th.crawl(learned, web.start_urls, **reach)
    never_begun.close()
    assert repr(never_begun) == "<Crawl in memory, closed>"
    with pytest.raises(UsageError, match="The crawl was closed"), never_begun:
        pass
    asked: list[Callable[[th.Crawl], object]] = [
        lambda crawl: crawl.results(),
        lambda crawl: crawl.search("bees"),
        lambda crawl: crawl.to_pandas(),
        lambda crawl: crawl.settings,
    ]
    for ask in asked:
        with pytest.raises(UsageError, match="The crawl was closed"):
            ask(never_begun)
    with th.crawl(learned, web.start_urls, max_requests=3, **reach) as crawl:
        list(crawl)
    assert not list(crawl), "what came to its end just ends"


def test_a_crawl_shows_its_figures_to_prometheus(
    learned: th.LearnedTopic, web: DemoWeb, reach: dict[str, Any]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        reach |= {"metrics_port": port, "max_requests": 3}
        with pytest.raises(ConfigError, match="another port with metrics_port=PORT"):
            th.crawl(learned, web.start_urls, **reach).__enter__()
    with th.crawl(learned, web.start_urls, **reach) as crawl:
        next(crawl)
        address = next(each for each in crawl.notices if "Prometheus" in each).split()[-1]
        with urlopen(address, timeout=10) as answer:
            assert b"trailhound_requests_total" in answer.read()
    with pytest.raises(URLError):
        urlopen(address, timeout=10)


def test_a_data_frame_has_a_row_for_each_page(
    learned: th.LearnedTopic,
    web: DemoWeb,
    reach: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with th.crawl(learned, web.start_urls, tmp_path, max_requests=5, **reach) as crawl:
        assert len(crawl.to_pandas()) == 0
        pages = list(crawl)
    frame = crawl.to_pandas()
    assert list(frame["address"]) == [page.url for page in pages]
    assert set(frame["outcome"]) == {"fetched"}
    assert "memory" not in frame
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"trailhound\[pandas\]"):
        crawl.to_pandas()
