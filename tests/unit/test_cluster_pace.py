"""How often shards and their driver talk."""

from __future__ import annotations

from trailhound.cluster.pace import LEAST_SECONDS, SHARE, Pace


def test_pauses_grow_with_the_crawl_within_their_bounds() -> None:
    now = [100.0]
    pace = Pace(2.0, lambda: now[0])

    assert pace.seconds == LEAST_SECONDS
    now[0] += 10.0
    assert pace.seconds == 10.0 / SHARE
    now[0] += 3_600.0
    assert pace.seconds == 2.0


def test_a_pause_may_be_shorter_than_the_least() -> None:
    assert Pace(0.001).seconds == 0.001
