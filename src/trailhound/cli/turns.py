"""``trailhound turns``: a search engine and the crawler teach each other, round by round."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli import options
from trailhound.cli.terminal import output, print_json, say, show_table
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.topics.runs.turn_planning import TurnReport
    from trailhound.topics.runs.turns import SearchTurns


def turns(
    topic: options.TopicArgument,
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
    strategy: options.StrategyOption = None,
    scope: options.ScopeOption = None,
    exclude: options.ExcludeOption = None,
    user_agent: options.UserAgentOption = None,
    delay: options.DelayOption = None,
    allow_impolite: options.AllowImpoliteOption = None,
    allow_address: options.AllowAddressOption = None,
    resolve: options.ResolveOption = None,
    config: options.ConfigOption = None,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Take turns with a search engine: ask it, crawl from what it names, learn, ask better.

    A round asks for the strongest words of your useful pages and of the clusters of pages that lead
    to them (trailhound inspect shows the words), crawls from up to 20 pages that the answers name,
    and adds the paths that led to very good pages to what the topic is learned from. Only pages
    that your own marks speak for are learned from, and never more of them than you marked yourself.

    Ctrl-C stops cleanly, and the same command goes on. The crawl is the topic's own: results,
    export and explain show it.

    Examples:

      export TRAILHOUND_USER_AGENT='bees-bot (+https://example.org/bot)'   (or --user-agent)

      trailhound turns bees --search 'http://localhost:8888/search?q={query}&format=json'

      trailhound turns bees --search pages.warc.gz --rounds 5 --max-requests 200
    """
    from trailhound.cli.crawl_view import run_shown
    from trailhound.topics.runs.turn_planning import TurnLimits
    from trailhound.topics.runs.turns import SearchTurns, TurnsRequest

    near = TurnLimits()
    limits = TurnLimits(words, near.hits, new_seeds, None if all_clusters else near.hops)
    flags = options.given(
        {
            "crawl.strategy": strategy,
            "crawl.scope": scope,
            "crawl.exclude": exclude,
            "sources.search": search,
            "fetch.user_agent": user_agent,
            "fetch.delay_seconds": delay,
            "fetch.allow_impolite": allow_impolite,
            "fetch.allow_addresses": allow_address,
            "fetch.resolve": resolve,
        }
    )
    request = TurnsRequest(
        options.settings_from(flags, config), flags, rounds, max_requests, tuple(seed or ()), limits
    )
    place = options.open_workspace(workspace)
    running = SearchTurns(place, place.topic(topic), request, notify=say)
    reports = []
    for report in running.run(run_shown):
        say(
            f"Round {report.number}: {counted(report.relevant, 'relevant page')} in "
            f"{counted(report.requests, 'request')}; learned from: {report.adopted}."
        )
        reports.append(report)
    if as_json:
        print_json(
            {
                "topic": running.folder.topic.name,
                "turns": reports,
                "interrupted": running.interrupted,
                "problem": running.problem,
                "rounds_left": running.record.last_turn - len(running.record.turns),
            }
        )
    else:
        _show(running, reports)
    if running.interrupted:
        raise typer.Exit(options.INTERRUPTED_EXIT_CODE)
    if running.problem and not reports:
        raise typer.Exit(1)


def _show(running: SearchTurns, reports: list[TurnReport]) -> None:
    if reports:
        headings = ("round", "queries", "new start pages", "requests", "relevant", "learned from")
        figures = [
            (each.number, len(each.queries), each.seeds, each.requests, each.relevant, each.adopted)
            for each in reports
        ]
        show_table(headings, [[f"{figure:,}" for figure in row] for row in figures], headings)
    for line in _next_steps(running, reports):
        output.print(line, soft_wrap=True, markup=False)


def _next_steps(running: SearchTurns, reports: list[TurnReport]) -> Iterator[str]:
    if running.problem:
        yield f"{running.problem.rstrip('.')}. Everything found and learned so far is kept."
        yield "Try another --search, more --words, or begin with pages you know: --seed URL"
    if running.interrupted:
        yield "Stopped. Give the same command again to go on."
    if any(report.relevant for report in reports):
        yield f"See what was found: trailhound results {quote(running.folder.topic.name)}"
