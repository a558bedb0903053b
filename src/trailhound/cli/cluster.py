"""``trailhound cluster``: crawls that run on a Ray cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli import options
from trailhound.cli.terminal import harmless, patiently, print_json, say, show_table
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.cluster.status import ClusterStatus, ShardLine
    from trailhound.topics.workspace import TopicFolder

app = typer.Typer(no_args_is_help=True, help="Crawls that run on a Ray cluster.")

MOST_SHOWN = 40
"""Shards; of more, those that lag most."""
_COLUMNS = ("shard", "state", "node", "pages", "found", "pages/s", "waiting", "to send", "remark")
NODE_CHARS = 12
"""Of a name of a machine: those that Ray makes up are long."""
SILENT_SECONDS = 10.0
"""A shard that was not heard of for so long is told of."""


@app.callback()
def cluster() -> None:
    """Crawls that run on a Ray cluster: see 'trailhound crawl --cluster'."""


@app.command()
def status(
    topic: Annotated[
        str | None, typer.Argument(help="Topic that is crawled. Default: all of them.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help=f"All shards, when there are more than {MOST_SHOWN}.")
    ] = False,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Tell how the shards of a crawl are: who has them, how fast they are, what lags or failed.

    Reads what the crawl writes about itself, and needs no connection to the cluster.

    Examples:

      trailhound cluster status bees

      trailhound cluster status --json
    """
    from trailhound.errors import UsageError

    place = options.open_workspace(workspace)
    folders = [place.topic(topic)] if topic is not None else map(place.topic, place.topics())
    with patiently("Reading the shards"):
        found = [(folder, told) for folder in folders if (told := _status_of(folder)) is not None]
    if topic is not None and not found:
        raise UsageError(
            f"The crawl of '{topic}' is not in shards. Begin one anew with: trailhound crawl "
            f"{quote(topic)} --restart --seed URL --cluster local, or see crawls on this machine "
            "with: trailhound crawls"
        )
    if as_json:
        all_ = [each.for_machines() | {"running": _is_alive(folder)} for folder, each in found]
        print_json(all_[0] if topic is not None else all_)
        return
    for folder, each in found:
        _show(each, everything=everything, alive=_is_alive(folder))
    if not found:
        say("No topic has a crawl in shards.")


def _status_of(folder: TopicFolder) -> ClusterStatus | None:
    from trailhound.cluster.status import read_cluster_status
    from trailhound.topics.crawls.folder import CrawlFolder

    return read_cluster_status(CrawlFolder(folder))


def _is_alive(folder: TopicFolder) -> bool:
    from trailhound.topics.control.running import running_crawl

    crawl = running_crawl(folder)
    return crawl is not None and crawl.is_alive


def _show(told: ClusterStatus, *, everything: bool, alive: bool) -> None:
    lines = list(told.shards)
    shown = lines if everything else sorted(lines, key=_lag, reverse=True)[:MOST_SHOWN]
    now = time.time() if alive else told.updated_at
    rows = [tuple(_row(line, now)) for line in sorted(shown, key=lambda each: each.state.shard)]
    width = len(_COLUMNS) if any(row[-1] for row in rows) else len(_COLUMNS) - 1
    show_table(_COLUMNS[:width], [row[:width] for row in rows], figures=_COLUMNS[3:8])
    if len(shown) < len(lines):
        say(f"Those that lag most of {len(lines):,}; all of them: --all")
    say(
        f"{harmless(told.topic)}: {counted(told.total('pages'), 'page')}, "
        f"{told.total('relevant'):,} relevant in this run, {told.pages_per_second:.1f} pages/s, "
        f"{told.total('waiting'):,} URLs waiting, {counted(told.total('outgoing'), 'link')} on the "
        f"way between {counted(len(lines), 'shard')} on {counted(len(told.nodes()), 'machine')}."
    )
    if not alive:
        say(
            f"No driver is running. Go on with: trailhound crawl {quote(harmless(told.topic))} "
            "--resume --cluster ADDRESS"
        )
    for error in told.errors:
        moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(error.at))
        say(f"{moment}  {harmless(error.text)}")
    if told.dashboard and alive:
        say(f"Ray's dashboard: {told.dashboard}")


def _lag(line: ShardLine) -> tuple[bool, int]:
    return line.state.state == "failed", line.state.outgoing


def _row(line: ShardLine, now: float) -> Iterator[str]:
    state = line.state
    yield f"{state.shard:03d}"
    yield state.state
    yield harmless(state.node)[:NODE_CHARS]
    yield f"{state.pages:,}"
    yield f"{state.relevant:,}"
    yield f"{line.pages_per_second:.1f}"
    yield f"{state.waiting:,}"
    yield f"{state.outgoing:,}"
    silent = now - line.heard_at if line.heard_at else 0.0
    quiet = f"not heard of for {silent:,.0f} s" if silent > SILENT_SECONDS else ""
    why = "" if state.state == "ended" else state.why
    yield harmless("; ".join(filter(None, (quiet, why, state.remark))))
