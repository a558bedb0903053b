"""What is said when a crawl has ended: figures, the reason, and what to do next."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from trailhound.cli.shown import duration, share
from trailhound.counting import counted
from trailhound.crawling.stopping import StopReason
from trailhound.records import Outcome

if TYPE_CHECKING:
    from trailhound.live.crawl import LiveCrawl


def show_summary(crawl: LiveCrawl) -> None:
    """For a person."""
    from rich.table import Table
    from rich.text import Text

    from trailhound.cli.console import output

    table = Table.grid(padding=(0, 2))
    for name, value in _rows(crawl):
        table.add_row(Text(name, style="bold"), Text(value))
    output.print(table)
    for line in next_steps(crawl):
        output.print(Text(line), soft_wrap=True)


def print_json(crawl: LiveCrawl) -> None:
    """For a program."""
    import msgspec

    progress, stats = crawl.progress, crawl.stats()
    reason = crawl.stop_reason
    told = {
        "topic": crawl.folder.topic.name,
        "reason": reason.name.lower().replace("_", "-") if reason else None,
        "reason_in_words": reason.value if reason else None,
        "pages": progress.pages,
        "requests": progress.requests,
        "relevant": progress.relevant,
        "duplicates": progress.duplicates,
        "barren": progress.barren,
        "outcomes": dict(progress.outcomes.most_common()),
        "hosts": progress.hosts,
        "waiting": stats.waiting,
        "hosts_waiting": stats.hosts_waiting,
        "seconds": progress.elapsed(time.time()),
        "folder": str(crawl.folder.path),
    }
    typer.echo(msgspec.json.encode(told).decode())


def _rows(crawl: LiveCrawl) -> Iterator[tuple[str, str]]:
    progress, stats = crawl.progress, crawl.stats()
    reason = crawl.stop_reason
    yield "ended", f"{reason.value if reason else 'unknown'}"
    took = duration(progress.elapsed(time.time()))
    total = f" ({counted(progress.requests, 'request')} in all)" if progress.requests else ""
    yield "pages", f"{progress.pages:,} in {took}{total}, from {counted(progress.hosts, 'host')}"
    copies = f", and {counted(progress.duplicates, 'copy')}" if progress.duplicates else ""
    yield "relevant", f"{progress.relevant:,} ({share(progress.relevant, progress.pages)}){copies}"
    yield "outcomes", ", ".join(f"{n:,} {name}" for name, n in progress.outcomes.most_common())
    yield "frontier", f"{stats.waiting:,} waiting on {counted(stats.hosts_waiting, 'host')}"


_SHOWN_HOSTS = 5


def next_steps(crawl: LiveCrawl) -> list[str]:
    """What to do now, as commands."""
    name = shlex.quote(crawl.folder.topic.name)
    again = f"trailhound crawl {name} --resume"
    steps = {
        StopReason.INTERRUPTED: [f"Go on with: {again}"],
        StopReason.TIME_SPENT: [f"Go on with: {again}"],
        StopReason.PAGES_SPENT: [
            f"Go on with: {again} --max-requests {2 * max(1, crawl.progress.requests)}"
        ],
        StopReason.FRONTIER_EMPTY: _after_starving(crawl, name),
        StopReason.HOSTS_ASLEEP: [
            *[f"{host}: {why}" for host, why in list(crawl.put_off.items())[:_SHOWN_HOSTS]],
            f"Wait a while and go on with: {again}",
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
    found = [f"See what was found: trailhound results {name}"] if crawl.progress.relevant else []
    if not crawl.progress.relevant and crawl.progress.starving and reason is not StopReason.BARREN:
        found = [
            f"Nothing relevant was found. Check what was learned with: trailhound inspect {name}"
        ]
    return found + (steps[reason] if reason is not None else [])


def _after_starving(crawl: LiveCrawl, name: str) -> list[str]:
    from trailhound.strategies.choosing import parse_spec

    if set(crawl.progress.outcomes) == {Outcome.BROKEN.value}:
        return [
            "No page could be dealt with, as told above, so that there was nothing to follow. Mend "
            f"the cause and begin anew: trailhound crawl {name} --restart --seed URL"
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


def _beyond_the_trace(crawl: LiveCrawl, name: str) -> list[str]:
    spec, trace = crawl.settings.crawl.strategy, shlex.quote(crawl.settings.sources.trace or "FILE")
    with_links = shlex.quote(f"{spec}{',' if ':' in spec else ':'}links=true")
    return [
        f"The crawl has starved: it goes only where the people of its trace ({trace}) went, and "
        "has been to all of that which it may visit. Give it the log of people who visit these "
        f"sites: trailhound crawl {name} --resume --trace FILE --seed URL",
        "or let it go on beyond the trace, by the links of relevant pages: trailhound crawl "
        f"{name} --restart --seed URL --trace {trace} --strategy {with_links}",
    ]
