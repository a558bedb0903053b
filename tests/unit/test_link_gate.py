"""What is not worth a place in the frontier stays out of it, for a reason that is kept."""

from __future__ import annotations

from collections.abc import Iterable

from trailhound.crawling.gate import GuardedFrontier, LinkGate, Refusal
from trailhound.crawling.host_budget import HostBudget, HostCaps
from trailhound.crawling.traps import TrapGuard
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

PARENT = "http://a.test/"


def link(url: str, priority: float = 1.0) -> Candidate:
    return Candidate(url, priority, b"m", PARENT, 1)


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
    seed = Candidate("http://a.test" + "/x/y" * 12 + "/?utm_source=z", 1.0)
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
