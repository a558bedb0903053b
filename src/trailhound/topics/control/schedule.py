"""When a topic is crawled by itself: every night, or when a session is submitted.

::

    TOPIC/schedule.json        what a person wants
          schedule-state.json  what has been done of it
          schedule-submitted.json  when a session was submitted last

What to do now is a pure function of the two, of the topic's crawl and of the time
(:func:`decide`); :mod:`scheduler` does it. Times of day are local: a window from 22:00 to 6:00 has
seven hours on the night in which clocks are put forward, and nine when they are put back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta, tzinfo
from datetime import time as time_of_day
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from trailhound.counting import counted
from trailhound.crawling.budget import StopReason
from trailhound.errors import UNREADABLE, StorageError, UsageError
from trailhound.storage.files import write_whole
from trailhound.topics.crawls.status import CrawlState, RunningCrawl
from trailhound.topics.workspace import TopicFolder

SCHEDULE = "schedule.json"
STATE = "schedule-state.json"
SUBMITTED = "schedule-submitted.json"
SCHEDULED = "schedule"
"""Who starts such a crawl, as :class:`RunningCrawl` tells it."""
DEFAULT_REQUESTS = 2_000
"""Of one night, unless it is said otherwise."""
SHORT_SECONDS = 60.0
"""A crawl that is cut short sooner may be cut short again: it is not begun anew at once."""
RETRY_SECONDS = 1800.0
"""After a start that failed, or when all hosts wanted to be left alone."""
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

Count = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Weekday = Annotated[int, msgspec.Meta(ge=0, le=6)]
Clock = Annotated[str, msgspec.Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
"""``22:00``."""


class Window(msgspec.Struct, frozen=True):
    """A time of every night; one that ends before it begins goes past midnight."""

    start: Clock
    end: Clock
    """The same as ``start``: a whole day."""
    days: tuple[Weekday, ...] = (0, 1, 2, 3, 4, 5, 6)
    """On which it begins; 0 is Monday."""

    def on(self, day: date, zone: tzinfo | None = None) -> tuple[float, float]:
        """When it begins and ends that begins on ``day``, in seconds since 1970."""
        last = day if self.end > self.start else day + timedelta(days=1)
        return _moment(day, self.start, zone), _moment(last, self.end, zone)

    def __str__(self) -> str:
        """``22:00-06:00``, with the days unless it is all of them."""
        days = "" if len(set(self.days)) == 7 else " " + ",".join(DAYS[day] for day in self.days)
        return f"{self.start}-{self.end}{days}"


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """``schedule.json``: what a person wants for one topic."""

    on: bool = True
    nightly: Window | None = None
    on_submit: bool = False
    """Learn and crawl when a session is submitted."""
    requests: Count = DEFAULT_REQUESTS
    """The most of one night, or after one submit."""
    delay_seconds: Seconds | None = None
    """Between requests to one host; ``None``: as the crawl is set up."""
    refresh: bool = True
    """Look first at finds that are due to be looked at again."""
    settings: dict[str, Any] = {}
    """Others of its crawls, by ``section.name``: a user agent, say."""

    def __str__(self) -> str:
        """In words."""
        when = [f"every night {self.nightly}"] if self.nightly is not None else []
        when += ["when a session is submitted"] if self.on_submit else []
        if not self.on or not when:
            return "off"
        told = f"{' and '.join(when)}, up to {counted(self.requests, 'request')} each time"
        if self.delay_seconds is None:
            return told
        return f"{told}, {self.delay_seconds:,.15g} s between requests to a host"


class Occasion(StrEnum):
    """What a crawl was started for."""

    NONE = ""
    NIGHT = "night"
    SUBMIT = "submit"


class ScheduleState(msgspec.Struct, frozen=True, kw_only=True):
    """``schedule-state.json``: what has been done. Times are since 1970."""

    occasion: Occasion = Occasion.NONE
    """Of the last start."""
    night: str = ""
    """The date on which the last window began that was made use of."""
    started_at: float = 0.0
    """When the last crawl was started, or was about to be."""
    requests_before: int = 0
    """Of the crawl, when the last night, or the crawl after the last submit, began."""
    submitted_at: float = 0.0
    """When a session was submitted last."""
    submit_served_at: float = 0.0
    """When a crawl was started for a submit last."""
    failed: str = ""
    """Why the last start failed; empty when it did not."""
    failed_at: float = 0.0


class Submitted(msgspec.Struct, frozen=True):
    """``schedule-submitted.json``: apart, as others write it than who looks after schedules."""

    at: float


class Action(StrEnum):
    """What is to be done now."""

    START = "start"
    STOP = "stop"
    NOTHING = "nothing"


class Decision(NamedTuple):
    """What is to be done now, why, and when there will be something to decide again."""

    action: Action
    reason: str
    """In words."""
    next_at: float | None = None
    """Seconds since 1970; ``None`` when nobody knows."""
    occasion: Occasion = Occasion.NONE
    night: str = ""
    until: float | None = None
    """When a crawl that is started must have ended."""
    requests: int = 0
    """That it may make."""


def decide(
    schedule: Schedule,
    state: ScheduleState,
    crawl: RunningCrawl | None,
    now: float,
    zone: tzinfo | None = None,
) -> Decision:
    """What to do for a topic now. ``zone`` is where it is night; ``None``: here."""
    upcoming = next_window(schedule.nightly, now, zone) if schedule.on else None
    next_at = upcoming[1] if upcoming is not None else None
    window = current_window(schedule.nightly, now, zone) if schedule.on else None
    if crawl is not None and crawl.is_alive:
        return _while_it_runs(schedule, state, crawl, window, next_at)
    if not schedule.on:
        return Decision(Action.NOTHING, "The schedule is off.")
    if schedule.on_submit and state.submitted_at > state.submit_served_at:
        return _after_submit(schedule, state, now, next_at)
    if window is None:
        return Decision(Action.NOTHING, _idle(schedule), next_at)
    return _at_night(schedule, state, crawl, now, window, next_at)


def _while_it_runs(
    schedule: Schedule,
    state: ScheduleState,
    crawl: RunningCrawl,
    window: tuple[str, float, float] | None,
    next_at: float | None,
) -> Decision:
    if crawl.started_by != SCHEDULED:
        return Decision(Action.NOTHING, "A crawl runs that a person has started.", next_at)
    if not schedule.on:
        return Decision(Action.STOP, "The schedule was switched off.", next_at)
    if state.occasion is Occasion.SUBMIT:
        return Decision(Action.NOTHING, "It crawls after a session was submitted.", next_at)
    if window is None:
        return Decision(Action.STOP, "The night is over.", next_at)
    return Decision(Action.NOTHING, "It crawls for the night.", window[2])


def _after_submit(
    schedule: Schedule,
    state: ScheduleState,
    now: float,
    next_at: float | None,
) -> Decision:
    retry_at = state.failed_at + RETRY_SECONDS
    if state.failed and now < retry_at:
        return Decision(Action.NOTHING, state.failed, min(retry_at, next_at or retry_at))
    reason = "A session was submitted."
    return Decision(
        Action.START, reason, next_at, Occasion.SUBMIT, state.night, None, schedule.requests
    )


def _at_night(
    schedule: Schedule,
    state: ScheduleState,
    crawl: RunningCrawl | None,
    now: float,
    window: tuple[str, float, float],
    next_at: float | None,
) -> Decision:
    night, _, end = window
    left = schedule.requests
    if state.night == night and crawl is not None:
        left -= max(0, crawl.requests - state.requests_before)
    start = Decision(Action.START, "The night has begun.", end, Occasion.NIGHT, night, end, left)
    if state.night != night:
        return start
    if state.occasion is not Occasion.NIGHT:
        return Decision(Action.NOTHING, "This night's crawl is done.", next_at)
    if left <= 0:
        return Decision(Action.NOTHING, "The budget of this night is spent.", next_at)
    if state.failed:
        again = min(state.failed_at + RETRY_SECONDS, end)
        return start if now >= again else Decision(Action.NOTHING, state.failed, again)
    if crawl is None or crawl.started_at < state.started_at:
        return start._replace(reason="The crawl of this night never began.")
    if _was_cut_short(crawl):
        return _after_cut(crawl, now, start, next_at)
    if crawl.ended == StopReason.HOSTS_ASLEEP.value:
        again = (crawl.ended_at or now) + RETRY_SECONDS
        if now >= again:
            return start._replace(reason="Hosts that wanted to be left alone may be asked again.")
        return Decision(Action.NOTHING, "All hosts want to be left alone.", min(again, end))
    return Decision(Action.NOTHING, f"This night's crawl has ended: {crawl.ended}.", next_at)


def _was_cut_short(crawl: RunningCrawl) -> bool:
    """Whether nobody wanted it to end: the machine went down, say."""
    is_interrupted = crawl.ended == StopReason.INTERRUPTED.value and crawl.asked_to is None
    return crawl.state is CrawlState.CUT_SHORT or is_interrupted


def _after_cut(crawl: RunningCrawl, now: float, start: Decision, next_at: float | None) -> Decision:
    if crawl.started_by != SCHEDULED:
        return Decision(Action.NOTHING, "A crawl that a person began has ended.", next_at)
    ended_at = crawl.ended_at or now
    again = ended_at + (RETRY_SECONDS if ended_at - crawl.started_at < SHORT_SECONDS else 0.0)
    if ended_at <= now < again:
        again = min(again, start.next_at or again)
        return Decision(Action.NOTHING, "The crawl was cut short as soon as it began.", again)
    return start._replace(reason="The crawl of this night was cut short.")


def _idle(schedule: Schedule) -> str:
    if schedule.nightly is None and not schedule.on_submit:
        return "Nothing is scheduled."
    return "It is not the time." if schedule.nightly is not None else "No session was submitted."


def current_window(
    window: Window | None, now: float, zone: tzinfo | None = None
) -> tuple[str, float, float] | None:
    """The window that ``now`` is in: the date of its night, when it began, when it ends."""
    today = datetime.fromtimestamp(now, zone).date()
    for day in (today, today - timedelta(days=1)):  # the later one wins where they touch
        for night, start, end in _windows(window, day, 1, zone):
            if start <= now < end:
                return night, start, end
    return None


def next_window(
    window: Window | None, now: float, zone: tzinfo | None = None
) -> tuple[str, float, float] | None:
    """The next window that has not begun."""
    today = datetime.fromtimestamp(now, zone).date()
    ahead = _windows(window, today, 9, zone)
    return next((each for each in ahead if each[1] > now and each[2] > each[1]), None)


def _windows(
    window: Window | None, first: date, days: int, zone: tzinfo | None
) -> Iterator[tuple[str, float, float]]:
    for day in (first + timedelta(days=n) for n in range(days)):
        if window is not None and day.weekday() in window.days:
            yield day.isoformat(), *window.on(day, zone)


def _moment(day: date, clock: str, zone: tzinfo | None) -> float:
    """Where clocks show a time twice, the first; where they skip it, as much later."""
    return datetime.combine(day, time_of_day.fromisoformat(clock), zone).timestamp()


_NIGHTLY = re.compile(r"\s*(\d{1,2}:\d\d)\s*(?:-|–|to)\s*(\d{1,2}:\d\d)\s*")


def parse_window(text: str, days: str | None = None) -> Window:
    """From ``22:00-6:00`` and ``mon,tue``; UsageError says how to write it."""
    found = _NIGHTLY.fullmatch(text)
    if found is None:
        raise UsageError(f"'{text}' is no time of night. Write it as 22:00-06:00.")
    chosen = tuple(range(7)) if days is None else tuple(sorted(set(map(_weekday, days.split(",")))))
    window = Window(found[1].zfill(5), found[2].zfill(5), chosen)
    try:
        return msgspec.convert(msgspec.to_builtins(window), Window)
    except msgspec.ValidationError:
        raise UsageError(f"'{text}' is no time of night. Write it as 22:00-06:00.") from None


def _weekday(text: str) -> int:
    """From ``mon``, or more of the day's name."""
    name = text.strip().lower()
    for number, day in enumerate(_WEEKDAYS):
        if len(name) >= 3 and day.startswith(name):
            return number
    raise UsageError(f"'{text}' is no weekday. Write them as {','.join(DAYS)}.")


