"""One round of the chaos: a crawl that is killed so often, then let end, and looked at."""

from __future__ import annotations

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
from benchmarks.chaos.proof import Findings, ended_well, prove, read_requests
from benchmarks.chaos.server import running_server
from benchmarks.chaos.torments import Tormentor, small_disk
from benchmarks.chaos.web import ChaosWeb
from trailhound.frontier.reading import all_urls
from trailhound.records import Outcome

FINISH_SECONDS = 1200.0
"""Long: on a busy machine a healthy host may seem dead once, and is left alone for ten minutes."""


@dataclass
class Report:
    """What came of one round, or of several."""

    torments: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    kinds: set[str] = field(default_factory=set)
    rounds: list[Findings] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """Of rounds that ended by one."""

    def add(self, other: Report) -> None:
        """Take in what came of other rounds."""
        self.torments += other.torments
        self.kills += other.kills
        self.kinds |= other.kinds
        self.rounds += other.rounds


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
    chance, started = random.Random(f"{web.seed} {kills}"), time.monotonic()
    log = folder / "requests.log"
    with small_disk(folder / "disk") as disk, running_server(web, log) as ports:
        crawl = ChaosCrawl(folder, disk.path, web, ports, log)
        tormentor = Tormentor(crawl, disk, chance)
        lives = Round(crawl, tormentor, chance)
        try:
            while tormentor.kills < kills:
                lives.live()
                print(f"seed {web.seed}: {tormentor.kills} kills", end="\r", file=sys.stderr)
            lives.finish()
            found = prove(crawl)
            found.seconds = time.monotonic() - started
            report.rounds.append(found)
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


def run_alone(web: ChaosWeb, kills: int) -> Report:
    """One round, in a folder of its own."""
    report = Report()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        run_round(Path(folder), web, kills, report)
    return report
