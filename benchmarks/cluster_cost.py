"""Pages per CPU-second of a crawl on a cluster, against one of two worker processes without Ray.

    python -m benchmarks.cluster_cost [--pages 8000] [--rounds 3] [--shards 4] [--least-bytes 28000]

The web is :mod:`benchmarks.wide_web`, served from another process that does not count; the crawl is
``trailhound crawl`` with the default strategy. All processes of the crawl count: its own, its
workers, and everything of Ray. The first quarter of the pages does not count, as processes are
started then, also those for pages that might do harm; nor does the last tenth, as some end, and
their whole time would be their parents'. Nobody waits for hosts: a crawl that does has the machine
to itself meanwhile, and its CPU is faster then. Machines change their speed by the minute, and are
never faster than they can be: the best of several rounds is compared.
Exits with 1 when the cluster has less than 0.85 of the pages per CPU-second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.wide_web import SMALL, in_process
from trailhound.demo import DemoWeb
from trailhound.demo.files import with_sources
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.workspace import Workspace

LEAST = 0.85
REPLICAS = 8
"""Of the web: about 12,000 pages."""
TOPIC = "bee-health"
_TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(group: int) -> float:
    """Of all processes that descend from the process ``group``, while they live."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(path.parent.name)
        parents[number] = int(fields[1])
        ticks[number] = sum(map(int, fields[11:15]))
    return sum(ticks[each] for each in parents if _descends(each, group, parents)) / _TICK


def _descends(process: int, ancestor: int, parents: dict[int, int]) -> bool:
    while process and process != ancestor:
        process = parents.get(process, 0)
    return process == ancestor


def asked_so_far(log: Path) -> int:
    """Requests that the server has answered."""
    return log.read_bytes().count(b"\n")


def measure(workspace: Path, port: int, log: Path, pages: int, options: list[str]) -> float:
    """Pages per CPU-second while all of its processes are there."""
    wide = DemoWeb.generate(parameters=SMALL)
    command = [sys.executable, "-m", "trailhound", "crawl", TOPIC, "--seed", wide.start_urls[0]]
    command += ["--restart", "--workspace", str(workspace), "--max-requests", str(pages)]
    command += ["--user-agent", "benchmark (+http://www.demo.test/about)"]
    command += ["--resolve", f"*.demo.test=127.0.0.1:{port}", "--allow-address", "*.demo.test"]
    command += ["--delay", "0", "--allow-impolite", "--set", "fetch.address_delay_seconds=0"]
    command += ["--set", "crawl.wait_for_better=0"]
    command += ["--set", "crawl.concurrency=16", "--json", *options]
    asked = asked_so_far(log)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as crawl:
        while asked_so_far(log) < asked + pages // 4 and crawl.poll() is None:
            time.sleep(0.2)
        first, before = asked_so_far(log), cpu_seconds(crawl.pid)
        after, last = before, first
        while crawl.poll() is None:
            now = asked_so_far(log)
            if last < now <= asked + 0.9 * pages:
                after, last = cpu_seconds(crawl.pid), now
            time.sleep(0.2)
    return (last - first) / (after - before)


def main(arguments: list[str] | None = None) -> int:
    """Measure and compare with the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_cost", description=__doc__)
    parser.add_argument("--pages", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--least-bytes", type=int, default=0, help="of a page; as it is: 4 KB")
    options = parser.parse_args(arguments)
    kinds = {
        "two workers": ["--workers", "2"],
        "cluster": ["--cluster", "local", "--shards", str(options.shards)],
    }
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        demo = DemoWeb.generate(parameters=SMALL)
        learn_into(
            Workspace(Path(folder)),
            LearningRequest(TOPIC, [with_sources(demo.sessions[TOPIC], demo)]),
        )
        log = Path(folder) / "asked.log"
        with in_process(REPLICAS, log, options.least_bytes) as port:
            for _ in range(options.rounds):
                for kind, more in kinds.items():
                    rate = measure(Path(folder), port, log, options.pages, more)
                    found[kind].append(rate)
                    print(f"{kind:12} {rate:7.1f} pages per CPU-second", flush=True)
    alone, cluster = (max(rates) for rates in found.values())
    missed = cluster / alone < LEAST
    print(f"ratio {cluster / alone:.2f} (at least {LEAST} wanted){'  MISSED' * missed}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
