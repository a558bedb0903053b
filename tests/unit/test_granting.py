"""Requests go along one line of all shards' best links, and never beyond the budget."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from trailhound.cluster.granting import (
    EXACT,
    MAX_TOLD,
    ShardReport,
    able_soon,
    grant,
    slice_size,
    steps,
)

PRIORITIES = st.lists(st.floats(-20, 5), max_size=60)
COUNTS = st.integers(0, 500)


@st.composite
def reports(draw: st.DrawFn) -> list[ShardReport]:
    found = []
    for shard in range(draw(st.integers(1, 6))):
        used = draw(COUNTS)
        limit = used + draw(st.integers(0, 20))
        best = draw(st.none() | PRIORITIES.map(steps))
        found.append(ShardReport(shard, used, limit, best, draw(st.none() | st.integers(0, 30))))
    return found


def fresh(*queues: Sequence[float]) -> list[ShardReport]:
    return [ShardReport(shard, 0, 0, steps(queue)) for shard, queue in enumerate(queues)]


@given(reports(), COUNTS, st.integers(0, 100))
def test_limits_are_never_lowered_and_stay_within_the_budget(
    told: list[ShardReport], budget: int, size: int
) -> None:
    limits = grant(told, budget, size)
    before = {report.shard: report.limit for report in told}
    assert all(limit > before[shard] for shard, limit in limits.items())
    total = sum((before | limits).values())
    assert total <= max(budget, sum(before.values()))
    spare = sum(limits[report.shard] - report.used for report in told if report.shard in limits)
    assert spare <= size


@given(reports(), st.integers(0, 100))
def test_nobody_gets_more_than_it_can_use(told: list[ShardReport], size: int) -> None:
    limits = grant(told, 10_000, size)
    for report in told:
        if report.shard in limits and report.best is not None:
            waiting = sum(count for count, _ in report.best)
            able = waiting if report.able is None else min(waiting, report.able)
            assert limits[report.shard] - report.used <= able


@given(st.lists(st.lists(st.floats(-20, 5), max_size=EXACT), min_size=1, max_size=5))
def test_the_slice_goes_to_the_best_links_of_all(queues: list[list[float]]) -> None:
    size = 10
    limits = grant(fresh(*queues), 1000, size)
    links = sorted((priority for queue in queues for priority in queue), reverse=True)
    taken = sorted(
        (
            priority
            for shard, limit in limits.items()
            for priority in sorted(queues[shard], reverse=True)[:limit]
        ),
        reverse=True,
    )
    assert taken == links[:size]


def test_a_grant_that_is_not_used_comes_back_when_its_shard_lowers_its_limit() -> None:
    holds = [ShardReport(0, 5, 10, steps([1.0])), ShardReport(1, 5, 5, steps([0.0] * 9))]
    assert grant(holds, 15, 5) == {}
    gave_back = [ShardReport(0, 5, 5, []), holds[1]]
    assert grant(gave_back, 15, 5) == {1: 10}


def test_a_slow_host_with_the_best_links_does_not_hold_up_the_others() -> None:
    able = able_soon(hosts=1, delay_seconds=2.0, within_seconds=5.0)
    told = [ShardReport(0, 0, 0, steps([9.0] * 20), able), ShardReport(1, 0, 0, steps([1.0] * 20))]
    assert grant(told, 100, 10) == {0: 3, 1: 7}
    assert able_soon(hosts=1, delay_seconds=0.0, within_seconds=5.0) is None


def test_seeds_come_first_and_a_shard_that_knows_nothing_yet_may_begin() -> None:
    told = [*fresh([5.0] * 10, [1e18]), ShardReport(2, 0, 0, None)]
    assert grant(told, 100, 2) == {1: 1, 2: 1}


def test_a_report_is_short_and_tells_of_every_link_once() -> None:
    told = steps(float(place) for place in range(3000))
    assert sum(count for count, _ in told) == 3000
    assert len(told) < EXACT + 12
    assert [priority for _, priority in told] == sorted((p for _, p in told), reverse=True)
    assert sum(count for count, _ in steps([0.0] * 10_000)) == MAX_TOLD


def test_slices_grow_with_the_crawl() -> None:
    sizes = [slice_size(used, 4) for used in (0, 400, 10_000, 10**9)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 4
    assert sizes[-1] == slice_size(10**12, 4)
