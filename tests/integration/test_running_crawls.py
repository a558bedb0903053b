"""Crawls in processes of their own: seen, stopped, paused, resumed and killed from elsewhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from live_webs import TinySite, endless, wait_until

from command_line import COMMAND, Command
from trailhound.errors import UsageError
from trailhound.topics.control.running import (
    pause,
    request_stop,
    running_crawl,
    start_crawl,
    wait_for_end,
)
from trailhound.topics.crawls.folder import CrawlFolder, CrawlLock
from trailhound.topics.crawls.status import CONTROL, STATUS, CrawlState, RunningCrawl
from trailhound.topics.workspace import TopicFolder, Workspace

TOPIC = "bees & wasps"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture
def site() -> Iterator[TinySite]:
    with TinySite({f"/{number}": endless(number) for number in range(3000)}) as served:
        yield served


@pytest.fixture
def place(workspace_folder: Path) -> Workspace:
    workspace = Workspace(workspace_folder)
    workspace.folder_for(TOPIC).prepare()
    return workspace


@pytest.fixture
def topic(place: Workspace) -> Iterator[TopicFolder]:
    """Whatever a test leaves running is ended."""
    folder = place.topic(TOPIC)
    yield folder
    status = running_crawl(folder)
    if status is not None and status.is_alive:
        request_stop(folder)
        ended(folder)


@pytest.fixture
def settings(site: TinySite) -> dict[str, Any]:
    """Slow enough to be caught at it; polite, so that hosts rest."""
    return {
        "crawl.seeds": (f"http://127.0.0.1:{site.port}/0",),
        "crawl.strategy": "breadth-first",
        "crawl.max_requests": 2500,
        "judge.kind": "keywords:words=bees",
        "fetch.user_agent": "t (+http://a.test/)",
        "fetch.allow_addresses": ("127.0.0.1",),
        "fetch.delay_seconds": 0.05,
        "fetch.address_delay_seconds": 0.0,
        "fetch.allow_impolite": True,
    }


def seen(topic: TopicFolder) -> RunningCrawl:
    status = running_crawl(topic)
    assert status is not None
    return status


def until(topic: TopicFolder, true: Callable[[RunningCrawl], bool]) -> RunningCrawl:
    wait_until(lambda: (status := running_crawl(topic)) is not None and true(status))
    return seen(topic)


def ended(topic: TopicFolder) -> RunningCrawl:
    status = wait_for_end(topic)
    assert status is not None
    assert not status.is_alive
    return status


def test_a_crawl_started_here_is_seen_everywhere_and_stopped_on_the_command_line(
    place: Workspace, topic: TopicFolder, settings: dict[str, Any], trailhound: Command
) -> None:
    begun = start_crawl(place, TOPIC, settings)
    assert (begun.state, begun.started_by, begun.max_requests) == ("running", "app", 2500)
    assert begun.pid != os.getpid()
    busy = until(topic, lambda status: status.pages >= 6)
    assert busy.finds >= 1
    assert busy.requests >= 6
    assert busy.waiting > 0
    assert busy.latest[0].title.startswith("Page")
    assert busy.mean_score is not None
    (listed,) = trailhound("crawls", "--json").report
    assert (listed["topic"], listed["state"], listed["run"]) == (TOPIC, "running", begun.run)
    assert "running" in trailhound("crawls").out
    assert "running" in trailhound("topics").out
    with pytest.raises(UsageError, match="being crawled already"):
        start_crawl(place, TOPIC, settings)
    again = trailhound("crawl", TOPIC, "--resume")
    assert again.code == 1
    assert "trailhound stop 'bees & wasps'" in again.err
    stopped = trailhound("stop", TOPIC, "--json").report
    assert (stopped["state"], stopped["ended"]) == ("ended", "it was interrupted")
    assert CrawlFolder(topic).read().ended == "it was interrupted"
    assert not (topic.path / CONTROL).exists()
    refused = trailhound("stop", TOPIC)
    assert refused.code == 2
    assert "No crawl of the topic" in refused.err


def test_a_crawl_of_a_terminal_is_paused_from_here_and_resumed_with_its_settings(
    place: Workspace, topic: TopicFolder, settings: dict[str, Any], tmp_path: Path
) -> None:
    words = [f"--seed={settings['crawl.seeds'][0]}", "--allow-address=127.0.0.1"]
    words += [
        f"--set={key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, value in settings.items()
        if key not in ("crawl.seeds", "fetch.allow_addresses")
    ]
    command = [*COMMAND, "crawl", TOPIC, *words, "--workspace", str(place.folder)]
    with (tmp_path / "out").open("wb") as out:
        terminal = subprocess.Popen(command, stdout=out, stderr=out)
    until(topic, lambda status: status.pages >= 3)
    assert pause(topic).started_by == "terminal"
    assert terminal.wait(60) == 130, "as Ctrl-C"
    paused = ended(topic)
    assert (paused.state, paused.ended) == (CrawlState.PAUSED, "it was paused")
    resumed = start_crawl(place, TOPIC, mode="resume")
    assert (resumed.state, resumed.started_by, resumed.max_requests) == ("running", "app", 2500)
    more = until(topic, lambda status: status.pages_of_run >= 3)
    assert more.pages == paused.pages + more.pages_of_run
    assert more.requests >= paused.requests + 3


def test_a_stop_is_noticed_while_every_host_rests(
    place: Workspace, topic: TopicFolder, settings: dict[str, Any]
) -> None:
    start_crawl(place, TOPIC, settings | {"fetch.delay_seconds": 250.0})
    until(topic, lambda status: bool(status.remark))
    request_stop(topic)
    assert ended(topic).ended == "it was interrupted"


def test_what_keeps_a_crawl_from_beginning_is_told(
    place: Workspace, topic: TopicFolder, settings: dict[str, Any]
) -> None:
    elsewhere = {"crawl.seeds": (), "crawl.scope": ["elsewhere.test"]}
    with pytest.raises(UsageError, match="needs a page to start from"):
        start_crawl(place, TOPIC, settings | elsewhere)
    with pytest.raises(UsageError, match="must say who it is"):
        start_crawl(place, TOPIC, {**settings, "fetch.user_agent": " "})
    with pytest.raises(UsageError, match="has not been crawled yet"):
        start_crawl(place, TOPIC, mode="resume")
    with pytest.raises(UsageError, match="nothing to end"):
        request_stop(topic)
    assert running_crawl(topic) is None
    assert not (topic.path / STATUS).exists(), "a start that failed leaves no trace"


def test_a_short_crawl_has_ended_before_anybody_could_look(
    place: Workspace, topic: TopicFolder, settings: dict[str, Any]
) -> None:
    start_crawl(place, TOPIC, settings | {"crawl.max_requests": 1})
    done = ended(topic)
    assert (done.state, done.ended) == (CrawlState.ENDED, "the request budget is spent")
    assert (done.requests, done.pages, done.finds) == (1, 1, 1)


@POSIX
def test_a_killed_crawl_is_said_to_be_cut_short_and_goes_on(
    place: Workspace, topic: TopicFolder, settings: dict[str, Any], trailhound: Command
) -> None:
    pid = start_crawl(place, TOPIC, settings).pid
    until(topic, lambda status: status.pages >= 3)
    os.kill(pid, signal.SIGKILL)
    dead = until(topic, lambda status: not status.is_alive)
    assert dead.state is CrawlState.CUT_SHORT
    assert "resuming goes on" in dead.ended
    assert "cut short" in trailhound("crawls").out
    with pytest.raises(UsageError, match="No crawl of the topic"):
        request_stop(topic)
    assert start_crawl(place, TOPIC, mode="resume").state is CrawlState.RUNNING
    until(topic, lambda status: status.pages > dead.pages)


@POSIX
def test_a_crawl_outlives_whoever_started_it(
    place: Workspace, topic: TopicFolder, settings: dict[str, Any]
) -> None:
    program = (
        "import json, sys, time\n"
        "from pathlib import Path\n"
        "from trailhound.topics.control.running import start_crawl\n"
        "from trailhound.topics.workspace import Workspace\n"
        "folder, topic, settings = sys.argv[1:]\n"
        "start_crawl(Workspace(Path(folder)), topic, json.loads(settings))\n"
        "print('begun', flush=True)\n"
        "time.sleep(600)\n"
    )
    arguments = [str(place.folder), TOPIC, json.dumps(settings)]
    starter = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, start_new_session=True
    )
    assert starter.stdout is not None
    assert starter.stdout.readline() == b"begun\n"
    os.killpg(starter.pid, signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    before = seen(topic)
    until(topic, lambda status: status.is_alive and status.pages > before.pages + 2)


def test_a_wish_for_an_earlier_run_does_not_end_the_next(
    place: Workspace, topic: TopicFolder, settings: dict[str, Any]
) -> None:
    start_crawl(place, TOPIC, settings)
    until(topic, lambda status: status.pages >= 1)
    wish = json.dumps({"run": "0" * 32, "wish": "stop"})
    (topic.path / CONTROL).write_text(wish)
    before = seen(topic)
    later = until(topic, lambda status: status.updated_at > before.updated_at + 2.0)
    assert later.state is CrawlState.RUNNING


def test_looking_never_keeps_a_crawl_from_beginning(topic: TopicFolder) -> None:
    """Who looks holds the lock for a moment, and who wants it waits that long."""
    CrawlLock(topic).release()
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from trailhound.storage.locks import is_held\n"
        "print('looking', flush=True)\n"
        "while True: is_held(Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-c", program, str(topic.path / "crawl.lock")]
    looking = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert looking.stdout is not None
        assert looking.stdout.readline() == b"looking\n"
        for _ in range(20):
            CrawlLock(topic).release()
    finally:
        looking.kill()
        looking.communicate()
