"""The index of an access trace equals what a dictionary would say, whatever was sorted on disk."""

from __future__ import annotations

import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trailhound.errors import SourceError, UsageError
from trailhound.sessions.events import Mark, Session, Visit
from trailhound.sessions.importers.base import Tally
from trailhound.sessions.importers.log_formats import NOT_A_LINE
from trailhound.sessions.importers.logs import GroupFilter
from trailhound.sources.traces import TraceSource, kept_trace, log_accesses, session_accesses
from trailhound.sources.traces.building import PageAccess, build_trace, in_pieces, trace_in_memory
from trailhound.sources.traces.index import TraceIndex


def user_key(client: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(client, digest_size=8).digest(), "little")


def built(
    folder: Path,
    accesses: Iterable[PageAccess],
    *,
    groups: GroupFilter | None = None,
    piece_rows: int = 250_000,
) -> TraceIndex:
    tally = Tally("accesses")
    build_trace(folder, accesses, tally, user_key, groups=groups, piece_rows=piece_rows)
    return TraceIndex.open(folder)


Pairs = dict[str, list[tuple[float, str]]]


def naive(accesses: Iterable[PageAccess]) -> Pairs:
    """User to (time, URL), sorted."""
    by_user: Pairs = defaultdict(list)
    for client, when, url in accesses:
        if url is not None:
            by_user[client.decode()].append((when, url.decode()))
    return {user: sorted(visits) for user, visits in by_user.items()}


def shown(index: TraceIndex) -> list[list[tuple[float, str]]]:
    return sorted(sorted(visits_by(index, user)) for user in range(index.n_users))


def visits_by(index: TraceIndex, user: int) -> list[tuple[float, str]]:
    pages, times = index.history(user)
    urls = [index.page_url(page) for page in pages.tolist()]
    return list(zip(times.tolist(), urls, strict=True))


ACCESSES = st.lists(
    st.tuples(
        st.integers(0, 6).map(lambda n: f"10.0.0.{n}".encode()),
        st.integers(1, 40).map(float),
        st.none() | st.integers(0, 12).map(lambda n: f"http://h{n % 3}.test/{n}".encode()),
    ),
    min_size=1,
    max_size=120,
)


@given(ACCESSES, st.integers(1, 50))
@settings(max_examples=60)
def test_the_index_equals_a_dictionary(accesses: list[PageAccess], piece_rows: int) -> None:
    wanted = naive(accesses)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "a.trace"
        if not wanted:
            with pytest.raises(SourceError, match="no visit of a person"):
                built(folder, accesses, piece_rows=piece_rows)
            assert not list(Path(place).iterdir()), "nothing half-written is left"
            return
        index = built(folder, accesses, piece_rows=piece_rows)
        assert shown(index) == sorted(wanted.values())
        check_pages(index, wanted)
        assert {path.suffix for path in folder.iterdir()} == {".bin", ".json"}


@given(ACCESSES, st.integers(1, 8))
@settings(max_examples=60)
def test_some_visitors_are_visits_at_even_distances(accesses: list[PageAccess], limit: int) -> None:
    if not naive(accesses):
        return
    index = trace_in_memory(accesses, user_key)
    pages = np.arange(index.n_pages)[::-1]
    users, owners = index.some_visitors(pages, limit)
    for place, page in enumerate(pages.tolist()):
        all_users = index.visitors(page)[0]
        step = max(len(all_users) // limit, 1)
        assert users[owners == place].tolist() == all_users[::step][:limit].tolist()
    assert not len(index.some_visitors(pages[:0], limit)[0])


def check_pages(index: TraceIndex, wanted: Pairs) -> None:
    urls = sorted({url for visits in wanted.values() for _, url in visits})
    assert index.n_pages == len(urls)
    assert len(index) == sum(map(len, wanted.values()))
    for url in urls:
        times = sorted(at for visits in wanted.values() for at, each in visits if each == url)
        page = index.page_number(url)
        assert page is not None
        assert index.page_url(page) == url
        users, found = index.visitors(page)
        assert found.tolist() == times
        for user, at in zip(users.tolist(), times, strict=True):
            assert (at, url) in visits_by(index, user)
    assert index.page_number("http://nobody.test/") is None


def test_long_addresses_are_sorted_in_smaller_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trailhound.sources.traces.building.PIECE_BYTES", 100)
    urls = [f"http://a.test/{n}{'x' * 60}" for n in range(9)]
    accesses = [(b"me", 1e9 + 60 * n, url.encode()) for n, url in enumerate(urls)]
    assert shown(built(tmp_path / "a.trace", accesses)) == [
        [(1e9 + 60 * n, url) for n, url in enumerate(urls)]
    ]


def test_many_pieces_are_joined_before_they_are_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trailhound.sources.traces.sorting.MAX_PIECES", 4)
    rng = np.random.default_rng(1)
    accesses = [
        (b"10.0.0.%d" % user, 1e9 + 60 * when, b"http://h.test/%d" % page)
        for user, when, page in zip(*rng.integers(20, size=(3, 300)).tolist(), strict=True)
    ]
    index = built(tmp_path / "a.trace", accesses, piece_rows=1)
    wanted = naive(accesses)
    assert shown(index) == sorted(wanted.values())
    check_pages(index, wanted)


def test_the_index_is_the_same_however_it_is_cut_into_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trailhound.sources.traces.sorting._FEWEST_BLOCK_ROWS", 1)
    rng = np.random.default_rng(2)
    accesses = [
        (b"10.0.0.%d" % user, 1e9 + 60 * when, b"http://h.test/%d" % page)
        for user, when, page in zip(*rng.integers(6, size=(3, 400)).tolist(), strict=True)
    ]
    made = []
    for rows in (400, 50, 7):
        folder = tmp_path / f"{rows}.trace"
        built(folder, accesses, piece_rows=rows)
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1] == made[2]


