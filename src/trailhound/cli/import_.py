"""``trailhound import``: browsing that other programs have recorded, as sessions of a topic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trailhound.cli.importing import FetchChoice, ImportJob, chosen_period, run_import
from trailhound.cli.options import WorkspaceOption

app = typer.Typer(
    help="Turn browsing that was recorded elsewhere into sessions to learn from.",
    no_args_is_help=True,
)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="What to import.")]
TopicOption = Annotated[
    str, typer.Option("--topic", "-t", metavar="TOPIC", help="Topic that the sessions are for.")
]
UsefulOption = Annotated[
    list[str] | None,
    typer.Option(
        "--useful",
        "-u",
        metavar="URL|FILE",
        help="Page that was useful, or a file with one address in a line; repeatable.",
    ),
]
BookmarksOption = Annotated[
    list[str] | None,
    typer.Option(
        "--useful",
        "-u",
        metavar="URL|FILE|bookmarks[:FOLDER]",
        help="Useful pages: an address, a file of addresses, or the visited bookmarks; repeatable.",
    ),
]
SinceOption = Annotated[
    str | None, typer.Option(metavar="DATE", help="Only from here on: 2026-03-01, or with a time.")
]
UntilOption = Annotated[str | None, typer.Option(metavar="DATE", help="Only up to here.")]
FetchOption = Annotated[
    bool, typer.Option("--fetch", help="Ask the web, politely, for pages without contents.")
]
MaxPagesOption = Annotated[
    int, typer.Option(min=1, help="With --fetch: the most pages, most visited first.")
]
UserAgentOption = Annotated[
    str | None,
    typer.Option(help="With --fetch: who you are, with a contact: 'bees-bot (+https://…)'."),
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="With --fetch: settings.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
KeepAddressesOption = Annotated[
    bool,
    typer.Option("--keep-addresses", help="Keep clients' addresses instead of pseudonyms."),
]
PerDayOption = Annotated[
    int, typer.Option(min=1, help="Clients with more accesses on any day are no person.")
]
PerMinuteOption = Annotated[
    int, typer.Option(min=1, help="Clients with more accesses in any minute are no person.")
]
MinPagesOption = Annotated[int, typer.Option(min=1, help="Clients with fewer pages are left out.")]


@app.command("har")
def import_har(
    file: FileArgument,
    topic: TopicOption,
    useful: UsefulOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    fetch: FetchOption = False,
    max_pages: MaxPagesOption = 500,
    user_agent: UserAgentOption = None,
    config: ConfigOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import a HAR file: what the browser's developer tools recorded.

    In Chrome, Edge or Firefox: press F12, choose Network, tick 'Preserve log', browse, then
    'Save all as HAR with content'.

    Example:

      trailhound import har monday.har --topic bees --useful https://example.org/hives
    """
    from trailhound.sessions.importers.har import read_har

    job = ImportJob(topic, useful, chosen_period(since, until), workspace, as_json)
    run_import(
        job, lambda: read_har(file, topic), FetchChoice(fetch, max_pages, user_agent, config)
    )


