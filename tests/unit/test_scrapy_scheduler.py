"""The Scrapy scheduler by the contract that Scrapy documents for schedulers, and by our own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, JsonRequest, Response, TextResponse
from scrapy.utils.test import get_crawler

import trailhound as th
from trailhound.errors import StorageError, UsageError
from trailhound.integrations.scrapy import TrailhoundMiddleware, TrailhoundScheduler
from trailhound.integrations.scrapy.request_queue import combined, rank_in
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.strategies.trail.strategy import TrailStrategy
from trailhound.topics.workspace import Workspace

SESSION = Path(__file__).parents[2] / "examples" / "five_pages.jsonl"


def nameless(response: Response) -> None:
    """No method of a spider."""


class AnySpider(Spider):
    name = "any"

    def parse_item(self, response: Response, **_: Any) -> None:
        pass

    def failed(self, failure: Any) -> None:
        pass


@pytest.fixture(scope="module")
def topic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("topic") / "honey"
    th.learn(SESSION, name="honey").save(place)
    return place


@pytest.fixture
def crawler_with(topic: Path) -> Callable[..., Crawler]:
    """A crawler with these settings."""

    def make(**settings: Any) -> Crawler:
        usual = {"TRAILHOUND_TOPIC": str(topic), "TRAILHOUND_STRATEGY": "best-first"}
        return get_crawler(AnySpider, {**usual, **settings}, prevent_warnings=False)

    return make


@contextmanager
def opened(crawler: Crawler) -> Iterator[TrailhoundScheduler]:
    TrailhoundMiddleware.from_crawler(crawler)
    scheduler = TrailhoundScheduler.from_crawler(crawler)
    scheduler.open(AnySpider.from_crawler(crawler))
    yield scheduler
    scheduler.close("finished")


@pytest.fixture(params=["memory", "disk"])
def scheduler(
    request: pytest.FixtureRequest, crawler_with: Callable[..., Crawler], tmp_path: Path
) -> Iterator[TrailhoundScheduler]:
    job = {"JOBDIR": str(tmp_path / "job")} if request.param == "disk" else {}
    with opened(crawler_with(**job)) as scheduler:
        yield scheduler


def ranked(url: str, rank: float, **fields: Any) -> Request:
    meta = {"trailhound": {"rank": rank, "memory": b"m", "parent": "http://a.test/"}}
    return Request(url, meta=meta, **fields)


def drained(scheduler: TrailhoundScheduler) -> list[Request]:
    return list(iter(scheduler.next_request, None))


def test_an_empty_queue_gives_nothing(scheduler: TrailhoundScheduler) -> None:
    assert not scheduler.has_pending_requests()
    assert len(scheduler) == 0
    assert scheduler.next_request() is None


def test_the_own_priority_counts_before_the_rank_and_the_rank_before_arrival(
    scheduler: TrailhoundScheduler,
) -> None:
    wanted = [
        ranked("http://a.test/urgent", -9.0, priority=1),
        Request("http://a.test/start"),
        ranked("http://a.test/best", 0.5),
        ranked("http://a.test/first", 0.25),
        ranked("http://a.test/second", 0.25),
        ranked("http://a.test/below", -0.25),
        ranked("http://a.test/late", 99.0, priority=-1),
    ]
    for place in (3, 0, 6, 4, 2, 5, 1):
        assert scheduler.enqueue_request(wanted[place])
    assert len(scheduler) == len(wanted)
    assert scheduler.has_pending_requests()
    assert [each.url for each in drained(scheduler)] == [each.url for each in wanted]
    assert not scheduler.has_pending_requests()


@given(st.lists(st.tuples(st.integers(-1000, 1000), st.floats(allow_nan=False)), min_size=2))
def test_one_number_keeps_the_order_of_priority_and_rank(pairs: list[tuple[int, float]]) -> None:
    numbers = [combined(own, rank) for own, rank in sorted(pairs)]
    assert numbers == sorted(numbers)


@given(st.floats(1e-100, 1e100), st.integers(-1000, 1000), st.booleans())
def test_nine_digits_of_a_rank_are_kept(rank: float, own: int, is_negative: bool) -> None:
    rank = -rank if is_negative else rank
    assert rank_in(combined(own, rank)) == pytest.approx(rank, rel=1e-9)
    assert combined(own, rank * (1 - 1e-8)) != combined(own, rank)


def test_duplicates_are_told_by_scrapys_fingerprint(scheduler: TrailhoundScheduler) -> None:
    assert scheduler.enqueue_request(Request("http://a.test/?b=2&a=1"))
    assert not scheduler.enqueue_request(Request("http://a.test/?a=1&b=2#there"))
    assert scheduler.enqueue_request(Request("http://a.test/", method="POST", body=b"1"))
    assert scheduler.enqueue_request(Request("http://a.test/", method="POST", body=b"2"))
    assert not scheduler.enqueue_request(Request("http://a.test/", method="POST", body=b"2"))
    assert [each.body for each in drained(scheduler)] == [b"", b"1", b"2"]
    assert not scheduler.enqueue_request(Request("http://a.test/?a=1&b=2")), "it was asked for"
    stats = scheduler._crawler.stats
    assert stats is not None
    assert stats.get_value("dupefilter/filtered") == 3
    assert stats.get_value("scheduler/enqueued") == 3
    assert stats.get_value("scheduler/dequeued") == 3


def test_what_must_not_be_filtered_comes_as_often_as_it_is_asked_for(
    scheduler: TrailhoundScheduler,
) -> None:
    for _ in range(3):
        assert scheduler.enqueue_request(Request("http://a.test/", dont_filter=True))
    assert scheduler.enqueue_request(Request("http://a.test/")), "the others leave no trace"
    assert len(drained(scheduler)) == 4


def test_a_better_duplicate_lifts_the_request_that_waits(scheduler: TrailhoundScheduler) -> None:
    scheduler.enqueue_request(ranked("http://a.test/x", 0.1, cb_kwargs={"first": True}))
    scheduler.enqueue_request(ranked("http://a.test/y", 0.2))
    assert not scheduler.enqueue_request(ranked("http://a.test/x", 0.3, cb_kwargs={"first": False}))
    assert not scheduler.enqueue_request(ranked("http://a.test/y", 0.1))
    best = scheduler.next_request()
    assert best is not None
    assert (best.url, best.cb_kwargs) == ("http://a.test/x", {"first": True})
    assert best.meta["trailhound"]["rank"] == pytest.approx(0.3)


def test_a_filter_of_the_users_own_decides(crawler_with: Callable[..., Crawler]) -> None:
    with opened(crawler_with(DUPEFILTER_CLASS="scrapy.dupefilters.BaseDupeFilter")) as scheduler:
        for _ in range(2):
            assert scheduler.enqueue_request(Request("http://a.test/"))
        assert len(drained(scheduler)) == 2


class ByHost:
    """One request for each host."""

    def fingerprint(self, request: Request) -> bytes:
        return request.url.split("/")[2].encode()


def test_a_fingerprinter_of_the_users_own_decides(crawler_with: Callable[..., Crawler]) -> None:
    with opened(crawler_with(REQUEST_FINGERPRINTER_CLASS=ByHost)) as scheduler:
        assert scheduler.enqueue_request(Request("http://a.test/1"))
        assert not scheduler.enqueue_request(Request("http://a.test/2"))
        assert scheduler.enqueue_request(Request("http://b.test/1"))


def test_a_job_goes_on_with_requests_as_they_were(
    crawler_with: Callable[..., Crawler], tmp_path: Path
) -> None:
    job = str(tmp_path / "job")
    with opened(crawler_with(JOBDIR=job)) as scheduler:
        spider = scheduler._spider
        assert isinstance(spider, AnySpider)
        asked = [
            ranked("http://a.test/1", 0.9, callback=spider.parse_item, errback=spider.failed),
            FormRequest("http://a.test/2", formdata={"q": "honey"}, headers={"X-A": "b"}),
            JsonRequest("http://a.test/3", data={"q": 1}, cookies={"c": "d"}, priority=-1),
            Request(
                "http://a.test/4",
                cb_kwargs={"number": 4},
                meta={"playwright": True, "playwright_page_methods": [("wait", "div")]},
                priority=-2,
            ),
            Request("http://a.test/5", priority=-3),
        ]
        for each in asked:
            assert scheduler.enqueue_request(each)
        under_way = scheduler.next_request()
        assert under_way is not None
    with opened(crawler_with(JOBDIR=job)) as scheduler:
        assert len(scheduler) == 5, "the spider was not done with the first"
        assert not scheduler.enqueue_request(Request("http://a.test/5"))
        found = drained(scheduler)
        spider = scheduler._spider
        assert isinstance(spider, AnySpider)
        assert {each.url: type(each) for each in found} == {each.url: type(each) for each in asked}
        by_url = {each.url: each for each in found}
        assert by_url["http://a.test/1"].callback == spider.parse_item
        assert by_url["http://a.test/1"].errback == spider.failed
        assert by_url["http://a.test/1"].meta["trailhound"]["memory"] == b"m"
        assert by_url["http://a.test/2"].body == b"q=honey"
        assert by_url["http://a.test/2"].headers["X-A"] == b"b"
        assert by_url["http://a.test/4"].cb_kwargs == {"number": 4}
        assert by_url["http://a.test/4"].meta["playwright_page_methods"] == [("wait", "div")]


def test_what_cannot_be_written_waits_in_memory(
    crawler_with: Callable[..., Crawler], tmp_path: Path
) -> None:
    job = str(tmp_path / "job")
    with opened(crawler_with(JOBDIR=job)) as scheduler:
        assert scheduler.enqueue_request(Request("http://a.test/1", callback=nameless))
        assert scheduler.enqueue_request(Request("http://a.test/2", meta={"page": scheduler}))
        assert scheduler.enqueue_request(Request("http://a.test/3"))
        stats = scheduler._crawler.stats
        assert stats is not None
        assert stats.get_value("scheduler/unserializable") == 2
        assert stats.get_value("scheduler/enqueued/memory") == 2
        assert stats.get_value("scheduler/enqueued/disk") == 1
        first = scheduler.next_request()
        assert first is not None
        assert first.callback is not None
    with opened(crawler_with(JOBDIR=job)) as scheduler:
        assert [each.url for each in drained(scheduler)] == ["http://a.test/3"]


def test_a_queue_that_fails_lets_the_crawl_run_dry(
    crawler_with: Callable[..., Crawler], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(crawler_with(JOBDIR=str(tmp_path / "job"))) as scheduler:
        scheduler.enqueue_request(Request("http://a.test/1"))
        scheduler._queue.close()  # as good as a disk that has gone
        assert scheduler.next_request() is None
        assert not scheduler.has_pending_requests()
        assert not scheduler.enqueue_request(Request("http://a.test/2"))
        with pytest.raises(CloseSpider):
            scheduler._tell_reason()
    assert "waits for the next run" in caplog.text
    with opened(crawler_with(JOBDIR=str(tmp_path / "job"))) as scheduler:
        assert [each.url for each in drained(scheduler)] == ["http://a.test/1"]


def answered(crawler: Crawler, kind: type[Response], body: bytes) -> Response:
    request = ranked("http://a.test/", 0.25)
    return kind("http://a.test/", body=body, request=request, headers={"Content-Type": "text/html"})


def test_a_response_is_judged_and_its_requests_are_ranked(
    crawler_with: Callable[..., Crawler],
) -> None:
    crawler = crawler_with()
    middleware = TrailhoundMiddleware.from_crawler(crawler)
    response = answered(
        crawler,
        HtmlResponse,
        b"<title>Honey harvest</title><p>Honey in jars, honey in combs, beekeepers.</p>"
        b'<a href="/jars">jars</a> <a href="/combs#top">combs</a>',
    )
    middleware.process_spider_input(response)
    told = response.meta["trailhound"]
    assert told["relevance"] > 0
    assert told["is_relevant"] is True
    assert told["why"] == "a link of http://a.test/, ranked 0.25"
    found = middleware.process_spider_output(
        response,
        [
            response.follow("/jars", meta=response.meta),
            response.follow("/combs#here"),
            response.follow("/elsewhere"),
            {"an": "item"},
        ],
    )
    *requests, item = found
    assert item == {"an": "item"}
    ranks = [each.meta["trailhound"]["rank"] for each in requests]
    assert ranks == ranks[:1] * 3, "best-first ranks links by their page"
    assert 0.25 < ranks[0] <= 1
    assert requests[0].meta["trailhound"]["parent"] == "http://a.test/"


def links(*paths: str) -> bytes:
    return b"<p>Honey in jars" + "".join(f'<a href="{path}">jars</a>' for path in paths).encode()


def test_the_spider_says_where_to_begin_also_on_a_site_of_the_session(
    crawler_with: Callable[..., Crawler], tmp_path: Path
) -> None:
    """What trail would name by itself is none of the spider's requests."""
    jars = Visit(1.0, "http://a.test/jars", html=links("/combs", "/wax").decode())
    th.learn(Session("honey", (jars, Mark(2.0, jars.url)))).save(tmp_path / "shown")
    crawler = crawler_with(TRAILHOUND_STRATEGY="trail", TRAILHOUND_TOPIC=str(tmp_path / "shown"))
    with opened(crawler) as scheduler:
        middleware = TrailhoundMiddleware.from_crawler(crawler)
        middleware.process_spider_input(answered(crawler, HtmlResponse, links("/wax")))
        assert getattr(scheduler._guide.strategy, "is_entry_due", False)
        scheduler._ranking.rank_anew(10)
        assert scheduler.next_request() is None