def test_every_page_is_drawn_sooner_or_later_and_the_same_seed_draws_the_same() -> None:
    urls = [f"http://h.test/{n}" for n in range(5)]
    index = trace_in_memory(((b"a", float(n), u.encode()) for n, u in enumerate(urls, 1)), user_key)
    draws = [index.sample(np.random.default_rng(seed)) for seed in range(60)]
    assert set(draws) == set(urls)
    assert draws == [index.sample(np.random.default_rng(seed)) for seed in range(60)]


def test_addresses_are_found_in_their_canonical_form() -> None:
    index = trace_in_memory([(b"a", 1.0, "HTTP://H.Test:80/ü#top".encode())], user_key)
    assert index.page_number("http://h.test/%C3%BC") == 0


@pytest.mark.parametrize("piece_rows", [3, 1000])
def test_whoever_is_too_busy_for_one_person_is_left_out(tmp_path: Path, piece_rows: int) -> None:
    groups = GroupFilter(max_per_day=6, max_per_minute=3)
    page = b"http://h.test/1"
    accesses: list[PageAccess] = [
        *((b"quick", 60.0 + n, page) for n in range(4)),  # four in one minute
        *((b"daily", 100.0 * n, page) for n in range(1, 8)),  # seven in one day
        *((b"images", 60.0 + n, None) for n in range(4)),  # no pages, but they count
        (b"images", 500.0, page),
        *((b"person", 100.0 * n, page) for n in range(1, 7)),
        *((b"person", 86_400.0 + 100.0 * n, page) for n in range(1, 7)),
    ]
    tally = Tally("lines")
    header = build_trace(
        tmp_path / "a.trace", accesses, tally, user_key, groups=groups, piece_rows=piece_rows
    )
    assert (header.users, header.accesses) == (1, 12)
    assert header.skipped == {"by clients with over 6 accesses a day or 3 a minute": 12}
    assert header.notes == ("3 clients too busy to be one person",)


@pytest.mark.parametrize("piece_rows", [3, 1000])
def test_a_minute_is_any_sixty_seconds(tmp_path: Path, piece_rows: int) -> None:
    page = b"http://h.test/1"
    accesses: list[PageAccess] = [
        # Two before the clock's minute ends and two after: four within 31 s.
        *((b"across", at, page) for at in (45.0, 59.0, 60.0, 76.0)),
        # Four in 60 s, the last when the minute of the first is over.
        *((b"steady", at, page) for at in (30.0, 50.0, 70.0, 90.0)),
    ]
    index = built(
        tmp_path / "a.trace",
        accesses,
        groups=GroupFilter(max_per_minute=3),
        piece_rows=piece_rows,
    )
    assert shown(index) == [[(at, page.decode()) for at in (30.0, 50.0, 70.0, 90.0)]]


SQUID = (
    "{at}.000    50 10.0.0.{user} TCP_MISS/200 900 GET http://h.test/{page} - "
    "HIER_DIRECT/192.0.2.1 text/html\n"
)
COMBINED = '10.0.0.{user} - - [01/Mar/2026:12:00:{at:02d} +0000] "GET /{page} HTTP/1.1" 200 9\n'


