"""Worker processes that analyse pages for the crawl loop.

Each has a socket of its own, which the loop reads and writes like any other: no threads, and a
worker that dies is noticed at once. Processes are spawned, not forked, so that no lock or open file
of the parent leaks into them, and it works alike on every system. What they do, and how they talk,
is in :mod:`trailhound.crawling.worker`.

A page that takes more than its limits costs that page: a worker that is late is killed, one that
asks for too much memory is refused it, and another takes its place.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import socket
from collections import deque
from dataclasses import dataclass
from itertools import count
from multiprocessing.context import SpawnProcess

import msgspec

from trailhound.crawling.analysis import Analysis, AnalystRecipe, PageJob
from trailhound.crawling.processes import MAX_LOOKS, PageLimits, cpu_seconds, start_process
from trailhound.crawling.worker import LENGTH, serve
from trailhound.errors import TrailhoundError

JOBS_PER_WORKER = 3
"""Pages handed to a worker at a time: the next is there before the loop has taken the last one."""

MAX_ATTEMPTS = 2
"""Workers that one page may cost: a death may have had another reason, but not twice."""

MAX_FAILED_STARTS = 3
"""Workers in a row that may die while they load, or not start at all; then another is no use."""

_EXIT_SECONDS = 5.0
_LAUNCH_AGAIN_SECONDS = 2.0
_job_encoder = msgspec.msgpack.Encoder()
_analysis_decoder = msgspec.msgpack.Decoder(Analysis)
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Job:
    url: str
    message: bytes
    answer: asyncio.Future[Analysis]
    is_set_apart: bool = False
    attempts: int = 0

    def settle(self, analysis: Analysis) -> None:
        """Answer, if anybody still waits for it."""
        if not self.answer.done():
            self.answer.set_result(analysis)


class _Worker(asyncio.Protocol):
    """One process, seen from the loop: the jobs that it has, and the answers as they come in."""

    def __init__(self, pool: WorkerPool, process: SpawnProcess) -> None:
        self.process = process
        self.jobs: deque[_Job] = deque()
        self.has_started = False
        self.is_blameless = False
        """Whether it was killed, so that the job it has now is not the reason of its death."""
        self._alarm: asyncio.TimerHandle | None = None
        self._looks = 0
        self._cpu_seconds: float | None = None
        self._pool = pool
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None

    @property
    def room(self) -> int:
        """How many jobs more it may have now."""
        return JOBS_PER_WORKER - len(self.jobs) if self._transport is not None else 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
        self._pool.hand_out()

    def data_received(self, data: bytes) -> None:
        if self.is_blameless:  # of the job that it was killed for, and others have its place
            return
        received = self._received
        received += data
        while len(received) >= LENGTH.size:
            end = LENGTH.size + LENGTH.unpack_from(received)[0]
            if len(received) < end:
                return
            message = bytes(memoryview(received)[LENGTH.size : end])
            del received[:end]
            self._take(_analysis_decoder.decode(message))

    def _take(self, analysis: Analysis) -> None:
        if not self.has_started:
            self.has_started = True
            self._pool.note_start(analysis)
        else:
            self.jobs.popleft().settle(self._pool.in_our_words(analysis))
        self._watch()
        self._pool.hand_out()

    def _watch(self) -> None:
        """The oldest job, if any, is begun now: it has its time from here on."""
        self._unwatch()
        self._looks, self._cpu_seconds = 0, None
        self._look_later()

    def _look_later(self) -> None:
        limits = self._pool.limits
        if limits is not None and self.jobs and self.has_started:
            loop = asyncio.get_running_loop()
            self._alarm = loop.call_later(limits.seconds / 2, self._look, limits.seconds / 2)

    def _look(self, seconds: float) -> None:
        """So long after the last look: kill what is late, unless it was not let work."""
        self._looks += 1
        before, self._cpu_seconds = self._cpu_seconds, cpu_seconds(self.process.pid)
        is_starved = (
            before is not None
            and self._cpu_seconds is not None
            and self._cpu_seconds - before < seconds / 4
        )
        if self._looks == 1 or (is_starved and self._looks < MAX_LOOKS):
            self._look_later()
        else:
            self._kill_late()

    def _unwatch(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _kill_late(self) -> None:
        self.jobs.popleft().settle(self._pool.too_costly("in time"))
        self.is_blameless = True
        self.process.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc  # the exit code says more
        self._transport = None
        self._unwatch()
        self._pool.replace(self)

    def give(self, job: _Job) -> None:
        """Send a job; there must be room for it."""
        self.jobs.append(job)
        if self._transport is not None:
            self._transport.write(job.message)
        if len(self.jobs) == 1:
            self._watch()

    def close(self) -> None:
        """End the process, whatever it is doing: it holds nothing that could be lost."""
        self._unwatch()
        if self._transport is not None:
            self._transport.abort()
        self.process.terminate()

    def wait(self) -> int | None:
        """The process's exit code, once it has ended."""
        self.process.join(_EXIT_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        return self.process.exitcode


class WorkerPool:
    """``workers`` processes, each with an analyst made by ``recipe``.

    One that is not started before is started by its first job. ``is_vital`` says whether the crawl
    has to end when no worker can be had; else the pages are lost. ``recipe`` may need what the
    program's main module defines; with ``imports_main`` workers import it, and it must not crawl
    then.
    """

    def __init__(
        self,
        recipe: AnalystRecipe,
        workers: int,
        limits: PageLimits | None = None,
        *,
        is_vital: bool = True,
        imports_main: bool = True,
    ) -> None:
        self.limits = limits
        self._recipe = recipe
        self._n_workers = workers
        self.is_vital = is_vital
        self._imports_main = imports_main
        self._workers: list[_Worker] = []
        self._waiting: deque[_Job] = deque()
        self._starts: set[asyncio.Task[None]] = set()
        self._failed_starts = 0
        self._failure: TrailhoundError | None = None
        self._is_closed = False

    async def start(self) -> None:
        """Start the processes. They take jobs at once and answer when they have loaded."""
        for _ in range(self._n_workers):
            await self._start_worker()

    async def _start_worker(self) -> None:
        """One more process, tried again while this machine lacks descriptors or memory."""
        for attempt in count(1):
            try:
                await self._launch_worker()
                return
            except OSError as error:
                _log.warning("A worker process could not be started: %s", error)
                if attempt >= MAX_FAILED_STARTS:
                    raise _failure(f"A worker process could not be started: {error}") from error
                await asyncio.sleep(_LAUNCH_AGAIN_SECONDS)

    async def _launch_worker(self) -> None:
        ours, theirs = socket.socketpair()
        memory_bytes = self.limits.memory_bytes if self.limits is not None else None
        process = multiprocessing.get_context("spawn").Process(
            target=serve,
            args=(theirs, self._recipe, memory_bytes),
            daemon=True,
            name="trailhound-worker",
        )
        try:
            start_process(process, imports_main=self._imports_main)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        worker = _Worker(self, process)
        self._workers.append(worker)
        await asyncio.get_running_loop().create_connection(lambda: worker, sock=ours)

    def submit(self, job: PageJob) -> asyncio.Future[Analysis]:
        """Have a page analysed. Raises, through the future, only when no worker can be had."""
        answer: asyncio.Future[Analysis] = asyncio.get_running_loop().create_future()
        body = _job_encoder.encode(job)
        waiting = _Job(job.url, LENGTH.pack(len(body)) + body, answer, job.is_set_apart)
        if self._failure is not None:
            self._refuse(waiting, self._failure)
            return answer
        self._waiting.append(waiting)
        if not self._workers and not self._starts:
            self._start_another()
        self.hand_out()
        return answer

    def hand_out(self) -> None:
        """Give waiting jobs to the workers that have the fewest."""
        while self._waiting and self._workers:
            idlest = max(self._workers, key=lambda worker: worker.room)
            if idlest.room <= 0:
                return
            idlest.give(self._waiting.popleft())

    def note_start(self, start: Analysis) -> None:
        """A worker has loaded its parts, or could not."""
        if start.failure:
            _log.error("A worker process could not start\n%s", start.trace)
            self._fail(_failure(f"A worker process could not start: {start.failure}"))
        self._failed_starts = 0

    def replace(self, lost: _Worker) -> None:
        """A worker is gone: its jobs wait again, and another takes its place."""
        if self._is_closed:
            return
        self._workers.remove(lost)
        exit_code = lost.wait()
        if lost.has_started and not lost.is_blameless:
            self._count_attempt(lost, exit_code)
        self._waiting.extendleft(reversed(lost.jobs))
        self._failed_starts += not lost.has_started
        if self._failed_starts >= MAX_FAILED_STARTS:
            self._fail(
                _failure(
                    f"Worker processes die while they start (exit code {exit_code}), perhaps for "
                    "want of memory. A script of your own must start its crawl below "
                    "'if __name__ == \"__main__\":'"
                )
            )
        if self._failure is None:
            self._start_another()

    def _start_another(self) -> None:
        start = asyncio.get_running_loop().create_task(self._start_worker())
        self._starts.add(start)
        start.add_done_callback(self._note_launch)

    def _note_launch(self, start: asyncio.Task[None]) -> None:
        self._starts.discard(start)
        error = None if start.cancelled() else start.exception()
        if error is not None:
            self._fail(error if isinstance(error, TrailhoundError) else _failure(str(error)))

    def _count_attempt(self, lost: _Worker, exit_code: int | None) -> None:
        """The oldest job was in hand: it may have been the reason."""
        if not lost.jobs:
            return
        job = lost.jobs[0]
        job.attempts += 1
        _log.warning("A worker process died on %s (exit code %s)", job.url, exit_code)
        if job.is_set_apart:  # there is hardly another reason than the page
            lost.jobs.popleft().settle(self.too_costly(f"and its process died ({exit_code})"))
        elif job.attempts >= MAX_ATTEMPTS:
            why = f"{MAX_ATTEMPTS} worker processes died on this page (exit code {exit_code})"
            lost.jobs.popleft().settle(Analysis(failure=why, trace=why))

    def _fail(self, failure: TrailhoundError) -> None:
        """Nothing will be analysed here any more: a crawl that needs it must end."""
        self._failure = failure
        jobs = [*self._waiting, *(job for worker in self._workers for job in worker.jobs)]
        self._waiting.clear()
        for job in jobs:
            self._refuse(job, self._failure)

    def _refuse(self, job: _Job, failure: TrailhoundError) -> None:
        if not self.is_vital:
            job.settle(Analysis(failure=str(failure), trace=str(failure)))
        elif not job.answer.done():
            job.answer.set_exception(failure)

    def too_costly(self, how: str) -> Analysis:
        """What comes of a page that went beyond its limits."""
        limits = self.limits.in_words() if self.limits is not None else "the memory there is"
        why = f"it was not analysed {how}: a page may take {limits}"
        return Analysis(failure=why, trace=why, is_too_costly=True)

    def in_our_words(self, analysis: Analysis) -> Analysis:
        """What a worker found; of a page that asked for too much memory, that it did."""
        return self.too_costly("for want of memory") if analysis.is_too_costly else analysis

    async def close(self) -> None:
        """End all processes; none is left when this returns."""
        self._is_closed = True
        for start in self._starts:
            start.cancel()
        for worker in self._workers:
            worker.close()
        for worker in self._workers:
            worker.wait()
        self._workers.clear()
        self._waiting.clear()


def _failure(reason: str) -> TrailhoundError:
    return TrailhoundError(
        f"{reason}. Crawl with --workers 1, or repair the cause; the crawl can be resumed."
    )
