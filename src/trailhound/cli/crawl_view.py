"""What a person sees of a crawl: a live picture or lines while it runs, a summary at its end."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from trailhound.cli.terminal import (
    duration,
    harmless,
    messages,
    output,
    say,
    share,
    show_pairs,
    show_table,
    sparkline,
)
from trailhound.counting import counted
from trailhound.crawling.budget import StopReason
from trailhound.errors import TrailhoundError
from trailhound.records import Outcome, PageEvent
from trailhound.signals import on_stop_signals

if TYPE_CHECKING:
    from rich.console import RenderableType

    from trailhound.topics.runs.crawl import TopicCrawl

_log = logging.getLogger(__name__)

LINE_EVERY_SECONDS = 10.0
QUIET_SECONDS = 3.0
"""Without a page for so long and with nothing in flight, all hosts are asleep."""
_SHOWN_HOSTS = 5


def run_shown(crawl: TopicCrawl) -> None:
    """Run a crawl to its end, shown on stderr.

    The first Ctrl-C, a request to terminate, or the end of the terminal stops it cleanly; the
    second raises KeyboardInterrupt at once.
    """
    display = CrawlDisplay(crawl)
    with on_stop_signals(display.stop), display.shown():
        for event in crawl.run():
            _log.info("%s", _event_line(event))
            display.update()


def _event_line(event: PageEvent) -> str:
    """What became of one page, for --verbose."""
    score = f" {event.relevance.score:.2f}" if event.relevance is not None else ""
    why = f" ({event.why})" if event.why else ""
    return (
        f"{event.number} {event.outcome.value}{score} {event.final_url}{why}, "
        f"priority {event.priority:.3g}, {counted(event.links_added, 'new link')}"
    )


class CrawlDisplay:
    """Shows one crawl. :meth:`update` after each page; the picture moves by itself."""

    def __init__(self, crawl: TopicCrawl) -> None:
        self._crawl = crawl
        self._line_at = time.time() + LINE_EVERY_SECONDS
        self._page_at = time.time()

    def shown(self) -> AbstractContextManager[object]:
        """Show it while the context lasts."""
        if not messages.is_terminal:
            return nullcontext()
        from rich.live import Live

        return Live(
            get_renderable=self.picture,
            console=messages,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def stop(self) -> None:
        """Ask the crawl to end after what is in flight; asked again, end at once."""
        if self._crawl.is_stopping:
            raise KeyboardInterrupt
        self._crawl.stop()

    def update(self) -> None:
        """A page has been dealt with."""
        self._page_at = time.time()
        if not messages.is_terminal and self._page_at >= self._line_at:
            self._line_at = self._page_at + LINE_EVERY_SECONDS
            say(self.line())

    def line(self) -> str:
        """The crawl in one line."""
        progress, stats, now = self._crawl.progress, self._crawl.stats(), time.time()
        parts = [
            counted(progress.requests, "request"),
            found_so_far(self._crawl, "relevant"),
            f"{stats.waiting:,} waiting on {counted(stats.hosts_waiting, 'host')}",
            f"{progress.pages_per_second(now):.1f} pages/s",
        ]
        left = progress.seconds_left(now)
        return ", ".join([*parts, f"{duration(left)} left"] if left is not None else parts)

    def picture(self) -> RenderableType:
        """The crawl in a few lines."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        now = time.time()
        done = self._crawl.progress.share_done(now)
        table = Table.grid(padding=(0, 2))
        table.add_row("", ProgressBar(total=1.0, completed=done, width=60))
        for name, value in self._rows(now):
            table.add_row(Text(name, style="dim"), Text(value, no_wrap=True, overflow="ellipsis"))
        return table

    def _rows(self, now: float) -> Iterator[tuple[str, str]]:
        progress, stats = self._crawl.progress, self._crawl.stats()
        left = progress.seconds_left(now)
        ahead = f", about {duration(left)} left" if left is not None else ""
        yield "time", f"{duration(progress.elapsed(now))}{ahead}"
        budget = self._crawl.budget.max_requests
        of = f" of {budget:,}" if budget is not None else ""
        speed = progress.pages_per_second(now)
        yield "requests", f"{progress.requests:,}{of}, {speed:.1f} pages/s"
        found = found_so_far(self._crawl)
        yield "relevant", f"{found}  {sparkline(progress.harvest.rates())}"
        waiting = f"{stats.waiting:,} waiting on {counted(stats.hosts_waiting, 'host')}"
        asked = counted(progress.hosts, "host")
        yield "frontier", f"{waiting}, {stats.leased} in flight, {asked} asked"
        yield "outcomes", ", ".join(f"{n:,} {name}" for name, n in progress.outcomes.most_common(6))
        if progress.latest is not None:
            latest = progress.latest
            score = latest.relevance.score if latest.relevance is not None else 0.0
            yield "latest", f"{score:.2f}  {harmless(latest.title or latest.final_url)}"
        state = self._state(now)
        if state:
            yield "state", state

    def _state(self, now: float) -> str:
        stats = self._crawl.stats()
        if self._crawl.is_stopping:
            return f"stopping: {stats.leased} in flight; Ctrl-C again stops at once"
        if self._crawl.disk.state:
            return self._crawl.disk.state
        if now - self._page_at > QUIET_SECONDS and not stats.leased and stats.waiting:
            return f"{counted(stats.hosts_waiting, 'host')} to be left alone for the moment"
        if self._crawl.progress.starving:
            return f"nothing relevant for {counted(self._crawl.progress.barren, 'page')}"
        return ""