def read_schedule(topic: TopicFolder) -> Schedule | None:
    """What is wanted; ``None`` when there is no schedule, StorageError when it is damaged."""
    return _read(topic.path / SCHEDULE, Schedule)


def write_schedule(topic: TopicFolder, schedule: Schedule) -> None:
    """Keep what is wanted."""
    _write(topic.path / SCHEDULE, schedule)


def read_state(topic: TopicFolder) -> ScheduleState:
    """What has been done."""
    state = _read(topic.path / STATE, ScheduleState) or ScheduleState()
    submitted = _read(topic.path / SUBMITTED, Submitted)
    if submitted is None or submitted.at <= state.submitted_at:
        return state
    failed = state.failed if submitted.at <= state.failed_at else ""
    return msgspec.structs.replace(state, submitted_at=submitted.at, failed=failed)


def write_state(topic: TopicFolder, state: ScheduleState) -> None:
    """Keep what has been done."""
    _write(topic.path / STATE, state)


def note_submit(topic: TopicFolder, now: float) -> None:
    """A session was submitted: where the schedule says so, learning and a crawl follow."""
    schedule = read_schedule(topic)
    if schedule is not None and schedule.on and schedule.on_submit:
        _write(topic.path / SUBMITTED, Submitted(now))


_Kept = TypeVar("_Kept")


def _read(path: Path, kind: type[_Kept]) -> _Kept | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, *UNREADABLE) as error:
        raise StorageError(
            f"{path} cannot be read: {error}. Mend it, or delete it and schedule the topic again."
        ) from error


def _write(path: Path, kept: object) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(kept), indent=1))
