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
    from trailhound.topics.workspace import Workspace
    from trailhound.web import Listening

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
    workspace: WorkspaceOption = None,
) -> None:
    """Serve the app, until Ctrl-C: topics, sessions, learning, crawls and results in a browser.

    The browser extension sends its sessions here too: 'trailhound collect' is not needed beside it.

    Example:

      trailhound serve
    """
    _serve(workspace, _listening(port, host, name, certificate, key, insecure), new_token, False)


def app(
    port: PortOption = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Open the app in your browser; serves it until Ctrl-C.

    Example:

      trailhound app
    """
    _serve(workspace, _listening(port, "127.0.0.1", None, None, None, False), False, True)


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
    workspace: Path | None, listening: Listening, new_token: bool, open_browser: bool
) -> None:
    import asyncio

    place = open_workspace(workspace)
    listening.check()
    asyncio.run(_serving(place, listening, new_token, open_browser))
    say("Stopped. Crawls that are running go on; 'trailhound crawls' lists them.")


async def _serving(
    place: Workspace, listening: Listening, new_token: bool, open_browser: bool
) -> None:
    import asyncio
    import webbrowser

    from trailhound.collector import load_pairing
    from trailhound.web import AppServer, load_token

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    place.folder.mkdir(parents=True, exist_ok=True)
    pairing, token = load_pairing(place.folder), load_token(place.folder, new=new_token)
    with on_stop_signals(lambda: loop.call_soon_threadsafe(stop.set)):
        async with AppServer(place, pairing, token, report=say) as server:
            await server.start(listening)
            say(f"The app is at {server.address()}")
            say("Whoever has this address can use it: keep it to yourself. Ctrl-C stops.")
            if open_browser and not webbrowser.open(server.address()):
                say("No browser could be opened here: copy the address into one.")
            while not stop.is_set():  # on Windows, signals are noticed only between waits
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), timeout=0.5)