@pytest.mark.parametrize(("line", "site"), [(SQUID, ""), (COMBINED, "http://h.test")])
def test_damaged_lines_of_a_log_are_counted_and_the_others_kept(
    tmp_path: Path, line: str, site: str
) -> None:
    log = tmp_path / "access.log"
    lines = [line.format(at=10 + n, user=n % 2, page=n) for n in range(6)]
    lines[3:3] = ["half a li\n", "\x00\x01\n"]
    log.write_text("".join(lines))
    tally = Tally("lines")
    header = build_trace(tmp_path / "a.trace", log_accesses(log, tally, site), tally, user_key)
    assert (header.accesses, header.users, header.read) == (6, 2, 8)
    assert header.skipped == {NOT_A_LINE: 2}
    index = TraceIndex.open(tmp_path / "a.trace")
    page = index.page_number("http://h.test/3")
    assert page is not None
    assert len(index.visitors(page)[0]) == 1


def test_a_log_without_hosts_asks_for_the_site(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(COMBINED.format(at=10, user=1, page="a"))
    with pytest.raises(UsageError, match=r"Name it before the file: https://www\."):
        list(log_accesses(log, Tally("lines")))
    with pytest.raises(UsageError, match="not the address of a site"):
        list(log_accesses(log, Tally("lines"), "example"))


@pytest.mark.parametrize("content", ["", "This is a letter.\nDear all,\n"])
def test_what_is_no_log_is_said_to_be_none(tmp_path: Path, content: str) -> None:
    log = tmp_path / "letter.txt"
    log.write_text(content)
    with pytest.raises(SourceError, match="is no access log"):
        list(log_accesses(log, Tally("lines")))
    with pytest.raises(UsageError, match="no file"):
        list(log_accesses(tmp_path / "none.log", Tally("lines")))


def test_sessions_are_a_trace_too() -> None:
    sessions = [
        (
            "1",
            Session("bees", (Visit(1.0, "http://h.test/1"), Mark(2.0, "http://h.test/1")), "ann"),
        ),
        ("2", Session("bees", (Visit(5.0, "http://h.test/2"),), "ann")),
        ("3", Session("bees", (Visit(3.0, "http://h.test/2"),))),
    ]
    index = trace_in_memory(session_accesses(sessions, Tally("visits")), user_key)
    assert (index.n_users, len(index)) == (2, 3)
    assert shown(index) == [
        [(1.0, "http://h.test/1"), (5.0, "http://h.test/2")],
        [(3.0, "http://h.test/2")],
    ]


def squid_source(log: Path) -> TraceSource:
    return TraceSource(str(log), [log], lambda tally: in_pieces(log_accesses(log, tally)))


def test_an_index_is_made_once_for_an_unchanged_log(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(SQUID.format(at=10, user=1, page="a"))
    place = tmp_path / "traces"
    index, made = kept_trace(squid_source(log), place, user_key)
    assert made
    assert not kept_trace(squid_source(log), place, user_key)[1]
    log.write_text(SQUID.format(at=10, user=1, page="a") + SQUID.format(at=11, user=1, page="b"))
    again, made = kept_trace(squid_source(log), place, user_key)
    assert made
    assert (len(index), len(again)) == (1, 2)
    with pytest.raises(SourceError, match="no trace"):
        kept_trace(squid_source(tmp_path / "gone.log"), place, user_key)


@pytest.mark.parametrize("damage", ["cut", "no header", "newer", "nonsense", "gone"])
def test_a_damaged_index_is_noticed_and_made_anew(tmp_path: Path, damage: str) -> None:
    log = tmp_path / "access.log"
    log.write_text(SQUID.format(at=10, user=1, page="a"))
    kept_trace(squid_source(log), tmp_path, user_key)
    (folder,) = tmp_path.glob("*.trace")
    header = folder / "header.json"
    if damage == "cut":
        (folder / "page-times.bin").write_bytes(b"1")
    elif damage == "gone":
        (folder / "urls.bin").unlink()
    elif damage == "no header":
        header.unlink()
    elif damage == "newer":
        header.write_text(header.read_text().replace('"version": 1', '"version": 2'))
    else:
        header.write_text("{")
    with pytest.raises(SourceError, match="index"):
        TraceIndex.open(folder)
    index, made = kept_trace(squid_source(log), tmp_path, user_key)
    assert made
    assert len(index) == 1
