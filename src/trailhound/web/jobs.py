"""What takes a while: each in a thread, with its progress, and known after a crash.

A job that is under way stands in a file of the workspace. When the server is killed, the next one
finds it there and says that it was cut short; the stores that jobs write are whole at any time.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from trailhound.errors import UNREADABLE, TrailhoundError
from trailhound.storage.files import write_whole
from trailhound.utf8 import storable
from trailhound.web.api import ConflictError, NotThereError
from trailhound.web.hub import Happening, Hub
from trailhound.web.plain_words import in_app

_log = logging.getLogger(__name__)

FILE_NAME = "jobs.json"
MOST_KEPT = 50
"""Jobs that have ended and are still told of."""
TOLD_EVERY = 0.5
"""Seconds between two words of progress."""


class Job(msgspec.Struct, kw_only=True):
    """Something that was asked for and takes a while."""

    id: int
    kind: str
    """``learn``, ``rejudge``, ``lab`` …"""
    topic: str = ""
    state: str = "running"
    """``running``, ``done``, ``failed``, ``stopped`` or ``cut short``."""
    message: str = ""
    """What it does now, or what came of it, in words."""
    share: float | None = None
    """How much of it is done, from 0 to 1, where that is known."""
    started_at: float
    ended_at: float | None = None


class Handle:
    """What a job's work is given: to tell how far it is, and to hear that it is to stop."""

    def __init__(self, job: Job, changed: Callable[[Job], None]) -> None:
        self._job = job
        self._changed = changed
        self._told = 0.0
        self._stop = threading.Event()

    def report(self, message: str, share: float | None = None) -> None:
        """What is being done."""
        self._job.message, self._job.share = storable(message), share
        now = time.monotonic()
        if now - self._told >= TOLD_EVERY:
            self._told = now
            self._changed(self._job)

    def is_stopping(self) -> bool:
        """Whether to end soon, with everything in order."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Ask it to end."""
        self._stop.set()


Work = Callable[[Handle], str]
"""Does it, and says what came of it."""


class Jobs:
    """All jobs of the server; one of a kind and topic at a time."""

    def __init__(self, folder: Path, hub: Hub) -> None:
        self._path = folder / FILE_NAME
        self._hub = hub
        self._lock = threading.Lock()
        self._jobs: dict[int, Job] = {}
        self._handles: dict[int, Handle] = {}
        self._threads: dict[int, threading.Thread] = {}
        for job in _read(self._path):
            if job.state == "running":
                job.state, job.ended_at = "cut short", time.time()
                job.message = f"{job.message} – then the app was ended. Start it again."
            self._jobs[job.id] = job
        if self._jobs:
            self._save()  # told once, not at every start from now on

    def start(self, kind: str, topic: str, work: Work) -> Job:
        """Begin; ConflictError when the same is going on already."""
        with self._lock:
            if any(
                job.state == "running" and (job.kind, job.topic) == (kind, topic)
                for job in self._jobs.values()
            ):
                raise ConflictError("This is going on already. Wait until it has ended.")
            number = max(self._jobs, default=0) + 1
            job = Job(id=number, kind=kind, topic=topic, started_at=time.time())
            self._jobs[number] = job
            handle = self._handles[number] = Handle(job, self._changed)
            thread = threading.Thread(target=self._run, args=(job, handle, work), daemon=True)
            self._threads[number] = thread
            try:
                self._save()
            except BaseException:
                del self._jobs[number], self._handles[number], self._threads[number]
                raise
            thread.start()  # here, so that whoever finds the job can wait for its thread
        self._tell(job)
        return job

    def all(self) -> list[Job]:
        """The latest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: -job.id)

    def one(self, number: int) -> Job:
        """By its number; NotThereError when there is none."""
        if number not in self._jobs:
            raise NotThereError(
                f"There is no job {number}. "
                f"Of those that have ended, the last {MOST_KEPT} are known."
            )
        return self._jobs[number]

    def running(self, kind: str, topic: str) -> Job | None:
        """The job of this kind that is under way for a topic, if there is one."""
        return next(
            (
                job
                for job in self.all()
                if job.state == "running" and (job.kind, job.topic) == (kind, topic)
            ),
            None,
        )

    def wait(self, job: Job) -> None:
        """Until it has ended."""
        thread = self._threads.get(job.id)
        if thread is not None:
            thread.join()

    def stop(self, number: int) -> Job:
        """Ask a job to end soon."""
        job = self.one(number)
        if number in self._handles:
            self._handles[number].stop()
        return job

    def finish(self, seconds: float) -> None:
        """Ask all to end, and wait for them so long at most."""
        for handle in list(self._handles.values()):
            handle.stop()
        until = time.monotonic() + seconds
        for thread in list(self._threads.values()):
            thread.join(max(0.0, until - time.monotonic()))

    def _run(self, job: Job, handle: Handle, work: Work) -> None:
        try:
            job.message = storable(in_app(work(handle)))
            job.state = "stopped" if handle.is_stopping() else "done"
        except TrailhoundError as error:
            # One that was stopped may have no other way to end.
            job.state = "stopped" if handle.is_stopping() else "failed"
            job.message = storable(in_app(str(error)))
        except Exception as error:
            # A mistake of ours in one job is told, and takes no other along.
            job.state = "failed"
            job.message = storable(f"Something broke: {type(error).__name__}: {error}")
        job.ended_at = time.time()
        with self._lock:
            self._handles.pop(job.id, None)
            self._drop_oldest()
            self._save_if_possible()
        self._tell(job)
        self._threads.pop(job.id, None)  # whoever waits for it finds its end on the disk

    def _changed(self, job: Job) -> None:
        with self._lock:
            self._save_if_possible()
        self._tell(job)

    def _tell(self, job: Job) -> None:
        self._hub.tell(Happening(kind="job", topic=job.topic, text=job.message))

    def _drop_oldest(self) -> None:
        ended = sorted(number for number, job in self._jobs.items() if job.ended_at is not None)
        for number in ended[:-MOST_KEPT]:
            del self._jobs[number]

    def _save_if_possible(self) -> None:
        """A journal that cannot be written must not cost what the job has done."""
        try:
            self._save()
        except TrailhoundError as error:
            _log.warning("The journal of jobs could not be written: %s", error)

    def _save(self) -> None:
        write_whole(self._path, msgspec.json.encode(list(self._jobs.values())))


def _read(path: Path) -> list[Job]:
    """A journal that cannot be read costs the memory of jobs, and nothing else."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Job])
    except (OSError, *UNREADABLE):
        return []
