"""What is left to find, and what each page is worth to a crawl that knows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trailhound.lab.corpora import Corpus, CorpusWriter
from trailhound.lab.ground_truth import GroundTruth, RemainingAnswers

SITE = "http://h.test/"

# near → one answer; hall → hub → five answers; the copy is one of them again.
LINKS = {
    "start": ["near", "hall", "mirror", "old"],
    "near": ["n1"],
    "hall": ["hub"],
    "hub": ["a1", "a2", "a3", "a4", "a5"],
    "mirror": ["copy"],
    "copy": [],
    "end": [],
    **{name: ["end"] for name in ("n1", "a1", "a2", "a3", "a4", "a5")},
}
ANSWERS = ("n1", "a1", "a2", "a3", "a4", "a5")


def u(name: str) -> str:
    return SITE + name


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    with CorpusWriter(tmp_path / "small.thc", kind="small") as writer:
        for name, links in LINKS.items():
            anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
            writer.add_page(u(name), anchors.encode())
        writer.add_redirect(u("old"), u("a1"))
        writer.add_duplicate(u("copy"), u("a2"))
    with Corpus.open(tmp_path / "small.thc") as opened:
        yield opened


@pytest.fixture
def remaining(corpus: Corpus) -> RemainingAnswers:
    return GroundTruth(corpus, map(u, ANSWERS)).pursuit()


def test_worth_is_finds_per_request_on_the_best_way(remaining: RemainingAnswers) -> None:
    worth = {name: remaining.worth(u(name)) for name in LINKS}
    # One page to a link to one answer; two pages to five of them.
    assert worth["near"] == pytest.approx(1 / 2)
    assert worth["hub"] == pytest.approx(5 / 6)
    assert worth["hall"] == pytest.approx(5 / 7)
    assert worth["n1"] > worth["hub"] > worth["hall"] > worth["near"]
    assert worth["end"] == 0
    assert remaining.worth("http://elsewhere.test/") == 0


def test_answers_are_known_by_the_number_of_their_original(
    corpus: Corpus, remaining: RemainingAnswers
) -> None:
    assert remaining.answer(u("a1")) == remaining.answer(u("old")) == corpus.page_id(u("a1"))
    assert remaining.answer(u("copy")) == corpus.page_id(u("a2"))
    assert remaining.answer(u("hub")) is None
    remaining.arrived(u("a1"))
    assert remaining.answer(u("old")) is None


def test_a_redirect_costs_a_request(remaining: RemainingAnswers) -> None:
    assert remaining.worth(u("old")) == pytest.approx(0.5)
    assert remaining.worth(u("a1")) == 1


def test_what_is_found_is_worth_nothing_and_neither_is_what_led_there(
    remaining: RemainingAnswers,
) -> None:
    remaining.arrived(u("n1"))
    assert remaining.worth(u("n1")) == 0
    assert remaining.worth(u("near")) == 0
    assert remaining.worth(u("hall")) > 0


def test_a_copy_is_the_same_find(remaining: RemainingAnswers) -> None:
    assert remaining.worth(u("mirror")) > 0
    remaining.arrived(u("copy"))
    assert remaining.worth(u("a2")) == 0
    assert remaining.worth(u("mirror")) == 0
    assert remaining.worth(u("hub")) == pytest.approx(4 / 5)


def test_every_crawl_begins_anew(corpus: Corpus) -> None:
    truth = GroundTruth(corpus, map(u, ANSWERS))
    truth.pursuit().arrived(u("n1"))
    assert truth.pursuit().worth(u("n1")) > 0


def test_no_way_leads_through_what_is_off_limits(corpus: Corpus) -> None:
    remaining = GroundTruth(corpus, map(u, ANSWERS), off_limits=[u("hub")]).pursuit()
    assert remaining.worth(u("hall")) == 0


def test_far_away_the_nearest_answer_counts(tmp_path: Path) -> None:
    with CorpusWriter(tmp_path / "long.thc", kind="long") as writer:
        for number in range(15):
            writer.add_page(u(str(number)), f'<a href="{number + 1}">on</a>'.encode())
    with Corpus.open(tmp_path / "long.thc") as opened:
        remaining = GroundTruth(opened, [u("14")]).pursuit()
        worths = [remaining.worth(u(str(number))) for number in range(15)]
    assert worths == sorted(worths)
    assert worths[0] > 0
