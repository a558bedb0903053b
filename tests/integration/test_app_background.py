"""The app without a terminal: in the background, killed, stopped; and what it says afterwards."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_webs import wait_until

from app_server import serving_app
from command_line import Command
from trailhound.web.jobs import Handle
from trailhound.web.presence import LOCK, OUTPUT, RUNNING, Presence, present_server, stop_server

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture(autouse=True)
def nothing_left(workspace_folder: Path) -> Iterator[None]:
    """No server outlives its test."""
    yield
    if present_server(workspace_folder) is not None:
        stop_server(workspace_folder)


def server_of(folder: Path) -> Presence:
    server = present_server(folder)
    assert server is not None
    return server


def test_a_server_in_the_background_is_found_and_stopped(
    trailhound: Command, workspace_folder: Path
) -> None:
    started = trailhound("serve", "--background", "--port", "0")
    assert started.code == 0, started.err
    server = server_of(workspace_folder)
    token = json.loads((workspace_folder / "app.json").read_text())["token"]
    assert f"{server.address}#token={token}" in started.err
    output = workspace_folder / OUTPUT
    wait_until(lambda: server.address in output.read_text("utf-8"))
    assert token not in output.read_text("utf-8"), "a log is no place for it"
    again = trailhound("serve", "--background", "--port", "0")
    assert again.code == 2
    assert f"already at {server.address}" in again.err
    assert trailhound("serve", "--port", "0").code == 2
    collecting = trailhound("collect", "--port", "1")
    assert (collecting.code, "collects, too" in collecting.err) == (2, True), collecting.err
    stopped = trailhound("serve", "--stop")
    assert stopped.code == 0, stopped.err
    assert present_server(workspace_folder) is None
    assert not (workspace_folder / RUNNING).exists()
    assert trailhound("serve", "--stop").code == 2


def test_what_keeps_it_from_listening_is_told(
    trailhound: Command, workspace_folder: Path, tmp_path: Path
) -> None:
    with serving_app(tmp_path / "other") as other:
        refused = trailhound("serve", "--background", "--port", str(other.port))
    assert refused.code == 2
    assert "cannot listen" in refused.err
    assert present_server(workspace_folder) is None


@POSIX
def test_after_a_kill_the_next_server_says_so(trailhound: Command, workspace_folder: Path) -> None:
    assert trailhound("serve", "--background", "--port", "0").code == 0
    os.kill(server_of(workspace_folder).pid, signal.SIGKILL)
    wait_until(lambda: present_server(workspace_folder) is None)
    job = {"id": 3, "kind": "learn", "topic": "bees", "message": "Reading", "started_at": 1.0}
    (workspace_folder / "jobs.json").write_text(json.dumps([job]))
    assert trailhound("serve", "--background", "--port", "0").code == 0
    output = workspace_folder / OUTPUT
    wait_until(lambda: "learn" in output.read_text("utf-8"))
    said = output.read_text("utf-8")
    assert "The app was cut short last time" in said
    assert "The job 'learn' of 'bees' was cut short: Reading" in said


def test_a_job_that_was_cut_short_is_told_of_once(tmp_path: Path) -> None:
    begun, over = threading.Event(), threading.Event()

    def work(handle: Handle) -> str:
        handle.report("Half way")
        begun.set()
        over.wait(60)
        return "done"

    with serving_app(tmp_path) as app:
        app.server.app.jobs.start("learn", "bees", work)
        assert begun.wait(60)
        journal = (tmp_path / "jobs.json").read_bytes()
        over.set()
    (tmp_path / "jobs.json").write_bytes(journal)
    ends = []
    for _ in range(2):
        with serving_app(tmp_path) as app:
            (job,) = app.get("/api/jobs")
            assert job["state"] == "cut short"
            ends.append(job["ended_at"])
    assert ends[0] == ends[1]


def test_installing_writes_a_file_and_says_what_is_next(
    trailhound: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, workspace_folder: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    if sys.platform == "win32":
        assert trailhound("serve", "--install").code == 2
        return
    done = trailhound("serve", "--install", "--port", "9000")
    assert done.code == 0, done.err
    pattern = "**/org.trailhound.serve.plist" if sys.platform == "darwin" else "**/*.service"
    (written,) = tmp_path.glob(pattern)
    assert str(written) in done.err
    assert f"--workspace={workspace_folder}" in written.read_text("utf-8")
    assert not (workspace_folder / LOCK).exists(), "nothing was started"
