"""The context-graph equations on documents small enough to work out by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.strategies.context_graph.layer_classifier import (
    ClassifierParameters,
    LayerClassifier,
    classifier_from_bytes,
    fit_layers,
)
from trailhound.strategies.context_graph.training import _frequencies, everyday_words
from trailhound.strategies.parts import DocumentCounts

LN = math.log

# N = 8 documents; "the" occurs in all of them, so it weighs ln(8/8) = 0.
REFERENCE = DocumentCounts(8, {"the": 8, "bee": 2, "honey": 1, "link": 4, "list": 2})
PLAIN = ClassifierParameters(threshold="min", min_features=1)
TARGETS = [{"bee": 2, "honey": 1}, {"bee": 1}]
PARENTS = [{"link": 1, "list": 1, "bee": 1}]


def learned(parameters: ClassifierParameters = PLAIN, n_master_layers: int = 2) -> LayerClassifier:
    return fit_layers([TARGETS, PARENTS], REFERENCE, parameters, n_master_layers)


def test_equation_1_by_hand() -> None:
    classifier = learned()
    assert list(classifier.vocabulary) == ["bee", "honey", "link", "list"]
    columns, weights, counts = classifier.reduced({"the": 4, "honey": 1, "link": 2, "car": 9})
    # max f_d = 9 (of any word in the document); honey: 1/9 ln(8/1), link: 2/9 ln(8/4).
    assert columns.tolist() == [1, 2]
    assert weights.tolist() == pytest.approx([1 / 9 * LN(8), 2 / 9 * LN(2)])
    assert counts.tolist() == [1, 2]


def test_only_the_highest_components_stay() -> None:
    classifier = learned(ClassifierParameters(n_terms=2, threshold="min"))
    # bee 3 ln 4 = 4.16; honey 1 ln 8 = 2.08; list 1 ln 4 = 1.39; link 5 ln 2 = 3.47
    columns, _, _ = classifier.reduced({"bee": 3, "honey": 1, "list": 1, "link": 5})
    assert [list(classifier.vocabulary)[column] for column in columns] == ["bee", "link"]


def test_words_that_occur_everywhere_say_nothing() -> None:
    classifier = fit_layers([[{"the": 5, "bee": 1}], [{"the": 1}]], REFERENCE, PLAIN)
    assert len(classifier.reduced({"the": 3})[0]) == 0


def test_equation_4_by_hand() -> None:
    probabilities = np.exp(learned().log_p)
    # |V| = 4. Targets: bee in 2 documents, honey in 1, so 3 in all. Parents: 3 terms once each.
    assert probabilities[0].tolist() == pytest.approx([3 / 7, 2 / 7, 1 / 7, 1 / 7])
    assert probabilities[1].tolist() == pytest.approx([2 / 7, 1 / 7, 2 / 7, 2 / 7])
    assert probabilities.sum(axis=1).tolist() == pytest.approx([1, 1])


def test_equation_4_with_counts() -> None:
    probabilities = np.exp(learned(ClassifierParameters(use_counts=True, threshold="min")).log_p)
    # Targets: bee 2 + 1, honey 1: 4 in all.
    assert probabilities[0].tolist() == pytest.approx([4 / 8, 2 / 8, 1 / 8, 1 / 8])


def test_equation_3_by_hand() -> None:
    verdict = learned().classify({"bee": 5, "list": 1})
    # Each term once: targets 3/7 · 1/7 = 3/49; parents 2/7 · 2/7 = 4/49. Priors are equal.
    assert verdict.queue == 1
    assert verdict.posteriors.tolist() == pytest.approx([3 / 7, 4 / 7])
    assert verdict.likelihood == pytest.approx(LN(4 / 49) / 2)


def test_equation_3_with_priors_by_hand() -> None:
    classifier = learned(ClassifierParameters(min_features=1, priors="sizes"))
    # Two of three documents are targets: 2/3 · 3/49 = 6/147; parents 1/3 · 4/49 = 4/147.
    verdict = classifier.classify({"bee": 5, "list": 1})
    assert verdict.queue == 0
    assert verdict.posteriors.tolist() == pytest.approx([0.6, 0.4])
    # The likelihood, by which a queue is sorted, has no prior in it.
    assert verdict.likelihood == pytest.approx(LN(3 / 49) / 2)
    kept = classifier_from_bytes(classifier.to_bytes(), classifier.parameters)
    assert kept.classify({"bee": 5, "list": 1}).queue == 0


def test_a_layer_without_documents_has_no_prior() -> None:
    for priors in ("equal", "sizes"):
        parameters = ClassifierParameters(min_features=1, priors=priors)
        classifier = fit_layers([TARGETS, [], PARENTS], REFERENCE, parameters)
        assert np.exp(classifier.log_priors)[1] == 0
        assert classifier.classify({"link": 1, "list": 1, "bee": 1}).posteriors[1] == 0


def test_counts_may_weigh() -> None:
    classifier = learned(ClassifierParameters(use_counts=True, threshold="min", min_features=1))
    verdict = classifier.classify({"bee": 2, "honey": 1})
    # (4/8)² · 2/8 = 1/16, over three occurrences.
    assert verdict.queue == 0
    assert verdict.likelihood == pytest.approx(LN(1 / 16) / 3)


def test_the_literal_likelihood_is_the_product() -> None:
    parameters = ClassifierParameters(threshold="min", min_features=1, per_feature=False)
    classifier = learned(parameters)
    assert classifier.classify({"bee": 1, "list": 1}).likelihood == pytest.approx(LN(4 / 49))
    # Targets: {bee, honey} has 3/7 · 2/7 = 6/49, {bee} has 3/7: the product punishes length.
    assert classifier.thresholds.tolist() == pytest.approx([LN(6 / 49), LN(8 / 343)])


def test_the_least_likelihood_of_the_layers_own_documents() -> None:
    # Means: {bee, honey}: ½ ln(6/49); {bee}: ln(3/7); parents: ⅓ ln(2/7 · 2/7 · 2/7).
    assert learned().thresholds.tolist() == pytest.approx([LN(6 / 49) / 2, LN(2 / 7)])


def test_the_quantile_counts_each_document_as_if_it_were_new() -> None:
    thresholds = learned(ClassifierParameters()).thresholds
    # {bee, honey} without itself: bee 1 of 1, V = 4: bee 2/5, honey 1/5; ½ ln(2/25).
    # {bee} without itself: bee 1, honey 1 of 2: bee 2/6. 5 % of the way from first to second.
    low, high = LN(2 / 25) / 2, LN(1 / 3)
    assert thresholds[0] == pytest.approx(low + 0.05 * (high - low))
    # The only parent without itself: nothing but smoothing, 1/4 for each term.
    assert thresholds[1] == pytest.approx(LN(1 / 4))


def test_below_the_threshold_a_page_is_other() -> None:
    classifier = learned()
    # honey and link: targets 2/7 · 1/7, parents 1/7 · 2/7: ½ ln(2/49) = -1.6 either way.
    verdict = classifier.classify({"honey": 1, "link": 1})
    assert verdict.queue == classifier.other == 2
    assert verdict.likelihood == pytest.approx(LN(2 / 49) / 2)


def test_the_posterior_reading_asks_for_one_half() -> None:
    parameters = ClassifierParameters(threshold="posterior", min_features=1)
    three = fit_layers([TARGETS, PARENTS, PARENTS], REFERENCE, parameters)
    # honey: 2/7, 1/7, 1/7 give exactly one half; list: 1/7, 2/7, 2/7 give two fifths.
    assert three.classify({"honey": 1}).queue == 0
    assert three.classify({"list": 1}).queue == three.other


def test_pages_with_too_few_known_words_are_other() -> None:
    classifier = learned(ClassifierParameters(threshold="min"))
    assert classifier.classify({"bee": 1, "honey": 3}).queue == classifier.other
    assert classifier.classify({}).likelihood == -math.inf
    assert classifier.classify({"unknown": 1}).posteriors.tolist() == [0, 0]


def test_the_vocabulary_may_come_from_the_targets_alone() -> None:
    assert list(learned(n_master_layers=1).vocabulary) == ["bee", "honey"]


def test_a_layer_without_documents_never_wins() -> None:
    classifier = fit_layers([TARGETS, [], PARENTS], REFERENCE, PLAIN)
    verdict = classifier.classify({"link": 1, "list": 1, "bee": 1})
    assert verdict.queue == 2
    assert verdict.posteriors[1] == 0


def test_a_kept_classifier_is_the_same() -> None:
    classifier = learned()
    again = classifier_from_bytes(classifier.to_bytes(), PLAIN)
    for terms in ({"bee": 1}, {"list": 2, "link": 1}, {}):
        first, second = classifier.classify(terms), again.classify(terms)
        assert (first.queue, first.likelihood) == (second.queue, second.likelihood)
    with pytest.raises(ValueError, match="fit together"):
        classifier_from_bytes(msgspec.msgpack.encode([2, ["bee"], b"", b"", b""]), PLAIN)


def test_the_reference_is_counted_over_documents() -> None:
    reference = DocumentCounts.of([{"a": 5, "b": 1}, {"a": 1}])
    assert reference.weight("a") == 0
    assert reference.weight("b") == reference.weight("never seen") == pytest.approx(LN(2))


@pytest.fixture
def small_lists(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """wordfreq with three English words and two German ones."""
    lists = {
        "en": {"bee": 1e-3, "bees": 1e-3, "honey": 1e-6},
        "de": {"honig": 2e-3, "bienen": 1e-4},
    }
    monkeypatch.setattr("wordfreq.available_languages", lambda _: {"en": "", "de": ""})
    monkeypatch.setattr("wordfreq.get_frequency_dict", lambda language, _: lists[language])
    _frequencies.cache_clear()
    yield
    _frequencies.cache_clear()


@pytest.mark.usefixtures("small_lists")
def test_everyday_words_by_hand() -> None:
    english = everyday_words(["en"])
    assert english is not None
    # Both forms: p = 0.002, p L = 1; of 2000 pages 2000 (1 - 1/e) = 1264 hold the word.
    assert english.frequency["bee"] == pytest.approx(2000 * (1 - 1 / math.e))
    assert english.weight("bee") == pytest.approx(-LN(1 - 1 / math.e))
    # The rarest that is listed, and a word that is not: one page.
    assert english.frequency["honey"] == pytest.approx(1, abs=1e-3)
    assert english.weight("honey") == english.weight("zymurgi") == pytest.approx(LN(2000))


@pytest.mark.usefixtures("small_lists")
def test_languages_weigh_as_many_pages_as_they_have() -> None:
    both = everyday_words(["en", "de", "de", "de", "", "tlh"])
    assert both is not None
    # A quarter of the pages that have a list is English, three quarters are German.
    assert both.frequency["bee"] == pytest.approx(500 * (1 - 1 / math.e))
    assert both.frequency["honig"] == pytest.approx(1500 * (1 - 1 / math.e))
    assert everyday_words(["", "tlh"]) is None


def test_everyday_words_are_known_in_many_languages() -> None:
    for language, common, rare in (
        ("en", "contact", "beekeep"),
        ("de", "kontakt", "imkerei"),
        ("no", "kontakt", "birøkt"),
    ):
        reference = everyday_words([language])
        assert reference is not None
        assert len(reference.frequency) > 10_000
        assert max(reference.frequency.values()) <= reference.n_documents
        assert reference.weight(common) < reference.weight(rare)


words = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), max_size=8)


@given(
    st.lists(st.lists(words, max_size=4), min_size=2, max_size=5),
    words,
    st.sampled_from(["min", "quantile", "posterior"]),
    st.booleans(),
    st.booleans(),
)
def test_every_page_has_a_queue_and_an_order(
    layers: list[list[dict[str, int]]],
    page: dict[str, int],
    threshold: str,
    counts: bool,
    per_feature: bool,
) -> None:
    parameters = ClassifierParameters(5, threshold, counts, per_feature, 1)
    reference = DocumentCounts.of([*(terms for layer in layers for terms in layer), {"z": 1}])
    classifier = fit_layers(layers, reference, parameters)
    verdict = classifier.classify(page)
    assert 0 <= verdict.queue <= len(layers)
    assert verdict.likelihood <= 1e-9
    assert not math.isnan(verdict.likelihood)
    assert verdict.posteriors.sum() == pytest.approx(1) or not verdict.posteriors.any()
    # A page is never put into a layer that nothing was learned about.
    assert verdict.queue == classifier.other or layers[verdict.queue]
    reordered = dict(reversed(page.items()))
    assert classifier.classify(reordered).queue == verdict.queue
