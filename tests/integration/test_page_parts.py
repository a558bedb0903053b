"""What a page in the browser may ask for: limits that hold however much it asks at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from loopback import answering
from trailhound.fetching.browser.parts import (
    AT_ONCE,
    Asked,
    Blocklist,
    Given,
    KeptParts,
    PageParts,
    PartLimits,
)
from trailhound.fetching.http import HttpFetcher

AGENT = "bees-bot (+https://example.org/bot)"
PAGE = "http://page.test/"
Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]
Asking = Callable[[PageParts], Awaitable[list[Given | None]]]


class Parts:
    """Asks for scripts from hosts that all give the same answer, and notes what they are asked."""

    def __init__(self, answer: Answering) -> None:
        self.asked: list[str] = []
        self.kept = KeptParts()
        self.page: PageParts
        self._answer = answer

    def give(self, *urls: str, at_once: bool = True, **more: Any) -> list[Given | None]:
        """What a page gets that asks for all these scripts."""

        async def ask(page: PageParts) -> list[Given | None]:
            asking = [page.give(Asked(url, "script")) for url in urls]
            return await asyncio.gather(*asking) if at_once else [await one for one in asking]

        return self.given_to(ask, **more)

    def given_to(self, ask: Asking, **more: Any) -> list[Given | None]:
        """What a page gets that asks in its own way."""
        return asyncio.run(self._given_to(ask, more))

    async def _given_to(self, ask: Asking, more: dict[str, Any]) -> list[Given | None]:
        async with answering(self._noted) as resolver:
            http = HttpFetcher(AGENT, resolver=resolver, allow_addresses=["*.test"])
            more = {"may_go_on": lambda: True, **more}
            self.page = PageParts(http, self.kept, Blocklist(), page=PAGE, **more)
            try:
                return await ask(self.page)
            finally:
                await http.close()

    async def _noted(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(f"{request.host}{request.path}")
        return await self._answer(request)


def script(request: web.Request) -> web.Response:
    if request.path == "/robots.txt":
        return web.Response(text="User-agent: *\nDisallow: /forbidden")
    return web.Response(text="1", content_type="text/javascript")


async def small(request: web.Request) -> web.StreamResponse:
    return script(request)


def test_without_a_request_left_no_host_is_asked_for_its_robots_txt() -> None:
    parts = Parts(small)
    given = parts.give(*(f"http://h{n}.test/x.js" for n in range(50)), may_go_on=lambda: False)
    assert set(given) == {None}
    assert parts.asked == []


def test_a_page_has_its_parts_from_few_hosts() -> None:
    parts = Parts(small)
    urls = [f"http://h{n}.test/x.js" for n in range(50)]
    given = parts.give(*urls, f"{PAGE}x.js", limits=PartLimits(max_hosts=3))
    assert sum(each is not None for each in given) == 4
    assert given[-1] is not None  # the page's own host is one in any case
    assert len(parts.asked) == 2 * 4


def test_redirects_lead_to_no_more_hosts() -> None:
    async def onwards(request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return script(request)
        number = int(request.host.partition(".")[0].removeprefix("h"))
        raise web.HTTPFound(f"http://h{number + 1}.test/x.js")

    parts = Parts(onwards)
    assert parts.give("http://h0.test/x.js", limits=PartLimits(max_hosts=2)) == [None]
    assert {each.partition("/")[0] for each in parts.asked} == {"h0.test", "h1.test"}


def test_what_robots_txt_forbids_costs_no_request() -> None:
    parts = Parts(small)
    urls = [f"{PAGE}forbidden/{n}.js" for n in range(5)] + [f"{PAGE}x.js"]
    given = parts.give(*urls, at_once=False, limits=PartLimits(max_requests=1))
    assert [each is not None for each in given] == [False] * 5 + [True]
    assert parts.page.requests == 1


async def talkative(request: web.Request) -> web.StreamResponse:
    answer = script(request)
    answer.headers["Access-Control-Allow-Origin"] = "*"
    answer.headers.update({f"X-Long-{n}": "x" * 8_000 for n in range(20)})
    return answer


def test_what_is_kept_of_a_script_runs_and_takes_little() -> None:
    parts, url = Parts(talkative), "http://scripts.test/x.js"
    first = parts.give(url)[0]
    asked = len(parts.asked)
    again = parts.give(url)[0]
    assert len(parts.asked) == asked
    assert first is not None
    assert first.headers["x-long-1"]
    assert again is not None
    assert again.body == b"1"
    assert again.headers == {
        "access-control-allow-origin": "*",
        "content-type": "text/javascript; charset=utf-8",
    }


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(KeptParts(max_bytes=1_000), id="addresses count"),
        pytest.param(KeptParts(most=10), id="so many"),
    ],
)
def test_scripts_without_a_body_are_forgotten_too(kept: KeptParts) -> None:
    urls = [f"http://scripts.test/{'x' * 75}{n}.js" for n in range(100)]
    for url in urls:
        kept.put(url, Given(200, {}, b""))
    assert len([url for url in urls if kept.get(url)]) == 10
    assert kept.get(urls[-1]) is not None


async def large(request: web.Request) -> web.StreamResponse:
    if request.path == "/robots.txt":
        return script(request)
    return web.Response(body=b"x" * 90_000, content_type="text/javascript")


def test_parts_that_come_at_once_are_no_more_bytes_than_they_may_be() -> None:
    parts = Parts(large)
    urls = [f"http://h{n}.test/x.js" for n in range(15)]
    given = parts.give(*urls, limits=PartLimits(max_bytes=400_000))
    came = [len(each.body) for each in given if each is not None]
    assert came == [90_000] * 4  # of the fifth, 40,000 bytes were left
    assert len([each for each in parts.asked if each.endswith(".js")]) == parts.page.requests == 5


def test_small_parts_wait_for_each_other_and_all_come() -> None:
    parts = Parts(small)
    given = parts.give(*(f"http://h{n}.test/x.js" for n in range(15)))
    assert None not in given


def test_a_host_that_keeps_us_waiting_for_its_robots_txt_holds_up_no_other() -> None:
    others = asyncio.Event()

    async def waiting(request: web.Request) -> web.StreamResponse:
        if request.host.startswith("slow") and request.path == "/robots.txt":
            await asyncio.wait_for(others.wait(), 60)
        elif request.path == "/x.js":
            others.set()
        return script(request)

    given = Parts(waiting).give(
        *(f"http://slow{n}.test/y.js" for n in range(6)), "http://quick.test/x.js"
    )
    assert None not in given


def test_parts_that_queue_for_a_slow_host_take_no_place_from_others() -> None:
    queueing, others = asyncio.Event(), asyncio.Event()

    async def waiting(request: web.Request) -> web.StreamResponse:
        if request.path == "/y.js":
            queueing.set()
            await asyncio.wait_for(others.wait(), 60)
        elif request.path == "/x.js":
            others.set()
        elif request.host.startswith("quick"):
            await asyncio.wait_for(queueing.wait(), 60)
        return script(request)

    slow = [f"http://slow.test/y.js?{n}" for n in range(6)]
    # Were the quick one to wait for them, they would wait in vain.
    assert None not in Parts(waiting).give(*slow, "http://quick.test/x.js")


def test_as_many_parts_as_before_come_at_once_when_some_have_come() -> None:
    all_are_asked = asyncio.Barrier(AT_ONCE)

    async def together(request: web.Request) -> web.StreamResponse:
        if request.path == "/x.js":
            await asyncio.wait_for(all_are_asked.wait(), 60)
        return script(request)

    async def first_one_then_all(parts: PageParts) -> list[Given | None]:
        first = await parts.give(Asked(f"{PAGE}first.js", "script"))
        urls = [f"http://h{n}.test/x.js" for n in range(AT_ONCE)]
        return [first, *await asyncio.gather(*(parts.give(Asked(url, "script")) for url in urls))]

    assert None not in Parts(together).given_to(first_one_then_all)
