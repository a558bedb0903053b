"""Starts the app with the machine: a systemd user unit on Linux, a launchd agent on macOS."""

from __future__ import annotations

import plistlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trailhound.errors import UsageError
from trailhound.storage.files import write_whole

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