def show_summary(crawl: TopicCrawl) -> None:
    """How it ended, what it found, and what to do next; on stdout."""
    show_pairs(_summary(crawl))
    failures = crawl.failures()
    if failures:
        output.print("\nWhat went wrong:")
        rows = [(each.what, f"{each.times:,}", harmless(each.example)) for each in failures]
        show_table(("what", "times", "for example"), rows, {"times"})
        output.print()
    for line in next_steps(crawl):
        output.print(line, soft_wrap=True, markup=False)


def told_to_machines(crawl: TopicCrawl) -> dict[str, Any]:
    """The same figures for a program."""
    progress, stats = crawl.progress, crawl.stats()
    reason = crawl.stop_reason
    return {
        "topic": crawl.folder.topic.name,
        "reason": reason.name.lower().replace("_", "-") if reason else None,
        "reason_in_words": reason.value if reason else None,
        "pages": progress.pages,
        "requests": progress.requests,
        "earlier_runs": crawl.before._asdict(),
        "robots_requests": crawl.robots_requests,
        "relevant": progress.relevant,
        "finds_in_all": _finds(crawl),
        "looked_again": again._asdict() if (again := crawl.looked_again()) is not None else None,
        "duplicates": progress.duplicates,
        "barren": progress.barren,
        "outcomes": dict(progress.outcomes.most_common()),
        "failed": crawl.failed or None,
        "went_wrong": [msgspec.structs.asdict(failure) for failure in crawl.failures()],
        "hosts": progress.hosts,
        "waiting": stats.waiting,
        "hosts_waiting": stats.hosts_waiting,
        "seconds": progress.elapsed(time.time()),
        "seconds_waited_for_disk": crawl.disk.seconds_waited,
        "folder": str(crawl.folder.path),
    }


def _summary(crawl: TopicCrawl) -> Iterator[tuple[str, str]]:
    progress, stats = crawl.progress, crawl.stats()
    reason = crawl.stop_reason
    starved_at_once = reason is StopReason.FRONTIER_EMPTY and crawl.failed
    if crawl.failed:
        yield "failed", crawl.failed
    ended = reason.value if reason else "unknown"
    yield "ended", "nothing is left to ask for" if starved_at_once else ended
    took = duration(progress.elapsed(time.time()))
    total = f" ({counted(progress.requests, 'request')} in all)" if progress.requests else ""
    yield "pages", f"{progress.pages:,} in {took}{total}, from {counted(progress.hosts, 'host')}"
    copies = f", and {counted(progress.duplicates, 'copy')}" if progress.duplicates else ""
    yield "relevant", f"{found_so_far(crawl, in_all=_finds(crawl))}{copies}"
    yield "outcomes", ", ".join(f"{n:,} {name}" for name, n in progress.outcomes.most_common())
    yield "frontier", f"{stats.waiting:,} waiting on {counted(stats.hosts_waiting, 'host')}"


def _finds(crawl: TopicCrawl) -> int:
    """What the results list by now, in which a page may be no more or take another's place."""
    return crawl.results.finds()


def found_so_far(crawl: TopicCrawl, of_what: str = "", in_all: int | None = None) -> str:
    """How many pages were relevant; of a resumed crawl, in this run and in all."""
    progress, before = crawl.progress, crawl.before.finds
    if in_all is None:
        in_all = before + progress.relevant - crawl.refresh.found_again
    found = " ".join(filter(None, [f"{progress.relevant:,}", of_what]))
    found += f" ({share(progress.relevant, progress.pages)})"
    return f"{found} in this run, {in_all:,} in all" if before else found


def _why_hosts_rest(crawl: TopicCrawl) -> Iterator[str]:
    """Also those that an earlier run has put off, and when they may be asked again."""
    from trailhound.topics.finds.figures import resting_hosts

    now, told = time.time(), dict(islice(crawl.put_off.items(), _SHOWN_HOSTS))
    with suppress(TrailhoundError):  # it is only told beside what matters
        for host, why, ready_at in resting_hosts(crawl.folder, now, _SHOWN_HOSTS):
            if host in told or len(told) < _SHOWN_HOSTS:
                because = told.pop(host, why) or "it asked to be left alone"
                again = datetime.fromtimestamp(ready_at)
                left = duration(ready_at - now)
                yield f"{host}: {because}; it may be asked again in {left} ({again:%Y-%m-%d %H:%M})"
    yield from (f"{host}: {why}" for host, why in told.items())


