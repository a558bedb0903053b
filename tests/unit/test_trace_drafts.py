"""Builds of an index that are interrupted or killed leave nothing behind for long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_trace_index import user_key

from trailhound.sessions.importers.base import Tally
from trailhound.sources.traces.building import PageAccess, build_trace
from trailhound.sources.traces.index import TraceIndex, clear_leftovers

BUILD = """
import sys
from pathlib import Path
from trailhound.sessions.importers.base import Tally
from trailhound.sources.traces.building import build_trace

def accesses():
    for n in range(1000):
        yield b"me", 1e9 + 60 * n, b"http://h.test/%d" % n
    print("half way", flush=True)
    sys.stdin.read()

build_trace(Path(sys.argv[1]), accesses(), Tally("access"), lambda _: 1, piece_rows=100)
"""
ACCESSES: list[PageAccess] = [(b"me", 1e9, b"http://h.test/1")]


@contextmanager
def half_way(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has written half an index, and waits."""
    command = [sys.executable, "-c", BUILD, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(b"half way")
            yield process
        finally:
            process.kill()


def drafts_in(place: Path) -> set[str]:
    return {path.name for path in place.iterdir() if path.name.endswith(".part")}


def test_the_next_build_clears_away_what_a_killed_one_left(tmp_path: Path) -> None:
    with half_way(tmp_path / "a.trace") as killed, half_way(tmp_path / "b.trace") as running:
        killed.kill()
        killed.wait()
        dead, alive = f".a.trace.{killed.pid}.part", f".b.trace.{running.pid}.part"
        assert drafts_in(tmp_path) == {dead, alive}
        assert (tmp_path / dead / "clients.part").stat().st_size > 20_000
        build_trace(tmp_path / "c.trace", ACCESSES, Tally("access"), user_key)
        assert drafts_in(tmp_path) == {alive}, "of a process that is at work, nothing is touched"
        running.communicate(b"")
        assert running.returncode == 0
    assert drafts_in(tmp_path) == set()
    assert len(TraceIndex.open(tmp_path / "b.trace")) == 1000
    assert not (tmp_path / "b.trace" / "lock").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_clears_away_at_once(tmp_path: Path) -> None:
    with half_way(tmp_path / "a.trace") as process:
        process.send_signal(signal.SIGINT)
        process.wait(20)
    assert list(tmp_path.iterdir()) == []


def test_an_error_clears_away_at_once_and_leaves_the_old_index(tmp_path: Path) -> None:
    folder = tmp_path / "a.trace"
    build_trace(folder, ACCESSES, Tally("access"), user_key)

    def failing() -> Iterator[PageAccess]:
        yield from ACCESSES
        raise ValueError("a bad log")

    with pytest.raises(ValueError, match="a bad log"):
        build_trace(folder, failing(), Tally("access"), user_key)
    assert [path.name for path in tmp_path.iterdir()] == ["a.trace"]
    assert len(TraceIndex.open(folder)) == 1


def test_only_our_own_drafts_are_cleared_away(tmp_path: Path) -> None:
    names = [
        ".a.trace.7.part",
        ".a.trace.part",
        "a.trace.7.part",
        ".notes.7.part",
        ".a.trace.x.part",
    ]
    for name in names:
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / ".new.trace.7.part").mkdir()  # somebody has just begun
    (tmp_path / ".b.trace.7.part").write_text("a file")
    clear_leftovers(tmp_path)
    left = {*names[1:], ".b.trace.7.part", ".new.trace.7.part"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_what_is_about_to_be_renamed_is_let_be(tmp_path: Path) -> None:
    for name in (".old.trace.7.part", ".new.trace.7.part"):
        (tmp_path / name).mkdir()
        for file in ("header.json", "lock"):
            (tmp_path / name / file).touch()
    os.utime(tmp_path / ".old.trace.7.part", (0, 0))
    clear_leftovers(tmp_path)
    assert drafts_in(tmp_path) == {".new.trace.7.part"}


def test_a_draft_whose_lock_cannot_be_opened_is_somebody_else_s(tmp_path: Path) -> None:
    (tmp_path / ".a.trace.7.part" / "lock").mkdir(parents=True)
    clear_leftovers(tmp_path)
    assert drafts_in(tmp_path) == {".a.trace.7.part"}
