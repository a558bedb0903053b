"""K(1)–(10) and equations (1)–(12) of the collaborative crawler, computed on paper."""

from __future__ import annotations

import math
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from six_users import U1, U2, U3, U4, U5, U6, crawl_of_five, number, six_user_trace

from trailhound.sources.traces.building import trace_in_memory
from trailhound.sources.traces.index import TraceIndex
from trailhound.strategies.collaborative.statistics import (
    Limits,
    Locality,
    PageInterest,
    VisitStatistics,
)
from trailhound.strategies.collaborative.user_signatures import (
    PairCounts,
    deviations,
    outliers,
    pair_keys,
    product,
)
from trailhound.strategies.intelligent.interest_rule import InterestRule

TRACE = six_user_trace()
CANDIDATES = np.array([number(TRACE, page) for page in "cdg"])


def near(statistics: VisitStatistics) -> str:
    pages = "abcdefgh"
    return "".join(page for page in pages if statistics.is_near(np.array([number(TRACE, page)]))[0])


@pytest.mark.parametrize("literal", [False, True])
def test_what_is_counted_of_pages_and_users(literal: bool) -> None:
    k = crawl_of_five(TRACE, literal=literal, significance=2)
    # K(1), K(2): a b e f h, of which a and e.
    assert (k.crawled, k.relevant) == (5, 2)
    # K(3), K(4): u1 opened a+ b; u2 a+ e+; u3 b f; u4 e+ f; u5 a+ b; u6 h.
    assert k.seen.tolist() == [2, 2, 2, 2, 2, 1]
    assert k.hits.tolist() == [1, 2, 0, 1, 1, 0]
    # K(5), K(6): signature 2 is on a+, b and h; u1 opened a and b.
    assert [k.signatures.of(U1, each) for each in (1, 2, 3)] == [(1, 1), (2, 1), (1, 0)]
    assert [k.signatures.of(U2, each) for each in (1, 2, 3)] == [(2, 2), (1, 1), (0, 0)]
    assert [k.signatures.of(U3, each) for each in (1, 2, 3)] == [(0, 0), (1, 0), (2, 0)]
    assert [k.signatures.of(U4, each) for each in (1, 2, 3)] == [(1, 1), (0, 0), (1, 0)]
    assert k.signatures.of(U5, 2) == (2, 1)
    assert k.signatures.of(U6, 2) == (1, 0)


def test_temporal_locality_by_hand() -> None:
    """(9) with two pages on each side and half an hour's pause at most.

    Around a: b c (u1), c e (u2), b (u5; g is two hours later). Around e: c a (u2), f g (u4).
    """
    k = crawl_of_five(TRACE, literal=False, significance=2)
    assert near(k) == "abcefg"
    # K(7)–(10): b e f were inside when they were crawled; a joins them when e turns out relevant.
    assert (k.inside, k.inside_relevant) == (4, 2)
    assert (k.outside, k.outside_relevant) == (1, 0)


def test_temporal_locality_to_the_letter() -> None:
    """No limit to a pause, and pages are counted where they were when they were crawled."""
    k = crawl_of_five(TRACE, literal=True, significance=2)
    assert near(k) == "abcefg"
    # a and h were outside when they were crawled.
    assert (k.inside, k.inside_relevant) == (3, 1)
    assert (k.outside, k.outside_relevant) == (2, 1)
    for gap, wanted in (1800.0, "bce"), (math.inf, "bceg"):
        only_a = VisitStatistics(TRACE, InterestRule(), locality=Locality(2, gap))
        only_a.see(number(TRACE, "a"), True, ())
        assert near(only_a) == wanted


def test_a_page_near_itself_is_no_neighbour_and_other_visits_have_their_own() -> None:
    trace = trace_in_memory(
        [
            (b"u1", float(at), f"http://h.test/{page}".encode())
            for at, page in enumerate("xaaby", 1)
        ],
        lambda client: int(client[1:]),
    )
    k = VisitStatistics(trace, InterestRule())
    page = {each: number(trace, each) for each in "xaby"}
    k.see(page["a"], True, ())
    marks = {each: bool(k.is_near(np.array([page[each]]))[0]) for each in "xaby"}
    # From the first a: x, a, b. From the second: a, x, b, y.
    assert marks == {"x": True, "a": False, "b": True, "y": True}


