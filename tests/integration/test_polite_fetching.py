"""Delays, back-off, wishes of sites and conditional requests, against a real server on loopback."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from itertools import pairwise

import pytest
from aiohttp import web

from loopback import answering
from trailhound.errors import ConfigError
from trailhound.fetching.base import Validators
from trailhound.fetching.client import HttpClient
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.polite_client import PoliteClient
from trailhound.fetching.polite_settings import PoliteSettings
from trailhound.fetching.politeness import Politeness
from trailhound.fetching.resolver import MappedResolver
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import FetchResult, Outcome
from trailhound.urls import host_key

AGENT = "bees-bot/1.0 (+https://example.org/bot)"
Reply = Callable[[web.Request], web.Response]
Use = Callable[[HttpFetcher], Awaitable[list[FetchResult]]]


def html(request: web.Request) -> web.Response:
    return web.Response(text="<p>Bees.", content_type="text/html")


class Time:
    """Passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)


class Site:
    """All hosts; notes when each was asked for what, in a time of its own."""

    def __init__(self, reply: Reply = html, robots: str = "") -> None:
        self.reply = reply
        self.robots = robots
        self.asked: list[tuple[str, float]] = []
        self.redirects_robots = False
        self.time = Time()
        self.ledger = MemoryFrontier()

    async def _answer(self, request: web.Request) -> web.Response:
        self.asked.append((f"{request.host}{request.path}", self.time.now))
        if request.path == "/robots.txt" and not self.redirects_robots:
            return web.Response(text=self.robots, status=200 if self.robots else 404)
        return self.reply(request)

    def run(
        self, use: Use, settings: PoliteSettings | None = None, allow_impolite: bool = False
    ) -> list[FetchResult]:
        async def run() -> list[FetchResult]:
            politeness = Politeness(
                settings or PoliteSettings(),
                self.ledger,
                clock=self.time.clock,
                sleep=self.time.sleep,
            )
            async with answering(self._answer) as resolver:
                fetcher = HttpFetcher(
                    AGENT,
                    resolver=resolver,
                    allow_addresses=["*.test"],
                    politeness=politeness,
                    allow_impolite=allow_impolite,
                )
                try:
                    return await use(fetcher)
                finally:
                    await fetcher.close()

        return asyncio.run(run())

    def gaps(self, host: str) -> list[float]:
        """Seconds between the requests to ``host``."""
        times = [at for what, at in self.asked if what.startswith(f"{host}/")]
        return [late - early for early, late in pairwise(times)]


def fetch_together(*urls: str) -> Use:
    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        return list(await asyncio.gather(*map(fetcher.fetch, urls)))

    return use


def fetch_in_turn(*urls: str) -> Use:
    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        return [await fetcher.fetch(url) for url in urls]

    return use


def busy(status: int, retry_after: str = "") -> Reply:
    headers = {"Retry-After": retry_after} if retry_after else {}
    return lambda request: web.Response(status=status, headers=headers)


def test_no_host_is_asked_sooner_than_its_delay() -> None:
    site = Site()
    urls = [f"http://{host}.test/{n}" for n in range(2) for host in "ab"]
    settings = PoliteSettings(test_delay_seconds=0.2)
    results = site.run(fetch_together(*urls), settings)
    assert {result.outcome for result in results} == {Outcome.FETCHED}
    # robots.txt and two pages each, also counted over the shared address
    for host in "ab":
        assert len(site.gaps(f"{host}.test")) == 2
        assert min(site.gaps(f"{host}.test")) >= 0.199
    assert site.time.now == pytest.approx(5 * 0.2)


def test_a_kept_connection_that_breaks_off_is_not_an_excuse_to_ask_again_at_once() -> None:
    def reply(request: web.Request) -> web.Response:
        times = sum(what == "a.test/2" for what, _ in site.asked)
        if times == 1 and request.transport is not None:
            request.transport.abort()
        return html(request)

    site = Site(reply)
    settings = PoliteSettings(test_delay_seconds=0.2)
    results = site.run(fetch_in_turn("http://a.test/1", "http://a.test/2"), settings)
    assert [result.outcome for result in results] == [Outcome.FETCHED] * 2
    assert [what for what, _ in site.asked].count("a.test/2") == 2
    assert min(site.gaps("a.test")) >= 0.199


def test_every_host_of_a_chain_has_its_delay() -> None:
    def reply(request: web.Request) -> web.Response:
        if request.host == "b.test":
            return html(request)
        return web.Response(status=302, headers={"Location": "http://b.test/"})

    site = Site(reply)
    site.run(fetch_together("http://a.test/"), PoliteSettings(test_delay_seconds=0.05))
    for host in ("a.test", "b.test"):
        assert site.ledger.ready_at(host) is not None, "whoever comes next will know"


