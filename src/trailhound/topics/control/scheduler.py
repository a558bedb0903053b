"""Does what schedules say: a server ticks it now and then, and all that it knows is on disk.

It may be killed at any moment, and several may run: one at a time decides, and a crawl that it has
started goes on without it, and ends by itself when its night does.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import tzinfo
from typing import Any, NamedTuple

import msgspec

from trailhound.errors import StorageError, TrailhoundError, UsageError
from trailhound.storage.locks import Ownership
from trailhound.topics.control.running import Mode, request_stop, running_crawl, start_crawl
from trailhound.topics.control.schedule import (
    SCHEDULED,
    Action,
    Decision,
    Occasion,
    Schedule,
    ScheduleState,
    decide,
    read_schedule,
    read_state,
    write_state,
)
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.learning import learn_into, request_as_before
from trailhound.topics.workspace import TopicFolder, Workspace

_log = logging.getLogger(__name__)

_OF_NEW_CRAWLS = frozenset({"crawl.seeds", "crawl.strategy", "crawl.frontier"})
TICK_SECONDS = 20.0
"""How often a server may want to tick."""


class Done(NamedTuple):
    """What a tick has decided for one topic."""

    topic: str
    decision: Decision
    failed: str = ""
    """Why it could not be done."""


class Scheduler:
    """Keeps the schedules of all topics of a workspace. ``clock`` tells the time since 1970.

    ``zone`` is where it is night, ``None`` here. :meth:`tick` may take as long as learning a topic
    does: call it in a thread.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        clock: Callable[[], float] = time.time,
        zone: tzinfo | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._workspace = workspace
        self._clock = clock
        self._zone = zone
        self._report = report

    def tick(self) -> list[Done]:
        """Do what is to be done now, for each topic that has a schedule."""
        done = []
        for name in self._workspace.topics():
            try:
                done += self._look_after(self._workspace.topic(name))
            except TrailhoundError as error:  # one topic hides no other
                done.append(Done(name, Decision(Action.NOTHING, ""), str(error)))
                _log.warning("The schedule of %s: %s", name, error)
        return done

    def outlook(self, topic: TopicFolder) -> Decision:
        """What would be done now, and when there will be something to do; does nothing."""
        schedule = read_schedule(topic) or Schedule(on=False)
        crawl = running_crawl(topic)
        return decide(schedule, read_state(topic), crawl, self._clock(), self._zone)

    def _look_after(self, topic: TopicFolder) -> list[Done]:
        if read_schedule(topic) is None:
            return []
        in_use = StorageError("Another server looks after this schedule at the moment.")
        lock = topic.path / "schedule.lock"
        try:
            owned = Ownership(lock, in_use=in_use, unwritable=StorageError)
        except StorageError as error:
            if error is in_use:
                return []
            raise
        with owned:
            return [self._do(topic)]

    def _do(self, topic: TopicFolder) -> Done:
        decision = self.outlook(topic)
        if decision.action is Action.STOP:
            with suppress(UsageError):  # it has ended meanwhile
                request_stop(topic)
            self._report(f"{topic.name}: {decision.reason} The crawl stops.")
        elif decision.action is Action.START:
            return self._start(topic, decision)
        return Done(topic.name, decision)

    def _start(self, topic: TopicFolder, decision: Decision) -> Done:
        """Written down first: whoever is killed on the way does not start twice."""
        crawl, earlier = running_crawl(topic), read_state(topic)
        made = crawl.requests if crawl is not None else 0
        state = _begun(earlier, decision, made)
        write_state(topic, state)
        is_submit = decision.occasion is Occasion.SUBMIT
        try:
            if is_submit and _has_new_sessions(topic):
                learn_into(self._workspace, request_as_before(topic))
            if is_submit:
                # What cannot be learned is not tried again, but a start that failed is.
                state = msgspec.structs.replace(state, submit_served_at=earlier.submit_served_at)
            self._crawl(topic, decision, made)
        except TrailhoundError as error:
            self._note_failure(topic, state.submit_served_at, str(error))
            self._report(f"{topic.name}: {decision.reason} The crawl did not begin: {error}")
            return Done(topic.name, decision, str(error))
        self._report(f"{topic.name}: {decision.reason} The crawl begins.")
        return Done(topic.name, decision)

    def _note_failure(self, topic: TopicFolder, submit_served_at: float, why: str) -> None:
        """Beside what has happened meanwhile: another session may have been submitted."""
        failed = {"failed": why, "failed_at": self._clock(), "submit_served_at": submit_served_at}
        write_state(topic, msgspec.structs.replace(read_state(topic), **failed))

    def _crawl(self, topic: TopicFolder, decision: Decision, made: int) -> None:
        schedule = read_schedule(topic) or Schedule()
        settings: dict[str, Any] = dict(schedule.settings)
        settings["crawl.max_requests"] = made + decision.requests
        if schedule.delay_seconds is not None:
            settings["fetch.delay_seconds"] = schedule.delay_seconds
        mode = _mode(topic, schedule)
        if mode != "new":  # what waits was ranked by the strategy that it has
            settings = {key: settings[key] for key in settings if key not in _OF_NEW_CRAWLS}
        seconds = decision.until - self._clock() if decision.until is not None else None
        start_crawl(
            self._workspace,
            topic.name,
            settings,
            mode=mode,
            started_by=SCHEDULED,
            seconds=seconds,
        )


async def keep_schedules(scheduler: Scheduler, seconds: float = TICK_SECONDS) -> None:
    """Tick until the task is cancelled; an error of ours is logged, and the next tick comes."""
    while True:
        try:
            await asyncio.to_thread(scheduler.tick)
        except Exception:
            _log.exception("The schedules could not be looked after")
        await asyncio.sleep(seconds)


def _has_new_sessions(topic: TopicFolder) -> bool:
    """Whether something was recorded since the topic was learned: whoever collects may learn."""
    if not topic.is_learned():
        return True
    learned_at = (topic.model_path / "model.json").stat().st_mtime
    paths = [topic.sessions_path / name for name in topic.session_names()]
    return any(path.stat().st_mtime > learned_at for path in paths)


def _begun(state: ScheduleState, decision: Decision, made: int) -> ScheduleState:
    """What is written down before a start; ``made`` are the crawl's requests so far."""
    is_submit = decision.occasion is Occasion.SUBMIT
    goes_on = not is_submit and (state.occasion, state.night) == (Occasion.NIGHT, decision.night)
    return ScheduleState(
        occasion=decision.occasion,
        night=decision.night,
        started_at=time.time(),  # by the clock of crawls, to be held against theirs
        requests_before=state.requests_before if goes_on else made,
        submitted_at=state.submitted_at,
        submit_served_at=state.submitted_at if is_submit else state.submit_served_at,
    )


def _mode(topic: TopicFolder, schedule: Schedule) -> Mode:
    """Go on with the crawl that there is; one of another kind cannot ask whether pages changed."""
    folder = CrawlFolder(topic)
    if not folder.exists():
        return "new"
    over_http = folder.read().settings.fetch.is_over_http
    return "refresh-due" if schedule.refresh and over_http else "resume"
