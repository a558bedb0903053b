"""``trailhound crawl``: from a learned topic and a few seeds to a crawl of the web."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
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

if TYPE_CHECKING:
    from types import FrameType

    from trailhound.cli.crawl_display import CrawlDisplay
    from trailhound.live.crawl import LiveCrawl
    from trailhound.live.plan import CrawlRequest


def crawl(
    topic: TopicArgument,
    seed: Annotated[
        list[str] | None,
        typer.Option("--seed", "-s", metavar="URL", help="Page to start from; repeatable."),
    ] = None,
    seeds: Annotated[
        Path | None,
        typer.Option("--seeds", metavar="FILE", help="File of seeds, one in a line; - is stdin."),
    ] = None,
    strategy: StrategyOption = None,
    judge: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Is a page on topic; see 'trailhound judges'."),
    ] = None,
    max_requests: Annotated[
        int | None, typer.Option(min=1, help="Requests in all, earlier runs included.")
    ] = None,
    max_time: Annotated[
        str | None, typer.Option(metavar="TIME", help="Length of this run: 90s, 10m, 2h.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the last run stopped, as it was set up.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew; the earlier crawl is set aside.")
    ] = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Resume, and ask first if relevant pages changed.")
    ] = False,
    same_domain: Annotated[
        bool | None, typer.Option("--same-domain/--any-domain", help="Stay on the seeds' domains.")
    ] = None,
    scope: ScopeOption = None,
    exclude: ExcludeOption = None,
    sitemaps: Annotated[
        bool | None, typer.Option("--sitemaps/--no-sitemaps", help="Start from sitemaps as well.")
    ] = None,
    give_up_after: Annotated[
        int | None, typer.Option(min=1, help="End after so many pages without a relevant one.")
    ] = None,
    backlinks: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE", help="Who links to a page: 'crawl', a file of edges, an http:// URL."
        ),
    ] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE", help="Who visited what: a log, or 'sessions'.")
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="A search: an http:// URL, WARC files, or 'crawl'."),
    ] = None,
    user_agent: UserAgentOption = None,
    delay: DelayOption = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that read and score pages.")
    ] = None,
    allow_address: AllowAddressOption = None,
    allow_impolite: AllowImpoliteOption = None,
    resolve: ResolveOption = None,
    metrics: Annotated[
        int | None,
        typer.Option(min=1, max=65535, metavar="PORT", help="Serve Prometheus on this machine."),
    ] = None,
    config: ConfigOption = None,
    workspace: WorkspaceOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Crawl the web for more pages like those you marked useful.

    Without any session, a judge of your own says what is useful: words, a regular expression, a
    Python file (see --judge).

    Ctrl-C stops cleanly; --resume goes on. Everything is kept in the topic's folder: see the
    commands results, export and explain.

    Examples:

      trailhound crawl bees --seed https://example.org/ --max-requests 2000

      trailhound crawl bees --resume --max-time 2h

      trailhound crawl wasps --seed https://example.org/ --judge 'keywords:words=wasp hornet'
    """
    from trailhound.cli.waiting import patiently

    flags = {
        "crawl.seeds": _seeds(seed, seeds),
        "crawl.strategy": strategy,
        "judge.kind": judge,
        "crawl.max_requests": max_requests,
        "crawl.max_time": _seconds(max_time),
        "crawl.same_domain": same_domain,
        "crawl.scope": _names(scope),
        "crawl.exclude": _names(exclude),
        "crawl.sitemaps": sitemaps,
        "crawl.give_up_after": give_up_after,
        "crawl.workers": workers,
        "sources.backlinks": backlinks,
        "sources.trace": trace,
        "sources.search": search,
        "fetch.user_agent": user_agent,
        "fetch.delay_seconds": delay,
        "fetch.allow_addresses": _names(allow_address),
        "fetch.allow_impolite": allow_impolite,
        "fetch.resolve": _names(resolve),
        "output.metrics_port": metrics,
    }
    with patiently("Reading the model"):
        opened = _open(topic, workspace, _request(flags, config, resume, restart, refresh))
    with opened as running:
        _run(running)
        _tell(running, as_json=as_json)