def test_a_crawl_delay_postpones_what_would_come_too_soon() -> None:
    site = Site(robots="User-agent: *\nCrawl-delay: 30\n")
    (result,) = site.run(fetch_together("http://a.test/"))
    # robots.txt was a request too
    assert (result.outcome, result.requests) == (Outcome.POSTPONED, 0)
    assert result.retry_after_seconds == pytest.approx(30)
    assert [what for what, _ in site.asked] == ["a.test/robots.txt"]


@pytest.mark.parametrize("line", ["Crawl-delay: 0.3", "Request-rate: 10/3"])
def test_a_short_crawl_delay_is_waited_for(line: str) -> None:
    site = Site(robots=f"User-agent: bees-bot\n{line}\n")
    results = site.run(fetch_in_turn("http://a.test/1", "http://a.test/2"))
    assert [result.outcome for result in results] == [Outcome.FETCHED] * 2
    assert site.gaps("a.test") == pytest.approx([0.3, 0.3])


def test_an_excessive_crawl_delay_is_cut() -> None:
    site = Site(robots="User-agent: *\nCrawl-delay: 9999\n")

    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        return [await fetcher.fetch("http://a.test/")]

    (result,) = site.run(use)
    assert result.outcome is Outcome.POSTPONED
    assert result.retry_after_seconds == pytest.approx(60)


def test_a_page_of_a_site_with_an_excessive_crawl_delay_says_so() -> None:
    site = Site(robots="User-agent: *\nCrawl-delay: 9999\n")
    settings = PoliteSettings(max_crawl_delay_seconds=0.1)
    (result,) = site.run(fetch_together("http://a.test/"), settings, allow_impolite=True)
    assert result.outcome is Outcome.FETCHED
    assert result.detail == "the site asks for 9999 s between requests; it gets 0.1 s"


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_left_alone(status: int) -> None:
    site = Site(busy(status))
    results = site.run(fetch_in_turn("http://a.test/1", "http://a.test/2"))
    assert [result.outcome for result in results] == [Outcome.BUSY, Outcome.POSTPONED]
    assert results[0].status == status
    assert results[0].retry_after_seconds == 10.0
    assert [what for what, _ in site.asked] == ["a.test/robots.txt", "a.test/1"]


def test_retry_after_in_seconds_and_as_a_date() -> None:
    for header in ("120", formatdate(time.time() + 120, usegmt=True)):
        (result,) = Site(busy(503, header)).run(fetch_together("http://a.test/"))
        assert result.retry_after_seconds == pytest.approx(120, abs=60)


def test_back_off_grows_and_ends_with_an_answer() -> None:
    statuses = iter([503, 503, 200, 503])

    def reply(request: web.Request) -> web.Response:
        return web.Response(text="<p>", status=next(statuses), content_type="text/html")

    settings = PoliteSettings(backoff_seconds=0.1)
    results = Site(reply).run(fetch_in_turn(*[f"http://a.test/{n}" for n in range(4)]), settings)
    assert [result.retry_after_seconds for result in results] == [0.1, 0.2, None, 0.1]


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("http://nowhere.example/", Outcome.UNKNOWN_HOST),
        ("http://closed.test/", Outcome.UNREACHABLE),  # nothing listens at port 1
    ],
)
def test_a_host_that_cannot_be_reached_waits_longer_each_time(url: str, outcome: Outcome) -> None:
    time = Time()
    politeness = Politeness(
        PoliteSettings(max_wait_seconds=1000.0), clock=time.clock, sleep=time.sleep
    )
    closed = MappedResolver({"closed.test": "127.0.0.1:1"}, use_dns=False)
    client = PoliteClient(
        HttpClient(AGENT, resolver=closed, allow_addresses=["closed.test"]), politeness
    )

    async def pauses() -> list[float]:
        found = []
        for _ in range(3):
            assert (await client.get(url, max_bytes=100)).failure is outcome
            found.append(politeness.free_in(host_key(url)))
            time.now += found[-1]
        await client.close()
        return found

    assert asyncio.run(pauses()) == [10.0, 20.0, 40.0]


def test_what_an_earlier_run_agreed_with_a_host_still_holds() -> None:
    site = Site()

    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        site.ledger.delay_host("a.test", time.time() + 60.0)
        return [await fetcher.fetch("http://a.test/"), await fetcher.fetch("http://b.test/")]

    results = site.run(use)
    assert [result.outcome for result in results] == [Outcome.POSTPONED, Outcome.FETCHED]
    assert not any(what.startswith("a.test") for what, _ in site.asked)


def test_a_busy_robots_txt_is_asked_again_when_it_wishes() -> None:
    class Busy(Site):
        async def _answer(self, request: web.Request) -> web.Response:
            return web.Response(status=429, headers={"Retry-After": "3600"})

    (result,) = Busy().run(fetch_together("http://a.test/"))
    assert result.outcome is Outcome.ROBOTS
    assert result.retry_after_seconds == pytest.approx(3600, abs=60)


