"""Which server serves a workspace: found, waited for and stopped by commands elsewhere.

::

    WORKSPACE/app.lock          held by the server: alive is who holds it
              app-running.json  where it listens; left behind by one that was killed
              app-stop          somebody wants it to end
              app-output.txt    what a server without a terminal has printed

It may start with the machine: by a systemd user unit on Linux, a launchd agent on macOS.
"""

from __future__ import annotations

import os
import plistlib
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trailhound.errors import UNREADABLE, ConfigError, StorageError, UsageError
from trailhound.storage.files import write_whole
from trailhound.storage.locks import Ownership, is_held
from trailhound.topics.control.running import DetachedProcess

LOCK = "app.lock"
RUNNING = "app-running.json"
STOP = "app-stop"
OUTPUT = "app-output.txt"
START_SECONDS = 60.0
STOP_SECONDS = 60.0
_LOOK_EVERY_SECONDS = 0.1


class Presence(msgspec.Struct, frozen=True, kw_only=True):
    """A server that runs, or was cut short."""

    pid: int
    address: str
    """Without the token."""
    started_at: float


def present_server(workspace: Path) -> Presence | None:
    """The server that serves this workspace now, if there is one."""
    return _read(workspace) if is_held(workspace / LOCK) else None


@contextmanager
def being_served(workspace: Path) -> Iterator[Presence | None]:
    """Meanwhile this process is the one; gives the server before it, if that was cut short.

    ConfigError when another serves the workspace.
    """
    with Ownership(
        workspace / LOCK,
        in_use=_in_use(workspace),
        patience_seconds=0.3,
    ):
        (workspace / STOP).unlink(missing_ok=True)
        before = _read(workspace)
        try:
            yield before
        finally:
            for name in (RUNNING, STOP):
                (workspace / name).unlink(missing_ok=True)


def announce(workspace: Path, address: str) -> None:
    """Say where it listens; the token stays out of it."""
    here = Presence(pid=os.getpid(), address=address.partition("#")[0], started_at=time.time())
    write_whole(workspace / RUNNING, msgspec.json.encode(here))


def is_to_stop(workspace: Path) -> bool:
    """Whether somebody has asked the server to end."""
    return (workspace / STOP).exists()


def stop_server(workspace: Path) -> Presence:
    """Ask the server to end, and wait until it has; UsageError when none runs."""
    server = present_server(workspace)
    if server is None:
        raise UsageError(
            f"No server of the workspace {workspace} is running. Start one with: trailhound serve"
        )
    write_whole(workspace / STOP, b"")
    patience = time.monotonic() + STOP_SECONDS
    while is_held(workspace / LOCK):
        if time.monotonic() > patience:
            raise StorageError(
                f"The server (process {server.pid}) has been asked to end and has not yet. Wait, "
                "or end that process."
            )
        time.sleep(_LOOK_EVERY_SECONDS)
    return server


def serve_in_background(workspace: Path, arguments: Sequence[str]) -> Presence:
    """Start ``trailhound serve`` in a process that survives this one; once it listens, where.

    What keeps it from listening is raised in its own words.
    """
    if present_server(workspace) is not None:
        raise _in_use(workspace)
    workspace.mkdir(parents=True, exist_ok=True)
    output = workspace / OUTPUT
    process = DetachedProcess(["serve", *arguments], output)
    patience = time.monotonic() + START_SECONDS
    while time.monotonic() < patience:
        ended = process.exit_code() is not None
        if (server := _read(workspace)) is not None and server.pid == process.pid:
            return server
        if ended:
            raise ConfigError(
                process.complaint()
                or "The server ended, and said nothing. See why in a terminal: trailhound serve"
            )
        time.sleep(_LOOK_EVERY_SECONDS)
    raise StorageError(f"The server does not begin to listen. What it says is in {output}.")


def _read(workspace: Path) -> Presence | None:
    with suppress(OSError, *UNREADABLE):
        return msgspec.json.decode((workspace / RUNNING).read_bytes(), type=Presence)
    return None


def _in_use(workspace: Path) -> ConfigError:
    server = _read(workspace)
    where = f" at {server.address}" if server is not None else ""
    return ConfigError(
        f"The app is being served already{where}. Open it with 'trailhound app', or stop it with "
        "'trailhound serve --stop'."
    )


LABEL = "org.trailhound.serve"
UNIT = "trailhound.service"


@dataclass(frozen=True)
class Installed:
    """A file that was written, and what its owner does next."""

    path: Path
    next_steps: tuple[str, ...]


def install(home: Path, arguments: Sequence[str], platform: str = sys.platform) -> Installed:
    """Write the file for this system below ``home``; UsageError where there is none.

    ``arguments`` are those of ``trailhound serve``.
    """
    command = [sys.executable, "-m", "trailhound", "serve", *arguments]
    if platform.startswith("linux"):
        return _systemd(home, command)
    if platform == "darwin":
        return _launchd(home, command)
    line = " ".join(f'"{word}"' if " " in word else word for word in command)
    raise UsageError(
        "Only systemd (Linux) and launchd (macOS) are known here. Let the system's own scheduler "
        f"start this when you log in: {line}"
    )


def _systemd(home: Path, command: list[str]) -> Installed:
    path = home / ".config" / "systemd" / "user" / UNIT
    write_whole(path, unit_text(command).encode())
    return Installed(
        path,
        (
            "systemctl --user daemon-reload",
            f"systemctl --user enable --now {UNIT}",
            "loginctl enable-linger    (to have it run while you are not logged in)",
        ),
    )


def _launchd(home: Path, command: list[str]) -> Installed:
    path = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    agent = {
        "Label": LABEL,
        "ProgramArguments": command,
        "RunAtLoad": True,
        # Started again when it has crashed, not when somebody has stopped it.
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "AbandonProcessGroup": True,  # crawls go on
    }
    write_whole(path, plistlib.dumps(agent))
    return Installed(path, (f"launchctl bootstrap gui/$(id -u) '{path}'",))


def unit_text(command: Sequence[str]) -> str:
    """The unit. ``KillMode=process``: crawls are processes of their own, and go on."""
    return (
        "[Unit]\n"
        "Description=Trailhound: crawls by night, and the app\n"
        "\n"
        "[Service]\n"
        f"ExecStart={' '.join(map(_quoted, command))}\n"
        "KillMode=process\n"
        "Restart=on-failure\n"
        "RestartSec=10\n"
        "\n"
        "[Install]\n"
        "WantedBy=default.target\n"
    )


def _quoted(word: str) -> str:
    """As systemd reads it: ``%`` and ``$`` mean something there."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'