def _request(
    flags: Mapping[str, Any], config: Path | None, resume: bool, restart: bool, refresh: bool
) -> CrawlRequest:
    from trailhound.config import configure, find_file
    from trailhound.errors import UsageError
    from trailhound.live.plan import CrawlRequest

    if restart and (resume or refresh):
        raise UsageError("--restart begins anew, and --resume goes on. Give one of them.")
    given = {key: value for key, value in flags.items() if value is not None}
    file = find_file(config, os.environ, Path.cwd())
    settings = configure(given, os.environ, file).settings
    return CrawlRequest(settings, given, resume, restart, refresh)


def _open(topic: str, workspace: Path | None, request: CrawlRequest) -> LiveCrawl:
    from trailhound.live.crawl import open_crawl
    from trailhound.topics.knowledge import needs_no_session
    from trailhound.topics.workspace import Workspace, workspace_folder

    place = Workspace(workspace_folder(workspace, os.environ))
    folder = place.folder_for(topic)
    if folder.exists() or request.resume or not needs_no_session(request.settings):
        folder = place.topic(topic)
    else:
        folder.prepare()
    return open_crawl(folder, request, _say)


def _run(running: LiveCrawl) -> None:
    from trailhound.cli.crawl_display import CrawlDisplay

    display = CrawlDisplay(running)
    try:
        with _metrics(running), _stoppable(running, display), display.shown():
            for _ in running.run():
                display.update()
    except KeyboardInterrupt:
        _leave_at_once(running)


@contextmanager
def _metrics(running: LiveCrawl) -> Iterator[None]:
    port = running.settings.output.metrics_port
    if port is None:
        yield
        return
    from trailhound.crawling.metrics import CrawlMetrics, metrics_served

    metrics = CrawlMetrics(running.folder.topic.name, running.progress, running.stats)
    with metrics_served(metrics, port) as address:
        _say(f"Figures for Prometheus: {address}")
        yield


@contextmanager
def _stoppable(running: LiveCrawl, display: CrawlDisplay) -> Iterator[None]:
    """The first Ctrl-C, or a request to terminate, stops cleanly; the second one at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        if display.stopping:
            raise KeyboardInterrupt
        display.stopping = True
        running.stop()

    kinds = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(kind, stop) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def _leave_at_once(running: LiveCrawl) -> None:
    """Without closing anything: what a killed crawl leaves is in order, too."""
    from trailhound.cli.crawl_summary import next_steps

    _say("Stopped at once. Everything up to the last finished page is safe.")
    for line in next_steps(running):
        _say(line)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED_EXIT_CODE)


def _tell(running: LiveCrawl, *, as_json: bool) -> None:
    from trailhound.cli.crawl_summary import print_json, show_summary
    from trailhound.crawling.stopping import StopReason

    if as_json:
        print_json(running)
    else:
        show_summary(running)
    if running.stop_reason is StopReason.INTERRUPTED:
        raise typer.Exit(INTERRUPTED_EXIT_CODE)


def _say(message: str) -> None:
    from trailhound.cli.console import messages

    messages.print(message, soft_wrap=True, markup=False)


def _seconds(text: str | None) -> float | None:
    from trailhound.config.values import parse_duration
    from trailhound.errors import UsageError

    if text is None:
        return None
    seconds = parse_duration(text)
    if not seconds > 0:
        raise UsageError(f"--max-time {text} is no time to crawl in. Give more, for example 10m.")
    return seconds


def _names(values: list[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values else None


def _seeds(given: list[str] | None, file: Path | None) -> tuple[str, ...] | None:
    from trailhound.cli.url_lists import listed_urls

    return tuple(listed_urls(given or (), file, "seeds")) or None
