"""``trailhound access``: cookies and headers by which hosts are read as you."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from trailhound.cli.options import JsonOption, WorkspaceOption, open_workspace
from trailhound.cli.terminal import print_json, say, show_table
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.topics.workspace import Workspace

app = typer.Typer(
    help="Cookies and headers with which crawls read hosts as you, if they name them.",
    no_args_is_help=True,
)
HostArgument = Annotated[
    str, typer.Argument(metavar="HOST", help="www.example.org; http://… if headers may be read.")
]
KeptCookiesOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--cookies",
        metavar="FILE",
        help="Cookies of yours for HOST: cookies.txt, or a storage state of Playwright; "
        "repeatable.",
    ),
]
KeptHeaderOption = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        metavar="'NAME: VALUE'",
        help="Send this along to HOST; @FILE has one in each line; repeatable.",
    ),
]


class GivenAccess(NamedTuple):
    """What a command was given to read hosts as the person who runs it."""

    cookies: tuple[Path, ...]
    headers: tuple[str, ...]
    hosts: tuple[str, ...]

    def flags(self) -> dict[str, Any]:
        """Settings, by ``section.name``; UsageError when it is not clear what is for whom."""
        from trailhound.errors import UsageError
        from trailhound.topics.access import headers_in, named_host

        if self.cookies and not self.hosts:
            raise UsageError(
                "Cookies are for hosts that you name, and for no others: add --for-host HOST."
            )
        if self.headers and len(self.hosts) > 1:
            raise UsageError(
                "Which of the hosts are the headers for? Give them to each by itself: trailhound "
                "access add HOST --header 'NAME: VALUE', and crawl with --for-host alone."
            )
        if self.hosts:
            return {"fetch.as_me": tuple(named_host(each).key for each in self.hosts)}
        shown = tuple(f"{name}: {value}" for name, value in headers_in(self.headers))
        return {"fetch.headers": shown} if shown else {}

    def keep(self, workspace: Workspace, file: str = "") -> None:
        """Keep it in the workspace, or in the ``file`` that settings name.

        UsageError for hosts for which there is nothing at all.
        """
        from trailhound.errors import UsageError
        from trailhound.topics.access import Access, cookies_in, headers_in, named_host, unsendable

        access, hosts = Access(workspace.folder, file), list(map(named_host, self.hosts))
        if self.cookies:
            found = [each for path in self.cookies for each in cookies_in(path)]
            access.give_cookies(hosts, found, "file")
            for host in hosts:
                if n_odd := unsendable(found, host):
                    cookies = counted(n_odd, "cookie")
                    say(f"Note: {cookies} for {host.key} cannot be sent, and stayed out.")
        if self.headers and hosts:
            access.give_headers(hosts[0], headers_in(self.headers))
        known = {each.host for each in access.hosts()} if hosts else set()
        for host in hosts:
            if host.key not in known:
                raise UsageError(
                    f"Nothing is kept with which {host.key} could be read as you. Add --cookies "
                    "FILE, or press 'Let Trailhound read …' in the browser extension."
                )


@app.command("add")
def add(
    host: HostArgument,
    cookies: KeptCookiesOption = None,
    header: KeptHeaderOption = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Keep cookies or headers for a host, in a file that only you can read.

    A crawl uses them when it names the host: --for-host. They go to that host and nowhere else.

    Examples:

      trailhound access add www.example.org --cookies cookies.txt

      trailhound access add api.example.org --header @headers.txt
    """
    from trailhound.errors import UsageError
    from trailhound.topics.access import ACCESS

    if not cookies and not header:
        raise UsageError("Say what to keep: --cookies FILE, or --header 'NAME: VALUE'.")
    place = open_workspace(workspace)
    GivenAccess(tuple(cookies or ()), tuple(header or ()), (host,)).keep(place)
    say(f"Kept in {place.folder / ACCESS}. Crawl with: --for-host {host}")


@app.command("list")
def show(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show for which hosts something is kept, and how much; never what.

    Example:

      trailhound access list
    """
    from trailhound.topics.access import Access

    access = Access(open_workspace(workspace).folder)
    hosts, proxies = access.hosts(), access.proxies()
    if as_json:
        print_json({"hosts": hosts, "proxies": proxies})
        return
    if not hosts and not proxies:
        say("Nothing is kept: every host is read as anybody.")
        return
    rows = [
        (
            each.host,
            str(each.cookies),
            ", ".join(each.headers) or "–",
            each.given_by,
            datetime.fromtimestamp(each.given_at, UTC).astimezone().strftime("%Y-%m-%d %H:%M"),
        )
        for each in hosts
    ]
    rows += [(address, "0", "login of the proxy", "command", "–") for address in proxies]
    show_table(("host", "cookies", "headers", "from", "since"), rows)


@app.command("remove")
def remove(host: HostArgument, workspace: WorkspaceOption = None) -> None:
    """Remove what is kept for a host, or the login of a proxy.

    Example:

      trailhound access remove www.example.org
    """
    from trailhound.errors import UsageError
    from trailhound.topics.access import Access

    access = Access(open_workspace(workspace).folder)
    if not access.remove(host):
        raise UsageError(f"Nothing is kept for '{host}'. See what is: trailhound access list")
    say(f"Removed: {host} is read as anybody from now on.")