def test_trail_learns_of_requests_with_tracking_and_of_answers_that_are_no_page(
    crawler_with: Callable[..., Crawler],
) -> None:
    crawler = crawler_with(TRAILHOUND_STRATEGY="trail")
    with opened(crawler) as scheduler:
        middleware = TrailhoundMiddleware.from_crawler(crawler)
        response = answered(
            crawler, HtmlResponse, links(*(f"/{n}?utm_source=a.test" for n in range(3)))
        )
        middleware.process_spider_input(response)
        paths = [f"/{n}?utm_source=a.test" for n in range(3)]
        for request in middleware.process_spider_output(response, map(response.follow, paths)):
            assert scheduler.enqueue_request(request)
        strategy = scheduler._guide.strategy
        assert isinstance(strategy, TrailStrategy)
        strategy._is_read_again = True
        heard: dict[str, float] = {}
        scheduler._queue.rescore(lambda waiting: heard.update(strategy.rescore(waiting) or {}))
        assert set(heard) >= {f"http://a.test/{n}" for n in range(3)}
        gone = scheduler.next_request()
        assert gone is not None
        assert gone.url.endswith("?utm_source=a.test"), "it is asked for as the spider wants it"
        crawler.signals.send_catch_log(
            signals.response_received, response=Response(gone.url, status=404), request=gone
        )
        assert list(strategy._table.failed_pages()) == [gone.url.partition("?")[0]]
        robots = Request("http://a.test/robots.txt")
        crawler.signals.send_catch_log(
            signals.response_received, response=Response(robots.url, status=404), request=robots
        )
        assert len(strategy._table.failed_pages()) == 1, "that was no link"


