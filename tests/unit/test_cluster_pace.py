"""How often shards and their driver talk."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from trailhound.cluster.granting import LEAST_PAUSE_SECONDS, PAUSE_SHARE, Pace
from trailhound.cluster.outbox import GATHER_SECONDS, Sending
from trailhound.cluster.shard import Shard
from trailhound.crawling.budget import StopReason


def test_pauses_grow_with_the_crawl_within_their_bounds() -> None:
    now = [100.0]
    pace = Pace(2.0, lambda: now[0])

    assert pace.seconds == LEAST_PAUSE_SECONDS
    now[0] += 10.0
    assert pace.seconds == 10.0 / PAUSE_SHARE
    assert pace.is_growing
    now[0] += 3_600.0
    assert pace.seconds == 2.0
    assert not pace.is_growing


def test_a_pause_may_be_shorter_than_the_least() -> None:
    assert Pace(0.001).seconds == 0.001


@pytest.mark.parametrize(
    ("age_seconds", "is_granted_more", "goes_now"),
    [
        (0.0, True, True),  # at first every link counts
        (PAUSE_SHARE * GATHER_SECONDS, True, False),
        (PAUSE_SHARE * GATHER_SECONDS, False, True),  # others may have nothing to do without it
    ],
)
def test_links_of_a_shard_that_waits_travel_at_once_if_that_matters(
    age_seconds: float, is_granted_more: bool, goes_now: bool
) -> None:
    now = [100.0]
    sending = Sending(0, Mock(), Mock(), Mock(), shards=4)
    sending._pace = Pace(GATHER_SECONDS, lambda: now[0])
    now[0] += age_seconds

    sending.hurry(is_granted_more=is_granted_more)

    assert sending._hurried.is_set() == goes_now


def test_a_shard_that_is_granted_nothing_more_sends_what_it_has() -> None:
    shard = Shard.__new__(Shard)
    shard._sending = sending = Mock()
    shard._waits_for, shard._was_waiting = StopReason.REQUESTS_SPENT, False

    shard._hurry_at_the_end()
    assert not sending.hurry.called, "it may be granted more now"
    shard._hurry_at_the_end()
    sending.hurry.assert_called_once_with()
