"""Crawls as others see them: started, watched, stopped, paused and resumed from anywhere.

A crawl is a process of its own that outlives whoever starts it (so may the app be). It lives while
it holds its topic's lock, tells how it is in a file, and reads from another what is wanted of it
(:mod:`trailhound.topics.crawls.status`). So the command line, the app and the schedule see and
control the same thing, and none of them is needed for it to go on.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Any, Literal

import msgspec

from trailhound.config.layers import checked_settings
from trailhound.errors import StorageError, TrailhoundError, UsageError
from trailhound.storage.files import explaining
from trailhound.storage.locks import is_held
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.status import (
    OUTPUT,
    CrawlState,
    RunningCrawl,
    Wish,
    read_status,
    write_wish,
)
from trailhound.topics.workspace import TopicFolder, Workspace

NEXT_STEPS = "(Add --workspace "
"""With which the command line ends what it tells a person at a terminal."""


class DetachedProcess:
    """``trailhound`` with these arguments, in a session of its own.

    No signal to this process, or to its terminal, reaches it. What it prints goes to ``output``. A
    thread waits for its end, so that no dead process stays behind.
    """

    def __init__(self, arguments: list[str], output: Path) -> None:
        alone: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
            alone = {"creationflags": flags}
        self._output = output
        self._over = threading.Event()
        command = [sys.executable, "-m", "trailhound", *arguments]
        words = {**os.environ, "PYTHONIOENCODING": "utf-8"}  # as the file is read
        with explaining(output), output.open("wb") as file:
            # No shell is involved, and the program is our own.
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=words, **alone
            )
        threading.Thread(target=self._wait, name="detached", daemon=True).start()

    def _wait(self) -> None:
        self._process.wait()
        self._over.set()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """``None`` while it runs."""
        return self._process.returncode if self._over.is_set() else None

    def complaint(self) -> str:
        """What it said last, in one line: the error, if it told of one."""
        with explaining(self._output):
            said = self._output.read_text("utf-8", "replace")
        _, told, message = said.partition(NEXT_STEPS)[0].rpartition("Error: ")
        return " ".join(message.split()) if told else " ".join(said.split())[-500:]


CUT_SHORT = "it was cut short; everything up to its last page is safe, and resuming goes on"
START_SECONDS = 60.0
"""A start is waited for so long: reading the model, and holding large stores against each other."""
STOP_SECONDS = 60.0
"""An end is waited for so long: what is in flight is dealt with first."""
FRESH_SECONDS = 5.0
"""Where the lock cannot be tried, a crawl that has told something so recently is alive."""
_LOOK_EVERY_SECONDS = 0.05
_LOOKS = 3

Mode = Literal["new", "resume", "restart", "refresh", "refresh-due"]
_MODES: dict[Mode, tuple[str, ...]] = {
    "new": (),
    "resume": ("--resume",),
    "restart": ("--restart",),
    "refresh": ("--refresh",),
    "refresh-due": ("--refresh-due",),
}
_REPEATED = {
    "crawl.seeds": "--seed",
    "crawl.scope": "--scope",
    "crawl.exclude": "--exclude",
    "fetch.allow_addresses": "--allow-address",
    "fetch.resolve": "--resolve",
    "output.sinks": "--sink",
}
"""Lists have options of their own: a comma may be part of an address."""


def running_crawl(topic: TopicFolder) -> RunningCrawl | None:
    """The topic's crawl as it is, or as its last run left it; ``None`` when there never was one.

    Takes some hundred microseconds, whatever the size of the crawl; ``is_alive`` tells whether a
    process is at it.
    """
    status = read_status(topic.path)
    for _ in range(_LOOKS):
        held = is_held(topic.path / "crawl.lock")
        after = read_status(topic.path)
        if _moment(status) == _moment(after):
            return _seen(topic, after, held)
        status = after  # it has begun or ended meanwhile
    return _seen(topic, status, True)


def _moment(status: RunningCrawl | None) -> tuple[str, str] | None:
    return (status.run, status.state) if status is not None else None


def _seen(
    topic: TopicFolder, status: RunningCrawl | None, held: bool | None
) -> RunningCrawl | None:
    if status is None:
        return _without_status(topic)
    status = msgspec.structs.replace(status, topic=topic.name)  # it may have been renamed
    if held is None:
        held = status.is_alive and time.time() - status.updated_at < FRESH_SECONDS
    if held and not status.is_alive and status.run:
        # Its files are being closed; or somebody repairs them.
        recent = time.time() - status.updated_at < FRESH_SECONDS
        return msgspec.structs.replace(status, state=CrawlState.STOPPING) if recent else status
    if not held and status.is_alive:
        return msgspec.structs.replace(
            status, state=CrawlState.CUT_SHORT, ended=CUT_SHORT, ended_at=status.updated_at
        )
    return status


def _without_status(topic: TopicFolder) -> RunningCrawl | None:
    """A crawl of an earlier Trailhound, or one that was copied here."""
    folder = CrawlFolder(topic)
    if not folder.exists():
        return None
    record = folder.read()
    state = CrawlState.ENDED if record.ended else CrawlState.CUT_SHORT
    found = RunningCrawl(
        topic=topic.name,
        run="",
        state=state,
        started_at=record.created_at,
        ended_at=record.ended_at,
        ended=record.ended or CUT_SHORT,
        max_requests=record.settings.crawl.max_requests,
    )
    if not folder.results.is_file():
        return found
    with Results(folder.results) as results:
        total = results.summary()
    return msgspec.structs.replace(
        found, requests=total.requests, pages=total.pages, finds=total.relevant
    )


def all_crawls(workspace: Workspace) -> Iterator[RunningCrawl]:
    """Of all topics that have one, those that run first, then the latest."""
    found = []
    for name in workspace.topics():
        try:
            found.append(running_crawl(workspace.folder_for(name)))
        except TrailhoundError as error:  # one that is damaged hides no other
            found.append(RunningCrawl(topic=name, run="", state=CrawlState.ENDED, ended=str(error)))
    crawls = [each for each in found if each is not None]
    return iter(sorted(crawls, key=lambda each: (not each.is_alive, -each.started_at)))


def start_crawl(
    workspace: Workspace,
    topic: str,
    settings: Mapping[str, Any] | None = None,
    *,
    mode: Mode = "new",
    started_by: str = "app",
    seconds: float | None = None,
) -> RunningCrawl:
    """Start a crawl in a process of its own, which nothing that happens to this one touches.

    ``settings`` are by ``section.name``, as for ``trailhound crawl``; a resumed crawl takes the
    others from its last run. This run ends after ``seconds`` at the latest. Returns once the crawl
    has begun (or after a minute, while it is still starting). What keeps it from beginning
    is raised, with the words of the command line: UsageError, or another TrailhoundError.
    """
    folder = workspace.topic(topic)
    if (present := running_crawl(folder)) is not None and present.is_alive:
        raise UsageError(
            f"The topic '{folder.name}' is being crawled already. Stop that crawl first, or let it "
            f"end: trailhound stop {quote(folder.name)}"
        )
    run = uuid.uuid4().hex
    command = _command(workspace, folder.name, settings or {}, mode, f"{started_by}:{run}")
    if seconds is not None:
        command.insert(-2, f"--seconds={max(1.0, seconds)}")
    output = folder.path / OUTPUT
    process = DetachedProcess(command, output)
    patience = time.monotonic() + START_SECONDS
    while time.monotonic() < patience:
        code = process.exit_code()
        status = read_status(folder.path)
        if status is not None and status.run == run and status.state is not CrawlState.STARTING:
            return running_crawl(folder) or status
        if code is not None:
            raise _why_not(process, code)
        time.sleep(_LOOK_EVERY_SECONDS)
    status = running_crawl(folder)
    if status is None or status.run != run:
        raise StorageError(f"The crawl of '{topic}' does not begin. What it says is in {output}.")
    return status


def request_stop(topic: TopicFolder) -> RunningCrawl:
    """Let the crawl end as Ctrl-C does; it notices within a second. UsageError when none runs."""
    return _wish(topic, Wish.STOP)


def pause(topic: TopicFolder) -> RunningCrawl:
    """The same, remembered as paused."""
    return _wish(topic, Wish.PAUSE)


def _wish(topic: TopicFolder, wish: Wish) -> RunningCrawl:
    status = running_crawl(topic)
    if status is None:
        raise UsageError(
            f"The topic '{topic.name}' has not been crawled yet: there is nothing to end. See "
            "what there is with: trailhound crawls"
        )
    if not status.is_alive:
        raise UsageError(
            f"No crawl of the topic '{topic.name}' is running. See what there is with: trailhound "
            f"crawls, or go on with: trailhound crawl {quote(topic.name)} --resume"
        )
    write_wish(topic.path, status.run, wish)
    return status


def wait_for_end(topic: TopicFolder, seconds: float = STOP_SECONDS) -> RunningCrawl | None:
    """The crawl once it runs no more; as it is after so many seconds, when it still does."""
    patience = time.monotonic() + seconds
    while (status := running_crawl(topic)) is not None and status.is_alive:
        if time.monotonic() >= patience:
            break
        time.sleep(_LOOK_EVERY_SECONDS)
    return status


def _command(
    workspace: Workspace, topic: str, settings: Mapping[str, Any], mode: Mode, started_by: str
) -> list[str]:
    command = ["crawl", *_MODES[mode]]
    for key, value in checked_settings(settings).items():
        if key in _REPEATED:
            command += [f"{_REPEATED[key]}={each}" for each in value]
        elif value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            text = "\n".join(value) if isinstance(value, tuple) else text
            command.append(f"--set={key}={text}")
    folder = str(workspace.folder.absolute())
    return [*command, "--workspace", folder, "--started-by", started_by, "--", topic]


def _why_not(process: DetachedProcess, code: int) -> TrailhoundError:
    kind = UsageError if code == UsageError.exit_code else TrailhoundError
    unsaid = f"The crawl did not begin (exit code {code}), and said nothing."
    return kind(process.complaint() or unsaid)
