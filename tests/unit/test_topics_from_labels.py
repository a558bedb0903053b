from __future__ import annotations

import pytest
from small_webs import record_web

from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.labels import LabelTopics
from trailhound.sessions.events import Mark, Visit

BASE = "http://www.oak.test/"
COURSES = [f"{BASE}teaching/c{n}" for n in range(12)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    sections = [f"{BASE}{name}/" for name in ("teaching", "people", "news")]
    news = [f"{BASE}news/{n}" for n in range(30)]
    web = {BASE: sections, sections[0]: [f"{BASE}teaching/all"], f"{BASE}teaching/all": COURSES}
    web |= {sections[1]: [BASE], sections[2]: news}
    web |= {page: [BASE] for page in (*COURSES, *news)}
    labels = {"course": COURSES, "few": news[:3]}
    return record_web(tmp_path_factory.mktemp("labels"), web, labels=labels)


def test_a_corpus_with_labels_alone_brings_a_topic_for_each_with_enough_pages(
    corpus: Corpus,
) -> None:
    source = topic_source(corpus)
    assert isinstance(source, LabelTopics)
    assert source.names() == ("course",)
    with pytest.raises(TopicError, match="'few' is no topic: it has 3 pages"):
        source.build("few", n_seed_sets=1, seed=0)


def test_the_session_is_a_walk_and_leaves_at_least_half_to_find(corpus: Corpus) -> None:
    topic = topic_source(corpus).build("course", n_seed_sets=2, seed=0)
    events = topic.session.events
    marked = {event.url for event in events if isinstance(event, Mark)}
    seen = {event.url for event in events if isinstance(event, Visit)}
    assert isinstance(events[0], Visit)
    assert events[0].url == BASE
    assert marked == seen & set(COURSES)
    assert topic.relevant == set(COURSES) - marked
    assert len(topic.relevant) >= 6
    assert topic.findable == (len(topic.relevant),) * 2


def test_the_same_seed_gives_the_same_topic(corpus: Corpus) -> None:
    first, again, other = (
        topic_source(corpus).build("course", n_seed_sets=1, seed=seed) for seed in (3, 3, 4)
    )
    assert first == again
    assert first.session != other.session
