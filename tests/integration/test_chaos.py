"""A tormented crawl of a hostile web keeps its promises; ``make bench`` does it for longer."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.chaos.crawl import held_bytes
from benchmarks.chaos.kinds import KINDS
from benchmarks.chaos.proof import Request, check_delays, ended_well
from benchmarks.chaos.rounds import Report, run_round
from benchmarks.chaos.web import HEALTHY_HOSTS, ChaosWeb

HOSTS = 130


@pytest.mark.skipif(sys.platform != "linux", reason="limits and processes of Linux")
def test_a_tormented_crawl_of_a_hostile_web_keeps_its_promises(tmp_path: Path) -> None:
    report = Report()
    run_round(tmp_path, ChaosWeb(5, HOSTS, heavy=False), 4, report)
    (found,) = report.rounds
    assert report.kills >= 4
    assert len(report.kinds) == HOSTS
    assert found.hosts >= HOSTS + HEALTHY_HOSTS - 10
    assert found.broken == []


@pytest.mark.skipif(sys.platform != "linux", reason="processes of Linux")
def test_libraries_that_processes_share_are_counted_once() -> None:
    alone = held_bytes([os.getpid()])
    assert 0 < alone < held_bytes([os.getpid(), os.getpid()]) < 2 * alone


def test_there_are_enough_kinds_of_misbehaviour() -> None:
    assert len(KINDS) >= 300
    assert all("." not in name and name == name.lower() for name in KINDS)


def test_a_web_follows_from_its_seed() -> None:
    web, again, other = ChaosWeb(1, 700), ChaosWeb(1, 700), ChaosWeb(2, 700)
    assert web.hostile == again.hostile
    assert list(web.hostile) != list(other.hostile)
    assert len(web.hostile) == 700
    times = Counter(kind.name for kind in web.hostile.values())
    assert times.keys() == KINDS.keys()
    assert len(web.pages) == HEALTHY_HOSTS


def test_every_host_is_linked_from_healthy_pages() -> None:
    web = ChaosWeb(1, 400)
    found, waiting = set(web.seeds), list(web.seeds)
    while waiting:
        for url in web.links_of(waiting.pop()):
            if url not in found:
                found.add(url)
                waiting.append(url)
    assert web.urls <= found
    assert {kind.url_of(host) for host, kind in web.hostile.items()} <= found


def test_the_check_of_delays_would_notice() -> None:
    web = ChaosWeb(1, 10)
    hosts = {host: web.delay_seconds(host) for host in ("h0.healthy.test", "h3.healthy.test")}
    assert hosts == {"h0.healthy.test": 0.0, "h3.healthy.test": 1.0}
    for host, delay in hosts.items():
        due = max(delay, 0.2)
        fine = [Request(0.0, host, "/robots.txt"), Request(due, host, "/")]
        assert check_delays(fine, web) == 1
        with pytest.raises(AssertionError, match="s later"):
            check_delays([*fine, Request(1.7 * due, host, "/page-1")], web)


def test_only_an_excuse_lets_a_run_fail() -> None:
    assert ended_well(0, "", ())
    assert ended_well(1, "Error: the\n disk is full.", ["disk"])
    assert not ended_well(1, "Error: the disk is full.", ())
    assert not ended_well(-11, "", ["disk"])
