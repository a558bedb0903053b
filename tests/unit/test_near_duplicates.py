"""Pages that say the same."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.demo import DemoWeb
from trailhound.records import Link, Page
from trailhound.text.extract import extract_page
from trailhound.text.near_duplicates import MAX_DISTANCE, NearDuplicates, fingerprint

FINGERPRINTS = st.integers(0, 2**64 - 1)


def made_text(seed: int, sentences: int = 20) -> str:
    chance = random.Random(seed)
    words = [f"{a}{b}{c}" for a in "bdfglmn" for b in "aeiou" for c in "rst"]
    return " ".join(
        " ".join(chance.choices(words, k=chance.randint(6, 15))).capitalize() + "."
        for _ in range(sentences)
    )


def distance(one: Page, other: Page) -> int:
    first, second = fingerprint(one), fingerprint(other)
    assert first is not None
    assert second is not None
    return (first ^ second).bit_count()


def test_copies_in_another_layout_are_near() -> None:
    article = made_text(1)
    menu = ("Home", "News", "About us", "Contact")
    links = tuple(Link(f"http://a.test/{number}", anchor) for number, anchor in enumerate(menu))
    page = Page("http://a.test/x", text=f"The Herald {' '.join(menu)} {article}", links=links)
    copy = Page("http://mirror.test/x", text=article)
    assert distance(page, copy) <= MAX_DISTANCE


def test_an_edited_sentence_in_a_long_text_is_near() -> None:
    article = made_text(2, sentences=200)
    edited = article.replace(article.split(". ")[7], "Something else was written here today")
    assert distance(Page("a", text=article), Page("b", text=edited)) <= MAX_DISTANCE


def test_different_texts_in_one_layout_are_far() -> None:
    frame = "This site uses cookies. Read more about the terms of our service on this page."
    pages = [Page(str(seed), text=f"{frame} {made_text(seed)}") for seed in range(30)]
    distances = [distance(one, other) for one in pages for other in pages if one.url < other.url]
    assert min(distances) > 2 * MAX_DISTANCE


NOTICE = (
    "We and our partners keep and read cookies on your device, to learn what you like on this site."
    " You may change or withdraw your choice at any time with the link at the end of every page. "
) * 3


def made_list(seed: int, items: int = 60) -> str:
    chance = random.Random(seed)
    return " ".join(f"{chance.randint(1, 500)} g honey of kind{seed}x{n}" for n in range(items))


def test_lists_below_a_notice_that_they_share_are_far() -> None:
    pages = [Page(str(seed), text=f"{NOTICE} {made_list(seed)}") for seed in range(10)]
    distances = [distance(one, other) for one in pages for other in pages if one.url < other.url]
    assert min(distances) > 2 * MAX_DISTANCE
    menu = Link("http://a.test/", "Home")
    copy = Page("copy", text=f"Home {pages[0].text}", links=(menu,))
    assert distance(pages[0], copy) <= MAX_DISTANCE


def test_short_lines_between_links_count_where_they_are_most() -> None:
    names = [f"Honey{number}" for number in range(60)]
    links = tuple(Link(f"http://a.test/{name}", name) for name in names)

    def priced(seed: int) -> Page:
        chance = random.Random(seed)
        lines = " ".join(f"{name} {chance.randint(1, 500)} g of it" for name in names)
        return Page(str(seed), text=f"{NOTICE} {lines}", links=links)

    assert distance(priced(1), priced(2)) > MAX_DISTANCE


def test_blanks_around_a_sentence_weigh_nothing() -> None:
    article = made_text(4, sentences=9)
    after_link = Page("b", text=f"Home {article}", links=(Link("http://a.test/", "Home"),))
    assert distance(Page("a", text=article), after_link) == 0


def test_lists_are_the_same_only_if_every_word_is() -> None:
    items = [f"item{number}" for number in range(100)]
    legal = "All rights are reserved by the owners of this site."
    whole = Page("a", text=" ".join(items) + " " + legal)
    assert distance(whole, Page("b", text=whole.text)) == 0
    assert distance(whole, Page("c", text=whole.text.replace("item7 ", ""))) > MAX_DISTANCE


@pytest.mark.parametrize("text", ["", "Moved here.", "A B C D E F G H I J K L M"])
def test_pages_that_say_too_little_have_no_fingerprint(text: str) -> None:
    assert fingerprint(Page("a", text=text)) is None


@pytest.mark.parametrize(
    ("unit", "stop"), [("蜜蜂采集花粉和花蜜", "。"), ("मधुमक्खी फूलों पर जाती है", "।")]
)
def test_other_scripts_have_sentences_too(unit: str, stop: str) -> None:
    sentences = [f"{unit}{number}" for number in range(30)]
    text = stop.join(sentences) + stop
    page = Page("a", text=text)
    copy = Page("b", text=f"菜单 menu {text}", links=(Link("http://a.test/", "菜单 menu"),))
    assert distance(page, copy) <= MAX_DISTANCE
    other = Page("c", text=text.replace("1", "7").replace("2", "8"))
    assert distance(page, other) > MAX_DISTANCE


@given(st.text(), st.lists(st.text(max_size=10), max_size=5))
def test_any_page_can_be_asked(text: str, anchors: list[str]) -> None:
    links = tuple(Link("http://a.test/", anchor) for anchor in anchors)
    value = fingerprint(Page("a", text=text, links=links))
    assert value is None or 0 <= value < 2**64


def test_processes_agree() -> None:
    program = (
        "from trailhound.records import Page\n"
        "from trailhound.text.near_duplicates import fingerprint\n"
        f"print(fingerprint(Page('a', text={made_text(3)!r})))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }
    assert answers == {f"{fingerprint(Page('b', text=made_text(3)))}\n".encode()}


@given(FINGERPRINTS, st.sets(st.integers(0, 63), max_size=8), st.lists(FINGERPRINTS, max_size=20))
def test_the_index_finds_what_is_near_and_nothing_else(
    known: int, flipped: set[int], others: list[int]
) -> None:
    index = NearDuplicates()
    index.add(known, 7)
    for number, other in enumerate(others):
        index.add(other, 100 + number)
    asked = known ^ sum(1 << bit for bit in flipped)
    pairs = [(known, 7), *((other, 100 + number) for number, other in enumerate(others))]
    near = [
        ((asked ^ other).bit_count(), number)
        for other, number in pairs
        if (asked ^ other).bit_count() <= MAX_DISTANCE
    ]
    assert index.find(asked) == (min(near)[1] if near else None)


def test_the_index_survives_a_restart() -> None:
    index = NearDuplicates()
    chance = random.Random(1)
    values = [chance.getrandbits(64) for _ in range(500)]
    for number, value in enumerate(values):
        index.add(value, number)
        index.add(value, 10_000)  # the first counts
    restored = NearDuplicates.from_bytes(index.to_bytes())
    assert len(restored) == 500
    assert len(index.to_bytes()) == 500 * 16
    assert [restored.find(value ^ 0b1010) for value in values] == list(range(500))
    assert len(NearDuplicates.from_bytes(b"")) == 0


def test_all_duplicates_of_the_demo_web_are_found_and_no_others() -> None:
    web = DemoWeb.generate()
    wanted = {*web.duplicates, *web.duplicates.values()}
    sample = [
        url
        for number, (url, response) in enumerate(web.responses.items())
        if response.status == 200
        and "html" in response.headers["Content-Type"]
        and (url in wanted or number % 6 == 0)
    ]
    index = NearDuplicates()
    found = []
    for number, url in enumerate(sample):
        response = web.responses[url]
        value = fingerprint(extract_page(response.body, url, response.headers["Content-Type"]))
        if value is not None:
            known = index.find(value)
            if known is not None:
                found.append((url, sample[known]))
            index.add(value, number)
    originals = [{web.duplicates.get(url, url) for url in pair} for pair in found]
    assert all(len(pair) == 1 for pair in originals), "no page is taken for another one"
    assert len(found) == len(web.duplicates)
