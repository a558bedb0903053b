"""What becomes of worker processes when their crawl is interrupted or killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from live_webs import wait_until

SCRIPT = Path(__file__).with_name("crawl_with_workers.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as on Unix")


@contextmanager
def running_crawl() -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """The crawl, in a group of its own as a terminal would have it, and its workers."""
    with subprocess.Popen(
        [sys.executable, str(SCRIPT)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as crawl:
        try:
            assert crawl.stdout is not None
            workers = [int(word) for word in crawl.stdout.readline().split()]
            assert len(workers) == 2
            yield crawl, workers
        finally:
            crawl.kill()


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    if not Path("/proc/self").exists():
        return True
    try:  # an orphan that has ended may stay in the table until somebody collects it
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def test_ctrl_c_ends_the_crawl_and_its_workers_quietly() -> None:
    with running_crawl() as (crawl, workers):
        os.killpg(crawl.pid, signal.SIGINT)
        output, errors = crawl.communicate(timeout=60)
        assert output == "interrupted it was interrupted\n"
        assert errors == ""
        assert crawl.returncode == 0
        wait_until(lambda: not any(map(is_alive, workers)))


def test_what_a_terminal_sends_to_all_of_its_processes_ends_no_worker() -> None:
    with running_crawl() as (_, workers):
        for kind in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            for worker in workers:
                os.kill(worker, kind)
            time.sleep(0.3)
            assert all(map(is_alive, workers)), kind


def test_workers_do_not_outlive_a_crawl_that_is_killed() -> None:
    with running_crawl() as (crawl, workers):
        assert all(map(is_alive, workers))
        crawl.kill()
        crawl.wait(timeout=60)
        wait_until(lambda: not any(map(is_alive, workers)))
