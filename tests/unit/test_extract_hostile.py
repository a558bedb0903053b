"""Any bytes give a page, in bounded time and space."""

from __future__ import annotations

import random
import time

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailhound.records import Page
from trailhound.text.document_walk import MAX_TEXT_CHARS
from trailhound.text.extract import extract_page

URL = "http://example.org/"

SAMPLE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>T &amp; t</title>
<base href="/b/"><meta name="robots" content="nofollow"><style>p{}</style></head><body class="c d">
<h1>Bees</h1><div class="nav"><ul><li><a href="x?a=1&amp;b=2#c" rel="nofollow">Ünï</a><li>two</ul>
<table><tr><td>cell<td><a href='y'><img alt="蜜蜂" src=i></a></table><p hidden>h<iframe src="f">q
</iframe><map><area href=z></map><script>if (a < b) "</p>"</script></div></body></html>"""

CONTENT_TYPES = ["", "text/html", "text/html; charset=utf-16", "text/plain; charset=big5", "\0;="]


def check_page(page: Page) -> None:
    """What every page promises, whatever it was made of."""
    assert msgspec.json.decode(msgspec.json.encode(page), type=Page) == page
    for text in (page.title, page.text, page.description, *page.headings):
        assert text == " ".join(text.split())
        assert "\x1b" not in text
    for link in page.links:
        assert link.url.startswith(("http://", "https://"))
        assert link.url != page.url
        assert len(link.before.split(" ")) <= 10
        assert len(link.after.split(" ")) <= 10


@settings(max_examples=150)
@given(st.binary(max_size=2000), st.sampled_from(CONTENT_TYPES))
def test_random_bytes(body: bytes, content_type: str) -> None:
    check_page(extract_page(body, URL, content_type))


@settings(max_examples=150)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_address_and_content_type(url: str, content_type: str) -> None:
    assert extract_page(b"<a href=x>x</a>", url, content_type).text


@settings(max_examples=200)
@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from(CONTENT_TYPES))
def test_mutated_pages(seed: int, edits: int, content_type: str) -> None:
    """Delete, repeat, overwrite and swap stretches of a real page."""
    rng = random.Random(seed)
    body = bytearray(SAMPLE.encode())
    for _ in range(edits):
        start = rng.randrange(len(body) + 1)
        stretch = body[start : start + rng.randrange(30)]
        choice = rng.randrange(4)
        if choice == 0:
            del body[start : start + len(stretch)]
        elif choice == 1:
            body[start:start] = stretch * rng.randrange(4)
        elif choice == 2:
            body[start : start + len(stretch)] = rng.randbytes(len(stretch))
        else:
            body += stretch
    check_page(extract_page(bytes(body), URL, content_type))


_FRAGMENTS = st.sampled_from(
    [
        "<",
        ">",
        "</",
        "<a href=",
        "<p hidden>",
        "</p>",
        "<h1>",
        "<title>",
        "<frameset>",
        "<frame src=x>",
        "<noframes>",
        "<table>",
        "<td>",
        "<svg>",
        "<math>",
        "<template>",
        "<select>",
        "<!--",
        "-->",
        "<![CDATA[",
        "&#",
        "&amp",
        "x",
        " ",
        '"',
        "'",
        "\0",
        "\ufeff",
        "é",
        "<base href=//>",
        "<b>",
    ]
)


@settings(max_examples=200)
@given(st.lists(_FRAGMENTS, max_size=60))
def test_tag_soup(pieces: list[str]) -> None:
    check_page(extract_page("".join(pieces).encode(), URL))


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 10_000 + "deep <a href=x>link</a>",
        "<div hidden>" * 10_000 + "x" + "</div>" * 10_000,
        "<a href=x>" * 10_000,
        "<ul><li>" * 10_000,
        "<table><td>" * 5_000,
        "<svg><g>" * 10_000,
        "<b><p>" * 10_000,
        "<font color=x>" * 10_000,
        "".join(f"<i id={number}><p>" for number in range(5_000)),
        "<span>" * 20_000 + "</x>" * 60_000,
        "<a href=1><div>" * 20_000,
        "<h1>" * 20_000,
        "<frameset>" * 10_000 + "<frame src=x>",
        "<frameset><noframes>" + "<frameset><noframes>" * 5_000,
        f"<a href='{'x' * 1_000_000}' class='{'y ' * 500_000}'>x</a>",
        "<div " + " ".join(f"a{number}=1" for number in range(100_000)) + ">x",
        "<div " + "".join(f"a{number}='<>'" for number in range(100_000)) + ">x",
        "<div " + "/".join(f"a{number}" for number in range(100_000)),
        "&#" * 200_000,
        "&" * 200_000,
        "<!--" * 100_000,
        "<" * 300_000,
        "\0" * 500_000,
        "x" * 2_000_000,
        "<meta charset=" * 20_000,
        "蜜" * 300_000,
        "<a href=x>word </a> " * 6_000,
        "\ufffd\u202e\u200b" * 50_000,
    ],
    ids=lambda html: html[:24].encode("ascii", "backslashreplace").decode(),
)
def test_hostile_pages_cost_little(html: str) -> None:
    started = time.process_time()
    page = extract_page(html.encode(), URL)
    # Not by the clock, which a busy machine delays: without limits, many of these take minutes.
    assert time.process_time() - started < 15.0
    assert len(page.text) <= MAX_TEXT_CHARS
    assert len(msgspec.json.encode(page)) < 12_000_000


def test_a_text_that_is_too_long_is_cut_and_not_dropped() -> None:
    html = f"<p>Of bees</p><pre>{'hive ' * 200_000}</pre><p>after</p>"
    text = extract_page(html.encode(), URL).text
    assert text.startswith("Of bees hive hive")
    assert MAX_TEXT_CHARS - 10 < len(text) < MAX_TEXT_CHARS + 10  # words of two elements are parted


def test_text_that_is_not_shown_takes_no_room() -> None:
    blob = "x" * (MAX_TEXT_CHARS + 1)
    html = f"<div hidden>{blob}<p>{blob}</p></div><p>All about <i hidden>no</i> bees</p>"
    assert extract_page(html.encode(), URL).text == "All about bees"


def test_deeply_nested_text_is_read() -> None:
    page = extract_page(b"<div>" * 3_000 + b"deep <a href=x>link</a>", URL)
    assert page.text == "deep link"
    assert page.links[0].before == "deep"
