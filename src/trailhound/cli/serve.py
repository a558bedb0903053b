"""``trailhound serve`` and ``trailhound app``: everything in a browser, without a terminal.

The app may go on in the background: started, found again, stopped, installed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import WorkspaceOption, open_workspace
from trailhound.cli.terminal import say
from trailhound.counting import counted
from trailhound.signals import on_stop_signals

if TYPE_CHECKING:
    from trailhound.portal.publishing import Publication
    from trailhound.topics.workspace import Workspace
    from trailhound.web import Listening, PortalServer
    from trailhound.web.state import App

PortOption = Annotated[
    int | None, typer.Option(min=0, max=65535, help="Port on this machine. Default: 8917.")
]


def serve(
    port: PortOption = None,
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Where to listen; wider than this machine needs TLS."),
    ] = "127.0.0.1",
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="A name under which others reach it; may be repeated."),
    ] = None,
    certificate: Annotated[Path | None, typer.Option(help="For TLS: the chain, as PEM.")] = None,
    key: Annotated[Path | None, typer.Option(help="For TLS: its key, as PEM.")] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen wider without TLS: something else encrypts.")
    ] = False,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Make a new token; shuts out all open pages.")
    ] = False,
    portal: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC", help="Publish what was found; may be repeated."),
    ] = None,
    portal_name: Annotated[
        str, typer.Option(metavar="NAME", help="What the portal is called. Default: the topic.")
    ] = "",
    portal_port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the portal.")] = 8918,
    portal_host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where the portal listens; 0.0.0.0: everywhere.")
    ] = "127.0.0.1",
    background: Annotated[
        bool, typer.Option("--background", help="Serve from a process that survives this terminal.")
    ] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="Stop the server of this workspace; crawls go on.")
    ] = False,
    install: Annotated[
        bool, typer.Option("--install", help="Write a file that starts it with the machine.")
    ] = False,
    without_token: Annotated[bool, typer.Option("--without-token", hidden=True)] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Serve the app, until Ctrl-C: topics, sessions, learning, crawls and results in a browser.

    The browser extension sends its sessions here too: 'trailhound collect' is not needed beside it.

    A portal is for everybody: search over the finds of a topic, at a port of its own on which
    there is nothing else.

    Examples:

      trailhound serve

      trailhound serve --portal bees --portal-name "Bee health" --portal-host 0.0.0.0

      trailhound serve --background
    """
    from trailhound.web import PortalListening, PortalServer

    place = open_workspace(workspace)
    if stop:
        _stop(place)
        return
    published = _published(place, portal or [], portal_name)
    portals = PortalServer(place, PortalListening(portal_port, portal_host), published)
    listening = _listening(port, host, name, certificate, key, insecure)
    if background or install:
        listening.check()
        arguments = _arguments(place, listening)
        arguments += [f"--portal={topic}" for topic in portal or []]
        arguments += [f"--portal-name={portal_name}"] if portal_name else []
        arguments += [f"--portal-port={portal_port}", f"--portal-host={portal_host}"]
        act = _install if install else _start
        act(place, arguments, new_token)
        return
    _serve(place, listening, new_token, False, portals, without_token)


def _published(place: Workspace, topics: list[str], title: str) -> dict[str, Publication]:
    """Topics to publish while the server runs; UsageError names one without a crawl."""
    from trailhound.errors import UsageError
    from trailhound.portal.publishing import for_a_while
    from trailhound.topics.crawls.folder import CrawlFolder

    if title and len(topics) != 1:
        raise UsageError("--portal-name goes with one --portal TOPIC. Name it, or leave it out.")
    folders = [CrawlFolder(place.topic(topic)).require().topic for topic in topics]
    return for_a_while(place, folders, title)


