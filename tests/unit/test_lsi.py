"""Latent space: the papers' weights, the rank rule, and fold-in equal to training coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from trailhound.errors import ModelError, UsageError
from trailhound.text.lsi import LatentSpace
from trailhound.text.tfidf import TermWeights

Documents = list[dict[str, int]]


def themed_documents(n_documents: int, n_themes: int = 4, seed: int = 0) -> Documents:
    """Documents that draw most of their words from one theme, and some from all."""
    generator = np.random.default_rng(seed)
    documents = []
    for number in range(n_documents):
        own = generator.integers(0, 40, 30) + 1000 * (number % n_themes)
        shared = generator.integers(0, 300, 15) + 900_000
        words, counts = np.unique(np.concatenate([own, shared]), return_counts=True)
        documents.append({f"w{w}": int(c) for w, c in zip(words, counts, strict=True)})
    return documents


def fitted(
    documents: Documents, max_rank: int = 100, variance_share: float = 0.6
) -> tuple[TermWeights, LatentSpace]:
    weights = TermWeights.fit(documents)
    return weights, LatentSpace.fit(weights.matrix(documents), max_rank, variance_share)


@pytest.mark.parametrize("n_documents", [12, 90, 250])
def test_folding_in_a_training_document_gives_its_coordinates(n_documents: int) -> None:
    documents = themed_documents(n_documents)
    weights, space = fitted(documents)
    folded = np.array([space.fold_in(*weights.weigh(document)) for document in documents])
    np.testing.assert_allclose(folded, space.coordinates, atol=2e-6)


def test_lanczos_agrees_with_the_full_decomposition() -> None:
    documents = themed_documents(250)
    weights, space = fitted(documents, variance_share=0.5)
    matrix = weights.matrix(documents).toarray()
    exact = np.linalg.svd(matrix.T, compute_uv=False)
    np.testing.assert_allclose(space.singular_values, exact[: space.rank], rtol=1e-6)
    terms = space.term_vectors
    np.testing.assert_allclose(terms.T @ terms, np.eye(space.rank), atol=1e-5)


def test_a_decomposition_by_hand() -> None:
    # Two documents share the words a and b, two the words c and d, weighted so that σ² is
    # 2·(1+1)=4 and 2·(0.64+0.36)=2; the third and fourth singular values are 0.
    rows = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0.8, 0.6], [0, 0, 0.8, 0.6], [0, 0, 0, 0]])
    rows[4, 0] = 1e-3
    space = LatentSpace.fit(sparse.csr_array(rows), variance_share=1.0)
    np.testing.assert_allclose(space.singular_values, [2, np.sqrt(2)], atol=1e-5)
    np.testing.assert_allclose(space.term_vectors[:2, 0], np.sqrt(0.5), atol=1e-3)
    np.testing.assert_allclose(space.term_vectors[2:, 1], [0.8, 0.6], atol=1e-3)
    np.testing.assert_allclose(
        np.abs(space.coordinates[:4]), [[1, 0]] * 2 + [[0, 1]] * 2, atol=1e-3
    )


def test_the_rank_is_the_smallest_that_holds_the_share() -> None:
    documents = themed_documents(60)
    matrix = TermWeights.fit(documents).matrix(documents)
    sigmas = np.linalg.svd(matrix.toarray(), compute_uv=False)
    for share in (0.2, 0.4, 0.6, 0.8):
        space = LatentSpace.fit(matrix, variance_share=share)
        held = np.cumsum(sigmas**2) / (sigmas**2).sum()
        assert held[space.rank - 1] >= share > (held[space.rank - 2] if space.rank > 1 else 0)
        assert space.variance_share == pytest.approx(held[space.rank - 1])


def test_the_rank_is_bounded() -> None:
    documents = themed_documents(60)
    assert fitted(documents, max_rank=7, variance_share=1.0)[1].rank == 7
    assert fitted(documents, variance_share=1.0)[1].rank == 59
    copies = [{"a": 1, "b": 2}, {"a": 2, "c": 1}, {"d": 1, "a": 1}] * 20
    assert fitted(copies, variance_share=1.0)[1].rank == 2
    assert fitted(copies, max_rank=30, variance_share=1.0)[1].rank == 2


def test_the_same_documents_give_the_same_space() -> None:
    first, second = (fitted(themed_documents(200))[1] for _ in range(2))
    assert first.term_vectors.tobytes() == second.term_vectors.tobytes()
    assert first.coordinates.tobytes() == second.coordinates.tobytes()


def test_each_dimension_has_its_largest_term_weight_positive() -> None:
    terms = fitted(themed_documents(150))[1].term_vectors
    assert (terms.max(axis=0) >= -terms.min(axis=0)).all()


def test_documents_of_one_theme_are_nearer_than_those_of_another() -> None:
    weights, space = fitted(themed_documents(80))
    query = space.fold_in(*weights.weigh({"w1": 1, "w5": 1, "w7": 2, "w30": 1}))
    similarity = space.coordinates @ query
    assert similarity[0::4].min() > similarity[1::4].max()


@pytest.mark.parametrize(
    "documents",
    [
        [{"a": 1}],
        [{"a": 1}, {"a": 1}],
        [{"a": 1}, {}],
        [{"a": 1}, {"b": 1}],
        [{"a": 1}] * 150,
        [{"a": 1, "b": 1}] * 100 + [{}] * 30,
    ],
)
def test_very_little_text_still_gives_a_space(documents: Documents) -> None:
    weights, space = fitted(documents)
    assert space.rank == 1
    assert np.isfinite(space.coordinates).all()
    for document, coordinates in zip(documents, space.coordinates, strict=True):
        np.testing.assert_allclose(space.fold_in(*weights.weigh(document)), coordinates, atol=1e-6)


def test_a_page_of_unknown_words_is_the_zero_vector() -> None:
    weights, space = fitted(themed_documents(20))
    assert not space.fold_in(*weights.weigh({"never": 3})).any()
    assert not space.fold_in(*weights.weigh({})).any()


def test_coordinates_have_length_one() -> None:
    space = fitted(themed_documents(40))[1]
    np.testing.assert_allclose(np.linalg.norm(space.coordinates, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("documents", [[], [{}], [{}, {}, {}]])
def test_pages_without_words_are_refused(documents: Documents) -> None:
    with pytest.raises(ModelError, match="words to learn from"):
        fitted(documents)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="rank"):
        fitted([{"a": 1}], max_rank=0)
    with pytest.raises(UsageError, match="share"):
        fitted([{"a": 1}], variance_share=1.5)


small_documents = st.lists(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 5)), min_size=1, max_size=8
).filter(any)


@given(small_documents)
def test_fold_in_equals_training_for_any_documents(documents: Documents) -> None:
    weights, space = fitted(documents, variance_share=1.0)
    matrix = weights.matrix(documents).toarray().T
    raw = matrix.T @ space.term_vectors
    for document, coordinates, length in zip(
        documents, space.coordinates, np.linalg.norm(raw, axis=1), strict=True
    ):
        if length > 1e-3:  # below, the direction is rounding
            folded = space.fold_in(*weights.weigh(document))
            np.testing.assert_allclose(folded, coordinates, atol=1e-3)


def test_a_rotation_keeps_every_cosine() -> None:
    documents = themed_documents(30)
    weights = TermWeights.fit(documents)
    matrix = weights.matrix(documents)
    space = LatentSpace.rotate(matrix)
    assert np.allclose(
        space.coordinates @ space.coordinates.T, (matrix @ matrix.T).toarray(), atol=1e-5
    )
    assert space.variance_share == pytest.approx(1.0)