def test_significance_and_frequency_to_the_letter() -> None:
    """(1), (2), (3) with P(U) = 2/5, N = 5: one standard deviation is √(0.4·0.6/5) = 0.2191.

    u2: |1 - 0.4| / 0.2191 = 2.739. u3 and u6: 0.4 / 0.2191 = 1.826. u1, u4, u5: 0.456.
    So u2 alone counts at t = 2, with 1 / 0.4 = 2.5, and c is the candidate that he opened.
    """
    k = crawl_of_five(TRACE, literal=True, significance=2)
    assert k.base_rate == pytest.approx(0.4)
    t = deviations(k.rule, k.hits, k.seen, k.base_rate, k.crawled)
    assert t == pytest.approx([0.4564, 2.7386, 1.8257, 0.4564, 0.4564, 1.8257], abs=1e-4)
    assert k.interest(CANDIDATES).frequency == pytest.approx([log(2.5), 0.0, 0.0])


def test_significance_and_frequency_repaired() -> None:
    """P(U) = 2.5/6 = 0.41667, P(1-P) = 0.24306; T divides by √(0.24306/q).

    u2: 0.58333/0.34861 = 1.6733; u3: 0.41667/0.34861 = 1.1952; u6 (q=1): 0.41667/0.49301 = 0.8452.
    Shrunk, u2 has (2 + 4P)/6 = 0.61111, a ratio of 1.46667; u3 (0 + 4P)/6 = 0.27778, 0.66667.
    With t = 1: c (u1, u2) 1.46667, d (u1, u3) 0.66667, g (u4, u5, u6) nobody.
    """
    k = crawl_of_five(TRACE, literal=False, significance=1)
    assert k.base_rate == pytest.approx(2.5 / 6)
    t = deviations(k.rule, k.hits, k.seen, k.base_rate, k.crawled)
    assert t == pytest.approx([0.2390, 1.6733, 1.1952, 0.2390, 0.2390, 0.8452], abs=1e-4)
    assert k.interest(CANDIDATES).frequency == pytest.approx([log(1.466667), log(2 / 3), 0.0])


@pytest.mark.parametrize(
    ("seen", "hits", "literal", "repaired"), [(1, 0, 10.5409, 0.3333), (10, 3, 21.0819, 2.1082)]
)
def test_one_unlucky_page_is_no_evidence(
    seen: int, hits: int, literal: float, repaired: float
) -> None:
    """P = 0.1, N = 1000: √(0.09/1000) = 0.0095 by N; √(0.09/1) = 0.3, √(0.09/10) = 0.0949 by q."""
    for rule, wanted in (InterestRule(literal=True), literal), (InterestRule(), repaired):
        t = deviations(rule, np.array([hits]), np.array([seen]), 0.1, 1000)
        assert t == pytest.approx([wanted], abs=1e-3)
    # To the letter, q = 1 without a hit multiplies the ratio of all his pages by 0.
    zero = InterestRule(literal=True).log_ratios(np.array([0]), np.array([1]), 0.1)
    assert zero[0] < -13
    # Repaired: (0 + 0.4)/(1 + 4) / 0.1 = 0.8.
    assert InterestRule().log_ratios(np.array([0]), np.array([1]), 0.1) == pytest.approx([log(0.8)])


def test_many_users_of_a_page_are_no_independent_witnesses() -> None:
    """(2): four users with a ratio of 2 each. 2⁴ = 16 to the letter; Σ log / √4 = 2 log 2."""
    logs, owners = np.full(4, log(2)), np.zeros(4, np.int64)
    assert product(InterestRule(literal=True), logs, owners, 2) == pytest.approx([log(16), 0])
    assert product(InterestRule(), logs, owners, 2) == pytest.approx([log(4), 0])


