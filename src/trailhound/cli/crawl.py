"""``trailhound crawl``: from a learned topic and a few seeds to a crawl of the web."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from trailhound.cli import options

if TYPE_CHECKING:
    from trailhound.topics.crawls.folder import CrawlFolder
    from trailhound.topics.runs.crawl import TopicCrawl
    from trailhound.topics.runs.plan import CrawlRequest


end = partial(typer.Option, rich_help_panel="When to end")
again = partial(typer.Option, rich_help_panel="A topic that was crawled before")
plugged = partial(typer.Option, rich_help_panel="Plug-ins (see 'trailhound plugins')")
machines = partial(typer.Option, rich_help_panel="On many machines (see docs/scale.md)")
ask = partial(typer.Option, rich_help_panel="What to ask besides the web")


def crawl(
    topic: options.TopicArgument,
    seed: Annotated[
        list[str] | None,
        options.where(
            "--seed",
            "-s",
            metavar="URL",
            help="Page to start from; repeatable. Without: pages of your sessions that led on.",
        ),
    ] = None,
    seeds: Annotated[
        Path | None, options.where(metavar="FILE", help="File of seeds, one in a line; - is stdin.")
    ] = None,
    seeds_from: Annotated[
        str | None,
        options.where(
            metavar="search", help="Start from what --search finds for the topic's words, too."
        ),
    ] = None,
    sitemaps: Annotated[
        bool | None, options.where("--sitemaps/--no-sitemaps", help="Start from sitemaps as well.")
    ] = None,
    same_domain: Annotated[
        bool | None, options.where("--same-domain/--any-domain", help="Stay on the seeds' domains.")
    ] = None,
    scope: options.ScopeOption = None,
    exclude: options.ExcludeOption = None,
    strategy: options.StrategyOption = None,
    judge: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Is a page on topic; see 'trailhound judges'."),
    ] = None,
    max_requests: Annotated[
        int | None, end(min=1, metavar="N", help="Requests in all, earlier runs included.")
    ] = None,
    max_time: Annotated[
        str | None, end(metavar="TIME", help="Length of this run: 90s, 10m, 2h.")
    ] = None,
    give_up_after: Annotated[
        int | None, end(min=1, metavar="N", help="End after so many pages without a relevant one.")
    ] = None,
    min_free: Annotated[
        str | None,
        end(metavar="SIZE", help="Wait while less is free on the disk: 500MB, 2GB; 0 never waits."),
    ] = None,
    resume: Annotated[
        bool, again("--resume", help="Go on where the last run stopped, as it was set up.")
    ] = False,
    restart: Annotated[
        bool, again("--restart", help="Begin anew; the earlier crawl is set aside.")
    ] = False,
    refresh: Annotated[
        bool, again("--refresh", help="Resume, and ask first if relevant pages changed.")
    ] = False,
    refresh_due: Annotated[
        bool, again("--refresh-due", help="The same of those that were not looked at for long.")
    ] = False,
    fresh: Annotated[
        bool, again("--fresh", help="Begin without what earlier crawls taught the strategy.")
    ] = False,
    backlinks: Annotated[
        str | None,
        ask(metavar="SOURCE", help="Who links to a page: 'crawl', a file of edges, a URL."),
    ] = None,
    trace: Annotated[
        str | None, ask(metavar="FILE", help="Who visited what: a log, or 'sessions'.")
    ] = None,
    search: Annotated[
        str | None,
        ask(metavar="SOURCE", help="A search: an http:// URL, WARC files, or 'crawl'."),
    ] = None,
    fetcher: Annotated[
        str | None,
        plugged(metavar="NAME", help="Who gets pages; a name, or a Python file."),
    ] = None,
    documents: Annotated[
        str | None,
        typer.Option(metavar="KINDS", help="Besides HTML: none, or text,feeds,pdf,office."),
    ] = None,
    render: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="In a browser: never, auto (where it pays), always."),
    ] = None,
    sink: Annotated[
        list[str] | None,
        plugged(metavar="NAME", help="Who else gets each page, such as jsonl; repeatable."),
    ] = None,
    user_agent: options.UserAgentOption = None,
    delay: options.DelayOption = None,
    allow_impolite: options.AllowImpoliteOption = None,
    allow_address: options.AllowAddressOption = None,
    resolve: options.ResolveOption = None,
    cookies: options.CookiesOption = None,
    header: options.HeaderOption = None,
    for_host: options.ForHostOption = None,
    from_mail: options.FromOption = None,
    proxy: options.ProxyOption = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Processes that read and score pages."),
    ] = None,
    cluster: Annotated[
        str | None,
        machines(metavar="ADDRESS", help="Crawl on a Ray cluster: host:port, or 'local'."),
    ] = None,
    shards: Annotated[
        int | None,
        machines(min=1, max=1000, metavar="N", help="Parts of a new crawl on a cluster: 8."),
    ] = None,
    checkpoint: Annotated[
        str | None,
        machines(metavar="URL", help="Keep the parts there (s3://…), not in a shared folder."),
    ] = None,
    metrics: Annotated[
        int | None,
        typer.Option(min=1, max=65535, metavar="PORT", help="Serve Prometheus on this machine."),
    ] = None,
    set_: options.SetOption = None,
    config: options.ConfigOption = None,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
    started_by: Annotated[str, typer.Option(hidden=True)] = "terminal",
    seconds: Annotated[float | None, typer.Option(hidden=True)] = None,
) -> None:
    """Crawl the web for more pages like those you marked useful.

    Without any session, a judge of your own says what is useful: words, a regular expression, a
    Python file (see --judge).

    Ctrl-C stops cleanly, and so does 'trailhound stop' elsewhere; --resume goes on. Everything is
    kept in the topic's folder: see the commands results, export and explain.

    Examples:

      export TRAILHOUND_USER_AGENT='bees-bot (+https://example.org/bot)'   (or --user-agent)

      trailhound crawl bees --max-requests 2000

      trailhound crawl bees --seed https://example.org/ --same-domain

      trailhound crawl bees --resume --max-time 2h

      trailhound crawl wasps --seed https://example.org/ --judge 'keywords:words=wasp hornet'
    """
    from trailhound.cli.access import GivenAccess
    from trailhound.cli.crawl_view import next_steps, run_shown, show_summary, told_to_machines
    from trailhound.cli.terminal import patiently, print_json, say
    from trailhound.config.layers import parse_size
    from trailhound.crawling.budget import StopReason
    from trailhound.errors import UsageError
    from trailhound.topics.runs.opening import figures_served

    if shards is not None and cluster is None:
        raise UsageError("--shards is for crawls on a cluster. Name one with --cluster ADDRESS.")
    if checkpoint is not None and cluster is None:
        raise UsageError("--checkpoint is for crawls on a cluster. Name it: --cluster ADDRESS.")
    refresh = refresh or refresh_due
    if restart and (resume or refresh):
        raise UsageError("--restart begins anew, and --resume goes on. Give one of them.")
    if fresh and (resume or refresh):
        raise UsageError(
            "--fresh is for new crawls, and --resume goes on with all that was learned. To begin "
            "anew without it, give --restart --fresh."
        )
    chosen = {
        "crawl.seeds": options.listed_urls(seed or (), seeds, "seeds"),
        "crawl.seeds_from": seeds_from,
        "crawl.strategy": strategy,
        "judge.kind": judge,
        "crawl.max_requests": max_requests,
        "crawl.max_time": _seconds(max_time),
        "crawl.min_free": None if min_free is None else parse_size(min_free),
        "crawl.same_domain": same_domain,
        "crawl.scope": scope,
        "crawl.exclude": exclude,
        "crawl.sitemaps": sitemaps,
        "crawl.give_up_after": give_up_after,
        "crawl.workers": workers,
        "sources.backlinks": backlinks,
        "sources.trace": trace,
        "sources.search": search,
        "fetch.fetcher": fetcher,
        "fetch.documents": documents,
        "fetch.render": render,
        "output.sinks": sink,
        "fetch.user_agent": user_agent,
        "fetch.delay_seconds": delay,
        "fetch.allow_addresses": allow_address,
        "fetch.allow_impolite": allow_impolite,
        "fetch.resolve": resolve,
        "fetch.from_mail": from_mail,
        "fetch.proxies": proxy,
        "output.metrics_port": metrics,
    }
    given = GivenAccess(tuple(cookies or ()), tuple(header or ()), tuple(for_host or ()))
    flags = options.assigned(set_) | options.given(chosen) | given.flags()
    with patiently("Reading the model"):
        from trailhound.topics.runs.plan import CrawlRequest

        request = CrawlRequest(
            options.settings_from(flags, config),
            flags,
            resume,
            restart,
            refresh,
            fresh=fresh,
            only_due=refresh_due,
            seconds=seconds,
            started_by=started_by,
        )
        given.keep(options.open_workspace(workspace), request.settings.fetch.access_file)
        opened = _open(topic, workspace, request, cluster, shards, checkpoint or "")
    with opened as running:
        try:
            with figures_served(running, say):
                run_shown(running)
        except KeyboardInterrupt:
            # Without closing anything: what a killed crawl leaves is in order, too.
            say("Stopped at once. Everything up to the last finished page is safe.")
            for line in next_steps(running):
                say(line)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(options.INTERRUPTED_EXIT_CODE)
        if as_json:
            print_json(told_to_machines(running))
        else:
            show_summary(running)
        if running.stop_reason is StopReason.INTERRUPTED:
            raise typer.Exit(options.INTERRUPTED_EXIT_CODE)
        if running.failed:
            raise typer.Exit(options.FAILED_EXIT_CODE)


def _open(
    topic: str,
    workspace: Path | None,
    request: CrawlRequest,
    cluster: str | None,
    shards: int | None,
    checkpoint: str,
) -> TopicCrawl:
    from trailhound.cli.terminal import say
    from trailhound.topics.crawls.folder import CrawlFolder
    from trailhound.topics.runs.opening import open_crawl
    from trailhound.topics.runs.plan import needs_no_session

    place = options.open_workspace(workspace)
    folder = place.folder_for(topic)
    is_new = not (folder.exists() or request.resume) and needs_no_session(request.settings)
    if is_new:
        folder.prepare()
    else:
        folder = place.topic(topic)
    try:
        if cluster is not None:
            from trailhound.cluster.opening import open_cluster_crawl

            # It shows itself as any other crawl does.
            opened = open_cluster_crawl(folder, request, cluster, shards, say, checkpoint)
            return cast("TopicCrawl", opened)
        _unite(CrawlFolder(folder), request)
        return open_crawl(folder, request, say)
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.discard_unless_used()
        raise


def _unite(folder: CrawlFolder, request: CrawlRequest) -> None:
    """What a cluster has begun goes on here in one piece, or is whole when it is set aside."""
    from trailhound.cli.terminal import say
    from trailhound.topics.crawls.gathering import gather_first

    if not folder.shards():
        return
    if request.restart:
        gather_first(folder)
    elif request.resume or request.refresh or request.only_due:
        from trailhound.cluster.uniting import check_going_on, unite

        check_going_on(folder, request)
        count = unite(folder)
        say(f"The {count} shards of the crawl are in one piece now.")


def _seconds(text: str | None) -> float | None:
    from trailhound.config.layers import parse_duration
    from trailhound.errors import UsageError

    seconds = None if text is None else parse_duration(text)
    if seconds is not None and not seconds > 0:
        raise UsageError(f"--max-time {text} is no time to crawl in. Give more, for example 10m.")
    return seconds
