from __future__ import annotations

from pathlib import Path

import pytest
from small_webs import record_web

from trailhound.errors import TopicError
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics import topic_source
from trailhound.sessions.events import Mark, Reached, Session, Visit

PORTAL = "http://portal.test/"
DOOR = "http://door.test/"
SHELF = "http://bees.test/shelf"
BEES = [f"http://bees.test/{n}" for n in range(6)]
COPY = "http://mirror.test/bee"


def session(topic: str = "bees") -> Session:
    return Session(
        topic,
        (
            Visit(1.0, PORTAL, reached=Reached.TYPED),
            Visit(2.0, SHELF, from_url=PORTAL),
            Visit(3.0, BEES[0], from_url=SHELF),
            Mark(4.0, BEES[0]),
            Visit(5.0, BEES[1], from_url=BEES[0]),
        ),
    )


def web(path: Path, sessions: list[Session], labels: dict[str, list[str]]) -> Corpus:
    links = {
        PORTAL: [SHELF, DOOR, "http://hall.test/"],
        DOOR: [PORTAL],
        "http://hall.test/": [PORTAL, DOOR],
        SHELF: BEES,
        **{bee: [BEES[(n + 1) % 5]] for n, bee in enumerate(BEES)},
        COPY: [],
    }
    return record_web(
        path,
        links,
        labels=labels,
        sessions=sessions,
        duplicates={COPY: BEES[2]},
        start_urls=[PORTAL, SHELF],
    )


def test_members_that_the_session_did_not_show_are_to_be_found_copies_once(tmp_path: Path) -> None:
    corpus = web(tmp_path, [session()], {"bees": [*BEES, COPY]})
    topic = topic_source(corpus).build("bees", 2, 1)
    assert topic.session == session()
    assert topic.relevant == {BEES[2], BEES[3], BEES[4], BEES[5]}
    assert {topic.graph.pages[target].url for target in topic.graph.targets} == {BEES[0]}


def test_start_pages_are_the_first_seed_set_unless_they_are_too_near(tmp_path: Path) -> None:
    corpus = web(tmp_path, [session()], {"bees": BEES})
    topic = topic_source(corpus).build("bees", 2, 1)
    assert topic.seed_sets[0] == (PORTAL,)  # the shelf is one hop from what is to be found
    assert set(topic.seed_sets[1]) <= {PORTAL, DOOR, "http://hall.test/"}
    assert topic.findable == (4, 4)


def test_a_copy_is_as_good_as_its_original_for_hops(tmp_path: Path) -> None:
    links = {PORTAL: [DOOR], DOOR: [COPY, BEES[0]], BEES[0]: [], BEES[1]: [], COPY: []}
    corpus = record_web(
        tmp_path,
        links,
        labels={"bees": [BEES[0], BEES[1]]},
        sessions=[Session("bees", (Visit(1.0, BEES[0]), Mark(2.0, BEES[0])))],
        duplicates={COPY: BEES[1]},
    )
    topic = topic_source(corpus).build("bees", 1, 1)
    # Nothing links to the original; its copy is two hops from the portal and one from the door.
    assert topic.relevant == {BEES[1]}
    assert topic.seed_sets == ((PORTAL,),)
    assert topic.findable == (1,)


def test_several_sessions_for_a_topic_are_one_session_in_order_of_time(tmp_path: Path) -> None:
    later = Session("bees", (Visit(11.0, PORTAL), Visit(12.0, BEES[3]), Mark(13.0, BEES[3])))
    corpus = web(tmp_path, [later, session()], {"bees": BEES})
    topic = topic_source(corpus).build("bees", 1, 1)
    assert [event.time for event in topic.session.events] == [1, 2, 3, 4, 5, 11, 12, 13]
    assert topic.relevant == {BEES[2], BEES[4], BEES[5]}


def test_topics_without_members_or_with_nothing_left_are_left_out(tmp_path: Path) -> None:
    sessions = [session("bees"), session("wasps"), session("ants")]
    corpus = web(tmp_path, sessions, {"bees": BEES, "ants": BEES[:2]})
    source = topic_source(corpus)
    assert source.names() == ("bees",)
    with pytest.raises(TopicError, match="no page of the corpus carries that label"):
        source.build("wasps", 1, 1)
    with pytest.raises(TopicError, match="0 of 0 pages"):
        source.build("ants", 1, 1)


def test_a_session_without_marks_cannot_teach(tmp_path: Path) -> None:
    corpus = web(tmp_path, [Session("bees", (Visit(1.0, PORTAL),))], {"bees": BEES})
    with pytest.raises(TopicError, match="no page marked useful"):
        topic_source(corpus).build("bees", 1, 1)
