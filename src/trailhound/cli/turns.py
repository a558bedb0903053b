"""``trailhound turns``: a search engine and the crawler teach each other, round by round."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trailhound.cli.crawl_options import (
    INTERRUPTED_EXIT_CODE,
    AllowAddressOption,
    AllowImpoliteOption,
    ConfigOption,
    DelayOption,
    ExcludeOption,
    ResolveOption,
    ScopeOption,
    StrategyOption,
    UserAgentOption,
)
from trailhound.cli.learn import TopicArgument, WorkspaceOption
from trailhound.counting import counted

if TYPE_CHECKING:
    from types import FrameType

    from trailhound.config.settings import Settings
    from trailhound.live.crawl import LiveCrawl
    from trailhound.topics.turn_records import TurnReport
    from trailhound.topics.turns import SearchTurns, TurnsRequest


def turns(
    topic: TopicArgument,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Whom to ask: an address with {query} and, if you like, {limit} in it; a WARC or "
            "WACZ file; or 'crawl'.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="How often.")] = 3,
    max_requests: Annotated[int, typer.Option(min=1, help="Requests of one round.")] = 500,
    words: Annotated[int, typer.Option(min=1, max=20, help="Words of one query.")] = 4,
    new_seeds: Annotated[
        int, typer.Option(min=1, max=1000, help="Most new start pages of one round.")
    ] = 20,
    all_clusters: Annotated[
        bool,
        typer.Option("--all-clusters", help="Ask for clusters that are far from targets, too."),
    ] = False,
    seed: Annotated[
        list[str] | None,
        typer.Option(
            "--seed", "-s", metavar="URL", help="Start here, too, in the first round; repeatable."
        ),
    ] = None,
    strategy: StrategyOption = None,
    scope: ScopeOption = None,
    exclude: ExcludeOption = None,
    user_agent: UserAgentOption = None,
    delay: DelayOption = None,
    allow_impolite: AllowImpoliteOption = None,
    allow_address: AllowAddressOption = None,
    resolve: ResolveOption = None,
    config: ConfigOption = None,
    workspace: WorkspaceOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Take turns with a search engine: ask it, crawl from what it names, learn, ask better.

    A round asks for the strongest words of your useful pages and of the clusters of pages that lead
    to them (trailhound inspect shows the words), crawls from up to 20 pages that the answers name,
    and adds the paths that led to very good pages to what the topic is learned from. Only pages
    that your own marks speak for are learned from, and never more of them than you marked yourself.

    Ctrl-C stops cleanly, and the same command goes on. The crawl is the topic's own: results,
    export and explain show it.

    Examples:

      trailhound turns bees --search 'http://localhost:8888/search?q={query}&format=json'

      trailhound turns bees --search pages.warc.gz --rounds 5 --max-requests 200
    """
    from trailhound.topics.turn_planning import TurnLimits
    from trailhound.topics.turns import TurnsRequest

    near = TurnLimits()
    limits = TurnLimits(words, near.hits, new_seeds, None if all_clusters else near.hops)
    flags = {
        "crawl.strategy": strategy,
        "crawl.scope": _names(scope),
        "crawl.exclude": _names(exclude),
        "sources.search": search,
        "fetch.user_agent": user_agent,
        "fetch.delay_seconds": delay,
        "fetch.allow_impolite": allow_impolite,
        "fetch.allow_addresses": _names(allow_address),
        "fetch.resolve": _names(resolve),
    }
    given = {key: value for key, value in flags.items() if value is not None}
    request = TurnsRequest(
        _settings(given, config), given, rounds, max_requests, tuple(seed or ()), limits
    )
    running, reports = _run(topic, workspace, request)
    _tell(running, reports, as_json=as_json)


def _settings(given: dict[str, Any], config: Path | None) -> Settings:
    from trailhound.config import configure, find_file

    return configure(given, os.environ, find_file(config, os.environ, Path.cwd())).settings


def _run(
    topic: str, workspace: Path | None, request: TurnsRequest
) -> tuple[SearchTurns, list[TurnReport]]:
    from trailhound.topics.turns import SearchTurns
    from trailhound.topics.workspace import Workspace, workspace_folder

    place = Workspace(workspace_folder(workspace, os.environ))
    running = SearchTurns(place, place.topic(topic), request, notify=_say)
    reports = []
    for report in running.run(_crawl):
        _say(
            f"Round {report.number}: {counted(report.relevant, 'relevant page')} in "
            f"{counted(report.requests, 'request')}; learned from: {report.adopted}."
        )
        reports.append(report)
    return running, reports


def _crawl(crawl: LiveCrawl) -> None:
    from trailhound.cli.crawl_display import CrawlDisplay

    display = CrawlDisplay(crawl)

    def stop() -> None:
        display.stopping = True
        crawl.stop()

    with _stoppable(stop), display.shown():
        for _ in crawl.run():
            display.update()


@contextmanager
def _stoppable(stop: Callable[[], None]) -> Iterator[None]:
    """The first Ctrl-C, or a request to terminate, stops cleanly; the second one at once."""
    asked = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        del number, frame
        if asked:
            raise KeyboardInterrupt
        asked = True
        stop()

    kinds = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(kind, handle) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def _tell(running: SearchTurns, reports: list[TurnReport], *, as_json: bool) -> None:
    if as_json:
        _print_json(running, reports)
    else:
        _show(running, reports)
    if running.interrupted:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)
    if running.problem and not reports:
        raise typer.Exit(1)


def _print_json(running: SearchTurns, reports: list[TurnReport]) -> None:
    import msgspec

    told = {
        "topic": running.folder.topic.name,
        "turns": reports,
        "interrupted": running.interrupted,
        "problem": running.problem,
        "rounds_left": running.record.last_turn - len(running.record.turns),
    }
    typer.echo(msgspec.json.encode(told).decode())


def _show(running: SearchTurns, reports: list[TurnReport]) -> None:
    from rich.table import Table

    from trailhound.cli.console import output

    if reports:
        table = Table("round", "queries", "new start pages", "requests", "relevant", "learned from")
        for each in reports:
            figures = (len(each.queries), each.seeds, each.requests, each.relevant, each.adopted)
            table.add_row(str(each.number), *(f"{figure:,}" for figure in figures))
        output.print(table)
    for line in _next_steps(running, reports):
        output.print(line, soft_wrap=True, markup=False)


def _next_steps(running: SearchTurns, reports: list[TurnReport]) -> Iterator[str]:
    import shlex

    name = shlex.quote(running.folder.topic.name)
    if running.problem:
        yield f"{running.problem.rstrip('.')}. Everything found and learned so far is kept."
        yield "Try another --search, more --words, or begin with pages you know: --seed URL"
    if running.interrupted:
        yield "Stopped. Give the same command again to go on."
    if any(report.relevant for report in reports):
        yield f"See what was found: trailhound results {name}"


def _say(message: str) -> None:
    from trailhound.cli.console import messages

    messages.print(message, soft_wrap=True, markup=False)


def _names(values: list[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values else None
