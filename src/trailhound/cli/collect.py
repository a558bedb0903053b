"""``trailhound collect``: receives what the browser extension records."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import WorkspaceOption, open_workspace
from trailhound.cli.terminal import say
from trailhound.signals import on_stop_signals

if TYPE_CHECKING:
    from trailhound.collector import Pairing
    from trailhound.topics.workspace import Workspace


def collect(
    learn: Annotated[
        bool, typer.Option("--learn", help="Learn the topic whenever a session is submitted.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port on this machine. Default: 8917."),
    ] = None,
    workspace: WorkspaceOption = None,
    new_code: Annotated[
        bool, typer.Option("--new-code", help="Make a new pairing code; unpairs all browsers.")
    ] = False,
) -> None:
    """Collect browsing sessions from the browser extension, until Ctrl-C; keeps schedules, too.

    Example:

      trailhound collect --learn
    """
    import asyncio

    from trailhound.collector import DEFAULT_PORT, Collector, load_pairing
    from trailhound.storage.files import check_writable
    from trailhound.topics.control.scheduler import Scheduler, keep_schedules

    place = open_workspace(workspace)
    check_writable(place.folder)
    _leave_it_to_the_app(place)
    pairing = load_pairing(place.folder, new=new_code)

    async def serve() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        with on_stop_signals(lambda: loop.call_soon_threadsafe(stop.set)):
            async with Collector(place, pairing, learn=learn, report=say) as collector:
                await collector.start(DEFAULT_PORT if port is None else port)
                _introduce(collector.port, pairing, place)
                keeping = asyncio.create_task(keep_schedules(Scheduler(place, report=say)))
                while not stop.is_set():  # on Windows, signals are noticed only between waits
                    with suppress(TimeoutError):
                        await asyncio.wait_for(stop.wait(), timeout=0.5)
                keeping.cancel()

    asyncio.run(serve())
    say("Stopped. What was collected is safe.")


def _leave_it_to_the_app(place: Workspace) -> None:
    from trailhound.errors import UsageError
    from trailhound.web.presence import present_server

    app = present_server(place.folder)
    if app is not None:
        raise UsageError(
            f"The app of this workspace is being served at {app.address} and collects, too: open "
            "it with 'trailhound app', or stop it with 'trailhound serve --stop' first."
        )


def _introduce(port: int, pairing: Pairing, workspace: Workspace) -> None:
    from trailhound.collector import extension_folder

    for line in (
        "Add the extension once:",
        "  Chrome, Chromium, Edge: open chrome://extensions, switch on Developer mode, press",
        "    'Load unpacked' and choose the folder below.",
        "  Firefox: open about:debugging#/runtime/this-firefox, press 'Load Temporary Add-on' and",
        "    choose manifest.json in the folder below. (Firefox forgets it when it closes.)",
        f"  Folder: {extension_folder()}",
        "Then open its popup and enter the pairing code:",
        f"  {pairing.code(port)}",
        "Name a topic, press Start and browse; press Useful on what you wanted, Submit at the end.",
        "",
        "What is stored, while a session is recorded and at no other time: addresses, titles,",
        "times, the pages' text and links without anything typed into them, and your marks.",
        f"Where: {workspace.folder / 'topics'}, on this machine only.",
        "'trailhound forget' removes it again.",
        f"Listening at http://127.0.0.1:{port}. Ctrl-C stops.",
    ):
        say(line)
