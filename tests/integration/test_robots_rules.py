"""robots.txt as the HTTP fetcher obeys it, against a real server on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from aiohttp import web

from trailhound.crawling.scope import make_scope
from trailhound.fetching.client import HttpClient
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.resolver import MappedResolver
from trailhound.fetching.robots import Refusal, RobotsRules, product_token
from trailhound.records import FetchResult, Outcome

AGENT = "bees-bot/1.0 (+https://example.org/bot)"
RULES = """
User-agent: *
Disallow: /

User-agent: bees-bot
Disallow: /private
Allow: /private/open
"""
Reply = Callable[[web.Request], web.Response]


def says(text: str, status: int = 200) -> Reply:
    return lambda request: web.Response(text=text, status=status)


class Site:
    """Answers robots.txt as told and redirects /away to another host; all else is a page."""

    def __init__(self, robots: Reply) -> None:
        self.robots = robots
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.host}{request.path}")
        if request.path.endswith("robots.txt"):
            return self.robots(request)
        if request.path == "/away":
            return web.Response(status=302, headers={"Location": "http://b.test/private"})
        return web.Response(text="<p>", content_type="text/html")

    async def start(self) -> tuple[web.AppRunner, MappedResolver]:
        app = web.Application()
        app.router.add_get("/{path:.*}", self.answer)
        runner = web.AppRunner(app, shutdown_timeout=0)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        where = f"127.0.0.1:{runner.addresses[0][1]}"
        return runner, MappedResolver({"*.test": where}, use_dns=False)


def fetch_all(
    site: Site, *urls: str, timeout_seconds: float = 5.0
) -> tuple[list[FetchResult], HttpFetcher]:
    """The results of asking for all ``urls`` at the same time."""

    async def run() -> tuple[list[FetchResult], HttpFetcher]:
        runner, resolver = await site.start()
        fetcher = HttpFetcher(
            AGENT,
            resolver=resolver,
            timeout_seconds=timeout_seconds,
            allow_addresses=["*.test"],
        )
        try:
            return await asyncio.gather(*map(fetcher.fetch, urls)), fetcher
        finally:
            await fetcher.close()
            await runner.cleanup()

    return asyncio.run(run())


def outcome(robots: Reply, url: str = "http://a.test/page") -> Outcome:
    return fetch_all(Site(robots), url)[0][0].outcome


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/page", Outcome.FETCHED),
        ("/private", Outcome.ROBOTS),
        ("/private/x", Outcome.ROBOTS),
        ("/private/open/x", Outcome.FETCHED),
    ],
)
def test_our_own_rules_hold(path: str, expected: Outcome) -> None:
    assert outcome(says(RULES), f"http://a.test{path}") is expected


def test_rules_hold_that_name_us_with_a_version() -> None:
    named = "User-agent: *\nDisallow:\n\nUser-agent: bees-bot/1.0\nDisallow: /\n"
    assert outcome(says(named), "http://a.test/") is Outcome.ROBOTS


def test_a_refusal_counts_one_request_and_asks_for_nothing() -> None:
    site = Site(says(RULES))
    (result,), fetcher = fetch_all(site, "http://a.test/private")
    assert result.requests == 1
    assert result.detail == "robots.txt of a.test forbids this address to bees-bot"
    assert site.asked == ["a.test/robots.txt"]
    assert fetcher.robots_requests == 1


def test_rules_hold_for_the_target_of_a_redirect() -> None:
    site = Site(says(RULES))
    (result,), fetcher = fetch_all(site, "http://a.test/away")
    assert (result.outcome, result.requests) == (Outcome.ROBOTS, 2)
    assert result.final_url == "http://b.test/private"
    assert site.asked == ["a.test/robots.txt", "a.test/away", "b.test/robots.txt"]
    assert fetcher.robots_requests == 2


def test_robots_txt_is_asked_for_once_per_host_even_at_the_same_time() -> None:
    site = Site(says(RULES))
    urls = [f"http://{host}.test/{n}" for n in range(5) for host in "ab"]
    results, fetcher = fetch_all(site, *urls)
    assert {result.outcome for result in results} == {Outcome.FETCHED}
    assert fetcher.robots_requests == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_no_robots_txt_allows_all(status: int) -> None:
    assert outcome(says("Disallow: /", status)) is Outcome.FETCHED


@pytest.mark.parametrize("status", [500, 503])
def test_a_failing_robots_txt_refuses_all(status: int) -> None:
    (result,), _ = fetch_all(Site(says("", status)), "http://a.test/")
    assert result.outcome is Outcome.ROBOTS
    assert result.detail == f"robots.txt of a.test could not be read: HTTP {status}"


def test_a_robots_txt_that_never_comes_refuses_all_as_a_timeout() -> None:
    class Silent(Site):
        async def answer(self, request: web.Request) -> web.Response:
            await asyncio.sleep(1)
            return await super().answer(request)

    site = Silent(says(""))
    (result,), _ = fetch_all(site, "http://a.test/", timeout_seconds=0.2)
    assert result.outcome is Outcome.TIMEOUT
    assert result.detail == "robots.txt of a.test: no answer within 0.2 s"


def test_a_broken_robots_txt_refuses_all() -> None:
    headers = {"Content-Encoding": "gzip"}
    assert outcome(lambda request: web.Response(body=b"junk", headers=headers)) is Outcome.ROBOTS


def test_a_redirected_robots_txt_is_followed() -> None:
    def reply(request: web.Request) -> web.Response:
        if request.host == "a.test":
            return web.Response(status=301, headers={"Location": "http://b.test/robots.txt"})
        return web.Response(text=RULES)

    assert outcome(reply, "http://a.test/private") is Outcome.ROBOTS


def test_a_robots_txt_that_redirects_for_ever_allows_all() -> None:
    def reply(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "/x" + request.path})

    site = Site(reply)
    (result,), fetcher = fetch_all(site, "http://a.test/private")
    assert result.outcome is Outcome.FETCHED
    assert fetcher.robots_requests == 6


@pytest.mark.parametrize("body", [b"\xff\xfe\x00\x01", b"<html>no rules</html>", b""])
def test_nonsense_allows_all(body: bytes) -> None:
    assert outcome(lambda request: web.Response(body=body)) is Outcome.FETCHED


def test_a_file_that_redirects_to_an_excluded_host_is_not_followed_there() -> None:
    def robots(request: web.Request) -> web.Response:
        within = {"/robots.txt": "/rules/robots.txt"}.get(request.path)
        target = within or "http://bank.test/robots.txt"
        return web.Response(status=302, headers={"Location": target})

    async def run() -> Refusal | None:
        runner, resolver = await site.start()
        client = HttpClient(AGENT, resolver=resolver, allow_addresses=["*.test"])
        rules = RobotsRules(client, AGENT, in_scope=make_scope(excluded=["bank.test"]))
        try:
            return await rules.refusal("http://a.test/")
        finally:
            await client.close()
            await runner.cleanup()

    site = Site(robots)
    refusal = asyncio.run(run())
    assert refusal is not None
    assert refusal.outcome is Outcome.OUT_OF_SCOPE
    assert "redirects to http://bank.test/robots.txt" in refusal.detail
    assert site.asked == ["a.test/robots.txt", "a.test/rules/robots.txt"]


def test_a_byte_order_mark_does_not_hide_the_rules() -> None:
    body = b"\xef\xbb\xbfUser-agent: *\nDisallow: /"
    assert outcome(lambda request: web.Response(body=body)) is Outcome.ROBOTS


def test_rules_beyond_the_size_limit_are_not_read() -> None:
    # The limit cuts "Disallow: /late" after "Disallow: /", which would forbid the whole site.
    start = "User-agent: *\nDisallow: /early\n"
    filler = "#" * (500 * 1024 - len(start) - len("\nDisallow: /"))
    text = f"{start}{filler}\nDisallow: /late\n"
    assert outcome(says(text), "http://a.test/page") is Outcome.FETCHED
    assert outcome(says(text), "http://a.test/early") is Outcome.ROBOTS


def test_rules_are_asked_again_when_they_are_old() -> None:
    async def run() -> list[bool]:
        site = Site(says("", 503))
        runner, resolver = await site.start()
        client = HttpClient(AGENT, resolver=resolver, allow_addresses=["*.test"])
        now = [0.0]
        rules = RobotsRules(client, AGENT, clock=lambda: now[0])
        allowed = []
        # A failure is remembered for ten minutes, an answer for a day.
        for seconds, status in [(0, 503), (599, 200), (600, 200), (86_999, 503), (87_000, 503)]:
            now[0] = seconds
            site.robots = says("", status)
            allowed.append(await rules.refusal("http://a.test/") is None)
        await client.close()
        await runner.cleanup()
        return allowed

    assert asyncio.run(run()) == [False, False, True, True, False]


def test_the_oldest_sites_are_forgotten_first() -> None:
    async def run() -> int:
        site = Site(says(RULES))
        runner, resolver = await site.start()
        client = HttpClient(AGENT, resolver=resolver, allow_addresses=["*.test"])
        rules = RobotsRules(client, AGENT, max_sites=2)
        for host in "abacab":  # b goes when c comes, c when b comes back
            await rules.refusal(f"http://{host}.test/")
        await client.close()
        await runner.cleanup()
        return rules.requests

    assert asyncio.run(run()) == 4


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("bees-bot/1.0 (+https://example.org/bot)", "bees-bot"),
        ("bees_bot (+https://example.org)", "bees_bot"),
        ("Mozilla/5.0 (compatible; bees-bot/1.0; +https://example.org)", "bees-bot"),
        ("", ""),
    ],
)
def test_the_name_that_robots_txt_knows_us_by(agent: str, token: str) -> None:
    assert product_token(agent) == token
