"""The judges that learn from a session."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit

from trailhound.errors import SessionError
from trailhound.judges import contrast, fields
from trailhound.judges.blending import (
    Candidate,
    blend,
    chance_threshold,
    expected_f1,
    in_a_crawl,
    scaled,
    separate_by_products,
)
from trailhound.judges.choosing import make_judge
from trailhound.judges.contrast import (
    Contrast,
    ContrastJudge,
    Documents,
    left_out_margins,
    separate,
)
from trailhound.judges.cosine import FALLBACK_THRESHOLD, CosineJudge, LatentJudge
from trailhound.judges.fields import FieldsJudge
from trailhound.models.topic_model import TopicParameters, learn_topic
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.text.tfidf import TermWeights


def graph(targets: set[int]) -> PageGraph:
    pages = (
        Page("http://h.test/1", terms={"bee": 2, "honey": 2, "hive": 1}),
        Page("http://h.test/2", terms={"bee": 1, "honey": 1, "queen": 1}),
        Page("http://h.test/3", terms={"car": 2, "road": 1}),
        Page("http://h.test/4", terms={"car": 1, "bee": 1, "train": 4}),
    )
    return PageGraph(pages, (), frozenset(targets))


def test_the_threshold_separates_targets_from_other_visited_pages() -> None:
    judge = CosineJudge.from_graph(graph({0, 1}))
    assert judge.judge(Page("x", terms={"bee": 1, "honey": 1})).relevant
    assert not judge.judge(graph({0}).pages[3]).relevant
    assert not judge.judge(Page("x")).relevant


def test_a_given_threshold_is_kept_and_reached_by_equality() -> None:
    judge = CosineJudge.from_graph(graph({0}), threshold=1.0)
    relevance = judge.judge(Page("x", terms={"car": 1}))
    assert (judge.threshold, relevance.score, relevance.relevant) == (1.0, 0.0, False)


def test_a_long_page_is_no_more_like_itself_than_can_be() -> None:
    """Sums of thousands of products in single precision may come to a little more than one."""
    chance = np.random.default_rng(1)
    pages = tuple(
        Page(f"http://h.test/{n}", terms={f"w{w}": int(chance.integers(1, 9)) for w in some})
        for n, some in enumerate(chance.choice(20_000, (20, 4_000)))
    )
    every_page = frozenset(range(len(pages)))
    judge = CosineJudge.from_graph(PageGraph(pages, (), every_page), threshold=1.0)
    assert max(judge._similarity.to_nearest(page.terms) for page in pages) > 1.0
    scores = [judge.judge(page).score for page in pages]
    assert max(scores) == 1.0
    assert min(scores) > 0.9999


def test_one_target_falls_back_to_a_stated_threshold() -> None:
    assert CosineJudge.from_graph(graph({0})).threshold == FALLBACK_THRESHOLD


def test_a_session_without_targets_is_refused_with_advice() -> None:
    with pytest.raises(SessionError, match="Mark at least one page as useful"):
        CosineJudge.from_graph(graph(set()))


BEES = [{"bee": 3, "hive": n, "honey": 2, "news": 1} for n in (1, 2, 3)]
CARS = [{"car": 3, "road": n, "news": 2} for n in (1, 2, 3, 4)]


def bees_and_cars(n_targets: int = 3) -> PageGraph:
    terms = BEES + CARS
    pages = tuple(Page(f"http://h.test/{n}", terms=found) for n, found in enumerate(terms))
    return PageGraph(pages, (), frozenset(range(n_targets)))


def test_contrast_learns_from_what_was_not_marked() -> None:
    judge = ContrastJudge.from_graph(bees_and_cars())
    assert judge.judge(Page("x", terms={"bee": 1, "honey": 1})).relevant
    assert not judge.judge(Page("x", terms={"car": 1, "news": 3})).relevant


def test_contrast_does_not_depend_on_the_order_of_pages() -> None:
    given = bees_and_cars()
    turned = PageGraph(given.pages[::-1], (), frozenset({4, 5, 6}))
    page = Page("x", terms={"bee": 1, "news": 1})
    scores = [ContrastJudge.from_graph(g).judge(page).score for g in (given, turned)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("n_targets", [0, 7])
def test_contrast_needs_both_kinds(n_targets: int) -> None:
    with pytest.raises(SessionError, match="'contrast' needs both"):
        ContrastJudge.from_graph(bees_and_cars(n_targets))
    with pytest.raises(SessionError, match="'fields' needs both"):
        make_judge("fields", Briefing(bees_and_cars(n_targets)))


def test_latent_judges_by_the_nearest_target_in_the_latent_space() -> None:
    judge = LatentJudge(learn_topic(bees_and_cars(), TopicParameters(variance_share=0.95)))
    assert judge.judge(Page("x", terms={"hive": 2, "bee": 3, "honey": 2})).relevant
    assert not judge.judge(Page("x", terms={"road": 2, "car": 1})).relevant
    assert not judge.judge(Page("x")).relevant


def test_latent_takes_a_given_threshold() -> None:
    assert LatentJudge(learn_topic(bees_and_cars()), threshold=0.25).threshold == 0.25
    assert LatentJudge(learn_topic(bees_and_cars(1))).threshold == 0.5


def documents(n_pages: int, n_wanted: int, seed: int = 1) -> tuple[Documents, np.ndarray]:
    """Unit vectors; wanted ones lean towards the first ten terms."""
    rng = np.random.default_rng(seed)
    rows = rng.random((n_pages, 60)) * (rng.random((n_pages, 60)) < 0.2)
    rows[:n_wanted, :10] += rng.random((n_wanted, 10)) * 0.5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    wanted = np.arange(n_pages) < n_wanted
    return sparse.csr_array(rows), wanted


def made_anew(x: Documents, wanted: np.ndarray) -> np.ndarray:
    margins = []
    for i in range(len(wanted)):
        others = np.arange(len(wanted)) != i
        margins.append(separate(x[others], wanted[others]).margins(x[[i]])[0])
    return np.array(margins)


def test_a_separation_by_hand() -> None:
    """One page of each kind, x₁ = (1, 0), x₂ = (0, 1): by symmetry w = (u, -u), b = 0.

    Each weighs s = 2 / (2 · 1) = 1, so u² + 2 log(1 + exp(-u)) is least where
    2 u = 2 / (1 + exp(u)), that is u (1 + exp(u)) = 1: u = 0.401058.
    """
    fitted = separate(sparse.csr_array(np.eye(2)), np.array([True, False]))
    u = 0.401058
    assert u * (1 + np.exp(u)) == pytest.approx(1, abs=1e-5)
    assert fitted.coefficients == pytest.approx([u, -u], abs=1e-5)
    assert fitted.intercept == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("n_wanted", [2, 5, 20])
def test_left_out_scores_are_those_of_a_judge_that_has_not_seen_the_page(n_wanted: int) -> None:
    x, wanted = documents(60, n_wanted)
    fitted = separate(x, wanted)
    seen, without = fitted.margins(x), left_out_margins(x, wanted, fitted)
    exact = made_anew(x, wanted)
    gap = np.abs(expit(without) - expit(exact))
    assert gap.max() < (0.05 if n_wanted == 2 else 0.02)
    assert gap.max() < 0.2 * np.abs(expit(seen) - expit(exact)).max()


def test_many_pages_are_left_out_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    x, wanted = documents(90, 8)
    fitted = separate(x, wanted)
    exact = left_out_margins(x, wanted, fitted)
    monkeypatch.setattr(contrast, "MAX_LEFT_OUT", 50)
    sampled = left_out_margins(x, wanted, fitted)
    assert sampled.shape == (90,)
    assert np.corrcoef(exact, sampled)[0, 1] > 0.9


def test_the_threshold_is_that_of_left_out_pages() -> None:
    words = ["bee"] * 4 + ["car"] * 8
    pages = tuple(
        Page(f"http://h.test/{n}", terms={word: 2, f"w{n}": 1}) for n, word in enumerate(words)
    )
    graph = PageGraph(pages, (), frozenset(range(4)))
    weights = TermWeights.fit([page.terms for page in pages])
    scores = Contrast(graph, weights.matrix([page.terms for page in pages])).left_out_scores()
    threshold = ContrastJudge.from_graph(graph).threshold
    assert scores[4:].max() < threshold < scores[:4].min()
    alone = ContrastJudge.from_graph(PageGraph(pages, (), frozenset({0})))
    assert alone.threshold == 0.5


def field_pages() -> tuple[Page, ...]:
    """Titles tell apart what the words of the text do not."""
    wanted = [
        Page(f"http://h.test/w{n}", title="Course syllabus", terms={"news": n}) for n in (1, 2, 3)
    ]
    others = [
        Page(f"http://h.test/o{n}", title="Staff list", terms={"news": n}) for n in (1, 2, 3, 4)
    ]
    return (*wanted, *others)


def test_fields_reads_titles_and_gives_chances() -> None:
    judge = FieldsJudge.from_briefing(Briefing(PageGraph(field_pages(), (), frozenset({0, 1, 2}))))
    good = judge.judge(Page("x", title="Syllabus of the course", terms={"news": 2}))
    bad = judge.judge(Page("x", title="List of staff", terms={"news": 2}))
    assert good.relevant
    assert not bad.relevant
    assert 0 < bad.score < 0.2 < 0.4 < good.score < 1


@pytest.mark.parametrize("kind", [FieldsJudge, ContrastJudge])
def test_the_words_of_a_page_add_up_to_its_verdict(kind: type[FieldsJudge | ContrastJudge]) -> None:
    judge = kind.from_briefing(Briefing(PageGraph(field_pages(), (), frozenset({0, 1}))))
    first, last = field_pages()[0], field_pages()[-1]
    difference = logit(judge.judge(first).score) - logit(judge.judge(last).score)
    told = [sum(judge.words(page).values()) for page in (first, last)]
    assert told[0] - told[1] == pytest.approx(difference)
    assert judge.words(Page("http://h.test/", title="unheard of")) == {}


def test_a_few_marks_give_no_false_certainty() -> None:
    margins = np.array([2.0, 1.8, -1.0, -1.2])
    few = scaled(margins, margins > 0)
    many = scaled(np.tile(margins, 50), np.tile(margins > 0, 50))
    assert expit(few.logits(margins)).max() < 0.9
    assert many.slope > few.slope
    assert scaled(margins, margins < 0).slope > 0, "never the wrong way round"


def test_margins_that_tell_nothing_give_the_share_of_targets() -> None:
    wanted = np.arange(100) < 20
    chances = expit(scaled(np.tile([0.1, -0.1], 50), wanted).logits(np.zeros(1)))
    assert chances[0] == pytest.approx(0.2, abs=0.02)


def test_the_expected_f1_by_hand() -> None:
    """Chances 0.9, 0.6, 0.1 hold 1.6 targets: the best two find 1.5 of them, F1 = 3 / 3.6."""
    chances = np.array([0.6, 0.1, 0.9])
    assert expected_f1(chances) == pytest.approx(3 / 3.6)
    assert expected_f1(np.zeros(3)) == 0
    # In a crawl the odds are half: 1.5, 1/9 and 9 are 0.75, 1/18 and 4.5; γ of 5/12 has odds 5/7.
    crawled = in_a_crawl(np.log(chances / (1 - chances)))
    assert crawled == pytest.approx([0.75 / 1.75, 1 / 19, 4.5 / 5.5])
    assert chance_threshold(crawled) == pytest.approx(5 / 19)
    # A single mark, nothing was measured: F1 is taken to be 1/2, and γ of 1/4 has odds 1/3.
    assert chance_threshold(np.array([-1.0, 0.2])) == pytest.approx(1 / 7)


def test_the_plane_by_products_is_that_of_contrast() -> None:
    x, wanted = documents(60, 9)
    products = (x @ x.T).toarray() + contrast.INTERCEPT_ROOM
    margins = products @ separate_by_products(products, wanted)
    assert margins == pytest.approx(separate(x, wanted).margins(x), abs=1e-3)


def test_a_blend_trusts_the_view_that_tells_pages_apart() -> None:
    telling, wanted = documents(60, 20)
    noise = sparse.csr_array(telling.toarray()[::-1])
    candidates = [Candidate((1.0, 0.0), 0.0), Candidate((0.0, 1.0), 0.0)]
    found = blend([telling, noise], wanted, candidates)
    assert np.abs(found.coefficients[1]).max() < 0.05 * np.abs(found.coefficients[0]).max()
    assert found.left_out[wanted].mean() > found.left_out[~wanted].mean() + 2
    dear = [candidates[0]._replace(price=500.0), candidates[1]]
    assert np.abs(blend([telling, noise], wanted, dear).coefficients[0]).max() < 1e-9


def test_words_that_only_tell_the_kind_of_page_are_not_trusted_by_themselves() -> None:
    """All marked pages are papers, with an abstract; so are papers on other subjects."""
    bees = [
        Page(
            f"http://h.test/b{n}", headings=("Abstract",), terms={"bee": 5, "sampl": 1, f"x{n}": 2}
        )
        for n in range(8)
    ]
    others = [
        Page(f"http://h.test/o{n}", headings=("Staff",), terms={"offic": 2, f"y{n}": 1})
        for n in range(20)
    ]
    graph = PageGraph((*bees, *others), (), frozenset(range(8)))
    judge = FieldsJudge.from_briefing(Briefing(graph))
    paper = Page("x", headings=("Abstract",), terms={"car": 5, "sampl": 1})
    note = Page("x", headings=("Letters",), terms={"bee": 5})
    assert judge.judge(note).score > judge.judge(paper).score


@pytest.mark.parametrize(("n_pages", "n_marks"), [(2, 1), (3, 1), (7, 1), (7, 6)])
def test_small_sessions_know_what_was_marked_and_do_not_take_everything(
    n_pages: int, n_marks: int
) -> None:
    terms = [*[{"bee": 3, f"x{n}": 1} for n in range(n_marks)], *CARS, *CARS][:n_pages]
    pages = tuple(Page(f"http://h.test/{n}", terms=found) for n, found in enumerate(terms))
    judge = FieldsJudge.from_briefing(Briefing(PageGraph(pages, (), frozenset(range(n_marks)))))
    assert judge.judge(Page("x", terms={"bee": 2})).relevant
    assert not judge.judge(Page("x", terms={"car": 2, "road": 1})).relevant
    assert not judge.judge(Page("x", terms={"hous": 1})).relevant


def test_a_large_session_is_learned_from_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    model = learn_topic(bees_and_cars())
    whole = FieldsJudge.left_out_scores(model)
    monkeypatch.setattr(fields, "MAX_LEARNED", 6)
    sampled = FieldsJudge.left_out_scores(model)
    assert sampled.shape == whole.shape
    assert sampled[:3].min() > sampled[3:].max()


def test_fields_left_out_scores_are_those_of_a_judge_that_had_not_seen_the_page() -> None:
    pages = field_pages()
    model = learn_topic(PageGraph(pages, (), frozenset({0, 1, 2})))
    scores = FieldsJudge.left_out_scores(model)
    assert scores.shape == (7,)
    assert scores[:3].min() > scores[3:].max()
    alone = FieldsJudge.left_out_scores(learn_topic(PageGraph(pages, (), frozenset({0}))))
    assert alone[0] == -1
    assert FieldsJudge.suits(PageGraph(pages, (), frozenset({0})))
    assert not FieldsJudge.suits(PageGraph(pages[:1], (), frozenset({0})))