@app.command("warc")
@app.command("wacz")
def import_archive(
    file: FileArgument,
    topic: TopicOption,
    useful: UsefulOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    fetch: FetchOption = False,
    max_pages: MaxPagesOption = 500,
    user_agent: UserAgentOption = None,
    config: ConfigOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import a web archive: a WARC file, a WACZ package, or a folder of them.

    The extension ArchiveWeb.page records what you browse and downloads it as WACZ, with the list
    of the pages you visited. In a plain WARC file every HTML page counts as visited.

    Example:

      trailhound import wacz recording.wacz --topic bees --useful useful.txt
    """
    from trailhound.sessions.importers.archives import read_archive

    job = ImportJob(topic, useful, chosen_period(since, until), workspace, as_json)
    fetching = FetchChoice(fetch, max_pages, user_agent, config)
    run_import(job, lambda: read_archive(file, topic), fetching)


@app.command("chrome")
def import_chrome(
    file: FileArgument,
    topic: TopicOption,
    useful: BookmarksOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    fetch: FetchOption = False,
    max_pages: MaxPagesOption = 500,
    user_agent: UserAgentOption = None,
    config: ConfigOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import the history of Chrome, Chromium, Edge or Brave; the browser may be running.

    FILE is the profile folder, which chrome://version shows as 'Profile Path', or the file
    'History' in it. It is copied before it is read. Say with --since and --until when you were
    browsing for this topic: otherwise all of your history is taken.

    Example:

      trailhound import chrome ~/.config/chromium/Default --topic bees --since 2026-03-01
      --useful bookmarks:Bees --fetch
    """
    from trailhound.sessions.importers.browser_histories import chrome_bookmarks, read_chrome

    job = ImportJob(topic, useful, chosen_period(since, until), workspace, as_json)
    fetching = FetchChoice(fetch, max_pages, user_agent, config)
    run_import(job, lambda: read_chrome(file, topic), fetching, lambda: chrome_bookmarks(file))


@app.command("firefox")
def import_firefox(
    file: FileArgument,
    topic: TopicOption,
    useful: BookmarksOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    fetch: FetchOption = False,
    max_pages: MaxPagesOption = 500,
    user_agent: UserAgentOption = None,
    config: ConfigOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import the history of Firefox; the browser may be running.

    FILE is the profile folder, which about:support shows, or the file 'places.sqlite' in it. It
    is copied before it is read. Say with --since and --until when you were browsing for this
    topic: otherwise all of your history is taken.

    Example:

      trailhound import firefox ~/.mozilla/firefox/abc.default --topic bees --since 2026-03-01
      --useful bookmarks --fetch
    """
    from trailhound.sessions.importers.browser_histories import firefox_bookmarks, read_firefox

    job = ImportJob(topic, useful, chosen_period(since, until), workspace, as_json)
    fetching = FetchChoice(fetch, max_pages, user_agent, config)
    run_import(job, lambda: read_firefox(file, topic), fetching, lambda: firefox_bookmarks(file))


@app.command("squid")
def import_squid(
    file: FileArgument,
    topic: TopicOption,
    useful: UsefulOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    keep_addresses: KeepAddressesOption = False,
    max_per_day: PerDayOption = 2000,
    max_per_minute: PerMinuteOption = 100,
    min_pages: MinPagesOption = 2,
    fetch: FetchOption = False,
    max_pages: MaxPagesOption = 500,
    user_agent: UserAgentOption = None,
    config: ConfigOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import the log of a Squid proxy in its native format, plain or gzipped.

    Every client becomes one person with a session of its own, under a pseudonym. Programs and
    shared proxies are left out: see --max-per-day and --max-per-minute.

    Example:

      trailhound import squid access.log.gz --topic bees --useful useful.txt --fetch
    """
    from trailhound.cli.importing import naming
    from trailhound.sessions.importers.logs import GroupFilter, read_squid

    job = ImportJob(topic, useful, chosen_period(since, until), workspace, as_json)
    groups = GroupFilter(max_per_day, max_per_minute, min_pages)
    name_of = naming(workspace, keep_addresses=keep_addresses)
    fetching = FetchChoice(fetch, max_pages, user_agent, config)
    run_import(job, lambda: read_squid(file, topic, name_of, groups), fetching)


@app.command("combined")
def import_combined(
    file: FileArgument,
    topic: TopicOption,
    site: Annotated[
        str, typer.Option(metavar="URL", help="Where the log's paths are: https://example.org")
    ] = "",
    useful: UsefulOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    keep_addresses: KeepAddressesOption = False,
    max_per_day: PerDayOption = 2000,
    max_per_minute: PerMinuteOption = 100,
    min_pages: MinPagesOption = 2,
    fetch: FetchOption = False,
    max_pages: MaxPagesOption = 500,
    user_agent: UserAgentOption = None,
    config: ConfigOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import an access log of Apache or Nginx (combined format), plain or gzipped.

    Every client becomes one person with a session of its own, under a pseudonym. The Referer
    tells which page led where.

    Example:

      trailhound import combined access.log --site https://example.org --topic bees -u useful.txt
    """
    from trailhound.cli.importing import naming
    from trailhound.sessions.importers.logs import GroupFilter, read_combined

    job = ImportJob(topic, useful, chosen_period(since, until), workspace, as_json)
    groups = GroupFilter(max_per_day, max_per_minute, min_pages)
    name_of = naming(workspace, keep_addresses=keep_addresses)
    fetching = FetchChoice(fetch, max_pages, user_agent, config)
    run_import(job, lambda: read_combined(file, topic, name_of, groups, site), fetching)
