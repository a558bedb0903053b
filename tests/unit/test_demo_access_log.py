"""Who read what in the demo web: always the same, for every topic, and never the whole answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_demo_web import SMALL

from trailhound.demo import DemoWeb


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate(3, SMALL)


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
