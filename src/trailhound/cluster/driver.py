"""The driver of a crawl on a cluster: opens its shards, grants them requests, sees when it is over.

For whoever runs it, it is a crawl like any other
(:class:`~trailhound.topics.runs.crawl.TopicCrawl`): events come out of :meth:`ClusterCrawl.run`,
with figures of all shards together. It holds nothing that is not on disk or in the shards: one that
is killed is replaced by the next, which finds the shards at work.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

import msgspec
from prometheus_client.registry import Collector

from trailhound.cluster.connecting import dashboard_of
from trailhound.cluster.fleet import Fleet
from trailhound.cluster.granting import Pace, ShardReport, Speed, able_soon, grant, slice_size
from trailhound.cluster.keeping import refresh_copies, refresh_what_is_there, shard_url
from trailhound.cluster.layout import ClusterFolder, Placement, ShardSpec, actor_name
from trailhound.cluster.messages import NOT_OPEN, Look, ShardState
from trailhound.cluster.status import ShardMetrics, StatusBoard
from trailhound.counting import counted
from trailhound.crawling.answers import Troubles
from trailhound.crawling.budget import StopReason
from trailhound.crawling.machine import DiskWatch
from trailhound.crawling.progress import CrawlProgress
from trailhound.errors import StorageError
from trailhound.fetching.polite_settings import polite_settings
from trailhound.frontier.base import FrontierStats
from trailhound.records import Outcome, PageEvent
from trailhound.storage.event_log import EventLog
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.gathering import Gathering
from trailhound.topics.crawls.notices import NOTHING_WRONG, Failure, Notify, Progress, failures_of
from trailhound.topics.runs.beacon import CrawlBeacon
from trailhound.topics.runs.crawl import EarlierRuns, TopicCrawl
from trailhound.topics.runs.plan import CrawlPlan, CrawlRequest
from trailhound.topics.runs.refreshing import Refresh

LOOK_EVERY_SECONDS = 1.0
"""At most, while any shard is at work."""
IDLE_LOOK_SECONDS = 0.4
"""While all wait, for links or for the end."""
GATHER_EVERY_SECONDS = 5.0
BALANCE_EVERY_SECONDS = 5.0
GRANT_AHEAD = 2.0
"""Shards are granted what they need until the next look at their present speed, so many times."""
MAX_FAILURES = 3
"""Times that one shard may fail to go on before the crawl gives up."""


class ClusterCrawl:
    """A crawl on a cluster that is ready to run, once. Close it, or use it in a ``with``."""

    def __init__(
        self,
        ray: Any,
        folder: ClusterFolder,
        plan: CrawlPlan,
        request: CrawlRequest,
        placement: Placement,
        stack: ExitStack,
        notify: Notify,
        beacon: CrawlBeacon,
    ) -> None:
        self.folder = folder
        self.settings = plan.settings
        self._record = folder.record()
        self.budget = plan.budget(self._record.requests)
        self.is_stopping = False
        self.stop_reason: StopReason | None = None
        self.refresh = Refresh()
        self.put_off: dict[str, str] = {}
        self.robots_requests = 0
        self.disk = DiskWatch(folder.path, 0)
        self._plan = plan
        self._shards = placement.shards
        self._kept = self._record.checkpoint
        self._notify = notify
        self._beacon = beacon
        self._stack = stack
        folder.make()
        self._log = stack.enter_context(closing(EventLog(folder.log, time.time)))
        self._fleet = Fleet(
            ray,
            placement.shards,
            partial(actor_name, folder.topic),
            partial(self._spec, request, placement),
            self._note,
        )
        self._board = StatusBoard(folder, dashboard=dashboard_of(ray))
        self._failures: Counter[int] = Counter()
        self._speed = Speed()
        self._was_done: list[tuple[int, ...]] | None = None
        self._unseen: list[PageEvent] = []
        """Pages that shards told of before the run, or while they were closed."""
        self._gathered_at = self._balanced_at = time.monotonic()
        try:
            self._open_shards()
        except BaseException:
            with suppress(Exception):  # why they cannot be opened is what the user must hear of
                self._fleet.close()
            raise
        requests = self._requests() - sum(event.requests for event in self._unseen)
        pages = self._total("pages") - len(self._unseen)
        self.before = EarlierRuns(requests, pages, self.results.finds())
        self.progress = CrawlProgress(self.budget, time.time(), requests_before=requests)
        self._began = time.monotonic()  # the clock of the wall may be put forward or back
        self._pace = Pace(LOOK_EVERY_SECONDS)

    def _note(self, event: str, **details: Any) -> None:
        """One line of the log; what went wrong is told to those who watch, too."""
        self._log.note(event, **details)
        if event in ("shard-lost", "shard-failed"):
            self._board.blame(f"Shard {details['shard']:03d}: {details['why']}")

    def more_metrics(self) -> tuple[Collector, ...]:
        """Figures of each shard for Prometheus."""
        return (ShardMetrics(self._board.now),)

    def _spec(
        self, request: CrawlRequest, placement: Placement, number: int, is_reopened: bool
    ) -> ShardSpec:
        topic = self.folder.topic
        return ShardSpec(
            workspace=topic.path.parent.parent.resolve(),
            topic=topic.name,
            number=number,
            shards=placement.shards,
            request=request,
            limited=self.budget.max_requests is not None,
            reopened=is_reopened,
            kept_at=shard_url(self._kept, number) if self._kept else "",
        )

    def _open_shards(self) -> None:
        found = self._fleet.start()
        if found:
            self.notify(f"{counted(found, 'shard')} of the crawl are at work already.")
        self._wait_until_open()

    def _wait_until_open(self) -> None:
        progress = Progress(self.notify)
        while not self._are_open():
            opened = sum(state.state not in NOT_OPEN for state in self._states())
            progress.tell(f"Opening the shards: {opened} of {self._shards} so far.")
            time.sleep(IDLE_LOOK_SECONDS / 2)

    def _are_open(self) -> bool:
        # What those have done that an earlier driver has left was part of its run.
        left = {number for number in range(self._shards) if self._fleet.was_left(number)}
        for number, look in self._fleet.look().items():
            self._unseen += look.events if number not in left else []
            if look.state.state == "failed" and self._fleet.was_left(number):
                self._fleet.reopen(number)  # the cause may have been mended
            elif look.state.state == "failed":
                raise StorageError(
                    f"Shard {number} cannot be opened: {look.state.why} Mend the cause, "
                    "and give the same command again."
                )
        states = self._states()
        return len(states) == self._shards and all(each.state not in NOT_OPEN for each in states)

    def _states(self) -> list[ShardState]:
        return [look.state for look in self._fleet.looks.values()]

    def _total(self, name: str) -> int:
        return sum(getattr(state, name) for state in self._states())

    def _requests(self) -> int:
        """Those of all runs, also before there were shards."""
        return self._record.requests + self._total("requests")

    # As of any crawl

    def looked_again(self) -> None:
        """Nothing is looked at again: see :meth:`TopicCrawl.looked_again`."""

    @property
    def results(self) -> GatheredFinds:
        """What was gathered so far."""
        return GatheredFinds(self.folder)

    def stats(self) -> FrontierStats:
        """What waits, in all shards."""
        names = ("waiting", "leased", "finished", "hosts_waiting")
        return FrontierStats(*(self._total(name) for name in names))

    def failures(self) -> list[Failure]:
        """What went wrong in this run, and how often.

        A redirect from one shard to another ends as postponed there, and goes on here.
        """
        found = failures_of(self.progress, self.put_off, Troubles())
        return [each for each in found if each.outcome != Outcome.POSTPONED.value]

    @property
    def failed(self) -> str:
        """Why the run as a whole was in vain; empty when it was not."""
        outcomes = self.progress.outcomes
        if outcomes[Outcome.BROKEN] and not outcomes[Outcome.FETCHED]:
            return "Every page that was fetched was lost to an error."
        tried = self._plan.record is None or self.failures()
        if tried and not any(outcomes[outcome] for outcome in NOTHING_WRONG):
            return "Nothing was fetched."
        return ""

    def notify(self, message: str) -> None:
        """Tell a person, and the log."""
        self._log.note("notice", message=message)
        self._notify(message)

    def stop(self) -> None:
        """End soon; may be called from a signal handler."""
        self.is_stopping = True

    def close(self) -> None:
        """Let everything go; shards that are still at work go on without a driver."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self) -> Generator[PageEvent]:
        """Crawl until the budget is spent, nothing is left, or :meth:`stop` is called."""
        self._log.note("start", settings=self.settings, seeds=self._plan.all_seeds)
        self._beacon.begin(cast(TopicCrawl, self))
        with ExitStack() as at_the_end:
            at_the_end.callback(self._beacon.end)
            gathering = at_the_end.enter_context(Gathering(self.folder))
            at_the_end.callback(gathering.settle)
            at_the_end.callback(self._refresh, refresh_copies)
            at_the_end.callback(self._end)
            while self.stop_reason is None:
                for event in self._look():
                    self._beacon.add(event)
                    yield event
                self.stop_reason = self._why_over()
                if self.stop_reason is None:
                    self._tend(gathering)
                    time.sleep(self._pause_seconds())
            for event in self._closing_pages():
                self._beacon.add(event)
                yield event

    def _look(self) -> Generator[PageEvent]:
        """New pages of all shards, in the order in which they were dealt with."""
        looks = self._fleet.look()
        self._board.hear([self._fleet.looks[number].state for number in looks])
        yield from self._new_pages(looks)
        for number, look in looks.items():
            if look.state.state == "failed":
                self._mend(number, look)
        self._speed.note(self._requests())

    def _new_pages(self, looks: Mapping[int, Look]) -> Generator[PageEvent]:
        """Those that were told of and not counted yet, with numbers of the whole crawl."""
        events, self._unseen = self._unseen + self._fleet.take_late(), []
        events += [event for look in looks.values() for event in look.events]
        requests = self._requests()
        for event in sorted(events, key=lambda event: event.at):
            number = self.before.pages + self.progress.pages + 1
            counted_anew = msgspec.structs.replace(event, number=number, requests_total=requests)
            self.progress.add(counted_anew)
            yield counted_anew

    def _mend(self, number: int, look: Look) -> None:
        self._failures[number] += 1
        self._note("shard-failed", shard=number, why=look.state.why)
        if self._failures[number] > MAX_FAILURES:
            raise StorageError(
                f"Shard {number} fails again and again: {look.state.why} Everything up to its "
                "last page is safe; mend the cause, and go on with --resume."
            )
        self._fleet.reopen(number)

    def _why_over(self) -> StopReason | None:
        if self.is_stopping:
            return StopReason.INTERRUPTED
        seconds = time.monotonic() - self._began
        if self.budget.max_seconds is not None and seconds >= self.budget.max_seconds:
            return StopReason.TIME_SPENT
        limit = self.settings.crawl.give_up_after
        if limit is not None and self.progress.barren >= limit:
            return StopReason.BARREN
        return self._why_done()

    def _why_done(self) -> StopReason | None:
        """Whether nobody has had anything to do in two looks, nor has done anything in between.

        A shard keeps what it receives before the sender forgets it: with all outboxes empty,
        nothing is under way. One that does not answer may have received something since.
        """
        states, before = self._states(), self._was_done
        has_heard = self._fleet.is_complete and self._fleet.is_fresh
        is_done = has_heard and all(state.is_done for state in states)
        self._was_done = [state.activity for state in states] if is_done else None
        if before is None or before != self._was_done or self._next_limits():
            return None
        used, most = self._requests(), self.budget.max_requests
        if most is not None and used >= most:
            return StopReason.REQUESTS_SPENT
        return StopReason.HOSTS_ASLEEP if self._total("waiting") else StopReason.FRONTIER_EMPTY

    def _tend(self, gathering: Gathering) -> None:
        """What is to be done now and then."""
        self._grant()
        now = time.monotonic()
        if now - self._gathered_at >= GATHER_EVERY_SECONDS:
            self._refresh(refresh_what_is_there)
            gathering.catch_up()
            self._gathered_at = time.monotonic()
        if now - self._balanced_at >= BALANCE_EVERY_SECONDS:
            self._balanced_at = now
            if self._fleet.balance():
                self._was_done = None

    def _pause_seconds(self) -> float:
        """Until the next look."""
        at_work = any(state.state == "running" for state in self._states())
        return self._pace.seconds if at_work else min(self._pace.seconds, IDLE_LOOK_SECONDS)

    def _refresh(self, refresh: Callable[[str, Mapping[int, Path]], None]) -> None:
        """Bring what is kept elsewhere here, to be gathered."""
        if self._kept:
            shards = {number: self.folder.shard(number).path for number in range(self._shards)}
            refresh(self._kept, shards)

    def _grant(self) -> None:
        limits = self._next_limits()
        if limits:
            self._was_done = None
            self._fleet.allow(limits)
            self._log.note("granted", limits={str(key): each for key, each in limits.items()})

    def _next_limits(self) -> dict[int, int | None]:
        """By shard, where they are to change; what a shard cannot use goes to others."""
        looks, most = self._fleet.looks, self.budget.max_requests
        if most is None:
            return {n: None for n, look in looks.items() if look.state.limit is not None}
        most -= self._record.requests  # what is left for the shards
        reports = [self._report(look) for look in looks.values()]
        used = sum(report.used for report in reports)
        size = max(slice_size(used, len(looks)), self._soon())
        limits: dict[int, int | None] = dict(grant(reports, most, size))
        if not limits and used < most:
            idle = (report for report in reports if report.best == [])
            limits = {each.shard: each.used for each in idle if each.limit > each.used}
        return limits

    def _soon(self) -> int:
        """Requests that all shards make until they are looked at again, and some more."""
        return round(GRANT_AHEAD * self._pause_seconds() * self._speed.per_second)

    def _report(self, look: Look) -> ShardReport:
        state, delay = look.state, polite_settings(self.settings.fetch).delay_seconds
        limit = state.requests if state.limit is None else state.limit
        if state.state in NOT_OPEN:  # it may have made all that it was granted
            return ShardReport(state.shard, max(state.requests, limit), limit, [])
        # As far ahead as a crawl waits for a host with something better.
        able = able_soon(state.hosts_waiting, delay, self.settings.crawl.wait_for_better)
        return ShardReport(state.shard, state.requests + state.leased, limit, look.best, able)

    def _closing_pages(self) -> Generator[PageEvent]:
        """Close the shards that are open; what they have dealt with since they were looked at."""
        ended = self._fleet.close()
        self._fleet.looks.update(ended)
        self._board.hear([look.state for look in ended.values()])
        yield from self._new_pages(ended)

    def _end(self) -> None:
        """Close the shards, if something else has ended the run, and write down how it ended."""
        for event in self._closing_pages():
            self._beacon.add(event)
        self.robots_requests = self._total("robots_requests")
        self._board.write()
        self.progress.requests = max(self.progress.requests, self._requests())
        reason = self.stop_reason = self.stop_reason or StopReason.INTERRUPTED
        self._log.note(
            "end",
            reason=reason,
            pages=self.progress.pages,
            requests=self.progress.requests,
            relevant=self.progress.relevant,
            outcomes=dict(self.progress.outcomes),
        )
        with suppress(StorageError):
            record = self.folder.read()
            ended_at = time.time()
            self.folder.write(
                msgspec.structs.replace(record, ended=reason.value, ended_at=ended_at)
            )


class GatheredFinds:
    """How many relevant pages all shards have found, as far as that was gathered."""

    def __init__(self, folder: ClusterFolder) -> None:
        self._folder = folder

    def finds(self) -> int:
        """Without copies."""
        if not self._folder.results.is_file():
            return 0
        with suppress(StorageError), Results(self._folder.results) as results:
            return results.summary().relevant
        return 0
