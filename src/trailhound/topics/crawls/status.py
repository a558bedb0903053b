"""What a crawl tells everybody about itself, and what everybody may ask of it.

::

    TOPIC/crawl.lock        held by whoever crawls: alive is who holds it
          running.json      how the crawl is, written by it about once a second; and how it ended
          control.json      what somebody wants of it: to stop, or to pause
          crawl-output.txt  what a crawl has printed that was started without a terminal

Files work alike on every system, outlive whoever writes or reads them, and need no port.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

import msgspec

from trailhound.errors import UNREADABLE, StorageError
from trailhound.storage.files import PARTIAL_SUFFIX, explaining, json_of, whole_file
from trailhound.topics.crawls.notices import Failure

STATUS = "running.json"
CONTROL = "control.json"
OUTPUT = "crawl-output.txt"
_URL = re.compile("https?://", re.IGNORECASE)
_BEFORE, _BEHIND = "'\"(<[*.", ".,;:!?)'\">]"
"""Punctuation around the name of a page or a host."""


class CrawlState(StrEnum):
    """Where a crawl is between its start and its end."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    """It starts no further fetch, and ends soon."""
    PAUSED = "paused"
    """Somebody ended it for the time being."""
    ENDED = "ended"
    CUT_SHORT = "cut-short"
    """Its process was killed, or the machine went down; all pages up to then are safe."""


ALIVE = frozenset({CrawlState.STARTING, CrawlState.RUNNING, CrawlState.STOPPING})


class Wish(StrEnum):
    """What somebody may want of a running crawl."""

    STOP = "stop"
    PAUSE = "pause"


class RecentPage(msgspec.Struct, frozen=True):
    """A page that a crawl has just dealt with."""

    url: str
    title: str
    outcome: str
    score: float | None
    """``None`` when there was no page to judge."""
    relevant: bool
    at: float


class Notice(msgspec.Struct, frozen=True):
    """What a person was told."""

    at: float
    text: str


class RunningCrawl(msgspec.Struct, frozen=True, kw_only=True):
    """A topic's crawl as it is now, or as its last run has left it. Times are since 1970."""

    topic: str
    run: str
    """Names this run; empty for a crawl that an earlier Trailhound has left."""
    state: CrawlState
    pid: int = 0
    started_by: str = ""
    """``terminal``, ``app``, ``schedule`` or ``program``."""
    started_at: float = 0.0
    updated_at: float = 0.0
    ended_at: float | None = None
    ended: str = ""
    """Why it ended, in words; empty while it runs."""
    asked_to: Wish | None = None
    """What somebody wanted of it; ``None`` for one that ended otherwise, by a signal, say."""
    failed: str = ""
    """Why the run as a whole was in vain; empty when it was not."""
    requests: int = 0
    """Of all runs."""
    requests_of_run: int = 0
    pages: int = 0
    """Dealt with in all runs, whatever came of them; fewer were fetched."""
    pages_of_run: int = 0
    finds: int = 0
    """Relevant pages of all runs, without copies."""
    finds_of_run: int = 0
    max_requests: int | None = None
    """Of all runs; ``None`` is no limit."""
    max_seconds: float | None = None
    """Of this run."""
    share_done: float = 0.0
    """Of the budget, 0 to 1."""
    seconds_left: float | None = None
    """Until the budget is spent at the present speed; ``None`` when that cannot be said."""
    pages_per_second: float = 0.0
    waiting: int = 0
    """URLs in the frontier."""
    in_flight: int = 0
    hosts_waiting: int = 0
    """Hosts that have them."""
    hosts_asked: int = 0
    """In this run."""
    mean_score: float | None = None
    """Of the last fifty judged pages."""
    outcomes: dict[str, int] = {}
    """Pages of this run."""
    remark: str = ""
    """What holds it up at the moment, in words."""
    latest: tuple[RecentPage, ...] = ()
    """The last pages, newest first."""
    notices: tuple[Notice, ...] = ()
    """The last ones, newest first."""
    went_wrong: tuple[Failure, ...] = ()

    @property
    def is_alive(self) -> bool:
        """Whether a process is at it."""
        return self.state in ALIVE


class _Control(msgspec.Struct):
    run: str
    """Whom it is for: a wish that came too late must not end the next run."""
    wish: Wish


def read_status(topic: Path) -> RunningCrawl | None:
    """What was written last; ``None`` when there is nothing, or nothing that can be read."""
    with suppress(OSError, *UNREADABLE):
        return msgspec.json.decode((topic / STATUS).read_bytes(), type=RunningCrawl)
    return None


def write_status(topic: Path, status: RunningCrawl) -> bool:
    """Whether it could be written: Windows refuses while somebody reads, and a disk may be full."""
    with suppress(OSError):
        with whole_file(topic / STATUS, sync=False) as file:
            file.write(json_of(status))
        return True
    return False


def read_wish(topic: Path, run: str) -> Wish | None:
    """What somebody wants of this run, if anything."""
    path = topic / CONTROL
    if not os.path.exists(path):  # asked twice a second: cheaper than an error
        return None
    with suppress(OSError, *UNREADABLE):
        control = msgspec.json.decode(path.read_bytes(), type=_Control)
        return control.wish if control.run == run else None
    return None


def write_wish(topic: Path, run: str, wish: Wish) -> None:
    """Ask something of a run; StorageError when that cannot be written."""
    path = topic / CONTROL
    with explaining(path), whole_file(path, sync=False) as file:
        file.write(msgspec.json.encode(_Control(run, wish)))


def drop_wish(topic: Path) -> None:
    """What was asked for has been done, or is of no use any more."""
    with suppress(OSError):
        (topic / CONTROL).unlink(missing_ok=True)


def drop_leftovers(topic: Path) -> None:
    """What a process has left that was killed while it wrote."""
    for path in topic.glob(f".{STATUS}.*{PARTIAL_SUFFIX}"):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def forget_status(topic: Path, forgotten: Callable[[str], bool]) -> None:
    """Leave the figures, and of all else what does not name a URL that is forgotten."""
    status = read_status(topic)
    drop_leftovers(topic)
    for name in (STATUS, CONTROL, OUTPUT):
        try:
            (topic / name).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(
                f"{topic / name} cannot be removed: {error.strerror or error}. Check that you may "
                "write in its folder."
            ) from error
    if status is not None:
        write_status(topic, _without(status, lambda text: _names(text, forgotten)))


def _without(status: RunningCrawl, names: Callable[[str], bool]) -> RunningCrawl:
    return msgspec.structs.replace(
        status,
        ended=status.ended.partition(":")[0],
        failed="",
        remark="",
        latest=tuple(each for each in status.latest if not (names(each.url) or names(each.title))),
        notices=tuple(each for each in status.notices if not names(each.text)),
        went_wrong=tuple(
            each for each in status.went_wrong if not names(f"{each.what} {each.example}")
        ),
    )


def _names(text: str, forgotten: Callable[[str], bool]) -> bool:
    """Whether a text names, or may name, a URL that is forgotten, or its host alone."""
    return any(
        ("/" in word and "…" in word)  # cut off: nobody can tell
        or any(forgotten(each) or forgotten(f"http://{each}/") for each in _readings(word))
        for word in text.split()
    )


def _readings(word: str) -> Iterator[str]:
    """What may be meant by an address between marks of punctuation, which may be part of it."""
    begins = {0, len(word) - len(word.lstrip(_BEFORE)), *(at.start() for at in _URL.finditer(word))}
    ends = range(len(word.rstrip(_BEHIND)), len(word) + 1)
    return (word[begin:end] for begin in begins for end in ends)
