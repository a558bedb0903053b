"""What is not worth a place in the frontier stays out of it, for a reason that is kept."""

from __future__ import annotations

from trailhound.crawling.gate import LinkGate, Refusal
from trailhound.crawling.guarded_frontier import GuardedFrontier
from trailhound.crawling.host_budget import HostBudget, HostCaps
from trailhound.frontier.base import Frontier
from trailhound.frontier.memory import MemoryFrontier
from trailhound.records import Candidate, FetchResult, Outcome, Page, PageEvent, Relevance

PARENT = "http://a.test/"


def link(url: str, priority: float = 1.0) -> Candidate:
    return Candidate(url, priority, b"m", PARENT, 1)


def dealt_with(gate: LinkGate, url: str, relevant: bool = False, parent: str = PARENT) -> None:
    event = PageEvent(1, url, url, Outcome.FETCHED, parent, 1, 1.0, 1, 1, Relevance(0.5, relevant))
    gate.keep(event, link(url), FetchResult(url, Outcome.FETCHED, url), Page(url))


class States:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def save_state(self, name: str, data: bytes) -> None:
        self.kept[name] = data

    def state(self, name: str) -> bytes | None:
        return self.kept.get(name)


def narrow(store: States | None = None) -> LinkGate:
    hosts = HostBudget(HostCaps(base_pages=3, barren_pages=2, pages_per_relevant=1))
    return LinkGate(hosts=hosts, store=store)


def test_tracking_parameters_are_taken_off_before_queueing() -> None:
    frontier = GuardedFrontier(MemoryFrontier(), LinkGate())
    assert frontier.add([link("http://a.test/x?utm_source=y"), link("http://a.test/x")]) == 1
    (candidate,) = frontier.lease(5, 0.0)
    assert candidate == link("http://a.test/x")


def test_traps_are_refused_with_reason_and_parent() -> None:
    gate = LinkGate()
    frontier = GuardedFrontier(MemoryFrontier(), gate)
    trap = "http://a.test" + "/x/y" * 12 + "/"
    assert frontier.add([link(trap), link("http://a.test/fine")]) == 1
    (refusal,) = gate.take_refusals()
    assert (refusal.url, refusal.parent) == (trap, PARENT)
    assert refusal.reason
    assert gate.take_refusals() == []


def test_a_seed_is_never_refused() -> None:
    seed = Candidate("http://a.test" + "/x/y" * 12 + "/?utm_source=z", 1.0)
    frontier = GuardedFrontier(MemoryFrontier(), LinkGate())
    assert frontier.add([seed]) == 1
    assert frontier.lease(1, 0.0) == [seed]


def test_a_host_that_gives_nothing_gets_no_more_links_nor_fetches() -> None:
    gate = narrow()
    frontier = GuardedFrontier(MemoryFrontier(), gate)
    frontier.add([link("http://b.test/1"), link("http://c.test/1", 0.5)])
    for page in range(2):
        dealt_with(gate, f"http://b.test/{page}")
    assert frontier.add([link("http://b.test/2")]) == 0
    assert [candidate.url for candidate in frontier.lease(2, 0.0)] == ["http://c.test/1"]
    assert frontier.outcome_of("http://b.test/1") is Outcome.SKIPPED
    refused = [refusal.url for refusal in gate.take_refusals()]
    assert refused == ["http://b.test/2", "http://b.test/1"]


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


def test_refusals_are_plain_records() -> None:
    assert Refusal("u", "r", None).parent is None
