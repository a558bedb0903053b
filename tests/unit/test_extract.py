"""Bytes to a page: text, headings, declarations, language, frames."""

from __future__ import annotations

import pytest

from trailhound.records import LinkKind, Page
from trailhound.text.extract import extract_page

URL = "http://example.org/dir/page.html"


def page_of(html: str, content_type: str = "text/html; charset=utf-8") -> Page:
    return extract_page(html.encode(), URL, content_type)


def test_a_whole_page() -> None:
    page = page_of(
        """<html lang="en-GB"><head><title> Bees &amp;
        flowers </title><meta name="description" content="All  about bees">
        <link rel="canonical" href="/bees"></head>
        <body><h1>Bees</h1><p>They visit <b>flowers</b>.</p><h2></h2><h2>Honey</h2></body></html>"""
    )
    assert page == Page(
        url=URL,
        title="Bees & flowers",
        description="All about bees",
        headings=("Bees", "Honey"),
        text="Bees They visit flowers. Honey",
        language="en",
        terms={"bee": 2, "flower": 2, "visit": 1, "honey": 1},
        canonical_url="http://example.org/bees",
        encoding="utf-8",
    )


def test_a_canonical_address_is_relative_to_the_base() -> None:
    page = page_of('<base href="/other/"><link rel=canonical href=bees>')
    assert page.canonical_url == "http://example.org/other/bees"


def test_the_page_has_its_canonical_address() -> None:
    assert extract_page(b"", "HTTP://Example.ORG:80/a/../b#c").url == "http://example.org/b"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<li>a</li><li>b</li>", "a b"),
        ("<b>a</b>b", "ab"),
        ("a<span>b</span><!-- c -->d", "abd"),
        ("a<br>b<hr>c", "a b c"),
        ("<div>a</div>b", "a b"),
        ("<td>a<td>b", "ab"),  # cells outside a table are no cells
        ("<table><td>a<td>b</table>", "a b"),
        ("<x-thing>a</x-thing>b", "a b"),
        ("a&nbsp;&#8203;b&shy;c", "a bc"),
        ("<a href=x>Home</a><a href=y>News</a>", "Home News"),
        ("<a href=x>bee</a>s", "bees"),
        ("a\0b", "ab"),
        ("a\x1b[31mb&#27;c", "a[31mbc"),
        ("&lt;b&gt; &amp;amp; &bogus; &#xD800;", "<b> &amp; &bogus; \ufffd"),
    ],
)
def test_text_reads_as_a_person_would(markup: str, text: str) -> None:
    assert page_of(f"<body>{markup}").text == text


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>no()</script>",
        "<style>no</style>",
        "<noscript><p>no</p></noscript>",
        "<template><p>no</p></template>",
        "<textarea>no</textarea>",
        "<select><option>no</select>",
        "<iframe>no</iframe>",
        "<svg><title>no</title><text>no</text></svg>",
        "<!-- no -->",
        "<p hidden>no <b>no</b></p>",
        '<p style="color:red; DISPLAY : none">no</p>',
        "<div style='visibility:hidden'>no<div hidden>no</div>no</div>",
    ],
)
def test_what_is_not_shown_is_not_text(unseen: str) -> None:
    assert page_of(f"<body><p>seen</p>{unseen}<p>also</p>").text == "seen also"


def test_hidden_links_are_links_but_their_words_are_not_text() -> None:
    page = page_of("<p>menu</p><ul hidden><li><a href=a>Deep</a></ul><a href=b>Top</a>")
    assert page.text == "menu Top"
    assert [(link.anchor, link.before, link.after) for link in page.links] == [
        ("Deep", "menu", "Top"),
        ("Top", "menu", ""),
    ]


def test_title_and_declarations_outside_the_head_count() -> None:
    page = page_of(
        "<p>late</p><title>Late title</title><meta name=robots content=noindex>"
        "<svg><title>picture</title></svg>"
    )
    assert (page.title, page.noindex, page.text) == ("Late title", True, "late")


def test_social_description_stands_in() -> None:
    assert page_of('<meta property="og:description" content="Short">').description == "Short"


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("NOFOLLOW, noarchive", False, True),
        ("none", True, True),
        ("index,follow", False, False),
    ],
)
def test_robots_declarations(content: str, noindex: bool, nofollow: bool) -> None:
    page = page_of(f'<meta name="Robots" content="{content}"><a href=x>x</a>')
    assert (page.noindex, page.nofollow) == (noindex, nofollow)
    assert page.links[0].nofollow is nofollow


def test_language_from_the_document_before_guessing() -> None:
    text = "Bees are insects that visit flowers for nectar and make honey of it."
    assert page_of(f"<html lang=de>{text}").language == "de"
    assert page_of(f"<meta http-equiv=Content-Language content=fr>{text}").language == "fr"
    assert page_of(text).language == "en"
    assert page_of("<p>12").language == ""


def test_a_frameset_links_to_its_frames_and_speaks_through_noframes() -> None:
    page = page_of(
        """<html><head><title>Framed</title></head><frameset cols="20%,*">
        <frame src="menu.html" title="Menu"><frameset><frame src="main.html"></frameset>
        <noframes><body><h1>No frames</h1>Go <a href="plain.html">here</a></body></noframes>
        </frameset></html>"""
    )
    assert page.is_frameset
    assert page.text == "No frames Go here"
    assert page.headings == ("No frames",)
    assert [(link.url.rpartition("/")[2], link.kind) for link in page.links] == [
        ("menu.html", LinkKind.FRAME),
        ("main.html", LinkKind.FRAME),
        ("plain.html", LinkKind.ANCHOR),
    ]
    assert page.links[0].image_alt == "Menu"


def test_noframes_outside_a_frameset_is_not_shown() -> None:
    page = page_of("<body>seen<noframes><a href=x>no</a></noframes>")
    assert (page.text, page.links, page.is_frameset) == ("seen", (), False)


def test_plain_text_has_no_markup() -> None:
    page = page_of("a <b>\n\n c & <a href=x>d</a>", "Text/Plain; charset=utf-8")
    assert page.text == "a <b> c & <a href=x>d</a>"
    assert page.links == ()


def test_the_encoding_is_that_of_the_bytes() -> None:
    page = extract_page("Grüße".encode("cp1252"), URL, "text/html; charset=iso-8859-1")
    assert (page.text, page.encoding) == ("Grüße", "windows-1252")
