"""What is not worth a place in the frontier stays out of it, for a reason that is kept."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from trailhound.crawling.gate import (
    DNS_REST_SECONDS,
    REFRESH_PRIORITY,
    GuardedFrontier,
    LinkGate,
    Refusal,
)
from trailhound.crawling.traps import HostBudget, HostCaps, TrapGuard
from trailhound.errors import StorageError
from trailhound.frontier.base import Frontier
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import (
    Candidate,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)

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


def test_a_server_of_any_number_of_names_has_one_share() -> None:
    budget = HostBudget(CAPS)
    fetched = 0
    while budget.allows(f"x{fetched}.trap.com") and fetched < 100:
        budget.record(f"x{fetched}.trap.com", relevant=False)
        fetched += 1
    assert fetched == 2 * 5
    assert "10 pages of *.trap.com fetched" in (budget.reason_against("new.trap.com") or "")
    assert budget.allows("x.other.com")
    budget.record("x0.trap.com", relevant=True)
    assert budget.allows("new.trap.com"), "2 * 20 + 4"


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


PARENT = "http://a.test/"


def link(url: str, priority: float = 1.0) -> Candidate:
    return Candidate(url, priority, b"m", PARENT, 1)


def not_in_dns(gate: LinkGate, url: str) -> None:
    event = PageEvent(1, url, url, Outcome.UNKNOWN_HOST, PARENT, 1, 1.0, 1, 1)
    gate.keep(FinishedPage(event, link(url), FetchResult(url, Outcome.UNKNOWN_HOST, url), None))


def dealt_with(gate: LinkGate, url: str, relevant: bool = False, parent: str = PARENT) -> None:
    event = PageEvent(1, url, url, Outcome.FETCHED, parent, 1, 1.0, 1, 1, Relevance(0.5, relevant))
    result = FetchResult(url, Outcome.FETCHED, url)
    gate.keep(FinishedPage(event, link(url), result, Page(url)))


class States:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.refused: list[Refusal] = []

    def save_state(self, name: str, data: bytes) -> None:
        self.kept[name] = data

    def state(self, name: str) -> bytes | None:
        return self.kept.get(name)

    def note_refusals(self, refusals: Iterable[Refusal]) -> None:
        self.refused += refusals


def narrow(store: States | None = None) -> LinkGate:
    hosts = HostBudget(HostCaps(base_pages=3, barren_pages=2, pages_per_relevant=1))
    return LinkGate(hosts=hosts, store=store)


def test_tracking_parameters_are_taken_off_before_queueing() -> None:
    frontier = GuardedFrontier(MemoryFrontier(), LinkGate())
    assert frontier.add([link("http://a.test/x?utm_source=y"), link("http://a.test/x")]) == 1
    (candidate,) = frontier.lease(5, 0.0)
    assert candidate == link("http://a.test/x")


def test_traps_are_refused_with_reason_and_parent() -> None:
    states = States()
    gate = LinkGate(TrapGuard(), store=states)
    frontier = GuardedFrontier(MemoryFrontier(), gate)
    trap = "http://a.test" + "/x/y" * 12 + "/"
    assert frontier.add([link(trap), link("http://a.test/fine")]) == 1
    dealt_with(gate, PARENT)
    ((url, reason, parent),) = states.refused
    assert (url, parent) == (trap, PARENT)
    assert reason
    gate.close()
    assert len(states.refused) == 1, "each is told once"


def test_a_seed_is_never_refused() -> None:
    seed = Candidate("http://a.test" + "/x/y" * 12 + "/?utm_source=z", 1e18)
    frontier = GuardedFrontier(MemoryFrontier(), LinkGate())
    assert frontier.add([seed]) == 1
    assert frontier.lease(1, 0.0) == [seed]


def test_a_host_that_gives_nothing_gets_no_more_links_nor_fetches() -> None:
    states = States()
    gate = narrow(states)
    frontier = GuardedFrontier(MemoryFrontier(), gate)
    frontier.add([link("http://b.test/1"), link("http://c.test/1", 0.5)])
    for page in range(2):
        dealt_with(gate, f"http://b.test/{page}")
    assert frontier.add([link("http://b.test/2")]) == 0
    assert [candidate.url for candidate in frontier.lease(2, 0.0)] == ["http://c.test/1"]
    assert frontier.outcome_of("http://b.test/1") is Outcome.SKIPPED
    gate.close()
    assert [url for url, _, _ in states.refused] == ["http://b.test/2", "http://b.test/1"]


def test_a_host_that_dns_does_not_know_twice_is_left_alone_and_its_urls_wait() -> None:
    gate = LinkGate()
    frontier = GuardedFrontier(MemoryFrontier(), gate)
    frontier.add([Candidate("http://dead.test/seed", 2.0), link("http://dead.test/1")])
    not_in_dns(gate, "http://dead.test/2")
    assert gate.admit(link("http://dead.test/3")) is not None, "once is no rule"
    not_in_dns(gate, "http://dead.test/4")
    assert len(frontier.lease(5, 1000.0)) == 2
    frontier.requeue([Candidate("http://dead.test/seed", 2.0), link("http://dead.test/1")])
    frontier.finish("http://dead.test/4", Outcome.UNKNOWN_HOST)
    assert frontier.lease(5, 1000.0) == []
    assert frontier.ready_in(1000.0) == DNS_REST_SECONDS
    assert frontier.stats().waiting == 2, "DNS may have been in trouble, not the host"


def test_a_host_that_answers_in_between_is_not_dead() -> None:
    gate = LinkGate()
    for _ in range(3):
        not_in_dns(gate, "http://b.test/1")
        dealt_with(gate, "http://b.test/2")
    assert gate.admit_fetch(link("http://b.test/3"))


def test_another_look_at_a_find_takes_nothing_of_its_hosts_share() -> None:
    gate = narrow()
    for page in range(2):
        dealt_with(gate, f"http://b.test/{page}")
    assert not gate.admit_fetch(link("http://b.test/x"))
    again = link("http://b.test/0", REFRESH_PRIORITY)
    assert gate.admit_fetch(again)
    gate.looked_at_again = frozenset([again.url])
    again = link(again.url, 0.5)
    assert gate.admit_fetch(again), "ranked anew"
    event = PageEvent(1, again.url, again.url, Outcome.FETCHED, PARENT, 1, 1.0, 1, 1)
    event = replace(event, relevance=Relevance(0.9, True))
    result = FetchResult(again.url, Outcome.FETCHED, again.url)
    gate.keep(FinishedPage(event, again, result, Page(again.url)))
    assert not gate.admit_fetch(link("http://b.test/x")), "it was counted before"


def test_rules_hold_for_what_a_strategy_names_and_not_for_what_a_person_does() -> None:
    gate = narrow()
    for page in range(2):
        dealt_with(gate, f"http://b.test/{page}")
    seed = Candidate("http://b.test/x?utm_source=mail", 1e18)
    assert gate.admit(seed) == seed
    assert gate.admit_fetch(seed)
    named = Candidate("http://c.test/x?utm_source=mail", 1.0)
    assert gate.admit(named) == named, "it knows the page by this address"
    assert gate.admit(Candidate("http://b.test/y", 1.0)) is None, "its host has had its share"
    boasting = gate.admit(link("http://b.test/z", math.inf))
    assert boasting is None, "a strategy may give links any priority"
    assert gate.admit_fetch(Candidate(seed.url, 0.0)), "whatever a frontier makes of priorities"


def test_relevant_pages_and_links_to_them_earn_a_host_more() -> None:
    gate = narrow()
    for page in range(2):
        dealt_with(gate, f"http://b.test/{page}")
    assert gate.admit(link("http://b.test/x")) is None
    dealt_with(gate, "http://c.test/find", relevant=True, parent="http://b.test/0")
    assert gate.admit(link("http://b.test/x")) is not None


def test_what_the_gate_knows_survives_a_restart() -> None:
    states = States()
    gate = narrow(states)
    for page in range(2):
        dealt_with(gate, f"http://b.test/{page}")
    gate.close()
    assert narrow(states).admit(link("http://b.test/x")) is None
    assert narrow().admit(link("http://b.test/x")) is not None


def test_a_page_that_has_not_changed_counts_as_fetched() -> None:
    frontier = GuardedFrontier(MemoryFrontier(), LinkGate())
    frontier.add([link("http://a.test/x")])
    frontier.lease(1, 0.0)
    frontier.finish("http://a.test/x", Outcome.NOT_MODIFIED)
    assert frontier.outcome_of("http://a.test/x") is Outcome.FETCHED


def test_everything_else_goes_straight_through() -> None:
    inner = MemoryFrontier()
    frontier: Frontier = GuardedFrontier(inner, LinkGate())
    frontier.requeue([link("http://a.test/x"), link("http://b.test/x", 2.0)])
    frontier.mark_seen("http://a.test/seen", Outcome.FETCHED)
    frontier.delay_host("b.test", 10.0)
    assert frontier.ready_in(0.0) == 0.0
    assert frontier.pages_of("a.test") == 0
    state = frontier.state_of("http://a.test/x")
    assert state == inner.state_of("http://a.test/x")
    assert frontier.rescore(lambda memories: dict.fromkeys(memories, 5.0)) == 2
    assert frontier.stats() == inner.stats()
    frontier.commit()
    frontier.close()


def test_each_rule_can_be_left_out() -> None:
    gate = LinkGate()
    assert gate.admit(link("http://a.test" + "/x/y" * 12 + "/")) is not None
    for page in range(2):
        dealt_with(gate, f"http://b.test/{page}")
    assert gate.admit(link("http://b.test/x")) is not None


def test_of_too_many_hosts_those_that_gave_least_are_counted_no_longer() -> None:
    budget = HostBudget(HostCaps(barren_pages=5), max_hosts=10)
    for host in range(100):
        for _ in range(5 if host % 25 == 0 else 1):
            budget.record(f"h{host}", relevant=False)
        assert len(budget) <= 10
    assert not any(budget.allows(f"h{host}") for host in (0, 25, 50, 75))
    assert all(budget.allows(f"h{host}") for host in (1, 99))