def test_signatures_to_the_letter() -> None:
    """(4): u1 has mean(1/1, 1/2, 0/1) = 0.5 over P(V) = 1/2; u2 1/1; u4 0.5/0.5; u3 and u6: 0/0.

    Everybody's SF is 1 by construction of his own average, so (7) is 0 and nobody stands out.
    """
    k = crawl_of_five(TRACE, literal=True, significance=2, own_divisor=True)
    users, interest = k.signatures.interest(k.base_rate, k.divisors(k.signatures.users))
    assert users.tolist() == [U1, U2, U4, U5]
    assert interest == pytest.approx([1, 1, 1, 1])
    k.refresh_signatures()
    assert k.interest(CANDIDATES).signature == pytest.approx([0, 0, 0])


def test_signatures_over_the_predicate() -> None:
    """(4) over P(U) = 0.4: u1 0.5/0.4 = 1.25, u2 2.5, u3 0, u4 1.25, u5 1.25, u6 0.

    (6) μ = 6.25/6 = 1.04167.
    (7) σ² = (3·0.20833² + 1.45833² + 2·1.04167²)/6 = 0.73785, σ = 0.85898.
    (8) u2 1.45833/σ = 1.698, u3 and u6 1.213, the others 0.243. At t = 1.5 only u2 counts:
    (5) of c is 2.5.
    """
    k = crawl_of_five(TRACE, literal=True, significance=1.5)
    users, interest = k.signatures.interest(k.base_rate, k.divisors(k.signatures.users))
    assert users.tolist() == [U1, U2, U3, U4, U5, U6]
    assert interest == pytest.approx([1.25, 2.5, 0, 1.25, 1.25, 0], abs=1e-6)
    assert outliers(interest, 1.697).tolist() == [False, True, False, False, False, False]
    assert outliers(interest, 1.699).sum() == 0
    assert outliers(interest, 1.212).tolist() == [False, True, True, False, False, True]
    k.refresh_signatures()
    assert k.interest(CANDIDATES).signature == pytest.approx([log(2.5), 0, 0])


def test_signatures_repaired_and_the_composite() -> None:
    """With 4P = 1.66667 every share is (r^u + 1.66667)/(r + 4), and SF the mean over P = 0.41667.

    u1: mean(2.66667/5, 2.66667/6, 1.66667/5) = 0.43704 → 1.04889. u2: mean(3.66667/6, 2.66667/5)
    = 0.57222 → 1.37333. u3: mean(1.66667/5, 1.66667/6) → 0.73333. u4: 1.04. u6: 0.8.
    μ = 1.00741, σ = 0.20678; at t = 1, u2 (1.770), u3 (1.325) and u6 (1.003) stand out.
    (10): inside (2 + 4P)/8 / P = 1.1. (11): outside (0 + 4P)/5 / P = 0.8.
    (12) c: log 1.46667 + log 1.37333 + log 1.1; d: log ⅔ + log 0.73333 + log 0.8; g: log 0.8 +
    log 1.1.
    """
    k = crawl_of_five(TRACE, literal=False, significance=1)
    _, interest = k.signatures.interest(k.base_rate, k.divisors(k.signatures.users))
    wanted = [1.048889, 1.373333, 0.733333, 1.04, 1.048889, 0.8]
    assert interest == pytest.approx(wanted, abs=1e-5)
    k.refresh_signatures()
    found = k.interest(CANDIDATES)
    assert found.signature == pytest.approx([log(1.373333), log(0.733333), log(0.8)], abs=1e-5)
    assert found.locality == pytest.approx([log(1.1), log(0.8), log(1.1)])
    assert found.total == pytest.approx([0.795543, -0.938764, -0.127834], abs=1e-5)


