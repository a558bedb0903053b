"""A topic's finds as a portal shows them: search, facets, pages, feeds."""

from __future__ import annotations

import re
from datetime import datetime, time
from email.utils import parsedate_to_datetime
from itertools import chain
from pathlib import Path

import pytest
from defusedxml import ElementTree
from hypothesis import given
from hypothesis import strategies as st
from live_webs import wait_until
from selectolax.lexbor import LexborHTMLParser

from found_pages import DAY, NOON, Find, add_finds, crawl_of, reject
from trailhound.errors import UsageError
from trailhound.portal import Portal
from trailhound.portal.pages import FeedKind, atom_feed, environment, rss_feed
from trailhound.portal.searching import (
    Answer,
    Hit,
    Segment,
    fts_expression,
    only_leaves_out,
    segments,
)
from trailhound.storage.page_rows import tidied

HONEY = Find(
    "https://hives.test/honey",
    "Honey harvest",
    "When the combs are capped, beekeepers harvest honey with an extractor.",
)
MITES = Find(
    "https://vets.test/varroa",
    "Varroa mites",
    "Mites weaken honey bees. Treat the hive after the harvest.",
    score=0.9,
    at=NOON + DAY,
)
WABEN = Find(
    "https://imker.test/waben", "Waben", "Bienen bauen Waben aus Wachs.", language="de", score=0.7
)
FINDS = (HONEY, MITES, WABEN)

EVIL = Find(
    'https://evil.test/"><script>alert(1)</script>',
    "<script>alert('title')</script> honey & \x02co\x03 \u202e",
    "</p><img src=x onerror=alert(2)> honey ]]> \x0b\x02 & more <b>bold</b>",
)
SCRIPT_URL = Find("javascript:alert(document.domain)", "Honey for everybody", "honey honey honey")


@pytest.fixture
def portal(tmp_path: Path) -> Portal:
    return Portal(crawl_of(tmp_path, FINDS))


def addresses(answer: Answer) -> list[str]:
    return [hit.address for hit in answer.hits]


def words(segments: tuple[Segment, ...]) -> str:
    return "".join(segment.text for segment in segments)


def test_without_words_all_pages_come_best_first(portal: Portal) -> None:
    answer = portal.search()
    assert addresses(answer) == [MITES.address, HONEY.address, WABEN.address]
    assert (answer.total, answer.page, answer.pages) == (3, 1, 1)
    assert addresses(portal.search(order="newest"))[0] == MITES.address


def test_words_are_searched_in_all_their_forms_and_the_title_counts_more(portal: Portal) -> None:
    assert addresses(portal.search("harvesting")) == [HONEY.address, MITES.address]
    assert addresses(portal.search("honey mites")) == [MITES.address]
    assert addresses(portal.search('"honey bees"')) == [MITES.address]
    assert addresses(portal.search("beek*")) == [HONEY.address]
    assert addresses(portal.search("honey -varroa")) == [HONEY.address]
    assert addresses(portal.search("wasps")) == []
    assert addresses(portal.search("?!")) == []


def test_matches_are_told_as_segments(portal: Portal) -> None:
    hit = portal.search("harvest").hits[0]
    assert hit.title == (Segment("Honey "), Segment("harvest", is_match=True))
    assert Segment("harvest", is_match=True) in hit.snippet
    assert words(hit.snippet) == HONEY.text
    assert portal.search().hits[0].title == (Segment("Varroa mites"),)


def test_facets_count_what_choosing_them_would_show(portal: Portal) -> None:
    answer = portal.search("", facets={"language": "en"})
    languages = {each.value: (each.pages, each.is_chosen) for each in answer.facets["language"]}
    assert languages == {"en": (2, True), "de": (1, False)}
    assert {each.value for each in answer.facets["host"]} == {"hives.test", "vets.test"}
    assert [(each.value, each.pages) for each in answer.facets["year"]] == [("2026", 2)]
    assert portal.search("", facets={"host": "nowhere.test", "colour": "x"}).total == 0
    assert portal.search("", facets={"colour": "x", "host": ""}).total == 3


