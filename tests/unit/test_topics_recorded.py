"""Topics made of recorded browsing: sessions and trails."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_webs import record_web

from trailhound.errors import TopicError, UsageError
from trailhound.lab.corpora import BACK, Corpus, Trail
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.base import LabTopic
from trailhound.lab.topics.recorded import (
    TrailTopics,
    by_different_users_first,
    choose_trails,
    is_lesson,
    trails_session,
)
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


N_BIRDS = 40
BIRDS = [f"http://w.test/birds/{n}" for n in range(N_BIRDS)]
RARE = [f"http://w.test/rare/{n}" for n in range(5)]
HALLS = [f"http://w.test/hall/{n}" for n in range(10)]
ROOMS = [f"http://w.test/room/{n}" for n in range(60)]


def links() -> dict[str, list[str]]:
    """Halls link to each other and to rooms; every room to four birds; birds to halls."""
    web: dict[str, list[str]] = {}
    for n, hall in enumerate(HALLS):
        web[hall] = [*HALLS, *ROOMS[n * 6 : n * 6 + 6]]
    for n, room in enumerate(ROOMS):
        web[room] = [HALLS[0], *(BIRDS[(n * 4 + k) % N_BIRDS] for k in range(4))]
    web.update({bird: [HALLS[n % 10]] for n, bird in enumerate(BIRDS)})
    web.update({url: [HALLS[0]] for url in RARE})
    return web


def games() -> list[Trail]:
    """Three users' games to every bird but the last five, and one that was given up."""
    found: list[Trail] = []
    for n, bird in enumerate(BIRDS[:-5]):
        for user in range(3):
            room = ROOMS[(n // 4 + 10 * user) % 60]
            hall = HALLS[ROOMS.index(room) // 6]
            wrong = ROOMS[(ROOMS.index(room) // 6) * 6]
            steps = (HALLS[(n + user) % 10], hall, wrong, BACK, room, bird)
            found.append(Trail(f"user{user}", 1000.0 * len(found), 60.0, steps))
    found.append(Trail("quitter", 5.0, 10.0, (HALLS[0], ROOMS[0]), finished=False))
    return found


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return record_web(
        tmp_path_factory.mktemp("trails"),
        links(),
        labels={"birds": BIRDS, "rare": RARE, "halls": HALLS},
        trails=games(),
    )


@pytest.fixture(scope="module")
def topic(corpus: Corpus) -> LabTopic:
    return topic_source(corpus).build("birds", n_seed_sets=3, seed=1)


def test_middling_labels_are_topics_and_others_say_why_not(corpus: Corpus) -> None:
    source = topic_source(corpus)
    assert isinstance(source, TrailTopics)
    assert source.names() == ("birds",)
    assert set(source.left_out()) == {"rare", "halls"}
    assert "5 pages" in source.left_out()["rare"]
    with pytest.raises(TopicError, match="5 pages"):
        source.build("rare", 1, 1)
    with pytest.raises(UsageError, match="birds"):
        source.build("bird", 1, 1)
    with pytest.raises(UsageError, match="at least one"):
        source.build("birds", 0, 1)


def test_nothing_that_was_shown_counts_as_found(topic: LabTopic) -> None:
    shown = {event.url for event in topic.session.events if isinstance(event, Visit)}
    assert topic.relevant == set(BIRDS) - shown


def test_at_most_half_of_the_pages_are_shown_and_ends_are_marked(topic: LabTopic) -> None:
    marked = [event.url for event in topic.session.events if isinstance(event, Mark)]
    assert set(marked) <= set(BIRDS)
    assert {topic.graph.pages[target].url for target in topic.graph.targets} == set(marked)
    assert 3 <= len(set(marked)) <= N_BIRDS // 2
    assert len(topic.relevant) >= N_BIRDS // 2


def test_seeds_are_two_hops_away_and_reach_what_is_said(corpus: Corpus, topic: LabTopic) -> None:
    answers = [number for url in topic.relevant if (number := corpus.page_id(url)) is not None]
    hops_to = corpus.graph.hops_to(answers)
    assert len(topic.seed_sets) == len(topic.findable) == 3
    for seeds, findable in zip(topic.seed_sets, topic.findable, strict=True):
        numbers = [number for url in seeds if (number := corpus.page_id(url)) is not None]
        assert len(numbers) == len(seeds) > 0
        assert all(hops_to[number] >= 2 for number in numbers)
        hops_from = corpus.graph.hops_from(numbers)
        assert sum(hops_from[answer] >= 0 for answer in answers) == findable > 0


def test_the_same_arguments_give_the_same_topic(corpus: Corpus, topic: LabTopic) -> None:
    with Corpus.open(corpus.path) as again:
        assert topic_source(again).build("birds", 3, 1) == topic
        assert topic_source(again).build("birds", 3, 2) != topic


def test_a_game_becomes_typed_linked_and_back_visits() -> None:
    steps = ("http://w.test/a", "http://w.test/b", BACK, "http://w.test/c")
    session = trails_session("x", [Trail("u", 100.0, 30.0, steps)])
    shown = [event for event in session.events if isinstance(event, Visit)]
    assert [(visit.time, visit.url[-1], visit.reached) for visit in shown] == [
        (100.0, "a", Reached.TYPED),
        (110.0, "b", Reached.LINK),
        (120.0, "a", Reached.BACK),
        (130.0, "c", Reached.LINK),
    ]
    assert [visit.from_url for visit in shown] == [None, steps[0], steps[1], steps[0]]
    assert [event.url for event in session.events if isinstance(event, Mark)] == [steps[3]]


def test_games_at_the_same_time_are_put_one_after_the_other() -> None:
    steps = ("http://w.test/a", "http://w.test/b")
    session = trails_session("x", [Trail("u", 100.0, 30.0, steps), Trail("v", 110.0, 30.0, steps)])
    times = [event.time for event in session.events]
    assert times == sorted(times)
    assert times[-1] == 161.0  # 100 + 30, a second's pause, 30


def test_different_users_come_first() -> None:
    trails = [Trail(user, 0.0, 1.0, ("http://w.test/a",)) for user in "aaabbc"]
    assert [trail.user for trail in by_different_users_first(trails)] == list("abcaba")


@pytest.mark.parametrize(
    "trail",
    [
        Trail("u", 0.0, 1.0, ("http://w.test/a",)),
        Trail("u", 0.0, 1.0, ("http://w.test/a", "http://w.test/b", "http://w.test/a")),
        Trail("u", 0.0, 1.0, ("http://w.test/a", "http://w.test/b"), finished=False),
        Trail("u", 0.0, 1.0, ("http://w.test/a", "http://w.test/b", BACK)),
        Trail("u", 0.0, 1.0, ()),
    ],
)
def test_trails_that_teach_nothing_are_passed_over(trail: Trail) -> None:
    assert not is_lesson(trail)


def test_label_pages_on_the_way_count_as_shown_when_games_are_chosen() -> None:
    members = frozenset(f"http://w.test/{n}" for n in range(6))
    ways = [
        tuple(f"http://w.test/{n}" for n in numbers) for numbers in [(9, 0, 1), (9, 2, 3), (9, 4)]
    ]
    chosen = choose_trails([Trail("u", 0.0, 1.0, way) for way in ways], members)
    # 0 and 1 are shown by the first; the second would make four of six, the third makes three.
    assert [trail.steps for trail in chosen] == [ways[0], ways[2]]


def test_a_label_that_no_game_ends_in_is_no_topic(tmp_path: Path) -> None:
    web = record_web(tmp_path, links(), labels={"birds": BIRDS}, trails=games()[:2])
    assert topic_source(web).names() == ()
    with pytest.raises(TopicError, match="end in 1 of its pages"):
        topic_source(web).build("birds", 1, 1)