def test_locality_to_the_letter() -> None:
    """(10): (1/3)/0.4 = 0.8333 for c and g; (11): (1/2)/0.4 = 1.25 for d."""
    k = crawl_of_five(TRACE, literal=True, significance=2)
    found = k.interest(CANDIDATES)
    assert found.locality == pytest.approx([log(0.83333), log(1.25), log(0.83333)], abs=1e-4)


def test_signatures_that_an_address_shows() -> None:
    """c shows signature 1. u1 met it once, relevant: T = 0.58333/√0.24306 = 1.183, (1 + 4P)/5 / P
    = 1.28. u2 twice, both relevant: T = 1.673, 1.46667. (log 1.28 + log 1.46667)/√2 = 0.44537.
    """
    k = crawl_of_five(TRACE, literal=False, significance=1)
    found: PageInterest = k.interest(CANDIDATES[:1])
    assert found.users.tolist() == [U1, U2]
    logs = k.signatures.log_interest_in(
        found.users, found.owners, [np.array([1, 99])], k.divisors(found.users), k.base_rate
    )
    assert logs == pytest.approx([log(1.28), log(1.466667)], abs=1e-6)
    assert product(k.rule, logs, found.owners, 1) == pytest.approx([0.445373], abs=1e-5)
    # At t = 1.5 what u1 did may be chance.
    strict = crawl_of_five(TRACE, literal=False, significance=1.5)
    logs = strict.signatures.log_interest_in(
        found.users, found.owners, [np.array([1])], strict.divisors(found.users), strict.base_rate
    )
    assert logs == pytest.approx([0, log(1.466667)], abs=1e-6)


def test_before_anything_was_found_every_ratio_is_one() -> None:
    for literal in (False, True):
        k = VisitStatistics(TRACE, InterestRule(literal=literal))
        assert k.interest(CANDIDATES).total == pytest.approx([0, 0, 0])
        assert len(k.see(None, False, ())) == 0
        assert (k.crawled, k.outside) == (1, 1)
        k.refresh_signatures()
        assert np.isfinite(k.interest(CANDIDATES).total).all()


def test_what_comes_back_are_the_pages_around_and_only_once() -> None:
    k = VisitStatistics(TRACE, InterestRule(), limits=Limits(users=50, window=1))
    around = k.see(number(TRACE, "c"), False, ())
    # u1: b c d; u2: a c e.
    assert set(around.tolist()) == {number(TRACE, page) for page in "abcde"}
    assert len(k.see(number(TRACE, "c"), True, ())) == 0, "it was crawled before"
    assert (k.crawled, k.relevant) == (1, 0)


def popular_page(visits: int) -> TraceIndex:
    """So many users open the same page, and then each a page of his own."""
    return trace_in_memory(
        (
            (f"u{user}".encode(), 1e9 + at, f"http://h.test/{page}".encode())
            for user in range(visits)
            for at, page in enumerate(("popular", f"p{user}"))
        ),
        lambda client: int(client[1:]) + 1,
    )


def test_work_for_a_popular_page_is_bounded() -> None:
    trace = popular_page(3 * Limits().visits)
    k = VisitStatistics(trace, InterestRule(), limits=Limits(users=50))
    around = k.see(number(trace, "popular"), True, (1, 2))
    assert len(around) == 51
    assert int(k.seen.sum()) == Limits().visits
    assert len(k.interest(np.array([number(trace, "popular")])).users) <= 20


def test_without_limits_everybody_counts() -> None:
    visits = Limits().visits + 100
    trace = popular_page(visits)
    k = VisitStatistics(trace, InterestRule(literal=True), limits=Limits.none())
    around = k.see(number(trace, "popular"), True, (1, 2))
    assert len(around) == visits + 1, "the page itself, and one more for each reader"
    assert int(k.seen.sum()) == visits
    assert k.signatures.of(visits - 1, 2) == (1, 1)
    assert len(k.interest(np.array([number(trace, "popular")])).users) == visits


