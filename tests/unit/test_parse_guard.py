"""The guard's bounds hold for whatever the parser makes of a page."""

from __future__ import annotations

import time
from random import Random

import pytest
from benchmarks.fuzz.bombs import bomb, check_bomb
from selectolax.lexbor import LexborHTMLParser

from trailhound.text.parse_guard import BEARABLE, HARMLESS, harmless_start, is_harmless


@pytest.mark.parametrize("seed", range(400))
def test_no_tree_is_larger_than_its_bound(seed: int) -> None:
    check_bomb(bomb(Random(seed)))


BOMBS = {
    "repeated": "".join(f"<p><i id={n}><!--</i>-->" for n in range(2_000)),
    "repeated in script": "".join(f"<p><i id={n}><script></i></script>" for n in range(2_000)),
    "repeated behind object": "".join(f"<p><i id={n}><object></i></object>" for n in range(2_000)),
    "three of a kind": "<p>" + ("<i title=" + "x" * 9_000 + ">") * 3 + "<p>x" * 4_000,
    "one anchor": f"<p><a {' '.join(f'a{n}' for n in range(2_000))}>{'<p>x' * 3_000}",
    "hidden by a value": "<a b='>'" + "".join(f"<i id={n}><p>" for n in range(2_000)) + "'>",
    "hidden by a name": "<a ='" + "".join(f"<i id={n}><p>" for n in range(2_000)) + "'>",
    "searched": "<span><!--</span>--></b></dd>" * 3_000,
    "moved": "<b id=1><b id=2><b>" + "<div>" * 5_000 + "</b>" * 5_000,
    "attributes": f"<div {' '.join(f'a{n}' for n in range(30_000))}>",
    "attributes with tags in them": "<div " + "".join(f"a{n}='<>'" for n in range(30_000)) + ">",
    "attributes of many bodies": "".join(f"<body {f'a{n} ' * 3}>" for n in range(30_000)),
    "long": "x" * 500_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_not_harmless_and_cut_to_what_can_be_borne(name: str) -> None:
    assert not is_harmless(BOMBS[name])
    twice = BOMBS[name] * 20
    start = harmless_start(twice, BEARABLE)
    assert twice.startswith(start)
    assert is_harmless(start, BEARABLE)
    assert len(start) > 3_000


@pytest.mark.parametrize(
    "html",
    [
        "<table>" + "<tr><td><b>a</b><td><font size=1>b</font><td><a href=x>c</a><br>\n" * 300,
        "".join(f"<p><i id={n}>x</i>" for n in range(100)),
        "<ul>" + "".join(f"<li><a href=/{n} title='a > b'>{n}</a>" for n in range(1_000)),
        f"<p title='{'M 0 0 L 1 1 ' * 1_000}'>read</p>",
        f"<p>{'many words ' * 20_000}",
        f"<script>{'if (a < b) c(); ' * 2_000}</script>",
        '<a href="unclosed>x</a> <p>text',
        "<!-- " + "x" * 100_000 + " -->",
    ],
    ids=lambda html: html[:20],
)
def test_ordinary_pages_are_harmless(html: str) -> None:
    assert is_harmless(html)
    assert harmless_start(html, BEARABLE) is html


@pytest.mark.parametrize("seed", range(40))
def test_harmless_pages_are_parsed_quickly(seed: int) -> None:
    """The worst that fits: openings, then end tags that search or move them."""
    rng = Random(seed)
    opening, closing = bomb(rng)[:200], bomb(rng)[:200]
    times = 1
    while is_harmless(opening * times * 2 + closing * times * 2) and times < 4_096:
        times *= 2
    html = opening * times + closing * times
    if not is_harmless(html):
        return
    started = time.process_time()
    LexborHTMLParser(html)
    # Processor time of one call; the bound is 0.3 s on an ordinary machine.
    assert time.process_time() - started < 5.0


def test_what_a_crawl_fears_is_less_than_what_others_bear() -> None:
    assert all(one < other for one, other in zip(HARMLESS, BEARABLE, strict=True))
