"""A crawl on a real Ray cluster of several nodes on this machine, and what may happen to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import pytest
from benchmarks.wide_web import CHAIN_HOST, TINY, WideServer, WideWeb, in_thread
from live_webs import USER_AGENT, wait_until

from trailhound.cluster.connecting import load_ray
from trailhound.cluster.layout import ClusterFolder, Placement
from trailhound.config.layers import configure
from trailhound.demo import DemoWeb
from trailhound.records import Outcome
from trailhound.storage.archive_check import ArchiveCheck
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.upkeep.checking import Checking
from trailhound.topics.workspace import TopicFolder, Workspace

SHARDS = 4
ADDRESSES = 8
DELAY = 0.2
JUDGE = "keywords:words=bees hives"
LIVELY = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 1000,
    "health_check_failure_threshold": 2,
}
"""A node that was killed is missed within seconds."""


@pytest.fixture(scope="module")
def wide() -> WideWeb:
    return WideWeb(DemoWeb.generate(parameters=TINY), 1)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster of two nodes, to which a third may be added; nobody else can reach it."""
    load_ray()
    from ray._private import ray_constants
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "_system_config": LIVELY, "include_dashboard": False}
    head |= {"no_monitor": True, "include_log_monitor": False}  # nobody reads what they tell
    # Sockets are in it, and their paths must be short.
    with tempfile.TemporaryDirectory(prefix="ray") as short, pytest.MonkeyPatch.context() as patch:
        head["temp_dir"] = f"{short}/ray"
        Path(short, "ray").mkdir()
        patch.setenv("RAY_TMPDIR", short)  # where it notes down its address
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # loopback, as on these systems
        patch.setattr(ray_constants, "ENABLE_RAY_CLUSTER", False)
        cluster = Cluster(initialize_head=True, head_node_args=head)
        cluster.add_node(num_cpus=1)
        yield cluster
        cluster.shutdown()  # type: ignore[no-untyped-call]


def _topic(folder: Path) -> TopicFolder:
    topic = Workspace(folder).folder_for("bees")
    topic.prepare()
    return topic


def _resolve(wide: WideWeb, port: int) -> list[str]:
    """Several hosts at each address, of whichever shards."""
    hosts = sorted(wide.demo.hosts)
    places = [f"127.0.0.{1 + number % ADDRESSES}:{port}" for number in range(len(hosts))]
    known = [f"{host}={place}" for host, place in zip(hosts, places, strict=True)]
    return [*known, f"*.demo.test=127.0.0.1:{port}"]


def _fetched(folder: CrawlFolder) -> list[str]:
    with Results(folder.results) as results:
        pages = [page.address for page in results.since(0) if page.outcome is Outcome.FETCHED]
    return [address for address in pages if CHAIN_HOST not in address]


