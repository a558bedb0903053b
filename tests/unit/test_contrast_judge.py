"""The contrast judge's leave-one-out scores against fits that are made anew."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from trailhound.judges import logistic
from trailhound.judges.contrast import Contrast, ContrastJudge
from trailhound.judges.logistic import Documents, left_out_margins, separate
from trailhound.records import Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.text.tfidf import TermWeights


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
    monkeypatch.setattr(logistic, "MAX_LEFT_OUT", 50)
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