def app(
    port: PortOption = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Open the app in your browser; serves it until Ctrl-C, unless it is being served already.

    Example:

      trailhound app
    """
    from trailhound.web import PortalServer

    place = open_workspace(workspace)
    if _opened(place):
        return
    listening = _listening(port, "127.0.0.1", None, None, None, False)
    _serve(place, listening, False, True, PortalServer(place))


def _listening(
    port: int | None,
    host: str,
    names: list[str] | None,
    certificate: Path | None,
    key: Path | None,
    insecure: bool,
) -> Listening:
    from trailhound.collector import DEFAULT_PORT
    from trailhound.web import Listening

    return Listening(
        DEFAULT_PORT if port is None else port,
        host,
        tuple(names or ()),
        certificate,
        key,
        insecure,
    )


def _serve(
    place: Workspace,
    listening: Listening,
    new_token: bool,
    open_browser: bool,
    portals: PortalServer,
    without_token: bool = False,
) -> None:
    import asyncio

    from trailhound.errors import TrailhoundError
    from trailhound.storage.files import make_folder
    from trailhound.topics.upkeep.moving import finish_removing
    from trailhound.web.presence import being_served

    listening.check()
    make_folder(place.folder)
    with suppress(TrailhoundError):  # 'forget' tells why it cannot be deleted
        finish_removing(place.folder / "topics")
    with being_served(place.folder) as before:
        if before is not None:
            say("The app was cut short last time: it was killed, or the machine went down.")
        asyncio.run(_serving(place, listening, new_token, open_browser, portals, without_token))
    say("Stopped. Crawls that are running go on; 'trailhound crawls' lists them.")


async def _serving(
    place: Workspace,
    listening: Listening,
    new_token: bool,
    open_browser: bool,
    portals: PortalServer,
    without_token: bool,
) -> None:
    import asyncio
    import webbrowser

    from trailhound.collector import load_pairing
    from trailhound.web import AppServer, load_token
    from trailhound.web.presence import announce, is_to_stop

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    pairing, token = load_pairing(place.folder), load_token(place.folder, new=new_token)
    # What is told of sessions names pages: it belongs on a terminal, and into no log.
    report = (lambda _: None) if without_token else say
    with on_stop_signals(lambda: loop.call_soon_threadsafe(stop.set)):
        async with AppServer(place, pairing, token, report=report, portal=portals) as server:
            await server.start(listening)
            announce(place.folder, server.address())
            if without_token:
                say(f"The app is at {server.address().partition('#')[0]} for 'trailhound app'.")
            else:
                say(f"The app is at {server.address()}")
                say("Whoever has this address can use it: keep it to yourself. Ctrl-C stops.")
            for line in _going_on(server.app):
                say(line)
            if portals.port:
                say(f"Everybody may read what is published, at {portals.address()}")
            if open_browser and not webbrowser.open(server.address()):
                say("No browser could be opened here: copy the address into one.")
            while not (stop.is_set() or is_to_stop(place.folder)):
                with suppress(TimeoutError):  # on Windows, signals are noticed only between waits
                    await asyncio.wait_for(stop.wait(), timeout=0.5)


RECENT_SECONDS = 60.0
"""A job that was found cut short so recently was so when this server started."""


def _arguments(place: Workspace, listening: Listening) -> list[str]:
    """Of ``trailhound serve``, for a process elsewhere: paths are absolute, no token is printed."""
    given = [f"--workspace={place.folder.absolute()}", "--without-token"]
    given += [f"--port={listening.port}", f"--host={listening.host}"]
    given += [f"--name={name}" for name in listening.names]
    for option, path in (("certificate", listening.certificate), ("key", listening.key)):
        given += [f"--{option}={path.absolute()}"] if path is not None else []
    return given + (["--insecure"] if listening.allow_plain else [])


def _start(place: Workspace, given: list[str], new_token: bool) -> None:
    """Serve from a process that outlives this one, and say where."""
    from trailhound.cli.terminal import patiently
    from trailhound.storage.files import make_folder
    from trailhound.web import load_token
    from trailhound.web.presence import serve_in_background

    make_folder(place.folder)
    token = load_token(place.folder, new=new_token)
    with patiently("Starting the server"):
        server = serve_in_background(place.folder, given)
    say(f"The app is at {server.address}#token={token.value}")
    say("Whoever has this address can use it: keep it to yourself. It goes on when this terminal")
    say("closes: 'trailhound app' opens it, 'trailhound serve --stop' stops it.")


def _stop(place: Workspace) -> None:
    """Stop the server of the workspace."""
    from trailhound.cli.terminal import patiently
    from trailhound.web.presence import stop_server

    with patiently("Waiting for what goes on"):
        server = stop_server(place.folder)
    say(f"The app at {server.address} is stopped. Crawls go on: 'trailhound crawls' lists them.")


def _install(place: Workspace, given: list[str], new_token: bool) -> None:
    """Write a file that starts the server with the machine, and say how to enable it."""
    from trailhound.storage.files import make_folder
    from trailhound.web import load_token
    from trailhound.web.presence import install as write

    make_folder(place.folder)
    load_token(place.folder, new=new_token)
    installed = write(Path.home(), given)
    say(f"Written: {installed.path}")
    say("It is not running yet. Have it started now, and with the machine:")
    for step in installed.next_steps:
        say(f"  {step}")
    say("Then 'trailhound app' opens it.")


def _opened(place: Workspace) -> bool:
    """Whether a server was found, and opened in the browser."""
    import webbrowser

    from trailhound.web import load_token
    from trailhound.web.presence import present_server

    server = present_server(place.folder)
    if server is None:
        return False
    address = f"{server.address}#token={load_token(place.folder).value}"
    if not webbrowser.open(address):
        say("No browser could be opened here: copy the address into one.")
    say(f"The app is at {address}")
    return True


def _going_on(app: App) -> Iterator[str]:
    """What the server has found at its start: jobs and crawls that were cut short, or go on."""
    from trailhound.topics.control.running import all_crawls

    for job in app.jobs.all():
        if job.state == "cut short" and (job.ended_at or 0.0) > time.time() - RECENT_SECONDS:
            about = f" of '{job.topic}'" if job.topic else ""
            yield f"The job '{job.kind}'{about} was cut short: {job.message}"
    for crawl in all_crawls(app.workspace):
        if crawl.is_alive:
            so_far = counted(crawl.requests, "request")
            yield f"The crawl of '{crawl.topic}' goes on: {so_far} so far."
        elif crawl.state.value == "cut-short":
            yield f"The crawl of '{crawl.topic}' was cut short. Go on with it in the app."
