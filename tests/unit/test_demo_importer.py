"""The generated demo web, recorded: its answers, its topics, and who read what."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_demo_web import SMALL

from trailhound.demo import DemoWeb
from trailhound.demo.trap import trap_urls
from trailhound.lab.corpora import Corpus, CorpusWriter
from trailhound.lab.experiment import plan_experiment, run_experiment
from trailhound.lab.importers import no_progress
from trailhound.lab.importers.demo import TRAP_PAGES, record_answers, record_knowledge
from trailhound.lab.recorded_sources import recorded_trace
from trailhound.lab.topics import topic_source


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


def test_every_answer_of_the_demo_web_is_recorded(web: DemoWeb, path: Path) -> None:
    with Corpus.open(path) as corpus:
        assert all(url in corpus for url in web.responses)
        for url, response in web.responses.items():
            recorded = corpus.lookup(url)
            assert recorded is not None
            assert recorded.status == response.status
            if recorded.page is not None:
                assert corpus.html(url) == response.body


def test_topics_sessions_and_duplicates_come_along(web: DemoWeb, path: Path) -> None:
    with Corpus.open(path) as corpus:
        urls = corpus.page_urls
        labels = {label: {urls[page] for page in pages} for label, pages in corpus.labels().items()}
        assert labels == web.topics
        assert corpus.sessions() == tuple(web.sessions.values())
        assert corpus.duplicates() == web.duplicates
        assert corpus.start_urls == web.start_urls


def test_the_beginning_of_the_trap_is_recorded_and_its_end_is_open(
    web: DemoWeb, path: Path
) -> None:
    with Corpus.open(path) as corpus:
        inside = trap_urls(TRAP_PAGES)
        assert all(corpus.page(url) is not None for url in inside)
        assert any(link.url not in corpus for link in corpus.page_by_id(len(corpus) - 1).links)


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
