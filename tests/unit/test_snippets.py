"""The words that stand for a page in a list of results."""

from __future__ import annotations

from trailhound.records import Link, Page
from trailhound.storage.page_rows import SNIPPET_CHARS, snippet_of
from trailhound.text.extract import extract_page

URL = "http://h.test/"


def test_snippets_prefer_descriptions_then_prose_outside_links() -> None:
    nav = "Home About Contact"
    prose = (
        "Bees were kept in this valley long before anybody wrote about it, as tools in graves show."
    )
    links = tuple(Link(f"{URL}{word}", anchor=word) for word in nav.split())
    page = Page(URL, headings=("Bees",), text=f"{nav} Bees {prose} More", links=links)
    assert snippet_of(page) == f"{prose} More"
    described = Page(URL, description="All about bees.", text=nav)
    assert snippet_of(described) == "All about bees."
    assert snippet_of(Page(URL, text=nav, links=links)) == nav
    long = snippet_of(Page(URL, text="word " * 200))
    assert len(long) <= 280
    assert long.endswith("word…")


def read(body: str) -> str:
    return snippet_of(extract_page(f"<title>T</title>{body}".encode(), URL))


NAV = "<nav><a href=/1>Home</a> | <a href=/2>Products</a> &gt; <a href=/3>About us</a></nav>"


def test_a_snippet_reads_across_links() -> None:
    assert read(
        f"{NAV}<h1>Bees<a href=/h>¶</a></h1><p>The <a href=/4>honey bee</a> is a small "
        "<a href=/5>insect</a> that lives in <a href=/6>colonies</a>. It makes honey, and it has "
        "been kept by people for thousands of years.</p>"
    ) == (
        "The honey bee is a small insect that lives in colonies. It makes honey, and it has been "
        "kept by people for thousands of years."
    )


def test_a_snippet_ends_with_a_sentence_where_there_is_one() -> None:
    sentence = "Dr. Smith kept bees for years, e.g. in this valley, and wrote about each of them."
    assert read(f"<p>{' '.join([sentence] * 9)}") == " ".join([sentence] * 3)
    assert read("<p>" + "蜜蜂が飛ぶ。" * 200).endswith("。")
    endless = read(f"<p>{'word, ' * 200}")
    assert (len(endless) <= SNIPPET_CHARS, endless[-5:]) == (True, "word…")


def test_signs_that_link_to_headings_are_left_out() -> None:
    assert "¶" not in read("<h1>Bees<a href=#x>¶</a></h1><h2>Food¶</h2><p>They eat.")
    assert snippet_of(Page(URL, description="Bees¶ and more.")) == "Bees and more."


def test_lists_of_links_are_no_prose() -> None:
    listed = "".join(f"<li>{n} May <a href=/{n}>A rather long headline, {n}</a>" for n in range(9))
    prose = "What was said at the meeting about the hives behind the old mill is written down here."
    assert read(f"{NAV}<ul>{listed}</ul>{NAV}<p>{prose}") == prose


def test_a_letter_that_is_a_link_is_not_found_within_words() -> None:
    prose = "Differences in hygienic behaviour were largest where the winter had been long and wet."
    assert read(f"<p>{prose}</p><a href=/w>w</a>") == f"{prose} w"
