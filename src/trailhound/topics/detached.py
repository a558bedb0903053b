"""Processes of our own that outlive whoever starts them: crawls, and the app in the background."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from trailhound.storage.files import explaining

NEXT_STEPS = "(Add --workspace "
"""With which the command line ends what it tells a person at a terminal."""


class DetachedProcess:
    """``trailhound`` with these arguments, in a session of its own.

    No signal to this process, or to its terminal, reaches it. What it prints goes to ``output``. A
    thread waits for its end, so that no dead process stays behind.
    """

    def __init__(self, arguments: list[str], output: Path) -> None:
        alone: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
            alone = {"creationflags": flags}
        self._output = output
        self._over = threading.Event()
        command = [sys.executable, "-m", "trailhound", *arguments]
        words = {**os.environ, "PYTHONIOENCODING": "utf-8"}  # as the file is read
        with explaining(output), output.open("wb") as file:
            # No shell is involved, and the program is our own.
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=words, **alone
            )
        threading.Thread(target=self._wait, name="detached", daemon=True).start()

    def _wait(self) -> None:
        self._process.wait()
        self._over.set()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """``None`` while it runs."""
        return self._process.returncode if self._over.is_set() else None

    def complaint(self) -> str:
        """What it said last, in one line: the error, if it told of one."""
        with explaining(self._output):
            said = self._output.read_text("utf-8", "replace")
        _, told, message = said.partition(NEXT_STEPS)[0].rpartition("Error: ")
        return " ".join(message.split()) if told else " ".join(said.split())[-500:]
