"""Interest ratios: the rule, and what a crawl learns about links, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interest_pages import crawled

from trailhound.errors import UsageError
from trailhound.strategies.intelligent.interest_rule import (
    LARGEST_LOG_RATIO,
    SMALLEST_RATIO,
    InterestRule,
    LinkOutcomes,
)
from trailhound.strategies.intelligent.link_interest import (
    WORDS_PER_PAGE,
    LinkInterest,
    frequent_words,
    url_words,
)
from trailhound.strategies.intelligent.link_memory import EventCounts

LITERAL = InterestRule(literal=True)
REPAIRED = InterestRule()


def log_ratio(rule: InterestRule, hits: int, seen: int, base: float) -> float:
    return float(rule.log_ratios(np.array([hits]), np.array([seen]), base)[0])


def is_significant(rule: InterestRule, hits: int, seen: int, base: float, total: int) -> bool:
    return bool(rule.are_significant(np.array([hits]), np.array([seen]), base, total)[0])


def test_the_published_ratio_by_hand() -> None:
    # 100 pages, 10 relevant: P(U) = 0.1. The word on 20 of them, 6 relevant: P(U|C) = 0.3.
    base = LITERAL.base_rate(10, 100)
    assert base == pytest.approx(0.1)
    assert log_ratio(LITERAL, 6, 20, base) == pytest.approx(math.log(3))
    # The other form, P(U and C) / (P(U) P(C)) = 0.06 / (0.1 * 0.2), is the same.
    assert math.exp(log_ratio(LITERAL, 6, 20, base)) == pytest.approx(0.06 / (0.1 * 0.2))


def test_what_was_never_seen_says_nothing() -> None:
    for smoothing in (0.0, 4.0):
        rule = InterestRule(smoothing=smoothing)
        assert log_ratio(rule, 0, 0, 0.3) == pytest.approx(0.0)
    assert log_ratio(InterestRule(smoothing=0), 0, 1, 0.3) == pytest.approx(-math.log(20))


def test_the_repaired_ratio_is_drawn_towards_one() -> None:
    # P(U) = 10.5 / 101; (6 + 4 P) / (20 + 4) / P
    base = REPAIRED.base_rate(10, 100)
    assert base == pytest.approx(10.5 / 101)
    expected = (6 + 4 * base) / 24 / base
    assert log_ratio(REPAIRED, 6, 20, base) == pytest.approx(math.log(expected))
    assert expected < 3


def test_the_published_significance_divides_by_all_pages() -> None:
    # One page with the word, not relevant, of 1000 pages at P = 0.1:
    # S = 0.1 / sqrt(0.1 * 0.9 / 1000) = 10.54 as published, 0.1 / sqrt(0.09 / 1) = 0.33 repaired.
    assert is_significant(InterestRule(10.5, literal=True), 0, 1, 0.1, 1000)
    assert not is_significant(InterestRule(10.6, literal=True), 0, 1, 0.1, 1000)
    assert not is_significant(REPAIRED, 0, 1, 0.1, 1000)


def test_the_repaired_significance_divides_by_the_pages_with_the_event() -> None:
    # 3 of 10: S = 0.2 / sqrt(0.09 / 10) = 2.108
    assert is_significant(InterestRule(2.10), 3, 10, 0.1, 1000)
    assert not is_significant(InterestRule(2.11), 3, 10, 0.1, 1000)


def test_a_word_seen_once_or_twice_says_nothing_yet() -> None:
    assert not is_significant(REPAIRED, 2, 2, 0.1, 1000)
    assert is_significant(REPAIRED, 3, 3, 0.1, 1000)
    assert is_significant(LITERAL, 1, 1, 0.1, 1000)


def test_before_the_first_find_the_published_ratios_say_nothing() -> None:
    assert LITERAL.base_rate(0, 0) == LITERAL.base_rate(0, 7) == 0
    assert log_ratio(LITERAL, 0, 5, 0.0) == 0
    assert not is_significant(LITERAL, 0, 5, 0.0, 5)
    assert 0 < REPAIRED.base_rate(0, 0) < 1


def test_one_unlucky_event_does_not_cancel_everything_else() -> None:
    assert log_ratio(LITERAL, 0, 5, 0.1) == pytest.approx(math.log(SMALLEST_RATIO))
    # (0 + 4 * 0.1) / 9 / 0.1 = 0.444
    assert log_ratio(REPAIRED, 0, 5, 0.1) == pytest.approx(math.log(4 / 9))


def test_products_of_dependent_words_are_tamed() -> None:
    sums, events = np.array([6.0]), np.array([4])
    assert LITERAL.product(sums, events)[0] == 6.0
    # 6 / sqrt(4) = 3, and log 20 = 2.996 is the most that a factor may say
    assert REPAIRED.product(sums, events)[0] == pytest.approx(LARGEST_LOG_RATIO)
    assert REPAIRED.product(np.array([4.0]), events)[0] == pytest.approx(2.0)


@given(
    seen=st.integers(0, 1000),
    share=st.floats(0, 1),
    relevant=st.integers(0, 500),
    others=st.integers(0, 500),
)
def test_repaired_ratios_are_bounded_and_on_the_right_side_of_one(
    seen: int, share: float, relevant: int, others: int
) -> None:
    hits = int(seen * share)
    base = REPAIRED.base_rate(relevant, relevant + others)
    found = log_ratio(REPAIRED, hits, seen, base)
    assert abs(found) <= LARGEST_LOG_RATIO
    if seen and hits / seen > base:
        assert found > 0
    if seen and hits / seen < base:
        assert found < 0


def test_negative_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="negative"):
        InterestRule(significance=-1)


CONTENT, ADDRESS, LINKS, SIBLINGS = range(4)
H = "http://h.test/"


def factors(interest: LinkInterest, url: str) -> list[float]:
    found: list[float] = interest.log_factors([url])[0].tolist()
    return found


def test_a_url_is_its_words() -> None:
    assert url_words("https://www.Bees.test:81/hive-wax/a_b.html?q=caf%C3%A9&q=hive") == (
        *("www", "bees", "test", "81", "hive", "wax", "a", "b", "html", "q", "café"),
    )


def test_a_page_is_its_most_frequent_words() -> None:
    many = {f"w{number}": 1 + number // 2 for number in range(3 * WORDS_PER_PAGE)}
    kept = frequent_words(many)
    assert len(kept) == WORDS_PER_PAGE
    assert min(many[word] for word in kept) >= max(many[w] for w in many if w not in kept)


def test_links_between_fetched_pages_by_hand() -> None:
    # Of 20 links, 6 lead from relevant to relevant pages, 2 from relevant to others, 2 from others
    # to relevant ones, 10 from others to others: as shares 0.3, 0.1, 0.1, 0.5.
    outcomes = LinkOutcomes(6, 2, 2, 10)
    log_p, log_q = outcomes.log_p_and_q(LITERAL)
    # p = 0.3 / (0.4 * 0.4) = 1.875 and q = 0.1 / (0.6 * 0.4) = 0.41667
    assert math.exp(log_p) == pytest.approx(1.875)
    assert math.exp(log_q) == pytest.approx(0.1 / 0.24)
    # I_l of a page with m = 2 relevant and n = 1 other linking pages: p² q = 1.46484
    ratio = outcomes.log_ratios(LITERAL, np.array([2.0]), np.array([1.0]))[0]
    assert math.exp(ratio) == pytest.approx(1.875**2 * 0.1 / 0.24)


def test_repaired_links_shrink_and_divide_by_the_root() -> None:
    outcomes = LinkOutcomes(6, 2, 2, 10)
    base = 8.5 / 21
    log_p = math.log((6 + 4 * base) / 12 / base)
    log_q = math.log((2 + 4 * base) / 16 / base)
    assert outcomes.log_p_and_q(InterestRule()) == pytest.approx((log_p, log_q))
    ratio = outcomes.log_ratios(InterestRule(), np.array([2.0]), np.array([1.0]))[0]
    assert ratio == pytest.approx((2 * log_p + log_q) / math.sqrt(3))


def small_crawl(rule: InterestRule) -> LinkInterest:
    """Ten pages. The hub links to a, b, c (two of them relevant) and x; the rest is noise."""
    interest = LinkInterest(rule)
    interest.observe(crawled(H, words="hive", links=[f"{H}{name}" for name in "abcx"]))
    for name in "abc":
        interest.observe(crawled(f"{H}{name}", relevant=name != "c"))
    for number in range(6):
        interest.observe(crawled(f"http://noise.test/{number}"))
    return interest


def test_siblings_by_hand() -> None:
    # P(U) = 2 / 10; of x's siblings n = 3 were fetched and r = 2 relevant, expected e = 0.6:
    # I_s = 2 / 0.6 = 3.333
    found = factors(small_crawl(LITERAL), f"{H}x")
    assert math.exp(found[SIBLINGS]) == pytest.approx(2 / 0.6)
    # Repaired: P = 2.5 / 11, (2 + 4 P) / (3 + 4) / P
    base = 2.5 / 11
    found = factors(small_crawl(InterestRule()), f"{H}x")
    assert found[SIBLINGS] == pytest.approx(math.log((2 + 4 * base) / 7 / base))


def test_words_of_linking_pages_by_hand() -> None:
    # "hive" was on the page that links to a, b, c: 3 pages, 2 relevant. P(U|C) = 2/3, P(U) = 0.2.
    # S = 0.4667 / sqrt(0.16 / 10) = 3.69 as published, 0.4394 / sqrt(P (1 - P) / 3) = 1.82 repaired
    literal = small_crawl(LITERAL)
    literal.refresh()
    found = factors(literal, f"{H}x")
    assert math.exp(found[CONTENT]) == pytest.approx((2 / 3) / 0.2)
    strict = small_crawl(InterestRule(significance=1.9))
    strict.refresh()
    assert factors(strict, f"{H}x")[CONTENT] == 0
    mild = small_crawl(InterestRule(significance=1.8))
    mild.refresh()
    base = 2.5 / 11
    expected = math.log((2 + 4 * base) / 7 / base)
    assert factors(mild, f"{H}x")[CONTENT] == pytest.approx(expected)


def test_words_of_the_address_by_hand() -> None:
    interest = LinkInterest(LITERAL)
    for number in range(10):
        name = f"wax/{number}" if number < 4 else f"rain/{number}"
        interest.observe(crawled(f"{H}{name}", relevant=number < 3))
    # P(U) = 0.3. "wax": 3 of 4, ratio 2.5, S = 0.45 / sqrt(0.021) = 3.1; "rain": 0 of 6, S = 2.07;
    # "h" and "test": 3 of 10, ratio 1, S = 0.
    assert math.exp(factors(interest, f"{H}wax/new")[ADDRESS]) == pytest.approx(2.5)
    assert factors(interest, "http://other.org/")[ADDRESS] == 0


def test_without_a_linking_page_only_the_address_speaks() -> None:
    content, _, links, siblings = factors(small_crawl(InterestRule()), "http://new.test/")
    assert (content, links, siblings) == (0, 0, 0)


def test_relevant_linking_pages_raise_a_url_and_others_lower_it() -> None:
    interest = LinkInterest()
    for number in range(20):
        for kind in ("good", "bad"):
            start, end = f"http://{kind}.test/{number}", f"http://{kind}.test/{number}/next"
            interest.observe(crawled(start, relevant=kind == "good", links=[end]))
            interest.observe(crawled(end, relevant=kind == "good"))
    interest.observe(crawled("http://one.test/", relevant=True, links=["http://a.test/"]))
    interest.observe(crawled("http://two.test/", relevant=False, links=["http://b.test/"]))
    assert (
        factors(interest, "http://a.test/")[LINKS] > 0 > factors(interest, "http://b.test/")[LINKS]
    )


def test_a_child_fetched_earlier_counts_as_a_sibling() -> None:
    interest = LinkInterest()
    interest.observe(crawled(f"{H}old", relevant=True))
    interest.observe(crawled(H, links=[f"{H}old", f"{H}new"]))
    assert factors(interest, f"{H}new")[SIBLINGS] > 0


def test_a_redirected_page_is_the_child_of_who_linked_to_its_old_address() -> None:
    interest = LinkInterest()
    interest.observe(crawled(H, links=[f"{H}old", f"{H}new"]))
    interest.observe(crawled("http://moved.test/", relevant=True, asked=f"{H}old"))
    assert factors(interest, f"{H}new")[SIBLINGS] > 0


def test_factors_add_up_with_their_weights() -> None:
    literal, repaired = LinkInterest(LITERAL), LinkInterest()
    logs = np.array([[1.0, -0.5, 0.0, 0.25], [0.0, 0.0, 0.0, 0.0]])
    for interest in (literal, repaired):
        interest.weights = np.array([1.0, 2.0, 3.0, 4.0])
    # 1 - 1 + 0 + 1 = 1; divided by four in the repair
    assert literal.combine(logs).tolist() == pytest.approx([1.0, 0.0])
    assert repaired.combine(logs).tolist() == pytest.approx([1 / 4, 0.0])


def test_weights_bring_the_factors_to_one_scale() -> None:
    logs = np.array([[1.0, 0.2, 0.0, 2.0], [-1.0, -0.2, 0.0, 2.0]])
    repaired = LinkInterest()
    repaired.readjust(logs)
    # Standard deviations 1, 0.2, 0 and 0: what does not differ keeps its weight.
    assert repaired.weights.tolist() == pytest.approx([1.0, 5.0, 1.0, 1.0])
    literal = LinkInterest(LITERAL)
    literal.readjust(logs)
    # Mean magnitudes 1, 0.2, 0 and 2.
    assert literal.weights.tolist() == pytest.approx([1.0, 5.0, 1.0, 0.5])
    literal.readjust(np.zeros((0, 4)))
    assert literal.weights.tolist() == pytest.approx([1.0, 5.0, 1.0, 0.5])


def test_urls_that_nothing_is_known_of_say_nothing() -> None:
    interest = small_crawl(InterestRule())
    assert interest.log_ratios([f"{H}x"])[0] > 0
    assert LinkInterest().log_ratios([f"{H}x"])[0] == 0
    assert interest.log_ratios([]).shape == (0,)


def test_memory_stays_bounded() -> None:
    interest = LinkInterest(max_words=50, max_pages=10, max_urls=40)
    for number in range(200):
        links = [f"http://h{number}.test/{n}" for n in range(7)]
        words = " ".join(f"w{number}x{n}" for n in range(9))
        interest.observe(crawled(f"http://h.test/{number}", words=words, links=links))
        assert len(interest._words) <= 50
        assert len(interest._links._parents) <= 40
    assert len(interest._links.words) == 10
    assert all((words < 50).all() for words in interest._links.words)
    assert len(interest.snapshot()) < 20_000
    assert np.isfinite(interest.log_factors([f"http://h{n}.test/1" for n in range(200)])).all()


def test_rare_words_make_room_for_new_ones() -> None:
    counts = EventCounts(4)
    counts.count(counts.learn(["bee", "hive"]), hit=True)
    counts.count(counts.learn(["hive", "wax"]), hit=False)
    counts.count(counts.learn(["rain"]), hit=False)
    assert counts.is_full
    assert counts.learn(["new"]).tolist() == [-1]
    # "hive" was seen twice; of those seen once the newest stays.
    assert counts.make_room().tolist() == [-1, 0, -1, 1]
    assert counts.find(["hive", "rain", "bee"]).tolist() == [0, 1, -1]
    assert (counts.seen[:3].tolist(), counts.hits[:3].tolist()) == ([2, 1, 0], [1, 0, 0])


def test_a_snapshot_goes_on_where_it_was_taken() -> None:
    interest = small_crawl(InterestRule())
    interest.readjust(np.array([[1.0, 0, 0, 0], [0, 1, 0, 0]]))
    later = LinkInterest()
    later.restore(interest.snapshot())
    for each in (interest, later):
        each.observe(crawled(f"{H}y", relevant=True, words="hive", links=[f"{H}z", f"{H}x"]))
    urls = [f"{H}x", f"{H}z", "http://noise.test/9"]
    assert later.log_ratios(urls).tolist() == interest.log_ratios(urls).tolist()
    assert later.pages == interest.pages == 11


@pytest.mark.parametrize("snapshot", [b"", b"nonsense", b"\x80"])
def test_a_snapshot_that_makes_no_sense_changes_nothing(snapshot: bytes) -> None:
    interest = small_crawl(InterestRule())
    before = interest.log_ratios([f"{H}x"])
    with pytest.raises(ValueError, match="no record"):
        interest.restore(snapshot)
    assert interest.log_ratios([f"{H}x"]) == before


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.integers(0, 8)), max_size=40))
def test_whatever_comes_the_ratios_are_finite_and_the_same_again(
    story: list[tuple[int, bool, int]],
) -> None:
    def learn(rule: InterestRule) -> list[float]:
        interest = LinkInterest(rule, max_words=5, max_pages=4, max_urls=6)
        for page, relevant, link in story:
            words = f"w{page} w{link}"
            url, linked = f"http://h.test/{page}", f"http://h.test/{link}"
            interest.observe(crawled(url, relevant=relevant, words=words, links=[linked]))
        interest.refresh()
        found: list[float] = interest.log_ratios([f"http://h.test/{n}" for n in range(9)]).tolist()
        return found

    for rule in (InterestRule(), LITERAL):
        ratios = learn(rule)
        assert np.isfinite(ratios).all()
        assert ratios == learn(rule)