def test_pages_of_results_follow_each_other(tmp_path: Path) -> None:
    finds = [Find(f"https://h.test/{n}", f"Bee {n}", "bees", score=n / 100) for n in range(45)]
    portal = Portal(crawl_of(tmp_path, finds))
    shown = [addresses(portal.search("bee", page)) for page in (1, 2, 3)]
    assert [len(each) for each in shown] == [20, 20, 5]
    assert sorted(chain.from_iterable(shown)) == sorted(find.address for find in finds)
    assert addresses(portal.search("bee", 99)) == shown[2]
    assert addresses(portal.search("bee", -1)) == shown[0]
    page = LexborHTMLParser(portal.search_page("bee", 2))
    links = [each.attributes["href"] for each in page.css(".paging a")]
    assert links == ["./?q=bee", "./?q=bee&page=3"]


def test_only_relevant_pages_that_may_be_listed_are_shown(tmp_path: Path) -> None:
    hidden = [
        Find("https://a.test/not", "Honey one", relevant=False),
        Find("https://a.test/shy", "Honey two", noindex=True),
        Find("https://a.test/copy", "Honey three", duplicate_of=HONEY.address),
        Find("https://a.test/bad", "Honey four"),
    ]
    crawl = crawl_of(tmp_path, [HONEY, *hidden])
    reject(crawl, "https://a.test/bad")
    portal = Portal(crawl)
    assert addresses(portal.search("honey")) == [HONEY.address]
    assert addresses(portal.search()) == [HONEY.address]
    assert portal.feed().count(b"<item>") == 1
    assert "1 page of 1 site" in portal.about_page()


