"""Full-text search over pages: BM25 by hand, any words, odd words."""

from __future__ import annotations

import math
from asyncio import run
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_lab_web import PORTAL, write_tiny_web

from trailhound.errors import SourceError
from trailhound.lab.corpora import Corpus
from trailhound.lab.recorded_sources import RecordedSearch
from trailhound.records import (
    Candidate,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.sources.page_search import (
    ArchivedPagesSearch,
    IndexedPage,
    KeptPagesSearch,
    PageIndex,
    any_word_of,
)
from trailhound.storage.results import ResultsStore


def urls(index: PageIndex, query: str) -> list[str]:
    return [hit.url for hit in index.ranked(query)]


def bm25(count: float, length: int, mean: float, holding: int, pages: int) -> float:
    """The formula of the module's docstring, for one word."""
    idf = math.log((pages - holding + 0.5) / (holding + 0.5))
    return idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))


def test_the_order_is_that_of_bm25_by_hand() -> None:
    # Lengths 4, 4, 2, 4, 4, 4; mean 22/6. "honey" is in a (twice), b (once), c (once, but short).
    pages = [
        IndexedPage("a", "", "honey honey wax wax"),
        IndexedPage("b", "", "honey wax wax wax"),
        IndexedPage("c", "", "honey rail"),
        *(IndexedPage(f"o{n}", "", "rail rail rail rail") for n in range(3)),
    ]
    mean, holding = 22 / 6, 3
    # With three of six pages the idf is log(3.5 / 3.5) = 0, so one more page makes it positive.
    pages.append(IndexedPage("p", "", "rail rail rail rail"))
    mean = 26 / 7
    by_hand = {
        "a": bm25(2, 4, mean, holding, 7),
        "b": bm25(1, 4, mean, holding, 7),
        "c": bm25(1, 2, mean, holding, 7),
    }
    assert by_hand["a"] > by_hand["c"] > by_hand["b"] > 0
    assert urls(PageIndex(pages), "honey") == ["a", "c", "b"]


def test_a_title_counts_four_times_and_equals_come_in_order() -> None:
    others = [IndexedPage(f"o{n}", "x", "rail rail") for n in range(4)]
    index = PageIndex(
        [*others, IndexedPage("text", "x", "honey rail"), IndexedPage("title", "honey", "rail x")]
    )
    assert urls(index, "honey") == ["title", "text"]
    assert urls(index, "rail")[:4] == ["o0", "o1", "o2", "o3"]


def test_any_of_the_words_is_enough_and_word_endings_do_not_matter() -> None:
    index = PageIndex([IndexedPage("a", "", "beekeeping"), IndexedPage("b", "", "trains")])
    assert urls(index, "keeping train") == ["b"]
    assert urls(index, "beekeep TRAINS") == ["a", "b"]
    assert urls(index, "nothing") == []


ONE_PAGE = PageIndex([IndexedPage("a", "A", "some words here")])


@given(st.text(max_size=60))
def test_any_text_is_a_query(query: str) -> None:
    assert set(urls(ONE_PAGE, query)) <= {"a"}


def test_operators_of_the_index_are_plain_words() -> None:
    assert any_word_of('honey AND "wax" NOT title:hive*') == (
        '"honey" OR "and" OR "wax" OR "not" OR "title" OR "hive"'
    )
    assert any_word_of("… — !") == ""


def test_texts_that_utf8_cannot_carry_are_indexed() -> None:
    assert urls(PageIndex([IndexedPage("a", "\ud800", "honey \ud800")]), "honey") == ["a"]


def test_the_recorded_web_answers_from_its_own_text_and_counts(tmp_path: Path) -> None:
    with Corpus.open(write_tiny_web(tmp_path / "tiny.thc")) as corpus:
        search = RecordedSearch(corpus)
        hits = run(search.search("beesleaf", 5))
        assert len(hits) == 5
        assert all(hit.url.startswith("http://bees.test/") for hit in hits)
        assert run(search.search("beesleaf", 5)) == hits
        assert search.queries == 2
        closed = RecordedSearch(corpus, off_limits={hits[0].url})
        assert [hit.url for hit in run(closed.search("beesleaf", 4))] == [
            hit.url for hit in hits[1:]
        ]
        assert run(closed.page(hits[0].url)) is None
        assert run(closed.page(PORTAL)) is not None
        assert run(closed.page("http://nowhere.test/")) is None
        assert run(closed.search("", 5)) == []


def kept(path: Path, url: str, text: str, *, relevant: bool = True) -> None:
    store = ResultsStore(path)
    event = PageEvent(
        number=1,
        url=url,
        final_url=url,
        outcome=Outcome.FETCHED,
        parent=None,
        depth=0,
        priority=0.0,
        requests=1,
        requests_total=1,
        relevance=Relevance(0.9, relevant),
        title=text.split()[0],
    )
    page = Page(url, title=text.split()[0], text=text)
    result = FetchResult(url, Outcome.FETCHED, url)
    store.keep(FinishedPage(event, Candidate(url, 0.0), result, page))
    store.close()


def test_a_crawls_own_relevant_pages_can_be_searched(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    kept(path, "http://a.test/", "honey from the hive")
    kept(path, "http://b.test/", "trains and rails")
    kept(path, "http://c.test/", "honey in a shop", relevant=False)
    search = KeptPagesSearch(path, {"http://a.test/": Page("http://a.test/")}.get)
    assert [hit.url for hit in run(search.search("hive honey", 5))] == ["http://a.test/"]
    assert {hit.url for hit in run(search.search("hive rails", 5))} == {
        "http://a.test/",
        "http://b.test/",
    }
    assert run(search.search("hive rails", 1)) == run(search.search("hive rails", 5))[:1]
    assert run(search.page("http://a.test/")) is not None
    assert run(search.page("http://b.test/")) is None


def test_a_crawl_that_has_kept_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="own pages cannot be searched"):
        run(KeptPagesSearch(tmp_path / "results.db").search("honey", 5))


def test_an_archive_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be searched"):
        run(ArchivedPagesSearch(tmp_path).search("honey", 5))
    (tmp_path / "empty.warc").write_bytes(b"")
    with pytest.raises(SourceError, match="holds no page"):
        run(ArchivedPagesSearch(tmp_path).search("honey", 5))
