"""How a cluster's crawl is: written by its driver, read by anybody."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from command_line import Command
from trailhound.cluster.messages import ShardState
from trailhound.cluster.places import Fence
from trailhound.cluster.status import ShardMetrics, StatusBoard, read_cluster_status
from trailhound.topics.crawls.folder import SHARDS, CrawlFolder
from trailhound.topics.workspace import Workspace


class Clock:
    """Goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(workspace_folder: Path) -> CrawlFolder:
    topic = Workspace(workspace_folder).folder_for("bees")
    topic.prepare()
    made = CrawlFolder(topic)
    made.make()
    return made


def state(shard: int, pages: int, **more: object) -> ShardState:
    fields = {"shard": shard, "pages": pages, "state": "running", "node": f"node-{shard % 2}"}
    return msgspec.convert(fields | more, ShardState)


def test_rates_are_those_of_the_last_half_minute(folder: CrawlFolder) -> None:
    clock = Clock()
    board = StatusBoard(folder, clock=clock)
    for pages in range(0, 100, 10):
        board.hear([state(0, pages), state(1, 2 * pages)])
        clock.now += 10.0
    told = read_cluster_status(folder)
    assert told is not None
    assert [line.pages_per_second for line in told.shards] == [1.0, 2.0]
    assert told.pages_per_second == 3.0
    assert told.total("pages") == 270
    assert told.nodes() == {"node-0": 1, "node-1": 1}
    board.hear([state(0, 5)])  # reopened from a checkpoint
    assert board.now().shards[0].pages_per_second == 0.0


def test_the_command_shows_shards_totals_and_errors(
    folder: CrawlFolder, trailhound: Command
) -> None:
    board = StatusBoard(folder, "ray://here:10001", "http://127.0.0.1:8265")
    board.blame("Shard 001 was lost with node-1; it goes on on node-0.")
    board.hear([state(n, 10 * n, relevant=n, waiting=7, outgoing=60 - n) for n in range(60)])
    told = trailhound("cluster", "status", "bees", "--json").report
    assert told["totals"]["pages"] == 10 * sum(range(60))
    assert told["nodes"] == {"node-0": 30, "node-1": 30}
    assert not told["running"]
    done = trailhound("cluster", "status", "bees")
    assert "Those that lag most of 60" in done.err
    assert "on 2 machines" in done.err
    assert "Shard 001 was lost" in done.err
    assert "trailhound crawl bees --resume --cluster ADDRESS" in done.err
    assert done.out.count("running") == 40
    assert trailhound("cluster", "status", "--all").out.count("running") == 60
    assert len(trailhound("cluster", "status", "--json").report) == 1


def test_shards_that_nobody_drives_are_read_from_their_files(
    folder: CrawlFolder, trailhound: Command
) -> None:
    (folder.path / SHARDS / "003").mkdir(parents=True)
    Fence(str(folder.path / SHARDS / "003")).advance("node-7")
    told = trailhound("cluster", "status", "bees", "--json").report
    (line,) = told["shards"]
    assert line["state"]["shard"] == 3
    assert line["state"]["node"] == "node-7"
    assert line["state"]["state"] == "ended"


def test_a_crawl_on_one_machine_has_no_shards(folder: CrawlFolder, trailhound: Command) -> None:
    done = trailhound("cluster", "status", "bees")
    assert done.code == 2
    assert "is not in shards" in done.err
    assert trailhound("cluster", "status").code == 0


def test_metrics_tell_of_each_shard(folder: CrawlFolder) -> None:
    board = StatusBoard(folder)
    board.hear([state(0, 5, requests=6, waiting=2), state(1, 7, requests=8, outgoing=3)])
    registry = CollectorRegistry()
    registry.register(ShardMetrics(board.now))
    text = generate_latest(registry).decode()
    assert 'trailhound_shard_pages_total{shard="000",topic="bees"} 5.0' in text
    assert 'trailhound_shard_waiting{shard="000",topic="bees"} 2.0' in text
    assert 'trailhound_shard_outgoing{shard="001",topic="bees"} 3.0' in text
    assert 'trailhound_shard_open{node="node-1",shard="001",topic="bees"} 1.0' in text
