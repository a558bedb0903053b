"""Pages per CPU-second of a crawl on a cluster, against one of two worker processes without Ray.

    python -m benchmarks.cluster_cost [--requests 8000] [--rounds 2] [--shards 4]
                                      [--least-bytes 28000]

The web is :mod:`benchmarks.wide_web`, served from another process that does not count; the crawl is
``trailhound crawl`` with the default strategy. All processes of the crawl count: its own, its
workers, and everything of Ray. A page is an answer with something to read; robots.txt, redirects
and errors cost little. The first quarter of the requests does not count, as processes are started
then, also those for pages that might do harm, unless a shard meets its first such page later; nor
does the last tenth, as some end, and their whole time would be their parents'. Nobody waits for
hosts: a crawl that does has the machine to itself meanwhile, and its CPU is faster then.

Machines change their speed by the minute, by half and more. So both crawls run in turns, a few
seconds each, while all processes of the other are stopped: each has the whole machine in its turn,
and both see the same weather. A processor is faster while its neighbour has nothing to do, and two
workers leave more of that: some of the difference is the machine's.
Exits with 1 when the cluster has less than 0.85 of the pages per CPU-second.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from benchmarks.wide_web import SMALL, in_process
from trailhound.demo import DemoWeb
from trailhound.demo.web import with_sources
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.workspace import Workspace

LEAST = 0.85
REPLICAS = 8
"""Of the web: about 12,000 pages."""
TOPIC = "bee-health"
TURN_SECONDS = 4.0
_TICK = os.sysconf("SC_CLK_TCK")


class Race:
    """One crawl, which can be held up and counted. ``log`` is that of its own server."""

    def __init__(
        self, workspace: Path, port: int, log: Path, requests: int, more: list[str]
    ) -> None:
        self._log, self._requests = log, requests
        self._crawl = subprocess.Popen(
            _command(workspace, port, requests, more),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._first: tuple[int, float] | None = None
        """Pages and CPU seconds when counting began."""
        self._last = 0, 0.0

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._crawl.poll() is not None

    @property
    def pages_per_cpu_second(self) -> float:
        """In the part that counts."""
        if self._first is None:
            raise SystemExit("A crawl has ended before it was counted.")
        pages, seconds = (last - first for first, last in zip(self._first, self._last, strict=True))
        return pages / seconds

    def take_turn(self, seconds: float) -> None:
        """Run for a while, then stand still."""
        self._signal(signal.SIGCONT)
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.is_over:
            time.sleep(0.2)
            self._count()
        self._signal(signal.SIGSTOP)

    def _count(self) -> None:
        requests, pages = self._asked()
        if 0.25 * self._requests <= requests <= 0.9 * self._requests:
            self._last = pages, sum(_processes(self._crawl.pid).values())
            self._first = self._first or self._last

    def _asked(self) -> tuple[int, int]:
        """Requests that the server has answered, and those among them that brought a page."""
        log = self._log.read_bytes() if self._log.exists() else b""
        robots = log.count(b"/robots.txt\t200\n")
        return log.count(b"\n"), log.count(b"\t200\n") - robots

    def _signal(self, number: signal.Signals) -> None:
        for process in _processes(self._crawl.pid):
            with suppress(ProcessLookupError):
                os.kill(process, number)


def _processes(ancestor: int) -> dict[int, float]:
    """All that descend from a process, with their CPU seconds while they live."""
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
    return {each: ticks[each] / _TICK for each in parents if _descends(each, ancestor, parents)}


def _descends(process: int, ancestor: int, parents: dict[int, int]) -> bool:
    while process and process != ancestor:
        process = parents.get(process, 0)
    return process == ancestor


def _command(workspace: Path, port: int, requests: int, more: list[str]) -> list[str]:
    wide = DemoWeb.generate(parameters=SMALL)
    command = [sys.executable, "-m", "trailhound", "crawl", TOPIC, "--seed", wide.start_urls[0]]
    command += ["--restart", "--workspace", str(workspace), "--max-requests", str(requests)]
    command += ["--user-agent", "benchmark (+http://www.demo.test/about)"]
    command += ["--resolve", f"*.demo.test=127.0.0.1:{port}", "--allow-address", "*.demo.test"]
    command += ["--delay", "0", "--allow-impolite", "--set", "fetch.address_delay_seconds=0"]
    command += ["--set", "crawl.wait_for_better=0"]
    return [*command, "--set", "crawl.concurrency=16", "--json", *more]


def race(folder: Path, least_bytes: int, requests: int, kinds: dict[str, list[str]]) -> list[float]:
    """Pages per CPU-second of each kind of crawl, all in turns."""
    with ExitStack() as stack:
        runs = []
        for kind, more in kinds.items():
            workspace = folder / kind.replace(" ", "-")
            log = workspace.with_suffix(".log")
            log.unlink(missing_ok=True)
            port = stack.enter_context(in_process(REPLICAS, log, least_bytes))
            runs.append(Race(workspace, port, log, requests, more))
        while running := [run for run in runs if not run.is_over]:
            for run in running:
                run.take_turn(TURN_SECONDS)
        return [run.pages_per_cpu_second for run in runs]


def main(arguments: list[str] | None = None) -> int:
    """Measure and compare with the limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_cost", description=__doc__)
    parser.add_argument("--requests", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--least-bytes", type=int, default=0, help="of a page; as it is: 4 KB")
    options = parser.parse_args(arguments)
    kinds = {
        "two workers": ["--workers", "2"],
        "cluster": ["--cluster", "local", "--shards", str(options.shards)],
    }
    ratios = []
    demo = DemoWeb.generate(parameters=SMALL)
    session = with_sources(demo.sessions[TOPIC], demo)
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            workspace = Workspace(Path(folder) / kind.replace(" ", "-"))
            learn_into(workspace, LearningRequest(TOPIC, [session]))
        for _ in range(options.rounds):
            alone, cluster = race(Path(folder), options.least_bytes, options.requests, kinds)
            ratios.append(cluster / alone)
            print(f"{cluster:.1f} pages per CPU-second in shards, {alone:.1f} without:", end=" ")
            print(f"{ratios[-1]:.3f}", flush=True)
    ratio = statistics.mean(ratios)
    missed = ratio < LEAST
    print(f"ratio {ratio:.3f} (at least {LEAST} wanted){'  MISSED' * missed}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
