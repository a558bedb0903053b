"""What happens to a crawl on its way: kills, stops, full disks, no descriptors, a mad clock."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.chaos.crawl import ChaosCrawl, children_of

DISK_BYTES = 400_000_000
JUMPS_SECONDS = (-86_400.0, -3_600.0, -30.0, 30.0, 3_600.0, 86_400.0)
_SPARE_DESCRIPTORS = 4
_ASLEEP_SECONDS = 20.0
"""Within that some host is ready again, whoever was killed before."""
_FULL_SECONDS = 3.0
"""For so long the disk stays full, unless the crawl ends before."""


class Disk:
    """A small disk for one crawl, where that can be had; else files may not grow."""

    def __init__(self, path: Path, *, is_real: bool) -> None:
        self.path = path
        self.is_real = is_real

    @contextmanager
    def full(self, pid: int) -> Iterator[None]:
        """Not a byte more may be written, by process ``pid`` at least."""
        filler = self.path / "filler"
        if not self.is_real:
            before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, before[1]))
        try:
            if self.is_real:
                with filler.open("wb", buffering=0) as file, suppress(OSError):
                    free = shutil.disk_usage(self.path).free
                    os.posix_fallocate(file.fileno(), 0, max(1, free - 1_000_000))
                    file.seek(0, os.SEEK_END)
                    while file.write(bytes(4096)):
                        pass
            yield
        finally:
            filler.unlink(missing_ok=True)
            if not self.is_real:
                with suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def small_disk(path: Path) -> Iterator[Disk]:
    """A file system of its own for root on Linux; a limit on the size of files for others."""
    path.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(path)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        print("No small disk can be mounted here: files are kept from growing.", file=sys.stderr)
        yield Disk(path, is_real=False)
        return
    try:
        yield Disk(path, is_real=True)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


class Tormentor:
    """Torments one crawl, by chance; counts what it did."""

    def __init__(self, crawl: ChaosCrawl, disk: Disk, chance: random.Random) -> None:
        self._crawl = crawl
        self._disk = disk
        self._chance = chance
        self.counts: Counter[str] = Counter()
        self.excuses: set[str] = set()
        """What this run may have ended by, in words of its last message."""
        self._has_lost_workers = False

    @property
    def kills(self) -> int:
        """``kill -9`` so far."""
        return sum(self.counts[name] for name in ("kill", "kill workers", "kill all"))

    def begin_run(self) -> None:
        """Nothing has happened to this one yet."""
        self.excuses.clear()
        self._has_lost_workers = False

    def torment(self) -> None:
        """Do something to the process; it may be gone afterwards."""
        torments: dict[str, tuple[int, Callable[[int], None]]] = {
            "kill": (6, lambda pid: self._crawl.kill()),
            "kill workers": (6, self._kill_workers),
            "kill all": (4, lambda pid: self._crawl.kill(workers=True)),
            "stop": (2, lambda pid: self._stop([pid])),
            "stop workers": (1, lambda pid: self._stop(children_of(pid))),
            "disk full": (1, self._fill_disk),
            "no descriptors": (2, self._take_descriptors),
            "clock jump": (2, self._put_clock),
        }
        weights = [weight for weight, _ in torments.values()]
        (name,) = self._chance.choices(list(torments), weights)
        process = self._crawl.process
        if process is None or process.poll() is not None:
            return
        if "workers" in name and (self._has_lost_workers or not children_of(process.pid)):
            name = "kill"
        self.counts[name] += 1
        with suppress(ProcessLookupError):
            torments[name][1](process.pid)

    def _kill_workers(self, pid: int) -> None:
        """Once in a run: a page that costs two workers is given up, and rightly so."""
        self._has_lost_workers = True
        self._crawl.kill(parent=False, workers=True)

    def _stop(self, pids: list[int]) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        time.sleep(self._chance.uniform(0.1, 2.0))
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def _fill_disk(self, pid: int) -> None:
        self.excuses.add("disk")
        with self._disk.full(pid):
            self._wait(_FULL_SECONDS)

    def _take_descriptors(self, pid: int) -> None:
        self.excuses |= {"open files", "open more files"}
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        used = len(os.listdir(f"/proc/{pid}/fd"))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + _SPARE_DESCRIPTORS, before[1]))
        self._wait(self._chance.uniform(0.5, 2.0))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)

    def _put_clock(self, pid: int) -> None:
        """While it runs, and not just before it is killed: nobody could keep a promise then."""
        if self._crawl.wait_for_requests(1, _ASLEEP_SECONDS):
            self._crawl.clock.put(self._chance.choice(JUMPS_SECONDS))
            self._crawl.wait_for_requests(5, _ASLEEP_SECONDS)
        else:
            self.counts["clock jump"] -= 1

    def _wait(self, seconds: float) -> None:
        process = self._crawl.process
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
