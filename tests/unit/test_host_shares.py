"""What speaks against hosts in a crawl with trail."""

from __future__ import annotations

import numpy as np

from trailhound.strategies.trail.host_shares import (
    CURIOSITY,
    HELD_BACK,
    against_hosts,
    crowding,
    is_held_back,
)
from trailhound.strategies.trail.link_table import LinkTable


def after(**labels: list[float]) -> LinkTable:
    """A crawl that has fetched pages of these hosts, in turn; each turned out so relevant."""
    table = LinkTable()
    for number in range(max(map(len, labels.values()))):
        for host, turned_out in labels.items():
            if number < len(turned_out):
                table.label({table.node(f"http://{host}.test/{number}"): turned_out[number]})
    return table


def vouched(table: LinkTable, host: str) -> LinkTable:
    """The same when a page of the host was marked in the session."""
    table.label({table.node(f"http://{host}.test/shown"): 1.0}, browsed=True)
    return table


def waits(table: LinkTable, host: str) -> bool:
    node = np.array([table.node(f"http://{host}.test/another")])
    return bool(is_held_back(-against_hosts(table, node, crowding(table)))[0])


def test_a_barren_host_waits_once_it_has_had_its_share() -> None:
    found = [1.0, 0.0] * 15
    assert waits(after(huge=[0.0] * 60, other=found), "huge")
    assert not waits(after(huge=[0.0] * 20, other=found), "huge")
    assert not waits(after(huge=[0.0] * 60, other=found), "other")


def test_a_host_may_have_more_while_it_gives_more_than_others() -> None:
    assert not waits(after(good=[0.9, 0.9, 0.0] * 20, other=[0.0] * 20), "good")


def test_a_host_on_which_everything_is_wanted_is_not_believed() -> None:
    assert waits(after(lies=[0.95] * 60, other=[0.0, 0.0, 0.9] * 7), "lies")


def test_a_host_is_believed_on_which_the_person_has_marked_a_page() -> None:
    for host, is_believed in (("good", True), ("third", False)):
        table = after(good=[0.95] * 60, other=[0.0, 0.0, 0.9] * 7)
        assert waits(vouched(table, host), "good") is not is_believed
    assert waits(vouched(after(bad=[0.0] * 60, other=[0.9] * 20), "bad"), "bad"), "nothing is there"


def test_one_host_alone_never_waits() -> None:
    assert not len(crowding(after(only=[0.0] * 100)))


def test_pages_of_the_session_do_not_count() -> None:
    table = after(host=[0.0] * 5, other=[0.0] * 5)
    for number in range(100):
        table.label({table.node(f"http://host.test/shown/{number}"): 0.0}, browsed=True)
    assert not waits(table, "host")


def test_every_other_priority_is_above_one_that_is_held_back() -> None:
    least, most = np.log(1e-9), np.log(2.0)
    told = np.array([least, most, least - HELD_BACK, most - HELD_BACK])
    assert is_held_back(told).tolist() == [False, False, True, True]


def test_hosts_not_seen_yet_come_sooner_until_something_is_found() -> None:
    def lead_of_a_new_host(table: LinkTable) -> float:
        nodes = np.array([table.node(f"http://{host}.test/next") for host in ("seen", "new")])
        seen, new = against_hosts(table, nodes, crowding(table)).tolist()
        return float(seen - new)

    assert lead_of_a_new_host(after(seen=[0.0] * 5)) == CURIOSITY
    assert lead_of_a_new_host(after(seen=[1.0] * 9)) == CURIOSITY / 10
