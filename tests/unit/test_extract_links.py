"""What a page's links lead to, and what stands around them."""

from __future__ import annotations

import pytest

from trailhound.records import Link, LinkKind
from trailhound.text.document_walk import MAX_LINKS
from trailhound.text.extract import extract_page

URL = "http://example.org/dir/page.html"


def links_of(html: str) -> tuple[Link, ...]:
    return extract_page(html.encode(), URL, "text/html; charset=utf-8").links


def urls_of(html: str) -> list[str]:
    return [link.url for link in links_of(html)]


def test_everything_about_one_link() -> None:
    html = """<body><h1>Top</h1><h2>Wild <i>bees</i></h2>
    <div class="main wide"><ul><li class="">one two three four five six seven eight nine ten eleven
    <a href="b.html" rel="noopener NoFollow" title="Tip"><img alt="A bee"> Solitary  bees</a>,
    uno dos tres cuatro cinco seis siete ocho nueve diez once</li></ul></div></body>"""
    assert links_of(html) == (
        Link(
            url="http://example.org/dir/b.html",
            anchor="Solitary bees",
            image_alt="A bee Tip",
            before="two three four five six seven eight nine ten eleven",
            after=", uno dos tres cuatro cinco seis siete ocho nueve",
            heading="Wild bees",
            tag_path="div.main/ul/li",
            kind=LinkKind.ANCHOR,
            nofollow=True,
        ),
    )


def test_kinds_of_links() -> None:
    html = "<map><area href=a alt=Region></map><iframe src=b title=Inner>x</iframe><a href=c>c</a>"
    assert links_of(html) == (
        Link(
            "http://example.org/dir/a", "", "Region", after="c", tag_path="map", kind=LinkKind.AREA
        ),
        Link("http://example.org/dir/b", "", "Inner", after="c", kind=LinkKind.IFRAME),
        Link("http://example.org/dir/c", "c"),
    )


@pytest.mark.parametrize(
    "address",
    [
        "#top",
        "page.html",
        "./page.html#top",
        "",
        "mailto:a@example.org",
        "javascript:void(0)",
        "ftp://example.org/x",
        "data:text/html,x",
        "http://[broken/",
        "x" * 10_000,
    ],
)
def test_what_leads_to_no_other_page_is_dropped(address: str) -> None:
    assert urls_of(f'<a href="{address}">x</a><a href="ok">y</a>') == ["http://example.org/dir/ok"]


def test_anchors_without_address_are_no_links() -> None:
    assert links_of("<a name=here>x</a><iframe>y</iframe><area alt=z>") == ()


def test_several_links_to_one_page_all_stay_in_order() -> None:
    assert [link.anchor for link in links_of("<a href=x>1</a><a href=y>2</a><a href=x>3</a>")] == [
        "1",
        "2",
        "3",
    ]


def test_first_base_resolves_all_addresses() -> None:
    html = "<a href=x>x</a><base target=_top><base href=/other/><base href=/third/><a href=#f>f</a>"
    assert urls_of(html) == ["http://example.org/other/x", "http://example.org/other/"]


def test_useless_base_is_ignored() -> None:
    assert urls_of("<base href='data:,'><a href=x>x</a>") == ["http://example.org/dir/x"]


def test_addresses_lose_blanks_and_line_breaks() -> None:
    assert urls_of("<a href=' x\n.html '>x</a>") == ["http://example.org/dir/x.html"]


@pytest.mark.parametrize(
    "content",
    [
        "0; URL='next.html'",
        "5;url=next.html",
        "0, url = next.html",
        "0; next.html",
        ".5 next.html",
        " 3.2.1 ; 'next.html' and more",
        "0;url='next.html",
    ],
)
def test_a_refresh_is_the_first_link(content: str) -> None:
    html = f'<meta http-equiv="Refresh" content="{content}"><a href=x>x</a>'
    assert urls_of(html) == ["http://example.org/dir/next.html", "http://example.org/dir/x"]


@pytest.mark.parametrize(
    ("content", "url"),
    [
        ("0; url=/o'reilly/x", "http://example.org/o'reilly/x"),
        ("0; url=&quot;/o'reilly/x&quot;", "http://example.org/o'reilly/x"),
        ("0; urls.html", "http://example.org/dir/urls.html"),
    ],
)
def test_a_refresh_ends_with_the_quotation_mark_that_began_it(content: str, url: str) -> None:
    assert urls_of(f'<meta http-equiv=refresh content="{content}">') == [url]


@pytest.mark.parametrize("content", ["", "next.html", "5next.html", "-1; next.html", "5;", "5; ''"])
def test_what_is_no_refresh(content: str) -> None:
    assert urls_of(f'<meta http-equiv=refresh content="{content}">') == []


def test_a_refresh_to_the_page_itself_is_none() -> None:
    assert urls_of('<meta http-equiv=refresh content="60">') == []
    assert urls_of('<meta http-equiv=refresh content="60;url=page.html">') == []


def test_heading_of_a_link_is_the_nearest_above_or_around() -> None:
    html = "<a href=a>a</a><h2>One</h2><p><a href=b>b</a></p><h3>Two <a href=c>c</a></h3>"
    assert [link.heading for link in links_of(html)] == ["", "One", "Two c"]


def test_context_does_not_cut_words() -> None:
    long_words = " ".join(f"w{number}{'x' * 30}" for number in range(12))
    (link,) = links_of(f"{long_words} <a href=x>x</a> {long_words}")
    assert set(link.before.split()) | set(link.after.split()) <= set(long_words.split())
    assert link.before
    assert link.after


def test_nested_links_are_both_found() -> None:
    html = "<a href=x>one <table><td><a href=y>two</a></table> three</a>"
    assert [(link.url[-1], link.anchor) for link in links_of(html)] == [
        ("x", "one two three"),
        ("y", "two"),
    ]


def test_no_more_links_than_the_limit() -> None:
    html = "".join(f"<a href={number}>n</a>" for number in range(MAX_LINKS + 50))
    assert len(links_of(html)) == MAX_LINKS


def test_tag_path_of_a_deep_link_is_short() -> None:
    (link,) = links_of("<div class='x'>" * 3000 + "<a href=x>x</a>")
    assert link.tag_path.count("/") < 50


def test_what_surrounds_links_can_be_left_out() -> None:
    html = b"<h2>Bees</h2><p class=x>all about <a href='/honey'>honey</a> and wax</p>"
    whole = extract_page(html, "http://h.test/").links[0]
    bare = extract_page(html, "http://h.test/", surroundings=False).links[0]
    assert (whole.before, whole.after, whole.heading) == ("Bees all about", "and wax", "Bees")
    assert whole.tag_path == "p.x"
    assert bare == Link(whole.url, "honey")
