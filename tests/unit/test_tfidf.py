from __future__ import annotations

import math

import numpy as np
import pytest

from trailhound.text.tfidf import TargetSimilarity, TermWeights

DOCUMENTS = [{"bee": 2, "hive": 1}, {"bee": 1, "car": 3}, {"car": 1}, {"road": 1}]


def test_weights_follow_the_papers_equation() -> None:
    weights = TermWeights.fit(DOCUMENTS)
    # N = 4: idf(bee) = log2(4/2) + 1 = 2, idf(hive) = log2(4/1) + 1 = 3.
    ids, values = weights.weigh({"bee": 2, "hive": 1})
    by_term = dict(zip(ids.tolist(), values.tolist(), strict=True))
    length = math.sqrt((2 * 2) ** 2 + 3**2)
    assert by_term[weights.vocabulary["bee"]] == pytest.approx(4 / length)
    assert by_term[weights.vocabulary["hive"]] == pytest.approx(3 / length)


def test_unknown_terms_do_not_count() -> None:
    _, values = TermWeights.fit(DOCUMENTS).weigh({"road": 1, "martian": 1})
    assert values.tolist() == pytest.approx([1.0])


def test_a_document_without_terms_has_no_weight() -> None:
    ids, values = TermWeights.fit(DOCUMENTS).weigh({})
    assert (ids.size, values.size) == (0, 0)
    assert TermWeights.fit([]).weigh({"x": 1})[0].size == 0


def test_matrix_rows_are_the_weighed_documents() -> None:
    weights = TermWeights.fit(DOCUMENTS)
    matrix = weights.matrix(DOCUMENTS)
    assert matrix.shape == (4, 4)
    assert np.allclose(np.linalg.norm(matrix.toarray(), axis=1), 1.0)


def test_similarity_to_the_nearest_target_is_one_for_the_target_itself() -> None:
    weights = TermWeights.fit(DOCUMENTS)
    similarity = TargetSimilarity(weights, DOCUMENTS[:2])
    assert similarity.to_nearest(DOCUMENTS[1]) == pytest.approx(1.0, abs=1e-6)
    assert similarity.to_nearest({"road": 5}) == 0.0
    assert similarity.to_nearest({}) == 0.0
    bee = 2 * 2 * 1 * 2  # tf·idf of "bee" in both documents
    expected = bee / (math.sqrt(16 + 9) * math.sqrt(4 + 36))
    assert similarity.to_each(DOCUMENTS[1])[0] == pytest.approx(expected)


def test_similarity_without_targets_is_zero() -> None:
    assert TargetSimilarity(TermWeights.fit(DOCUMENTS), []).to_nearest({"bee": 1}) == 0.0