@pytest.mark.parametrize(
    ("tag", "noindex", "nofollow"),
    [("noindex", True, False), ("bees-bot: none", True, True), ("otherbot: none", False, False)],
)
def test_x_robots_tag_is_told(tag: str, noindex: bool, nofollow: bool) -> None:
    def reply(request: web.Request) -> web.Response:
        headers = {"X-Robots-Tag": tag, "Content-Type": "text/html"}
        return web.Response(text="<p>", headers=headers)

    (result,) = Site(reply).run(fetch_together("http://a.test/"))
    assert (result.outcome, result.noindex, result.nofollow) == (
        Outcome.FETCHED,
        noindex,
        nofollow,
    )


def test_a_page_without_news_is_not_sent_again() -> None:
    date = "Thu, 01 Jan 2026 00:00:00 GMT"

    def reply(request: web.Request) -> web.Response:
        same = request.headers.get("If-None-Match") == '"v1"'
        if same or request.headers.get("If-Modified-Since") == date:
            return web.Response(status=304)
        headers = {"ETag": '"v1"', "Last-Modified": date, "Content-Type": "text/html"}
        return web.Response(text="<p>", headers=headers)

    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        url = "http://a.test/"
        first = await fetcher.fetch(url)
        etag, modified = first.header("etag"), first.header("Last-Modified")
        known = [
            Validators(etag),
            Validators(last_modified=modified),
            Validators('"v0"'),
            Validators('"v1"\r\nX: y'),
        ]
        later = []
        for version in known:
            fetcher.versions[url] = version
            later.append(await fetcher.fetch(url))
        assert not fetcher.versions, "each is asked about once"
        return [first, *later]

    outcomes = [result.outcome.value for result in Site(reply).run(use)]
    assert outcomes == ["fetched", "not-modified", "not-modified", "fetched", "fetched"]


def test_a_page_that_has_moved_is_sent_whatever_was_known_of_its_old_address() -> None:
    def reply(request: web.Request) -> web.Response:
        if request.path == "/old":
            return web.Response(status=301, headers={"Location": "/new"})
        status = 304 if "If-Modified-Since" in request.headers else 200
        return web.Response(status=status, content_type="text/html")

    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        date = "Thu, 01 Jan 2026 00:00:00 GMT"
        fetcher.versions["http://a.test/old"] = Validators(last_modified=date)
        return [await fetcher.fetch("http://a.test/old")]

    (result,) = Site(reply).run(use)
    assert (result.outcome, result.final_url) == (Outcome.FETCHED, "http://a.test/new")


def test_impolite_settings_are_refused_by_the_fetcher() -> None:
    with pytest.raises(ConfigError, match=r"delay_seconds = 0\.1"):
        HttpFetcher(AGENT, delay_seconds=0.1)
    with pytest.raises(ConfigError, match="obey_robots"):
        HttpFetcher(AGENT, obey_robots=False)
    HttpFetcher(AGENT, delay_seconds=0.1, obey_robots=False, allow_impolite=True)


def test_a_request_that_is_made_once_more_counts_if_there_is_one_left() -> None:
    connections: set[object] = set()

    def reply(request: web.Request) -> web.Response:
        if request.transport is not None and request.transport in connections:
            request.transport.abort()  # it was kept, and is given up
        connections.add(request.transport)
        return html(request)

    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        first = await fetcher.fetch("http://a.test/1")
        second = await fetcher.fetch("http://a.test/2", may_go_on=lambda _="": True)
        third = await fetcher.fetch("http://a.test/3", may_go_on=lambda _="": False)
        return [first, second, third]

    site = Site(reply, robots="User-agent: *\nAllow: /\n")
    first, second, third = site.run(use)
    assert [each.outcome for each in (first, second)] == [Outcome.FETCHED] * 2
    assert third.retry_after_seconds == 0.0
    pages = [what for what, _ in site.asked if not what.endswith("/robots.txt")]
    assert first.requests + second.requests + third.requests == len(pages)
    assert (second.requests, third.requests) == (2, 1)


def test_a_redirected_robots_file_is_looked_for_where_it_was_left() -> None:
    def reply(request: web.Request) -> web.Response:
        if request.path == "/robots.txt":
            return web.Response(status=301, headers={"Location": "/rules.txt"})
        if request.path == "/rules.txt":
            return web.Response(text="User-agent: *\nDisallow: /private\n")
        return html(request)

    site = Site(reply)

    async def use(fetcher: HttpFetcher) -> list[FetchResult]:
        results = []
        for _ in range(3):  # the file, where it is, and the page: each is too far off for the next
            results.append(await fetcher.fetch("http://a.test/1"))
            await site.time.sleep(8.0)
        return [*results, await fetcher.fetch("http://a.test/private")]

    site.redirects_robots = True
    results = site.run(use, PoliteSettings(test_delay_seconds=8.0))
    assert [each.outcome for each in results[1:]] == [
        Outcome.POSTPONED,
        Outcome.FETCHED,
        Outcome.ROBOTS,
    ]
    assert [what for what, _ in site.asked] == ["a.test/robots.txt", "a.test/rules.txt", "a.test/1"]