def next_steps(crawl: TopicCrawl) -> list[str]:
    """What to do now, as commands."""
    name = shlex.quote(crawl.folder.topic.name)
    again = f"trailhound crawl {name} --resume"
    steps = {
        StopReason.INTERRUPTED: [f"Go on with: {again}"],
        StopReason.TIME_SPENT: [f"Go on with: {again}"],
        StopReason.REQUESTS_SPENT: _after_the_budget(crawl, name),
        StopReason.FRONTIER_EMPTY: _after_starving(crawl, name),
        StopReason.HOSTS_ASLEEP: [
            *(_why_hosts_rest(crawl) if crawl.stop_reason is StopReason.HOSTS_ASLEEP else ()),
            f"{_before_a_resume(crawl)} and go on with: {again}",
            f"or give it other hosts to visit meanwhile: {again} --seed URL",
        ],
        StopReason.BARREN: [
            f"Give seeds nearer to the topic: {again} --seed URL --give-up-after "
            f"{2 * crawl.progress.barren}",
            f"or teach it more: trailhound learn {name} --session FILE (see also: trailhound "
            f"inspect {name})",
        ],
    }
    reason = crawl.stop_reason
    relevant = crawl.progress.relevant + crawl.before.finds
    found = [f"See what was found: trailhound results {name}"] if relevant else []
    if not relevant and crawl.progress.starving and reason is not StopReason.BARREN:
        found = [
            f"Nothing relevant was found. Check what was learned with: trailhound inspect {name}"
        ]
    return found + (steps[reason] if reason is not None else [])


def _after_the_budget(crawl: TopicCrawl, name: str) -> list[str]:
    if crawl.failed:
        return [f"Mend the cause and begin anew: trailhound crawl {name} --restart"]
    more = 2 * max(1, crawl.progress.requests)
    return [f"Go on with: trailhound crawl {name} --resume --max-requests {more}"]


def _before_a_resume(crawl: TopicCrawl) -> str:
    """What to do before hosts that are put off are asked again."""
    if set(crawl.progress.outcomes) == {Outcome.UNKNOWN_HOST.value}:
        return "No host was found: check your connection and the names,"
    return "Wait a while"


def _after_starving(crawl: TopicCrawl, name: str) -> list[str]:
    from trailhound.strategies.choosing import parse_spec

    if set(crawl.progress.outcomes) == {Outcome.BROKEN.value}:
        return [
            "No page could be dealt with, as told above, so that there was nothing to follow. Mend "
            f"the cause and ask the seeds again: trailhound crawl {name} --resume"
        ]
    if not crawl.progress.outcomes[Outcome.FETCHED] and crawl.failures():
        return [
            "No page was fetched, for the reasons above, so that there was nothing to follow. Give "
            f"other seeds: trailhound crawl {name} --resume --seed URL",
            f"or mend the cause and ask them again: trailhound crawl {name} --resume",
        ]
    if crawl.failed:
        return [
            "No page was fetched so far, so that there is nothing to follow. Give other seeds: "
            f"trailhound crawl {name} --resume --seed URL",
            f"or mend the cause and ask them again: trailhound crawl {name} --resume",
            f"or see what became of one: trailhound explain {name} URL",
        ]
    strategy, options = parse_spec(crawl.settings.crawl.strategy)
    if strategy == "collaborative" and "links" not in options:
        return _beyond_the_trace(crawl, name)
    return [
        "The crawl has starved: every link it may follow has been followed. Give it more to "
        f"start from: trailhound crawl {name} --resume --seed URL",
        "or let it go further: a wider --scope, and no --same-domain.",
        *([_GIVES_UP[strategy]] if strategy in _GIVES_UP else []),
    ]


_GIVES_UP = {
    "collaborative": "Beyond its trace it follows the links of relevant pages alone: seeds should "
    "be relevant, or in the trace.",
    "content-link": "content-link gives up behind a few irrelevant pages: a larger max_level goes "
    "further.",
    "fish-search": "fish-search gives up behind a few irrelevant pages: a larger depth or width "
    "goes further.",
}
"""Strategies that do not queue every link."""


def _beyond_the_trace(crawl: TopicCrawl, name: str) -> list[str]:
    spec, trace = crawl.settings.crawl.strategy, shlex.quote(crawl.settings.sources.trace or "FILE")
    with_links = shlex.quote(f"{spec}{',' if ':' in spec else ':'}links=true")
    return [
        f"The crawl has starved: it goes only where the people of its trace ({trace}) went, and "
        "has been to all of that which it may visit. Give it the log of people who visit these "
        f"sites: trailhound crawl {name} --resume --trace FILE --seed URL",
        "or let it go on beyond the trace, by the links of relevant pages: trailhound crawl "
        f"{name} --restart --seed URL --trace {trace} --strategy {with_links}",
    ]
