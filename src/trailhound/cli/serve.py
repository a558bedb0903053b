"""``trailhound serve`` and ``trailhound app``: everything in a browser, without a terminal."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import WorkspaceOption, open_workspace
from trailhound.cli.terminal import say
from trailhound.signals import on_stop_signals

if TYPE_CHECKING:
    from trailhound.portal.publishing import Publication
    from trailhound.topics.workspace import Workspace
    from trailhound.web import Listening, PortalServer

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
    from trailhound.cli import serve_background
    from trailhound.web import PortalListening, PortalServer

    place = open_workspace(workspace)
    if stop:
        serve_background.stop(place)
        return
    published = _published(place, portal or [], portal_name)
    portals = PortalServer(place, PortalListening(portal_port, portal_host), published)
    listening = _listening(port, host, name, certificate, key, insecure)
    if background or install:
        listening.check()
        arguments = serve_background.arguments(place, listening)
        arguments += [f"--portal={topic}" for topic in portal or []]
        arguments += [f"--portal-name={portal_name}"] if portal_name else []
        arguments += [f"--portal-port={portal_port}", f"--portal-host={portal_host}"]
        act = serve_background.install if install else serve_background.start
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
    from trailhound.cli import serve_background
    from trailhound.web import PortalServer

    place = open_workspace(workspace)
    if serve_background.opened(place):
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

    from trailhound.cli.serve_background import going_on
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
            for line in going_on(server.app):
                say(line)
            if portals.port:
                say(f"Everybody may read what is published, at {portals.address()}")
            if open_browser and not webbrowser.open(server.address()):
                say("No browser could be opened here: copy the address into one.")
            while not (stop.is_set() or is_to_stop(place.folder)):
                with suppress(TimeoutError):  # on Windows, signals are noticed only between waits
                    await asyncio.wait_for(stop.wait(), timeout=0.5)
