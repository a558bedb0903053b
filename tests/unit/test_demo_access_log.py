"""Who read what in the demo web: always the same, for every topic, and never the whole answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_demo_importer import SMALL
from typer.testing import CliRunner

from trailhound.cli.main import app
from trailhound.demo import DemoWeb
from trailhound.demo.files import write_access_log
from trailhound.errors import StorageError
from trailhound.lab.corpora import Corpus, CorpusWriter
from trailhound.lab.experiment import plan_experiment, run_experiment
from trailhound.lab.importers import no_progress
from trailhound.lab.importers.demo import record_answers, record_knowledge
from trailhound.lab.recorded_sources import recorded_trace
from trailhound.lab.topics import topic_source
from trailhound.sessions.importers.base import Tally
from trailhound.sources.traces import log_accesses


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate(3, SMALL)


@pytest.fixture(scope="module")
def path(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.thc"
    with CorpusWriter(path, "demo") as writer:
        record_answers(web, no_progress, writer)
        record_knowledge(web, writer)
    return path


def read_pages(web: DemoWeb) -> set[str]:
    return {url for reading in web.readings for url in reading.urls}


def test_the_same_seed_gives_the_same_log_and_another_one_a_different_log(web: DemoWeb) -> None:
    assert DemoWeb.generate(3, SMALL).readings == web.readings
    assert DemoWeb.generate(4, SMALL).readings != web.readings


def test_several_hundred_people_come_a_few_times_before_the_sessions(web: DemoWeb) -> None:
    users = [reading.user for reading in web.readings]
    assert len(set(users)) == SMALL.readers >= 300
    assert all(3 <= users.count(user) <= 8 for user in set(users))
    begin = min(event.time for session in web.sessions.values() for event in session.events)
    assert all(reading.time + reading.seconds < begin for reading in web.readings)
    assert list(web.readings) == sorted(web.readings)


def test_of_every_topic_a_third_is_read_and_copies_are_not(web: DemoWeb) -> None:
    read = read_pages(web)
    for members in web.topics.values():
        assert len(read & members) == pytest.approx(len(members) / 3, abs=2)
    assert not read & web.duplicates.keys()


def test_people_open_pages_that_exist_and_are_open_to_them(web: DemoWeb) -> None:
    for url in read_pages(web):
        assert web.responses[url].status == 200
        assert "/private/" not in url
        assert not url.startswith("http://intranet.")


def test_people_keep_to_their_subjects_but_not_to_them_alone(web: DemoWeb) -> None:
    """Whoever opens one page of a topic opens others more often than people do on average."""
    for members in web.topics.values():
        of_readers = [reading for reading in web.readings if members & set(reading.urls)]
        users = {reading.user for reading in of_readers}
        pages = [url for r in web.readings if r.user in users for url in r.urls]
        everything = [url for reading in web.readings for url in reading.urls]
        share = sum(url in members for url in pages) / len(pages)
        assert share < 0.9
        assert share > 3 * sum(url in members for url in everything) / len(everything)


def test_more_or_fewer_readers_leave_the_web_and_its_sessions_alone(web: DemoWeb) -> None:
    other = DemoWeb.generate(3, replace(SMALL, readers=20, read_share=0.0))
    assert dict(other.responses) == dict(web.responses)
    assert other.sessions == web.sessions
    assert not read_pages(other) & frozenset[str]().union(*web.topics.values())


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


def test_a_recording_holds_the_log_as_trails_and_keeps_its_topics(web: DemoWeb, path: Path) -> None:
    with Corpus.open(path) as corpus:
        assert [(trail.user, trail.steps) for trail in corpus.trails()] == [
            (reading.user, reading.urls) for reading in web.readings
        ]
        topics = topic_source(corpus)
        assert set(topics.names()) == set(web.topics)
        for name in topics.names():
            topic = topics.build(name, n_seed_sets=1, seed=7)
            assert topic.session == web.sessions[name]
            trace = recorded_trace(corpus, topic)
            assert trace is not None
            assert trace.n_users > 0.9 * SMALL.readers


def test_collaborative_crawls_the_recorded_demo_web(path: Path, tmp_path: Path) -> None:
    plan = plan_experiment(
        path,
        ("collaborative", "breadth-first"),
        topics=("bee-health",),
        max_requests=60,
        seed_sets=1,
    )
    runs = run_experiment(plan, tmp_path).runs
    found = {run.strategy: run.recall for run in runs}
    assert found["collaborative"] > found["breadth-first"]


def test_the_command_writes_the_log_and_says_what_it_is_for(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["demo", "--write-sessions", str(tmp_path)])
    assert done.exit_code == 0
    log = tmp_path / "access.log"
    assert done.stdout.splitlines()[-1] == str(log)
    assert f"--strategy collaborative --trace {log}" in done.stderr
