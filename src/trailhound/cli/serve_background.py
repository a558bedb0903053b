"""The app without a terminal: started in the background, found again, stopped, installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trailhound.cli.terminal import say
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.topics.workspace import Workspace
    from trailhound.web import Listening
    from trailhound.web.state import App

RECENT_SECONDS = 60.0
"""A job that was found cut short so recently was so when this server started."""


def arguments(place: Workspace, listening: Listening) -> list[str]:
    """Of ``trailhound serve``, for a process elsewhere: paths are absolute, no token is printed."""
    given = [f"--workspace={place.folder.absolute()}", "--without-token"]
    given += [f"--port={listening.port}", f"--host={listening.host}"]
    given += [f"--name={name}" for name in listening.names]
    for option, path in (("certificate", listening.certificate), ("key", listening.key)):
        given += [f"--{option}={path.absolute()}"] if path is not None else []
    return given + (["--insecure"] if listening.allow_plain else [])


def start(place: Workspace, given: list[str], new_token: bool) -> None:
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


def stop(place: Workspace) -> None:
    """Stop the server of the workspace."""
    from trailhound.cli.terminal import patiently
    from trailhound.web.presence import stop_server

    with patiently("Waiting for what goes on"):
        server = stop_server(place.folder)
    say(f"The app at {server.address} is stopped. Crawls go on: 'trailhound crawls' lists them.")


def install(place: Workspace, given: list[str], new_token: bool) -> None:
    """Write a file that starts the server with the machine, and say how to enable it."""
    from trailhound.storage.files import make_folder
    from trailhound.web import load_token
    from trailhound.web.autostart import install as write

    make_folder(place.folder)
    load_token(place.folder, new=new_token)
    installed = write(Path.home(), given)
    say(f"Written: {installed.path}")
    say("It is not running yet. Have it started now, and with the machine:")
    for step in installed.next_steps:
        say(f"  {step}")
    say("Then 'trailhound app' opens it.")


def opened(place: Workspace) -> bool:
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


def going_on(app: App) -> Iterator[str]:
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
