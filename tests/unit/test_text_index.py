"""Searching what is written without blanks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kept_pages import keep

from trailhound.portal.searching import fts_expression
from trailhound.sources.page_search import IndexedPage, KeptPagesSearch, PageIndex
from trailhound.storage.listed_pages import MATCH_ENDS, MATCH_STARTS, ListedPages
from trailhound.storage.results import ResultsStore
from trailhound.storage.results_reading import Results
from trailhound.storage.text_index import apart, together

TEXT = "養蜂家は蜜蜂の巣箱を作る。SQLite入門と蜂蜜のページ"
WORDS = ["蜜蜂", "養蜂", "巣箱", "蜜蜂の巣箱", "SQLite", "入門", "ページ"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = ResultsStore(tmp_path / "results.db")
    keep(store, "a", score=0.9, text=TEXT)
    keep(store, "b", score=0.9, text="Bienen und Bücher")
    store.close()
    return tmp_path / "results.db"


@pytest.mark.parametrize("word", WORDS)
def test_words_within_a_line_are_found(path: Path, word: str) -> None:
    with Results(path) as results:
        (page,) = results.search(word)
    assert page.snippet == TEXT
    with ListedPages(path) as listed:
        assert listed.matching(fts_expression(word)) == [1]
        passage = listed.passages(fts_expression(word), [1])[1].text
        assert list(listed.texts([1])) == [TEXT]
    assert passage.replace(MATCH_STARTS, "").replace(MATCH_ENDS, "") == TEXT
    (hit,) = asyncio.run(KeptPagesSearch(path).search(word, 5))
    assert hit.snippet == TEXT
    (found,) = PageIndex([IndexedPage("http://a.test/", "蜂", TEXT)]).ranked(word)
    assert (found.title, found.snippet) == ("蜂", TEXT)


def test_signs_in_another_order_are_not_found(path: Path) -> None:
    with Results(path) as results:
        assert not results.search("蜂巣")
        assert results.search("bucher")


@given(st.text(alphabet="蜜蜂のa1 é。\n"))
def test_what_is_put_apart_can_be_put_together(text: str) -> None:
    assert together(apart(text)) == text
    assert apart(apart(text)) == apart(text)


def test_rare_signs_are_words_of_their_own() -> None:
    assert apart("人々𠮷𠮷").split("\u200b") == ["人", "々", "𠮷", "𠮷"]
