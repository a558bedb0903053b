"""Run the chaos and print what was proved."""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.chaos.crawl import ChaosCrawl, Process
from benchmarks.chaos.kinds import KINDS
from benchmarks.chaos.proof import Findings, ended_well, prove, read_requests
from benchmarks.chaos.server import running_server
from benchmarks.chaos.torments import Tormentor, small_disk
from benchmarks.chaos.web import HEALTHY_HOSTS, ChaosWeb
from trailhound.frontier.reading import all_urls
from trailhound.records import Outcome

KILLS_PER_ROUND = 60
FINISH_SECONDS = 1200.0
"""Long: on a busy machine a healthy host may seem dead once, and is left alone for ten minutes."""


@dataclass
class Report:
    """All rounds together."""

    torments: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    kinds: set[str] = field(default_factory=set)
    rounds: list[Findings] = field(default_factory=list)


class Round:
    """One web, and one crawl of it to the end."""

    def __init__(self, crawl: ChaosCrawl, tormentor: Tormentor, chance: random.Random) -> None:
        self._crawl = crawl
        self._tormentor = tormentor
        self._chance = chance

    def live(self) -> None:
        """One run of the crawl, from its start to whatever ends it."""
        process = self._crawl.start(workers=self._chance.choice((1, 1, 2)), forked=True)
        self._tormentor.begin_run()
        if self._chance.random() < 0.1:  # while it is still starting
            time.sleep(self._chance.uniform(0.0, 1.0))
        else:
            self._crawl.wait_for_requests()
        while process.poll() is None:
            time.sleep(self._chance.uniform(0.0, 1.0))
            self._tormentor.torment()
        self._check_end(process)

    def finish(self) -> None:
        """Run undisturbed, as often as it takes, until every healthy page is there."""
        patience = time.monotonic() + FINISH_SECONDS
        is_over = False
        while not is_over:
            process = self._crawl.start()
            self._tormentor.begin_run()
            self._crawl.wait_for_requests()
            while process.poll() is None and not self._is_complete():
                assert time.monotonic() < patience, f"no end:\n{self._crawl.said()[-2000:]}"
                time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            process.wait(FINISH_SECONDS)
            self._check_end(process)
            is_over = self._is_complete()

    def _is_complete(self) -> bool:
        """Whether all hosts have been asked, and all healthy pages are kept."""
        if not self._crawl.has_begun:
            return False
        web = self._crawl.web
        asked = {request.host for request in read_requests(self._crawl.server_log)}
        doors = {host for host, kind in web.hostile.items() if kind.door or kind.scheme == "https"}
        if not (web.hostile.keys() - doors | web.pages.keys()) <= asked:
            return False
        frontier = dict(all_urls(self._crawl.path / "frontier.db"))
        return all(frontier.get(url) is Outcome.FETCHED for url in web.urls)

    def _check_end(self, process: Process) -> None:
        code, said = process.wait(), self._crawl.said()
        if code != -signal.SIGKILL:
            excuses = self._tormentor.excuses
            assert ended_well(code, said, excuses), f"it ended with {code}:\n{said[-3000:]}"


def run_round(folder: Path, web: ChaosWeb, kills: int, report: Report) -> None:
    """Kill a crawl so often, let it end, and look at what is left."""
    chance = random.Random(f"{web.seed} {kills}")
    log = folder / "requests.log"
    with small_disk(folder / "disk") as disk, running_server(web, log) as ports:
        crawl = ChaosCrawl(folder, disk.path, web, ports, log)
        tormentor = Tormentor(crawl, disk, chance)
        lives = Round(crawl, tormentor, chance)
        try:
            while tormentor.kills < kills:
                lives.live()
                print(f"{report.kills + tormentor.kills} kills", end="\r", file=sys.stderr)
            lives.finish()
            report.rounds.append(prove(crawl))
        except BaseException:
            _keep(folder, web.seed)
            raise
        finally:
            crawl.close()
        report.torments += tormentor.counts
        report.kills += tormentor.kills
        report.kinds.update(kind.name for kind in web.hostile.values())


def _keep(folder: Path, seed: int) -> None:
    """What is left of a round that failed, for whoever looks for the reason."""
    kept = tempfile.mkdtemp(prefix=f"chaos-{seed}-")
    shutil.copytree(folder, kept, dirs_exist_ok=True)
    print(f"The round of seed {seed} failed; its files are in {kept}.", file=sys.stderr)


def run(kills: int, seed: int, *, hosts: int, heavy: bool, per_round: int) -> Report:
    """Round after round, until the crawls have been killed so often."""
    report = Report()
    for number in itertools.count(seed):
        if report.rounds and report.kills >= kills:
            return report
        started = time.monotonic()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            web = ChaosWeb(number, hosts, heavy)
            run_round(Path(folder), web, min(per_round, kills - report.kills), report)
        _tell_round(report, time.monotonic() - started)
    return report


def _tell_round(report: Report, seconds: float) -> None:
    found = report.rounds[-1]
    print(
        f"round {len(report.rounds)}: {report.kills} kills so far, {found.requests:,} requests to "
        f"{found.hosts} hosts, {found.peak_bytes / 1e6:.0f} MB at most, {seconds:.0f} s",
        flush=True,
    )


def tell(report: Report, seconds: float) -> None:
    """The figures."""
    rounds = report.rounds
    told = ", ".join(f"{count} × {name}" for name, count in report.torments.most_common())
    broken = Counter(why.partition(": ")[2] for found in rounds for why in found.broken)
    print(
        f"{report.kills} kills in {len(rounds)} crawls and {seconds / 60:.0f} minutes ({told}). "
        f"{len(report.kinds)} of {len(KINDS)} kinds of misbehaviour beside {HEALTHY_HOSTS} healthy "
        f"hosts. All {sum(found.pages for found in rounds):,} healthy pages fetched; "
        f"{sum(found.finished for found in rounds):,} URLs agree in frontier, results and log; "
        f"{sum(found.requests for found in rounds):,} requests, none to a forbidden place, "
        f"{sum(found.gaps for found in rounds):,} delays kept; "
        f"{sum(found.records for found in rounds):,} archived answers valid by two readers; "
        f"{max(found.peak_bytes for found in rounds) / 1e6:.0f} MB at most; no error escaped."
    )
    for why, count in broken.most_common(10):
        print(f"  {count} pages of hostile hosts were given up: {why}")


def main() -> None:
    """Read the options."""
    parser = argparse.ArgumentParser(description="A hostile web, and a crawl that is tormented.")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=360)
    parser.add_argument("--kills-per-round", type=int, default=KILLS_PER_ROUND)
    chosen = parser.parse_args()
    started = time.monotonic()
    report = run(
        chosen.kills,
        chosen.seed,
        hosts=chosen.hosts,
        heavy=True,
        per_round=chosen.kills_per_round,
    )
    tell(report, time.monotonic() - started)


if __name__ == "__main__":
    os.environ.pop("TRAILHOUND_CONFIG", None)
    main()
