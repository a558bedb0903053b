"""A frontier that was split by host, and joined again, knows what it knew."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from trailhound.frontier.base import UrlStatus
from trailhound.frontier.reading import all_urls, best_waiting, check_places, host_states, last_page
from trailhound.frontier.splitting import join_frontiers, split_frontier
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate, Outcome

SHARDS = 3


def owner(host: str) -> int:
    return len(host) % SHARDS


def url(random: Random) -> str:
    scheme = random.choice(["http", "https"])
    return f"{scheme}://{'h' * random.randint(1, 7)}.test/{random.randint(0, 40)}"


def candidate(random: Random) -> Candidate:
    parent = random.choice([None, url(random), "http://elsewhere.test/"])
    memory = random.choice([b"", b"same", random.randbytes(3)])
    return Candidate(url(random), random.random(), memory, parent, random.randint(0, 3))


def fill(path: Path, seed: int, steps: int = 60) -> None:
    """Everything that a crawl does to a frontier, at random."""
    random, frontier = Random(seed), SqliteFrontier(path)
    for step in range(steps):
        siblings = [candidate(random) for _ in range(random.randint(1, 9))]
        parent, depth = siblings[0].parent, siblings[0].depth
        frontier.add(Candidate(c.url, c.priority, c.memory, parent, depth) for c in siblings)
        for leased in frontier.lease(random.randint(0, 2), 1e12):
            frontier.delay_host(leased.url.split("/")[2], random.random())
            if random.random() < 0.3:
                frontier.mark_seen(url(random), Outcome.FETCHED)
            frontier.note_page(step)
            frontier.finish(leased.url, random.choice([Outcome.FETCHED, Outcome.TIMEOUT]))
        if random.random() < 0.2:
            frontier.rescore(lambda waiting: {each: random.random() for each in waiting})
        if random.random() < 0.1:
            frontier.requeue([candidate(random)])
    frontier.close()


def known(path: Path) -> dict[str, object]:
    """All that a frontier can be asked about its URLs."""
    frontier = SqliteFrontier(path)
    states: dict[str, object] = {each: frontier.state_of(each) for each, _ in all_urls(path)}
    frontier.close()
    return states


@pytest.mark.parametrize("seed", range(4))
def test_splitting_and_joining_loses_nothing(tmp_path: Path, seed: int) -> None:
    source, joined = tmp_path / "frontier.db", tmp_path / "joined.db"
    fill(source, seed)
    shards = [tmp_path / f"{number}.db" for number in range(SHARDS)]
    split_frontier(source, shards, owner)
    for number, shard in enumerate(shards):
        check_places(shard)
        assert {owner(host.name) for host in host_states(shard)} <= {number}
    parts = [known(shard) for shard in shards]
    assert sum(map(len, parts)) == len(known(source))
    assert {each: part[each] for part in parts for each in part} == known(source)
    join_frontiers(shards, joined, page=7)
    check_places(joined)
    assert known(joined) == known(source)
    assert sorted(host_states(joined)) == sorted(host_states(source))
    in_order = [each.priority for each in best_waiting(joined, 1000)]
    assert in_order == [each.priority for each in best_waiting(source, 1000)]
    assert last_page(joined) == 7


def test_an_empty_frontier_can_be_split_and_joined(tmp_path: Path) -> None:
    SqliteFrontier(tmp_path / "frontier.db").close()
    shards = [tmp_path / "a.db", tmp_path / "b.db"]
    split_frontier(tmp_path / "frontier.db", shards, lambda _: 0)
    join_frontiers(shards, tmp_path / "joined.db", page=0)
    assert not known(tmp_path / "joined.db")


def test_what_ended_for_one_has_ended_for_all(tmp_path: Path) -> None:
    paths = [tmp_path / "a.db", tmp_path / "b.db"]
    waiting, redirected = map(SqliteFrontier, paths)
    waiting.add([Candidate("http://b.test/end", 0.5, b"m"), Candidate("http://b.test/2", 0.4)])
    redirected.add([Candidate("http://a.test/", 0.5)])
    redirected.lease(1, 1.0)
    redirected.mark_seen("http://b.test/end", Outcome.FETCHED)
    redirected.delay_host("b.test", 50.0)
    redirected.finish("http://a.test/", Outcome.FETCHED)
    waiting.close()
    redirected.close()
    for order in (paths, paths[::-1]):
        target = tmp_path / f"joined-{order[0].stem}.db"
        join_frontiers(order, target, page=1)
        frontier = SqliteFrontier(target)
        assert frontier.outcome_of("http://b.test/end") is Outcome.FETCHED
        state = frontier.state_of("http://b.test/2")
        assert state is not None
        assert state.status is UrlStatus.WAITING
        assert frontier.ready_at("b.test") == 50.0
        assert frontier.stats().discovered == 3
        frontier.close()
