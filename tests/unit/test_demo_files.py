"""What people did in the demo web, as files: sessions and the access log."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from trailhound.cli.main import app
from trailhound.demo import DemoWeb
from trailhound.demo.crawl import demo_page_graph
from trailhound.demo.web import write_access_log, write_demo_sessions
from trailhound.errors import StorageError
from trailhound.sessions.files import read_session
from trailhound.sessions.importers.base import Tally
from trailhound.sessions.page_graph import build_page_graph
from trailhound.sources.traces import log_accesses


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate(seed=7)


def test_written_sessions_hold_all_that_the_web_would_tell(web: DemoWeb, tmp_path: Path) -> None:
    paths = write_demo_sessions(web, tmp_path / "new" / "sessions")
    assert [path.name for path in paths] == [f"{topic}.jsonl" for topic in sorted(web.topics)]
    for path in paths[:3]:
        alone = build_page_graph([read_session(path)], lambda _: None)
        helped = demo_page_graph(web, path.stem)
        assert [page.url for page in alone.pages] == [page.url for page in helped.pages]
        assert [page.terms for page in alone.pages] == [page.terms for page in helped.pages]
        assert (alone.edges, alone.targets) == (helped.edges, helped.targets)


def test_a_folder_that_cannot_be_made_is_named(web: DemoWeb, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="Cannot write"):
        write_demo_sessions(web, tmp_path / "file")


def test_the_log_file_is_read_without_loss(web: DemoWeb, tmp_path: Path) -> None:
    tally = Tally("line")
    accesses = list(log_accesses(write_access_log(web, tmp_path / "new"), tally))
    assert tally.skipped.total() == 0
    told = sorted(
        (round(time, 3), reading.user, url)
        for reading in web.readings
        for time, url in reading.accesses()
    )
    assert told == sorted(
        (when, user.decode(), url.decode()) for user, when, url in accesses if url is not None
    )


def test_a_log_that_cannot_be_written_is_named(web: DemoWeb, tmp_path: Path) -> None:
    (tmp_path / "access.log").mkdir()
    with pytest.raises(StorageError, match=r"Cannot write .*access\.log"):
        write_access_log(web, tmp_path)


def test_the_command_writes_the_log_and_says_what_it_is_for(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["demo", "--write-sessions", str(tmp_path)])
    assert done.exit_code == 0
    log = tmp_path / "access.log"
    assert done.stdout.splitlines()[-1] == str(log)
    assert f"--trace {log}" in done.stderr
    first = tmp_path / "bee-health.jsonl"
    assert first.exists()
    assert f"trailhound learn bees --session {first}" in done.stderr
