"""The manual page tells of every command, and shells complete what is begun."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Command
from trailhound.topics.workspace import Workspace


def test_every_command_and_option_has_its_place(trailhound: Command) -> None:
    page = trailhound("man").out
    overview = trailhound("--help").out.partition("Commands:")[2]
    plain = page.replace("\\-", "-")
    for command in re.findall(r"^  (\w+)  ", overview, re.MULTILINE):
        assert f".SS trailhound {command} " in plain
    for option in re.findall(r"--[\w-]+", trailhound("crawl", "--help").out):
        assert option in plain
    assert plain.count(".SS trailhound lab ") == 3


@pytest.mark.skipif(not shutil.which("groff"), reason="groff reads it")
def test_it_is_good_roff(trailhound: Command) -> None:
    page = trailhound("man").out
    command = ["groff", "-man", "-ww", "-b", "-z", "-Tutf8", "-k"]
    done = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
    assert [line for line in done.stderr.splitlines() if "adjust" not in line] == []


@pytest.mark.parametrize(
    ("line", "completed"),
    [("trailhound la", ["lab"]), ("trailhound inspect be", ["bees", "beetles"])],
)
def test_shells_complete_commands_and_topics(
    line: str, completed: list[str], tmp_path: Path
) -> None:
    for topic in ("bees", "beetles", "wasps"):
        Workspace(tmp_path).folder_for(topic).prepare()
    begun = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    asked = {"_TRAILHOUND_COMPLETE": "complete_bash", "TRAILHOUND_WORKSPACE": str(tmp_path)}
    program = "import sys; sys.argv[0] = 'trailhound'; from trailhound.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **begun, **asked},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.split() == completed
