"""What a person sees of a running crawl: a live picture in a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trailhound.cli.console import messages
from trailhound.cli.shown import duration, harmless, share, sparkline
from trailhound.counting import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from trailhound.live.crawl import LiveCrawl

LINE_EVERY_SECONDS = 10.0
QUIET_SECONDS = 3.0
"""Without a page for so long and with nothing in flight, all hosts are asleep."""


class CrawlDisplay:
    """Shows one crawl. :meth:`update` after each page; the picture moves by itself."""

    def __init__(self, crawl: LiveCrawl) -> None:
        self._crawl = crawl
        self._line_at = time.time() + LINE_EVERY_SECONDS
        self._page_at = time.time()
        self.stopping = False

    @contextmanager
    def shown(self) -> Iterator[CrawlDisplay]:
        """Show it while the context lasts."""
        if not messages.is_terminal:
            yield self
            return
        from rich.live import Live

        with Live(
            get_renderable=self.picture,
            console=messages,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        ):
            yield self

    def update(self) -> None:
        """A page has been dealt with."""
        self._page_at = time.time()
        if not messages.is_terminal and self._page_at >= self._line_at:
            self._line_at = self._page_at + LINE_EVERY_SECONDS
            messages.print(self.line(), soft_wrap=True, markup=False)

    def line(self) -> str:
        """The crawl in one line."""
        progress, stats, now = self._crawl.progress, self._crawl.stats(), time.time()
        parts = [
            counted(progress.requests, "request"),
            f"{progress.relevant:,} relevant ({share(progress.relevant, progress.pages)})",
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
        budget = self._crawl.budget.max_pages
        of = f" of {budget:,}" if budget is not None else ""
        speed = progress.pages_per_second(now)
        yield "requests", f"{progress.requests:,}{of}, {speed:.1f} pages/s"
        found = f"{progress.relevant:,} ({share(progress.relevant, progress.pages)})"
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
        if self.stopping:
            return f"stopping: {stats.leased} in flight; Ctrl-C again stops at once"
        if now - self._page_at > QUIET_SECONDS and not stats.leased and stats.waiting:
            return f"{counted(stats.hosts_waiting, 'host')} to be left alone for the moment"
        if self._crawl.progress.starving:
            return f"nothing relevant for {counted(self._crawl.progress.barren, 'page')}"
        return ""
