"""Shares of a crawl by what a host gives."""

from __future__ import annotations

import pytest

from trailhound.crawling.host_budget import HostBudget, HostCaps
from trailhound.errors import StorageError

CAPS = HostCaps(base_pages=20, barren_pages=5, pages_per_relevant=4)


def fetch_all(budget: HostBudget, host: str, *relevant_pages: int, most: int = 1000) -> int:
    """Fetch as long as it is allowed; how many pages that were."""
    for number in range(most):
        if not budget.allows(host):
            return number
        budget.record(host, number in relevant_pages)
    return most


def test_a_host_that_gives_nothing_is_cut_early() -> None:
    assert fetch_all(HostBudget(CAPS), "barren.test") == 5


def test_a_relevant_page_earns_the_base_and_each_one_more() -> None:
    assert fetch_all(HostBudget(CAPS), "some.test", 3) == 20 + 4
    assert fetch_all(HostBudget(CAPS), "more.test", 3, 10, 15) == 20 + 3 * 4


def test_a_host_that_keeps_giving_is_never_cut() -> None:
    assert fetch_all(HostBudget(CAPS), "rich.test", *range(0, 1000, 4)) == 1000


def test_whatever_it_gives_a_hard_limit_holds() -> None:
    capped = HostCaps(base_pages=20, barren_pages=5, pages_per_relevant=4, max_pages=100)
    assert fetch_all(HostBudget(capped), "rich.test", *range(1000)) == 100
    tight = HostCaps(max_pages=2)
    assert fetch_all(HostBudget(tight), "barren.test") == 2


def test_links_to_relevant_pages_elsewhere_count_for_a_hub() -> None:
    budget = HostBudget(CAPS)
    budget.credit("hub.test")
    assert fetch_all(budget, "hub.test") == 24


def test_hosts_are_counted_apart_and_reasons_have_figures() -> None:
    budget = HostBudget(CAPS)
    fetch_all(budget, "barren.test")
    assert budget.reason_against("other.test") is None
    assert budget.reason_against("barren.test") == (
        "host-budget: 5 pages of barren.test fetched, of which 0 counted as relevant; that allows 5"
    )


def test_counts_survive_a_restart() -> None:
    before, after = HostBudget(CAPS), HostBudget(CAPS)
    fetch_all(before, "barren.test")
    before.record("bücher.test", relevant=True)
    after.restore(before.to_bytes())
    assert not after.allows("barren.test")
    assert after.allows("bücher.test")
    assert before.to_bytes() == after.to_bytes()
    with pytest.raises(StorageError, match="counted anew"):
        after.restore(b"[]")
