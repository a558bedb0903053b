"""The crawl that is tormented: ``trailhound crawl`` as a user would run it, in its own process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from benchmarks.chaos.kind import MAX_CRAWL_DELAY_SECONDS
from benchmarks.chaos.process import FalseClock, ForkedProcess, Stable
from benchmarks.chaos.server import Ports
from benchmarks.chaos.web import EXCLUDED, KEYWORD, ChaosWeb

TOPIC = "orchards"
DELAY_SECONDS = 0.2
TIMEOUT_SECONDS = 6.0
PATIENCE_SECONDS = 15.0
"""A crawl ends when all hosts that are left want to be left alone for longer. After a kill that is
their delay, the longest request, and five seconds more."""
MIN_FREE_BYTES = 20_000_000
"""What every other crawl keeps free; the rest let the disk be filled to the last byte."""
STARTED_SECONDS = 120.0
_PAGE = os.sysconf("SC_PAGE_SIZE")

Process = subprocess.Popen[bytes] | ForkedProcess


class ChaosCrawl:
    """One crawl with its workspace below ``disk``, started and resumed as often as need be."""

    def __init__(
        self, folder: Path, disk: Path, web: ChaosWeb, ports: Ports, server_log: Path
    ) -> None:
        self.web = web
        self.workspace = disk / "workspace"
        self.path = self.workspace / "topics" / TOPIC / "crawl"
        self.output = folder / "output.txt"
        self.clock_file = folder / "clock"
        self.clock = FalseClock(self.clock_file)
        self.server_log = server_log
        self.memory = MemoryWatch()
        self._seeds = folder / "seeds.txt"
        self._seeds.write_text("\n".join(web.seeds))
        self._ports = ports
        self._stable = Stable(self.clock_file)
        self.process: Process | None = None

    @property
    def has_begun(self) -> bool:
        """Whether there is something to resume."""
        return (self.path / "crawl.json").exists()

    def start(self, workers: int = 2, *, forked: bool = False) -> Process:
        """Begin, or go on, in a new process or one that is forked and so begins sooner."""
        options = ["--resume"] if self.has_begun else self._options()
        told = ["crawl", TOPIC, "--workspace", str(self.workspace), "--workers", str(workers)]
        if forked:
            self.process = self._stable.start([*told, *options], self.output)
        else:
            command = [sys.executable, "-m", "benchmarks.chaos.process", str(self.clock_file)]
            with self.output.open("ab") as said:
                self.process = subprocess.Popen(
                    [*command, *told, *options], stdout=said, stderr=said
                )
        self.memory.watch(self.process.pid)
        return self.process

    def check(self) -> subprocess.CompletedProcess[str]:
        """What ``trailhound check`` says of it."""
        command = [sys.executable, "-m", "trailhound", "check", TOPIC]
        command += ["--workspace", str(self.workspace)]
        return subprocess.run(command, capture_output=True, text=True)

    def close(self) -> None:
        """End all processes."""
        self.kill(workers=True)
        self._stable.close()

    def _options(self) -> list[str]:
        ports = self._ports
        at = {
            host: getattr(ports, kind.door) for host, kind in self.web.hostile.items() if kind.door
        }
        at |= dict.fromkeys(("*.hostile.test", "*.healthy.test", *EXCLUDED), ports.web)
        at["*"] = ports.inside
        settings = {
            "crawl.concurrency": 32,
            "crawl.max_idle": PATIENCE_SECONDS,
            "crawl.min_free": MIN_FREE_BYTES if self.web.seed % 2 else 0,
            "fetch.timeout_seconds": TIMEOUT_SECONDS,
            "fetch.address_delay_seconds": 0,
            "fetch.max_crawl_delay_seconds": MAX_CRAWL_DELAY_SECONDS,
            "output.archive_file_bytes": 20_000_000,
        }
        allowed = ("*.hostile.test", "*.healthy.test", *EXCLUDED)
        return [
            *("--seeds", str(self._seeds), "--sitemaps", "--judge", f"keywords:words={KEYWORD}"),
            *("--user-agent", "chaos-bot (+http://chaos.test/bot)", "--max-requests", "1000000"),
            *("--delay", str(DELAY_SECONDS), "--allow-impolite"),
            *(each for host in EXCLUDED for each in ("--exclude", host)),
            *(each for host in allowed for each in ("--allow-address", host)),
            *(each for host in at for each in ("--resolve", f"{host}=127.0.0.1:{at[host]}")),
            *(each for key in settings for each in ("--set", f"{key}={settings[key]}")),
        ]

    def wait_for_requests(self, more: int = 1, seconds: float = STARTED_SECONDS) -> bool:
        """Whether the server is asked so often, before the process ends and within so long."""
        process, size = self.process, self._log_size()
        wanted = size + more * len("123456.123456 h0.healthy.test /\n")
        patience = time.monotonic() + seconds  # all hosts may be asleep
        while process is not None and process.poll() is None and time.monotonic() < patience:
            if self._log_size() >= wanted:
                return True
            time.sleep(0.01)
        return False

    def _log_size(self) -> int:
        return self.server_log.stat().st_size if self.server_log.exists() else 0

    def kill(self, *, parent: bool = True, workers: bool = False) -> None:
        """``kill -9`` of the process, of its workers, or of all at the same moment."""
        process = self.process
        if process is None or process.poll() is not None:
            return
        pids = children_of(process.pid) if workers else []
        for pid in [*pids, *([process.pid] if parent else [])]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if parent:
            process.wait()

    def said(self) -> str:
        """All that it has written to its terminal."""
        return self.output.read_text("utf-8", "replace") if self.output.exists() else ""


def children_of(pid: int) -> list[int]:
    """Processes that analyse pages for ``pid``."""
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children if not _is_tracker(int(child))]
    return []


def _is_tracker(pid: int) -> bool:
    """Whether this is the process that Python itself keeps for shared memory."""
    with suppress(OSError):
        return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return True


class MemoryWatch:
    """Samples what a process and its children hold in memory, as long as it lives."""

    def __init__(self) -> None:
        self.peak_bytes = 0

    def watch(self, pid: int) -> None:
        """Look at this one from now on."""
        threading.Thread(target=self._sample, args=(pid,), daemon=True).start()

    def _sample(self, pid: int) -> None:
        while held := held_bytes([pid, *children_of(pid)]):  # nothing is held by one that is gone
            self.peak_bytes = max(self.peak_bytes, held)
            time.sleep(0.05)


def held_bytes(pids: Iterable[int]) -> int:
    """What processes hold resident: all that is their own, and once the libraries they share."""
    resident = [_resident(pid) for pid in pids]
    libraries = [shared for _, shared in resident]
    return sum(held - shared for held, shared in resident) + max(libraries, default=0)


def _resident(pid: int) -> tuple[int, int]:
    """All that a process holds, and how much of that are pages of files."""
    with suppress(OSError, IndexError):
        _, held, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
        return held * _PAGE, shared * _PAGE
    return 0, 0