def test_what_is_no_html_is_not_judged(crawler_with: Callable[..., Crawler]) -> None:
    crawler = crawler_with()
    middleware = TrailhoundMiddleware.from_crawler(crawler)
    response = answered(crawler, TextResponse, b'{"next": "/2"}')
    middleware.process_spider_input(response)
    told = response.meta["trailhound"]
    assert (told["relevance"], told["is_relevant"]) == (None, False)
    assert told["why"].endswith("not judged: it is no HTML")
    [request] = middleware.process_spider_output(response, [response.follow("/2")])
    assert request.meta["trailhound"]["rank"] == 0.25, "as that of the page"


def test_mistakes_are_told_with_a_way_out(
    crawler_with: Callable[..., Crawler], tmp_path: Path
) -> None:
    home = str(tmp_path / "home")
    Workspace(Path(home)).folder_for("bees").prepare()
    wrong = [
        ({"TRAILHOUND_TOPIC": ""}, "TRAILHOUND_TOPIC = 'bees'"),
        ({"TRAILHOUND_TOPIC": "bee", "TRAILHOUND_WORKSPACE": home}, "Did you mean bees"),
        ({"TRAILHOUND_TOPIC": "bees", "TRAILHOUND_WORKSPACE": home}, "Nothing has been learned"),
        ({"TRAILHOUND_STRATEGY": "best-frist"}, "Did you mean best-first"),
        ({"TRAILHOUND_JUDGE": "cosin"}, "Did you mean cosine"),
    ]
    for settings, message in wrong:
        with pytest.raises(UsageError, match=message):
            TrailhoundScheduler.from_crawler(crawler_with(**settings))
    crawler = crawler_with()
    with pytest.raises(UsageError, match="SPIDER_MIDDLEWARES"):
        TrailhoundScheduler.from_crawler(crawler).open(AnySpider.from_crawler(crawler))


def test_a_job_stays_with_its_topic_and_strategy(
    crawler_with: Callable[..., Crawler], tmp_path: Path
) -> None:
    job = tmp_path / "job"
    with opened(crawler_with(JOBDIR=str(job))):
        pass
    with pytest.raises(UsageError, match="with the strategy 'best-first', and the settings name"):
        TrailhoundScheduler.from_crawler(
            crawler_with(JOBDIR=str(job), TRAILHOUND_STRATEGY="breadth-first")
        )
    (job / "trailhound.json").write_text("{")
    with pytest.raises(StorageError, match="another JOBDIR"):
        TrailhoundScheduler.from_crawler(crawler_with(JOBDIR=str(job)))


def test_without_scrapy_the_error_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['scrapy'] = None\n"
        "try:\n    import trailhound.integrations.scrapy\n"
        "except Exception as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.startswith("UsageError")
    assert "pip install 'trailhound[scrapy]'" in done.stdout
