"""``trailhound collect``: receives what the browser extension records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import WorkspaceOption, open_workspace
from trailhound.cli.terminal import say

if TYPE_CHECKING:
    from trailhound.collector import Collector, Pairing
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
    """Collect browsing sessions from the browser extension, until Ctrl-C.

    Example:

      trailhound collect --learn
    """
    from trailhound.collector import DEFAULT_PORT, Collector, load_pairing

    place = open_workspace(workspace)
    pairing = load_pairing(place.folder, new=new_code)
    collector = Collector(place, pairing, learn=learn, report=say)
    _serve(collector, DEFAULT_PORT if port is None else port, pairing, place)
    say("Stopped. What was collected is safe.")


def _serve(collector: Collector, port: int, pairing: Pairing, workspace: Workspace) -> None:
    import asyncio
    import signal

    async def serve() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = [
            signal.signal(kind, lambda *_: loop.call_soon_threadsafe(stop.set)) for kind in kinds
        ]
        try:
            async with collector:
                await collector.start(port)
                _introduce(collector.port, pairing, workspace)
                while not stop.is_set():
                    await _moment(stop)
        finally:
            for kind, handler in zip(kinds, before, strict=True):
                signal.signal(kind, handler)

    async def _moment(stop: asyncio.Event) -> None:
        """On Windows, signals are noticed only between waits."""
        try:
            await asyncio.wait_for(stop.wait(), timeout=0.5)
        except TimeoutError:
            return

    asyncio.run(serve())


def _introduce(port: int, pairing: Pairing, workspace: Workspace) -> None:
    from trailhound.collector import extension_folder

    folder = extension_folder()
    for line in (
        "Add the extension once:",
        "  Chrome, Chromium, Edge: open chrome://extensions, switch on Developer mode, press",
        "    'Load unpacked' and choose the folder below.",
        "  Firefox: open about:debugging#/runtime/this-firefox, press 'Load Temporary Add-on' and",
        "    choose manifest.json in the folder below. (Firefox forgets it when it closes.)",
        f"  Folder: {folder}",
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
