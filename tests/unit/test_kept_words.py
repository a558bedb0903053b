"""Words of a page that are kept for judges come back as they were, or not at all."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from kept_pages import keep

from trailhound.records import Page
from trailhound.storage.page_rows import (
    MAX_HEADING_CHARS,
    MAX_TERMS,
    pack_words,
    unpack_words,
)
from trailhound.storage.results import ResultsStore
from trailhound.storage.verdicts import Span, Verdicts

TERMS = st.dictionaries(st.text(), st.integers(1, 10_000), min_size=1)


@given(st.text(), st.lists(st.text(), max_size=5), TERMS)
def test_words_come_back(title: str, headings: list[str], terms: dict[str, int]) -> None:
    page = Page("http://h.test/", title=title, headings=tuple(headings), terms=terms, text="x")
    packed = pack_words(page, 3)
    if packed is None:
        return  # half a surrogate pair
    again = unpack_words(packed, "http://h.test/", 3)
    assert again is not None
    assert (again.title, again.headings) == (title, tuple(headings))
    assert list(again.terms.items()) == list(terms.items()), "in the same order, for the same sums"
    assert unpack_words(packed, "http://h.test/", 4) is None


@given(st.binary())
def test_damage_is_no_error(packed: bytes) -> None:
    assert unpack_words(packed, "http://h.test/", 1) is None


def test_pages_that_no_person_wrote_are_not_kept() -> None:
    assert pack_words(Page("http://h.test/"), 1) is None
    many = dict.fromkeys(map(str, range(MAX_TERMS + 1)), 1)
    assert pack_words(Page("http://h.test/", terms=many), 1) is None
    long = Page("http://h.test/", terms={"a": 1}, headings=("x" * (MAX_HEADING_CHARS + 1),))
    assert pack_words(long, 1) is None


def test_words_of_the_latest_fetch_alone_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    store = ResultsStore(path, extraction=1)
    for number in (1, 2):
        keep(store, "a", score=0.5, number=number, terms={f"fetch{number}": 1})
    with Verdicts(path) as verdicts:
        (page,) = verdicts.pages(Span(1, 2), 10)
    store.close()
    assert page.words is not None
    words = unpack_words(page.words, page.address, 1)
    assert words is not None
    assert words.terms == {"fetch2": 1}