def test_it_follows_the_crawl(portal: Portal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trailhound.portal.listing._REST", 0)
    monkeypatch.setattr("trailhound.portal.listing._BEARABLE_SECONDS", 3600)
    assert portal.search("wax").total == 0
    add_finds(portal.folder, [Find("https://new.test/", "Wax", "wax moths")])
    assert addresses(portal.search("wax")) == ["https://new.test/"]
    reject(portal.folder, "https://new.test/")
    assert portal.search("wax").total == 0


def test_readers_never_wait_for_a_listing_that_takes_long(
    portal: Portal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trailhound.portal.listing._REST", 0)
    monkeypatch.setattr("trailhound.portal.listing._BEARABLE_SECONDS", -1.0)
    assert portal.search().total == 3
    add_finds(portal.folder, [Find("https://new.test/", "Wax", "wax moths")])
    assert portal.search().total == 3, "it is read behind this reader's back"
    wait_until(lambda: portal.search().total == 4)


def test_nothing_that_strangers_wrote_is_markup(tmp_path: Path) -> None:
    portal = Portal(crawl_of(tmp_path, [EVIL, SCRIPT_URL]), "<i>Bees</i>", "<u>All</u> of them")
    for html in (
        portal.search_page("honey"),
        portal.search_page("<script>alert(3)</script>"),
        portal.search_page(facets={"host": "'\"><script>", "<x>": "y"}),
        portal.about_page(),
    ):
        page = LexborHTMLParser(html)
        assert not page.css("script, img, i, u, b:not(.order b), style, [onerror]")
        assert not re.search(r"\sstyle=|\son\w+=", re.sub(r"&[^;]+;", "", html.split("<body")[0]))
        links = [each.attributes.get("href") or "" for each in page.css("a, link")]
        assert not [link for link in links if link.lower().startswith(("javascript", "data"))]
    shown = LexborHTMLParser(portal.search_page("honey"))
    titles = [each.text() for each in shown.css(".hits h2")]
    assert "<script>alert('title')</script> honey & co \u202e" in titles
    assert "Honey for everybody" in titles
    assert len(shown.css(".hits h2 a")) == 1, "a script is no link"


@pytest.mark.parametrize("kind", ["rss", "atom"])
def test_feeds_are_sound_xml_and_escaped(tmp_path: Path, kind: FeedKind) -> None:
    portal = Portal(crawl_of(tmp_path, [*FINDS, EVIL, SCRIPT_URL]), "Bees & \x00co")
    feed = portal.feed(kind, "https://portal.test/bees/")
    root = ElementTree.fromstring(feed)
    assert b"javascript:" not in feed
    space = "{http://www.w3.org/2005/Atom}" if kind == "atom" else ""
    entries = list(root.iter(f"{space}{'entry' if kind == 'atom' else 'item'}"))
    assert len(entries) == 4
    titles = [entry.findtext(f"{space}title") for entry in entries]
    assert titles[0] == MITES.title, "newest first"
    assert "<script>alert('title')</script> honey & co \u202e" in titles
    ids = {entry.findtext(f"{space}{'id' if kind == 'atom' else 'guid'}") for entry in entries}
    assert len(ids) == 4
    if kind == "atom":
        assert datetime.fromisoformat(entries[0].findtext(f"{space}updated")).tzinfo
        assert entries[0].find(f"{space}link").get("href") == MITES.address
        assert root.findtext(f"{space}title") == "Bees & co"
    else:
        found = parsedate_to_datetime(entries[0].findtext("pubDate"))
        assert (found.year, found.time()) == (2026, time(0, 0)), "the day, and no more"
        assert root.findtext("channel/link") == "https://portal.test/bees/"
        evil = next(each for each in entries if "script" in (each.findtext("title") or ""))
        assert "<img" not in (evil.findtext("description") or "")


@given(st.text(), st.text(), st.text(st.characters(exclude_categories=["Cs"])))
def test_whatever_a_page_says_is_text(title: str, snippet: str, address: str) -> None:
    hit = Hit(
        address=address,
        link=f"https://{address}",
        host="",
        title=segments(title),
        snippet=segments(snippet),
        language="",
        found_at=NOON,
        score=1.0,
    )
    for write in (rss_feed, atom_feed):
        assert ElementTree.fromstring(write(title, snippet, address, [hit])) is not None
    listed = '{% from "hits.html.j2" import hit_list %}{{ hit_list(hits) }}'
    page = LexborHTMLParser(environment().from_string(listed).render(hits=[hit]))
    ours = ("html", "head", "body", "ol", "li", "h2", "a", "p", "span", "mark")
    assert {node.tag for node in page.css("*")} <= set(ours)


@given(st.text())
def test_segments_hold_all_that_was_written_but_the_marks(text: str) -> None:
    told = "".join(segment.text for segment in segments(text))
    assert not set(told) & {"\x02", "\x03"}
    assert told.split() == tidied(text).translate({2: None, 3: None}).split()


def test_what_people_search_for_is_never_an_operator() -> None:
    assert fts_expression('honey OR bees" NEAR(title:') == (
        '("honey" AND "OR" AND "bees" AND "NEAR(title:")'
    )
    assert fts_expression("-wasp") == ""
    assert [only_leaves_out(each) for each in ("", "!", "bee -wasp")] == [False, False, False]
    assert only_leaves_out('-wasp -"in a row"')
    assert fts_expression('be* bee* "x y"*') == '("be*" AND "bee*"* AND "x y")'


@pytest.mark.parametrize(
    "query",
    ['"', '""', "*", "a" * 5000, "\x00", "(", "'; DROP TABLE event", "^x", "蜂蜜", "x:y", "-"],
)
def test_any_query_gets_a_page(portal: Portal, query: str) -> None:
    assert "<!doctype html>" in portal.search_page(query, facets={"host": query})


def test_a_search_that_only_leaves_out_is_told_what_it_lacks(portal: Portal) -> None:
    assert "Write a word to look for beside it" in portal.search_page("-wasp")
    assert "No page holds all of these words" in portal.search_page("zebra -wasp")


def test_other_scripts_are_searched(tmp_path: Path) -> None:
    finds = [Find("https://a.test/1", "Пчёлы", "мёд и воск"), Find("https://a.test/2", "Ménage")]
    portal = Portal(crawl_of(tmp_path, finds))
    assert addresses(portal.search("мёд")) == ["https://a.test/1"]
    assert addresses(portal.search("menage")) == ["https://a.test/2"]


def test_a_search_that_takes_too_long_is_told(
    portal: Portal, monkeypatch: pytest.MonkeyPatch
) -> None:
    portal.refresh()
    monkeypatch.setattr("trailhound.storage.listed_pages.SEARCH_SECONDS", -1.0)
    monkeypatch.setattr("trailhound.storage.listed_pages._STEPS_BETWEEN_LOOKS", 1)
    with pytest.raises(UsageError, match="too long"):
        portal.search("honey")


def test_only_the_portals_own_files_are_assets(portal: Portal) -> None:
    found = portal.asset("portal.css")
    assert found is not None
    assert found.content.decode() == portal.stylesheet
    assert found.media_type.startswith("text/css")
    for name in ("../pages.py", "pages.py", "/etc/passwd", "..\\x", "", "portal.css/.."):
        assert portal.asset(name) is None


def test_an_empty_crawl_has_a_portal(tmp_path: Path) -> None:
    portal = Portal(crawl_of(tmp_path, []))
    assert "There is nothing here yet" in portal.search_page()
    assert "0 pages" in portal.about_page()
    assert ElementTree.fromstring(portal.feed("atom")) is not None
