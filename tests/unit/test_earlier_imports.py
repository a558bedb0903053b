"""Browsing that is imported again counts once, however the file or the choice has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from test_import_logs import AT, SITE, from_squid, squid, visits

from trailhound.sessions.events import Mark, Reached, Session, Visit
from trailhound.sessions.importers.base import Imported, Tally
from trailhound.topics.importing import (
    SALT_NAME,
    ChosenSessions,
    Kept,
    Period,
    UsefulPages,
    keep_sessions,
    pseudonyms,
    united,
)
from trailhound.topics.workspace import TopicFolder, Workspace

NAMES = ["hive", "queen", "wax", "honey", "comb"]


def address(number: int) -> str:
    return f"{SITE}/{NAMES[number]}"


def lines(numbers: Sequence[int], client: str = "10.0.0.1") -> list[str]:
    return [squid(client, 60.0 * number, address(number)) for number in numbers]


@pytest.fixture
def folder(tmp_path: Path) -> TopicFolder:
    return Workspace(tmp_path / "workspace").folder_for("bees")


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Imported]:
    return lambda *given: from_squid(tmp_path / "access.log", *given)


def keep(
    folder: TopicFolder, imported: Imported, *, addresses: bool = False, **how: object
) -> Kept:
    people = None if addresses else pseudonyms(folder.path.parent.parent)
    folder.prepare()
    chosen = ChosenSessions(imported, folder, name_of=people, **how)  # type: ignore[arg-type]
    return keep_sessions(folder, chosen)


def seen(folder: TopicFolder) -> list[list[str]]:
    """The visits of each session."""
    return [[visit.url for visit in visits(each)] for each in folder.sessions().values()]


def test_a_log_that_has_grown_replaces_its_sessions(
    folder: TopicFolder, log: Callable[..., Imported]
) -> None:
    keep(folder, log(*lines([0, 1, 2])))
    kept = keep(folder, log(*lines([0, 1, 2, 3])))
    assert seen(folder) == [[address(number) for number in range(4)]]
    assert (kept.sessions, kept.known) == (1, 1)


def test_visits_that_the_file_has_lost_stay(
    folder: TopicFolder, log: Callable[..., Imported]
) -> None:
    keep(folder, log(*lines([0, 1, 2])))
    keep(folder, log(*lines([2, 3])))
    assert seen(folder) == [[address(number) for number in range(4)]]


def test_another_period_is_the_same_session(
    folder: TopicFolder, log: Callable[..., Imported]
) -> None:
    keep(folder, log(*lines(range(5))), period=Period(until=AT + 130))
    keep(folder, log(*lines(range(5))), period=Period(since=AT + 100))
    assert seen(folder) == [[address(number) for number in range(5)]]


def test_addresses_and_pseudonyms_are_the_same_people(
    folder: TopicFolder, log: Callable[..., Imported]
) -> None:
    both = [*lines([0, 1]), *lines([0, 2, 3], "10.0.0.2")]
    for addresses in (False, True, False):
        keep(folder, log(*both), addresses=addresses)
        assert sorted(seen(folder)) == [
            [address(0), address(1)],
            [address(0), address(2), address(3)],
        ]
    assert all(session.user.startswith("u") for session in folder.sessions().values())


def test_who_did_the_same_at_the_same_time_stays_somebody_else(
    folder: TopicFolder, log: Callable[..., Imported]
) -> None:
    twins = [*lines([0, 1]), *lines([0, 1], "10.0.0.2")]
    for addresses in (False, False, True):
        keep(folder, log(*twins), addresses=addresses)
        assert seen(folder) == [[address(0), address(1)]] * 2


def test_what_shares_no_visit_is_another_session(
    folder: TopicFolder, log: Callable[..., Imported]
) -> None:
    keep(folder, log(*lines([0, 1])))
    keep(folder, log(*lines([2, 3])))
    assert len(seen(folder)) == 2


def marks(session: Session) -> list[str]:
    return [event.url for event in session.events if isinstance(event, Mark)]


def test_marks_are_the_new_ones_but_on_visits_that_the_file_has_lost(
    folder: TopicFolder, log: Callable[..., Imported]
) -> None:
    keep(folder, log(*lines([0, 1, 2])), useful=UsefulPages({address(1), address(2)}))
    for _ in range(3):
        useful = UsefulPages({address(0), address(1), address(3)})
        keep(folder, log(*lines([2, 3])), useful=useful)
        (session,) = folder.sessions().values()
        assert set(marks(session)) == {address(0), address(1), address(3)}
        assert len(marks(session)) <= 5, "one of before, and one of now"
        assert not useful.unvisited


def test_who_began_like_somebody_else_has_visits_of_their_own(
    folder: TopicFolder, log: Callable[..., Imported]
) -> None:
    first = lines([0, 1, 2])
    keep(folder, log(*first))
    for addresses in (False, False, True, False):
        keep(folder, log(*first, *lines([0, 1], "10.0.0.2")), addresses=addresses)
        assert sorted(map(len, seen(folder))) == [2, 3]


def test_where_a_visit_came_from_stays_known() -> None:
    """Of the first visits in a file that was cut, and where a history has expired."""
    way = Visit(1.0, address(1), reached=Reached.LINK, from_url=address(0))
    alone = Visit(1.0, address(1), reached=Reached.TYPED)
    for new in (alone, msgspec.structs.replace(alone, html="<p>wax</p>")):
        (event,) = united(Session("bees", (new,)), [Session("bees", (way,))]).events
        assert isinstance(event, Visit)
        assert (event.from_url, event.reached, event.html) == (address(0), Reached.LINK, new.html)
    (event,) = united(Session("bees", (way,)), [Session("bees", (alone,))]).events
    assert event == way


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("http://ann:PW@h.example/x#y@z", "http://h.example/x#y@z"),
        ("HTTP:/ann@h.example:8080", "HTTP:/h.example:8080"),
        ("http:ann:PW@h.example/", "http://h.example/"),
        ("\x01 ht\ntp:/\t/ann:PW@h.example/", "http://h.example/"),
        ("https://h.example/@ann?b=c@d", "https://h.example/@ann?b=c@d"),
    ],
)
def test_no_spelling_keeps_a_login(folder: TopicFolder, told: str, kept: str) -> None:
    session = Session("bees", (Visit(1.0, told),), recorder="har import")
    keep(folder, Imported([session], Tally("entry")))
    assert seen(folder) == [[kept]]


def test_a_visit_that_is_told_twice_keeps_the_first_way_and_any_content(
    folder: TopicFolder,
) -> None:
    first = Visit(1.0, address(1), from_url=address(0), requested_url=address(2))
    again = Visit(1.0, address(1), "Wax", Reached.RELOAD, html="<p>wax")
    imported = Imported([Session("bees", (first, again))], Tally("entry"))
    keep(folder, imported)
    (session,) = folder.sessions().values()
    assert visits(session) == [msgspec.structs.replace(first, title="Wax", html="<p>wax")]


def test_a_session_that_cannot_be_opened_stops_no_import(
    folder: TopicFolder, log: Callable[..., Imported]
) -> None:
    keep(folder, log(*lines([0, 1])))
    (folder.sessions_path / "gone.jsonl").symlink_to(folder.path / "nowhere")
    assert keep(folder, log(*lines([0, 1, 2]))).known == 1


def test_who_has_no_name_needs_no_salt_of_pseudonyms(folder: TopicFolder) -> None:
    folder.prepare()
    (folder.path.parent.parent / SALT_NAME).write_bytes(b"damaged")
    session = Session("bees", (Visit(1.0, address(0)),), "", "har")
    assert keep_sessions(folder, [session]).sessions == 1
    assert seen(folder) == [[address(0)]]
