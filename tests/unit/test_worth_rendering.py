"""Which pages are rendered: what their HTML says, and what renderings have taught."""

from __future__ import annotations

import pytest

from trailhound.fetching.browser.parts import Blocklist
from trailhound.fetching.browser.worth import (
    MAX_PROBES_IN_VAIN,
    TRIED_AGAIN_EVERY,
    Gain,
    Learned,
    Sign,
    gain_of,
    shown_chars,
    signs_in,
)

URL = "http://a.test/page"
TEXT = "<p>" + "Bees gather nectar. " * 100
SHORT = "<p>" + "Bees gather nectar. " * 20
APP = "<script src=/app.js></script>"
TRACKER = "<script src=https://www.google-analytics.com/ga.js></script>"


@pytest.mark.parametrize(
    ("html", "sign"),
    [
        ("", Sign.NONE),
        (TEXT, Sign.NONE),
        ("<p>Short, and no script.", Sign.NONE),
        ("<p>Short." + TRACKER, Sign.NONE),
        ('<p>Short.<script type="application/ld+json">{"a": 1}</script>', Sign.NONE),
        (TEXT + APP, Sign.NONE),
        (SHORT + "<script>menu()</script>", Sign.NONE),
        ("<p>Short." + APP, Sign.STRONG),
        ("<p>Short.<script>location = '/x'</script>", Sign.STRONG),
        (SHORT + APP * 3, Sign.STRONG),
        ('<div id="root"></div>' + APP, Sign.STRONG),
        (SHORT + "<DIV class=x ID='app' data-v> <!-- here --> </DIV>" + APP, Sign.STRONG),
        (SHORT + "<noscript>You need to enable JavaScript.</noscript>" + APP, Sign.STRONG),
        (SHORT + "<noscript><img src=/javascript.gif></noscript>" + APP, Sign.NONE),
        (TEXT + "<noscript>Enable JavaScript to comment.</noscript>" + APP, Sign.NONE),
        (TEXT + "<div id=related></div>" + APP, Sign.WEAK),
        (TEXT + "<news-list></news-list>" + APP, Sign.WEAK),
        (TEXT + "<div id=related></div>", Sign.NONE),
    ],
)
def test_signs(html: str, sign: Sign) -> None:
    assert signs_in(html.encode(), URL, Blocklist().holds).strength is sign


def test_a_kind_that_gains_is_rendered_whatever_its_signs() -> None:
    learned = Learned()
    first = learned.decide("http://a.test/item/1", (TEXT + "<div id=x></div>" + APP).encode())
    assert first.render
    assert "tried once" in first.why
    learned.note(first, URL, Gain(links=2))
    second = learned.decide("http://a.test/item/2", (TEXT + APP).encode())
    assert (second.render, second.why) == (True, "1 of 1 page of its kind gained by it")
    for other in ("http://a.test/other/2", "http://b.test/item/2"):
        assert not learned.decide(other, (TEXT + APP).encode()).render


def test_a_kind_that_gains_nothing_is_left_alone_but_tried_again() -> None:
    learned = Learned()
    shell = ("<p>Short." + APP).encode()
    for n in range(2):
        decision = learned.decide(f"http://a.test/item/{n}", shell)
        assert decision.render
        learned.note(decision, URL, Gain())
    later = [learned.decide(f"http://a.test/item/{n}", shell) for n in range(TRIED_AGAIN_EVERY)]
    assert [each.render for each in later] == [False] * (TRIED_AGAIN_EVERY - 1) + [True]
    assert later[0].why == "2 pages of its kind gained nothing by it"


def test_a_host_gets_few_tries_for_weak_signs() -> None:
    learned = Learned()
    weak = (TEXT + "<div id=x></div>" + APP).encode()
    tried = 0
    for n in range(10):
        decision = learned.decide(f"http://a.test/{n}/page", weak)
        tried += decision.render
        if decision.render:
            learned.note(decision, f"http://a.test/{n}/page", Gain())
    assert tried == MAX_PROBES_IN_VAIN


def test_what_was_gained() -> None:
    before = b"<a href=/known>x</a><script>'<a href=/made>'</script>"
    after = b"<a href=/known>x</a><a href='/made'>y</a><a href='#top'>z</a><a href=//b.test/>o</a>"
    gain = gain_of(before, after, URL, lambda url: url.startswith("http://a.test/"))
    assert gain == Gain(links=1, chars=3)
    assert not gain_of(before, before, URL, lambda _: True).is_worth_it


@pytest.mark.parametrize(
    ("after", "is_loss"),
    [
        ("<p>Something went wrong", True),
        ("<p>Something went wrong <a href=/known>here</a>", True),
        ("<p>All that is left is <a href=/new>elsewhere</a>", False),
        (TEXT[: len(TEXT) * 2 // 3], False),
        (TEXT * 2, False),
    ],
)
def test_what_was_lost(after: str, is_loss: bool) -> None:
    before = f"{TEXT}<a href=/known>x</a>"
    gain = gain_of(before.encode(), after.encode(), URL, lambda _: True)
    assert gain.is_loss is is_loss
    assert not gain_of(b"<p>Little", b"", URL, lambda _: True).is_loss


def test_only_what_is_shown_counts_as_text() -> None:
    head = b"<HEAD><title>no</title></head><STYLE>no</style>"
    assert shown_chars(head + b"<p> yes &nbsp; </p><script>no</SCRIPT >yes") == len("yesyes")
    assert shown_chars(b"<script>without an end") == 0


@pytest.mark.parametrize(
    "piece",
    [
        b"<script>", b"<script></SCRIPT>", b"<a ", b"<a href", b"<div id=root ", b"<div id=x ",
        b"<a-b ", b"<noscript>", b"<", b"<style></STYLE ", b"<head></x>", b"&nbsp; ", b"<p id=",
    ],
)  # fmt: skip
def test_no_page_keeps_it_busy(piece: bytes) -> None:
    """Were one quadratic, this would take hours."""
    html = piece * (300_000 // len(piece))
    signs_in(html + b"<script>x</script>", URL, lambda _: False)
    gain_of(html, html + b"<a href=/new>", URL, lambda _: True)


def test_blocked_hosts_are_those_below_as_well() -> None:
    blocked = Blocklist()
    assert blocked.holds("https://www.google-analytics.com/collect?x=1")
    assert blocked.holds("http://stats.g.doubleclick.net:8080/")
    assert not blocked.holds("http://notdoubleclick.net/")
    assert not blocked.holds("http://net/")
