"""A large crawl on a cluster in which everything dies once: nothing is lost, nobody asked too soon.

    python -m benchmarks.cluster_whole [--replicas 48] [--shards 8] [--delay 0.1] [--no-kills]

The web is :mod:`benchmarks.wide_web`: 48 replicas are 2,065 hosts and some 66,000 pages.
One machine crawls it until nothing is left; then a cluster of Ray nodes on this machine does, and
meanwhile a third node joins, a shard's process, that node and the driver are killed (``kill -9``),
and the driver is started again. Exits with 1 unless the same pages were fetched, each once and by
its owner, no host was asked within its delay after an answer, and ``trailhound check`` finds every
page in the log and in a sound archive.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.wide_web import SMALL, Asked, in_process, read_log
from trailhound.cluster.connecting import load_ray
from trailhound.cluster.layout import ClusterFolder
from trailhound.demo import DemoWeb
from trailhound.records import Outcome
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.workspace import TopicFolder, Workspace

AGENT = "benchmark (+http://www.demo.test/about)"
JUDGE = "keywords:words=bees hives"


def command(topic: TopicFolder, *options: str) -> list[str]:
    """A crawl of the topic."""
    crawl = [sys.executable, "-m", "trailhound", "crawl", topic.name, "--json"]
    return [*crawl, "--workspace", str(topic.path.parent.parent), *options]


def begin(port: int, delay: float) -> list[str]:
    """How a new crawl of the whole web begins. Each replica has an address of its own."""
    seed = DemoWeb.generate(parameters=SMALL).start_urls[0]
    options = ["--seed", seed, "--max-requests", "10000000", "--strategy", "breadth-first"]
    options += ["--judge", JUDGE, "--user-agent", AGENT, "--allow-address", "*.demo.test"]
    options += ["--resolve", f"*.demo.test=127.0.0.1:{port}", "--set", "crawl.concurrency=32"]
    options += ["--set", "crawl.near_duplicates=false"]
    if delay:
        options += ["--delay", str(delay), "--allow-impolite"]
        options += ["--set", "fetch.address_delay_seconds=0"]
    return options


def fetched(folder: CrawlFolder) -> list[str]:
    """Pages in the results of a crawl."""
    with Results(folder.results) as results:
        return [page.address for page in results.since(0) if page.outcome is Outcome.FETCHED]


def wait_for(true: Callable[[], bool], seconds: float = 600.0) -> None:
    """Until it is; an error after so long."""
    give_up_at = time.monotonic() + seconds
    while not true():
        if time.monotonic() > give_up_at:
            raise TimeoutError("it takes too long")
        time.sleep(0.2)


def told(topic: TopicFolder, event: str, **details: object) -> list[dict[str, Any]]:
    """Lines of the log about an event."""
    log = topic.path / "crawl" / "log.jsonl"
    wanted = f'"event":"{event}"'
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    found = [json.loads(line) for line in lines if wanted in line and line.endswith("}")]
    return [line for line in found if all(line.get(k) == v for k, v in details.items())]


def let_die(nodes: Any, topic: TopicFolder) -> None:
    """A node joins, a process dies, and then that node."""
    third = nodes.add_node(num_cpus=1)
    wait_for(lambda: bool(told(topic, "shard-moved", node=third.node_id)))
    moved = told(topic, "shard-moved", node=third.node_id)[-1]["shard"]
    wait_for(lambda: bool(told(topic, "shard-reopened", shard=moved)))
    print("a node has joined, and got a shard", flush=True)
    victim = next(each for each in told(topic, "shard-opened") if each["shard"] != moved)
    os.kill(victim["pid"], signal.SIGKILL)
    wait_for(lambda: bool(told(topic, "shard-reopened", shard=victim["shard"])))
    print("a process was killed, and its shard reopened", flush=True)
    before = len(told(topic, "shard-reopened", shard=moved))
    nodes.remove_node(third, allow_graceful=False)
    wait_for(lambda: len(told(topic, "shard-reopened", shard=moved)) > before)
    print("the node was killed, and its shard reopened", flush=True)


def crawl_with_deaths(nodes: Any, topic: TopicFolder, options: list[str], log: Path) -> None:
    """On the cluster; whatever can die does."""
    on_cluster = ["--cluster", nodes.address]
    with subprocess.Popen(command(topic, *options, *on_cluster), stdout=subprocess.DEVNULL) as run:
        wait_for(lambda: log.stat().st_size > 100_000)
        let_die(nodes, topic)
        run.kill()
    print("the driver was killed", flush=True)
    subprocess.run(command(topic, "--resume", *on_cluster), check=True)


def too_soon(asked: list[Asked], delay: float) -> list[str]:
    """Hosts that were asked within their delay after an answer."""
    by_host: dict[str, list[Asked]] = {}
    for each in sorted(asked):
        by_host.setdefault(each.host, []).append(each)
    return [
        host
        for host, visits in by_host.items()
        if any(later.at - sooner.done < delay for sooner, later in pairwise(visits))
    ]


def main(arguments: list[str] | None = None) -> int:
    """Crawl twice and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_whole", description=__doc__)
    parser.add_argument("--replicas", type=int, default=48)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--no-kills", action="store_true")
    options = parser.parse_args(arguments)
    load_ray()
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # nobody else can reach it
    from ray._private import ray_constants
    from ray.cluster_utils import Cluster

    ray_constants.ENABLE_RAY_CLUSTER = False
    with tempfile.TemporaryDirectory(prefix="cw") as name:
        folder = Path(name)
        alone, together = (Workspace(folder / each).folder_for("bees") for each in ("a", "b"))
        with in_process(options.replicas, folder / "alone.log") as port:
            alone.prepare()
            subprocess.run(command(alone, *begin(port, 0.0)), check=True)
        wanted = Counter(fetched(CrawlFolder(alone)))
        print(f"one machine: {len(wanted):,} pages", flush=True)
        together.prepare()
        log = folder / "together.log"
        (folder / "ray").mkdir()
        os.environ["RAY_TMPDIR"] = name  # where it notes down its address
        nodes = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 1, "include_dashboard": False, "temp_dir": f"{name}/ray"},
        )
        nodes.add_node(num_cpus=1)
        try:
            with in_process(options.replicas, log) as port:
                more = [*begin(port, options.delay), "--shards", str(options.shards)]
                if options.no_kills:
                    on_cluster = ["--cluster", nodes.address]
                    subprocess.run(command(together, *more, *on_cluster), check=True)
                else:
                    crawl_with_deaths(nodes, together, more, log)
        finally:
            nodes.shutdown()  # type: ignore[no-untyped-call]
        return report(ClusterFolder(together), wanted, read_log(log), options.delay)


def report(folder: ClusterFolder, wanted: Counter[str], asked: list[Asked], delay: float) -> int:
    """What was promised, and whether it was kept."""
    placement = folder.placement()
    found: Counter[str] = Counter()
    strays = 0
    for number in range(placement.shards):
        pages = fetched(folder.shard(number))
        found.update(pages)
        strays += sum(placement.owner(url) != number for url in pages)
    rude = too_soon(asked, delay)
    hosts = {each.host for each in asked}
    print(f"cluster: {len(found):,} pages of {len(hosts):,} hosts, {len(asked):,} requests")
    print(f"pages that one has and the other has not: {len(found.keys() ^ wanted.keys())}")
    print(f"pages fetched twice: {sum(count > 1 for count in found.values())}")
    print(f"pages with another owner than theirs: {strays}")
    print(f"hosts asked too soon: {len(rude)} {rude[:3]}")
    check = [sys.executable, "-m", "trailhound", "check", folder.topic.name]
    check += ["--workspace", str(folder.topic.path.parent.parent)]
    is_sound = subprocess.run(check, check=False).returncode == 0
    return int(found != wanted or bool(strays or rude) or not is_sound)


if __name__ == "__main__":
    sys.exit(main())