def test_without_limits_the_whole_history_is_around() -> None:
    visits = ((b"u", 1e9 + 60 * at, f"http://h.test/{at}".encode()) for at in range(50))
    trace = trace_in_memory(visits, lambda _: 1)
    bounded, literal = (
        VisitStatistics(trace, InterestRule(), limits=limits) for limits in (None, Limits.none())
    )
    assert len(bounded.see(number(trace, "25"), True, ())) == 21, "itself, ten before, ten after"
    assert len(literal.see(number(trace, "25"), True, ())) == 50


def test_a_snapshot_brings_everything_back() -> None:
    before = crawl_of_five(TRACE, literal=False, significance=1)
    after = VisitStatistics(TRACE, InterestRule(1.0))
    after.restore(before.snapshot())
    for each in (before, after):
        each.refresh_signatures()
    assert after.interest(CANDIDATES).total == pytest.approx(before.interest(CANDIDATES).total)
    assert near(after) == near(before)
    assert after.snapshot().totals == before.snapshot().totals
    around = [k.see(number(TRACE, "g"), True, (1,)).tolist() for k in (before, after)]
    assert around[0] == around[1]
    other = trace_in_memory([(b"u1", 1.0, b"http://h.test/a")], lambda _: 1)
    with pytest.raises(ValueError, match="another one"):
        VisitStatistics(other, InterestRule()).restore(before.snapshot())


def test_frequency_does_not_depend_on_how_often_somebody_came() -> None:
    def trace(times: int) -> TraceIndex:
        pages = ["a", *["c"] * times]
        return trace_in_memory(
            [(b"u1", 1e9 + at, f"http://h.test/{p}".encode()) for at, p in enumerate(pages)],
            lambda _: 1,
        )

    ratios = []
    for times in (1, 5):
        index = trace(times)
        k = VisitStatistics(index, InterestRule(0.0))
        k.see(number(index, "a"), True, ())
        ratios.append(float(k.interest(np.array([number(index, "c")])).frequency[0]))
    assert ratios[0] == pytest.approx(ratios[1])
    assert ratios[0] > 0


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 300), unique=True, max_size=40), st.booleans()),
        max_size=60,
    )
)
def test_pair_counts_equal_a_dictionary(pages: list[tuple[list[int], bool]]) -> None:
    counts, wanted = PairCounts(), dict[int, tuple[int, int]]()
    for numbers, hit in pages:
        keys = pair_keys(np.array(numbers, np.int64), np.array(numbers, np.int64) + 1)
        counts.add(keys, hit)
        for each in numbers:
            before = wanted.get(each, (0, 0))
            wanted[each] = before[0] + 1, before[1] + hit
    everything = np.arange(301)
    seen, hits = counts.of(pair_keys(everything, everything + 1))
    assert seen.tolist() == [wanted.get(each, (0, 0))[0] for each in range(301)]
    assert hits.tolist() == [wanted.get(each, (0, 0))[1] for each in range(301)]
    assert len(counts) == len(wanted)


def test_a_full_table_passes_new_pairs_over_and_keeps_the_old() -> None:
    counts = PairCounts(max_slots=64)
    first, more = np.arange(30), np.arange(30, 60)
    counts.add(pair_keys(first, first + 1), True)
    *_, counted = counts.add(pair_keys(more, more + 1), True)
    assert not counted.any()
    *_, counted = counts.add(pair_keys(first, first + 1), False)
    assert counted.all()
    assert counts.of(pair_keys(first, first + 1))[0].tolist() == [2] * 30
    assert counts.of(pair_keys(more, more + 1))[0].sum() == 0
    assert math.isclose(len(counts), 30)


def test_counts_go_on_from_their_columns_unless_there_are_too_many() -> None:
    counts, numbers = PairCounts(), np.arange(5000)
    counts.add(pair_keys(numbers, numbers + 1), True)
    again = PairCounts()
    again.restore(*counts.columns())
    assert len(again) == 5000
    assert again.of(pair_keys(numbers, numbers + 1))[1].tolist() == [1] * 5000
    with pytest.raises(ValueError, match="5000 pairs"):
        PairCounts(max_slots=64).restore(*counts.columns())
