"""What starts the app with the machine, as the system reads it."""

from __future__ import annotations

import configparser
import plistlib
import shlex
import sys
from pathlib import Path

import pytest

from trailhound.errors import UsageError
from trailhound.web.presence import install, unit_text

GIVEN = ["--workspace=/home/a b/50% $HOME", "--port=8917"]
COMMAND = [sys.executable, "-m", "trailhound", "serve", *GIVEN]


def test_linux_gets_a_systemd_user_unit(tmp_path: Path) -> None:
    installed = install(tmp_path, GIVEN, "linux")
    assert installed.path == tmp_path / ".config" / "systemd" / "user" / "trailhound.service"
    assert any("systemctl --user enable" in step for step in installed.next_steps)
    unit = configparser.ConfigParser(interpolation=None)
    unit.read_string(installed.path.read_text("utf-8"))
    assert unit["Install"]["WantedBy"] == "default.target"
    assert unit["Service"]["KillMode"] == "process", "crawls go on when the server is stopped"
    words = shlex.split(unit["Service"]["ExecStart"])
    assert [word.replace("%%", "%").replace("$$", "$") for word in words] == COMMAND


def test_what_systemd_would_expand_is_escaped() -> None:
    assert '"a%%b" "c$$d" "e\\"f\\\\g"' in unit_text(["a%b", "c$d", 'e"f\\g'])


def test_macos_gets_a_launchd_agent(tmp_path: Path) -> None:
    installed = install(tmp_path, GIVEN, "darwin")
    assert installed.path.parent == tmp_path / "Library" / "LaunchAgents"
    agent = plistlib.loads(installed.path.read_bytes())
    assert agent["ProgramArguments"] == COMMAND
    assert agent["Label"] == installed.path.stem
    assert agent["RunAtLoad"] is True
    assert "launchctl" in installed.next_steps[0]


def test_other_systems_are_told_what_to_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="trailhound serve"):
        install(tmp_path, GIVEN, "win32")
