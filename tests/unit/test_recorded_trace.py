"""The lab's trace: other people's trails, without the answer."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from tiny_lab_web import PORTAL, leaf_url, shelf_url, write_tiny_web

from trailhound.errors import SourceError
from trailhound.lab.corpora import Corpus, CorpusWriter, Trail
from trailhound.lab.experiment import plan_experiment, run_experiment
from trailhound.lab.recorded_sources import open_trails, recorded_trace
from trailhound.lab.results import RunTask
from trailhound.lab.runner import TopicBench
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.base import LabTopic
from trailhound.sessions.events import Mark, Reached, Session, Visit
from trailhound.sessions.page_graph import PageGraph

HOUR = 3600.0
WAY = ("http://h.test/start", "http://h.test/shelf", "http://h.test/target")
ANSWER = "http://h.test/answer"


def topic() -> LabTopic:
    events = (
        Visit(100 * HOUR, WAY[0], reached=Reached.TYPED),
        Visit(100 * HOUR + 10, WAY[1], from_url=WAY[0]),
        Visit(100 * HOUR + 20, WAY[2], from_url=WAY[1]),
        Mark(100 * HOUR + 20, WAY[2]),
    )
    graph = PageGraph((), (), frozenset())
    return LabTopic("t", Session("t", events), graph, frozenset({ANSWER}), ((),), (1,))


def trail(user: str, *steps: str, hour: float = 1.0, goal: str = "") -> Trail:
    return Trail(user=user, time=hour * HOUR, duration_seconds=30.0, steps=steps, goal=goal)


def kept(*trails: Trail) -> list[Trail]:
    return list(open_trails(iter(trails), topic()))


def test_whoever_made_the_session_is_not_in_the_trace() -> None:
    own = trail("ann", *WAY, hour=100)
    others_of_hers = trail("ann", "http://h.test/x", "http://h.test/y")
    somebody = trail("bob", WAY[0], WAY[1])
    assert kept(own, others_of_hers, somebody) == [somebody]


def test_a_back_click_is_part_of_the_way() -> None:
    way = trail("ann", WAY[0], "http://h.test/wrong", "<", WAY[1], WAY[2], hour=100)
    assert kept(way) == [], "it ends after the session"
    early = msgspec.structs.replace(way, time=1.0)
    assert kept(early) == [early], "it goes another way than the session"


def test_nobody_was_sent_to_an_answer() -> None:
    sent = trail("bob", "http://h.test/x", "http://h.test/y", goal=ANSWER)
    ended = trail("bob", "http://h.test/x", ANSWER)
    passing = trail("bob", "http://h.test/x", ANSWER, "http://h.test/y")
    assert kept(sent, ended, passing) == [passing]


def test_a_log_knows_no_future() -> None:
    before, later = trail("bob", "http://h.test/x"), trail("bob", "http://h.test/x", hour=101)
    assert kept(before, later) == [before]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny web with trails: ten people who like bees, thirty who do not."""
    path = write_tiny_web(tmp_path_factory.mktemp("lab") / "tiny.thc")
    rng = np.random.default_rng(3)
    trailed = path.with_name("walked.thc")
    with Corpus.open(path) as corpus, CorpusWriter(trailed, kind="tiny") as writer:
        for url in corpus.page_urls:
            writer.add_page(url, corpus.html(url) or b"")
        for label, pages in corpus.labels().items():
            for page in sorted(pages):
                writer.add_label(corpus.page_urls[page], label)
        for session in corpus.sessions():
            events = tuple(
                msgspec.structs.replace(event, time=event.time + 1e9) for event in session.events
            )
            writer.add_session(msgspec.structs.replace(session, events=events))
        for user in range(40):
            section = "bees" if user < 10 else ("rocks", "sport", "food")[user % 3]
            leaves = [leaf_url(section, *divmod(int(n), 8)) for n in rng.integers(24, size=6)]
            steps = (PORTAL, *leaves, shelf_url(section, 0))
            writer.add_trail(trail(f"user{user}", *steps, hour=user))
    return trailed


def test_a_run_in_the_lab_goes_by_the_trace(walked: Path, tmp_path: Path) -> None:
    plan = plan_experiment(
        walked, ["breadth-first", "collaborative:min_pages=20"], topics=["bees"], max_requests=30,
        seed_sets=1,
    )  # fmt: skip
    results = run_experiment(plan, tmp_path / "out")
    by_name = {run.strategy: run for run in results.runs}
    assert by_name["collaborative:min_pages=20"].nauc > by_name["breadth-first"].nauc


def bench(path: Path, noise: float) -> TopicBench:
    corpus = Corpus.open(path)
    built = topic_source(corpus, None).build("bees", 1, 7)
    return TopicBench(corpus, built, trace_noise=noise)


def test_noise_replaces_accesses_by_random_pages(walked: Path) -> None:
    corpus = Corpus.open(walked)
    built = topic_source(corpus, None).build("bees", 1, 7)
    traces = [recorded_trace(corpus, built, noise) for noise in (0.0, 0.5, 0.5, 1.0)]
    visits = []
    for trace in traces:
        assert trace is not None
        visits.append(
            [
                trace.page_url(page)
                for user in range(trace.n_users)
                for page in trace.history(user)[0].tolist()
            ]
        )
    clean, half, again, all_noise = visits
    assert half == again
    changed = [
        sum(mine != theirs for mine, theirs in zip(clean, other, strict=True)) / len(clean)
        for other in (half, all_noise)
    ]
    assert 0.3 < changed[0] < 0.7 < changed[1]
    task = RunTask(topic="bees", strategy="collaborative:min_pages=20", seed_set=0)
    finds = [
        bench(walked, noise).measure(task, 1, bench(walked, noise).crawl(task, 1, 30), 30).nauc
        for noise in (0.0, 1.0)
    ]
    assert finds[0] > finds[1]


def test_what_can_do_without_a_trace_has_one_when_it_asks(walked: Path) -> None:
    opened = {}
    for strategy in ("trail", "trail:trace=true"):
        asked = bench(walked, 0.0)
        asked.crawl(RunTask(topic="bees", strategy=strategy, seed_set=0), 1, 10)
        opened[strategy] = "_trace" in vars(asked)
    assert opened == {"trail": False, "trail:trace=true": True}


def test_a_corpus_without_trails_fails_that_strategy_alone(tmp_path: Path) -> None:
    path = write_tiny_web(tmp_path / "tiny.thc")
    plan = plan_experiment(
        path, ["breadth-first", "collaborative"], topics=["bees"], max_requests=10, seed_sets=1
    )
    with pytest.raises(
        Exception, match=r"strategy collaborative: .* such as wikispeedia"
    ) as caught:
        run_experiment(plan, tmp_path / "out")
    assert "1 of 2 runs failed" in str(caught.value)
    assert "The others are kept" in str(caught.value)


def test_when_nothing_is_left_of_the_trails_it_is_said(walked: Path) -> None:
    corpus = Corpus.open(walked)
    built = topic_source(corpus, None).build("bees", 1, 7)
    early = tuple(msgspec.structs.replace(event, time=0.0) for event in built.session.events)
    session = msgspec.structs.replace(built.session, events=early)
    early_topic = LabTopic("bees", session, built.graph, built.relevant, built.seed_sets, (1,))
    with pytest.raises(SourceError, match="No trail is left"):
        recorded_trace(corpus, early_topic)