@pytest.fixture(scope="module")
def wanted(wide: WideWeb, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What one machine fetches until nothing is left."""
    topic = _topic(tmp_path_factory.mktemp("alone"))
    with in_thread(WideServer(wide)) as port:
        flags = {
            "crawl.seeds": (wide.seed,),
            "crawl.strategy": "breadth-first",
            "crawl.max_requests": 100_000,
            "judge.kind": JUDGE,
            "fetch.user_agent": USER_AGENT,
            "fetch.resolve": (f"*.demo.test=127.0.0.1:{port}",),
            "fetch.allow_addresses": ("*.demo.test",),
            "output.archive": False,
        }
        with open_crawl(topic, CrawlRequest(configure(flags).settings, flags)) as crawl:
            for _ in crawl.run():
                pass
    return set(_fetched(crawl.folder))


class Driver:
    """``trailhound crawl --cluster`` as a process."""

    def __init__(self, topic: TopicFolder, address: str, output: Path, *options: str) -> None:
        self._output = output
        self._log = topic.path / "crawl" / "log.jsonl"
        command = [sys.executable, "-m", "trailhound", "crawl", topic.name, "--json"]
        command += ["--workspace", str(topic.path.parent.parent), "--cluster", address, *options]
        with output.open("ab") as file:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file)

    def wait_for(self, event: str, times: int = 1, **details: object) -> dict[str, Any]:
        """The line of the log that tells of an event, when it is there so often."""
        wait_until(lambda: len(self.told(event, **details)) >= times or self.has_ended, 120)
        found = self.told(event, **details)
        assert len(found) >= times, self._output.read_text()
        return found[-1]

    def told(self, event: str, **details: object) -> list[dict[str, Any]]:
        lines = self._log.read_bytes().splitlines(keepends=True) if self._log.exists() else []
        found = (json.loads(line) for line in lines if line.endswith(b"\n"))
        return [
            line
            for line in found
            if line["event"] == event and all(line.get(k) == v for k, v in details.items())
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            self.process.kill()

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> dict[str, Any]:
        """What it says at its end."""
        told, _ = self.process.communicate(timeout=300)
        assert self.process.returncode == 0, self._output.read_text()
        found: dict[str, Any] = json.loads(told)
        return found


def test_whatever_dies_nothing_is_lost_and_nobody_is_asked_too_soon(
    nodes: Any, wide: WideWeb, wanted: set[str], tmp_path: Path
) -> None:
    server, topic = WideServer(wide, ADDRESSES), _topic(tmp_path)
    output, server.holds = tmp_path / "output.txt", True
    with in_thread(server) as port:
        options = ["--seed", wide.seed, "--shards", str(SHARDS), "--max-requests", "100000"]
        options += ["--strategy", "breadth-first", "--judge", JUDGE, "--user-agent", USER_AGENT]
        options += ["--allow-address", "*.demo.test", "--allow-impolite", "--delay", str(DELAY)]
        for place in _resolve(wide, port):
            options += ["--resolve", place]
        with Driver(topic, nodes.address, output, *options) as driver:
            wait_until(lambda: len(server.asked) > 30 or driver.has_ended, 120)
            _grow_and_shrink(nodes, driver)
        asked = len(server.asked)
        wait_until(lambda: len(server.asked) > asked, 60)  # shards go on without a driver
        server.holds = False
        with Driver(topic, nodes.address, output, "--resume") as driver:
            summary = driver.end()
    assert summary["reason"] == "frontier-empty", output.read_text()
    folder = ClusterFolder(topic)
    _check_pages(folder, wanted)
    _check_politeness(server)
    stores = Checking(folder).run()
    assert [(store.store, store.problems) for store in stores if store.problems] == []
    check = ArchiveCheck(folder.archive)
    assert len(list(check.fetches())) >= len(wanted)
    assert check.is_indexed
    assert [*check.damaged, *check.left_open, *check.wrong_digests] == []


def _grow_and_shrink(nodes: Any, driver: Driver) -> None:
    """A node joins, a process dies, and then that node."""
    third = nodes.add_node(num_cpus=1)
    moved = driver.wait_for("shard-moved", node=third.node_id)
    driver.wait_for("shard-reopened", shard=moved["shard"])

    here = [each for each in driver.told("shard-opened") if each["shard"] != moved["shard"]]
    os.kill(here[0]["pid"], signal.SIGKILL)
    driver.wait_for("shard-lost", shard=here[0]["shard"])
    driver.wait_for("shard-reopened", shard=here[0]["shard"])

    nodes.remove_node(third, allow_graceful=False)
    driver.wait_for("shard-lost", shard=moved["shard"])
    driver.wait_for("shard-reopened", shard=moved["shard"], times=2)


def _check_pages(folder: ClusterFolder, wanted: set[str]) -> None:
    """The same pages, each once, in the shard that owns it; and all of them together."""
    placement = Placement(SHARDS)
    fetched = {number: _fetched(folder.shard(number)) for number in range(SHARDS)}
    assert Counter(url for urls in fetched.values() for url in urls) == Counter(wanted)
    for number, urls in fetched.items():
        assert {placement.owner(url) for url in urls} == {number}
    assert sorted(_fetched(folder)) == sorted(wanted)


def _check_politeness(server: WideServer) -> None:
    """No host within its delay after an answer, whoever asked; no address more often than it may.

    An address counts from request to request, and the way to the server takes its time.
    """
    by_host: dict[str, list[Any]] = {}
    by_address: dict[str, list[float]] = {}
    for asked in sorted(server.asked):
        by_host.setdefault(asked.host, []).append(asked)
        by_address.setdefault(asked.address, []).append(asked.at)
    for host, visits in by_host.items():
        gaps = [later.at - sooner.done for sooner, later in pairwise(visits)]
        assert min(gaps, default=DELAY) >= DELAY, (host, min(gaps))
    assert len(by_address) == ADDRESSES
    for address, times in by_address.items():
        spans = [later - sooner for sooner, later in zip(times, times[10:], strict=False)]
        assert min(spans, default=99.0) >= 10 * DELAY - 1.0, (address, min(spans))
