"""robots.txt files are written by strangers: any text is read, and none stops a crawl."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.fetching import robots
from trailhound.fetching.client import Answer
from trailhound.fetching.robots import Refusal, RobotsRules

PAGE = "http://a.test/page"


class OneFile:
    """Answers with the same robots.txt every time."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def get(self, url: str, *, max_bytes: int) -> Answer:
        del url
        return Answer(status=200, body=self._body[:max_bytes])


def read(body: bytes, url: str = PAGE) -> tuple[Refusal | None, float]:
    """What a file says about ``url``, and the delay that it wishes for."""
    rules = RobotsRules(OneFile(body), "bees-bot (+https://example.org/bot)")
    refusal = asyncio.run(rules.refusal(url))
    asyncio.run(rules.sitemaps(url))
    return refusal, rules.delay_seconds(url)


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("Request-rate: 1/" + "9" * 400, 86_400.0),
        ("Request-rate: 1/" + "9" * 400 + "h", 86_400.0),
        ("Request-rate: " + "9" * 400 + "/" + "9" * 400, 86_400.0 / 10**9),
        ("Request-rate: 1/" + "9" * 5_000, 0.0),  # more digits than Python reads
        ("Request-rate: 0/10", 0.0),
        ("Request-rate: 1/5", 5.0),
        ("Crawl-delay: " + "9" * 400, 0.0),
        ("Crawl-delay: 1e300", 86_400.0),
        ("Crawl-delay: nan", 0.0),
        ("Crawl-delay: -1", 0.0),
    ],
)
def test_delays_have_an_end(line: str, seconds: float) -> None:
    refusal, wished = read(f"User-agent: *\n{line}\n".encode())
    assert refusal is None
    assert wished == pytest.approx(seconds)


class DelayOverTls(OneFile):
    """Wishes for a delay over https alone."""

    async def get(self, url: str, *, max_bytes: int) -> Answer:
        is_secure = url.startswith("https://")
        return await super().get(url, max_bytes=max_bytes) if is_secure else Answer(status=404)


def test_a_host_keeps_its_delay_over_either_scheme() -> None:
    file = DelayOverTls(b"User-agent: *\nCrawl-delay: 30\n")
    rules = RobotsRules(file, "bees-bot (+https://example.org/bot)")
    wished = []
    for url in ("http://a.test/", "https://a.test/", "http://a.test/", "http://b.test/"):
        asyncio.run(rules.refusal(url))
        wished.append(rules.delay_seconds(url))
    assert wished == [0.0, 30.0, 30.0, 0.0]


_FIELDS = ["User-agent", "Allow", "Disallow", "Crawl-delay", "Request-rate", "Visit-time"]
_VALUES = st.one_of(
    st.text(max_size=40),
    st.from_regex(r"\A[0-9]{0,400}[/.]?[0-9]{1,400}[smhd]?( [0-9]{4}-[0-9]{4})?\Z"),
    st.from_regex(r"\A/[a*$%0-9]{0,20}\Z"),
    st.sampled_from(["*", "bees-bot", "nan", "inf", "-0", "1e999", "%", "http://[", "\ud800"]),
)
_LINES = st.tuples(st.sampled_from(_FIELDS), st.sampled_from([":", " : ", "", " "]), _VALUES)


@given(st.lists(_LINES.map("".join), max_size=12))
def test_no_rules_are_too_strange(lines: list[str]) -> None:
    body = "\n".join(["User-agent: *", *lines]).encode("utf-8", "surrogatepass")
    _, seconds = read(body)
    assert 0.0 <= seconds <= 86_400.0


@given(st.binary(max_size=300))
def test_no_bytes_are_too_strange(body: bytes) -> None:
    _, seconds = read(body, "http://a.test/%zz?\u00fc")
    assert 0.0 <= seconds <= 86_400.0


def test_a_file_that_breaks_the_parser_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise RecursionError(text)

    monkeypatch.setattr("trailhound.fetching.robots.Protego.parse", broken)
    refusal, seconds = read(b"User-agent: *")
    assert refusal is not None
    assert refusal.detail == "robots.txt of a.test could not be read: RecursionError"
    assert refusal.retry_after_seconds == pytest.approx(600.0, abs=60.0)
    assert seconds == 0.0


class SlowFile(OneFile):
    """The same, when it is let go."""

    def __init__(self, body: bytes) -> None:
        super().__init__(body)
        self.may_answer = asyncio.Event()

    async def get(self, url: str, *, max_bytes: int) -> Answer:
        if "slow" in url:
            await self.may_answer.wait()
        return await super().get(url, max_bytes=max_bytes)


def test_a_site_that_is_forgotten_while_it_is_asked_takes_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(robots, "_MAX_KEPT_BYTES", 20_000)
    body = b"User-agent: *\nDisallow: /" + random.Random(7).randbytes(3_000).hex().encode()

    async def ask_all() -> int:
        file = SlowFile(body)
        rules = RobotsRules(file, "bees-bot (+https://example.org/bot)")
        slow = [asyncio.ensure_future(rules.refusal(f"http://slow{n}.test/")) for n in range(9)]
        await asyncio.sleep(0)
        for number in range(12):
            await rules.refusal(f"http://host{number}.test/")
        file.may_answer.set()
        await asyncio.gather(*slow)
        assert await rules.refusal(PAGE) is None
        return sum(len(site.packed or b"") for site in rules._sites.values()) - rules._kept_bytes

    assert asyncio.run(ask_all()) == 0
