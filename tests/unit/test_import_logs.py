"""Squid's and combined logs as traces of many people."""

from __future__ import annotations

import gzip
import random
from array import array
from pathlib import Path

import pytest
from benchmarks.log_import import generated
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import SessionError, UsageError
from trailhound.sessions.events import Reached, Session, Visit
from trailhound.sessions.importers import importer, read_recording
from trailhound.sessions.importers.base import Imported, Tally
from trailhound.sessions.importers.log_formats import combined_accesses, squid_accesses
from trailhound.sessions.importers.logs import (
    MAX_LINE_BYTES,
    CombinedImporter,
    GroupFilter,
    SquidImporter,
    Traces,
)
from trailhound.topics.importing import pseudonyms
from trailhound.urls import canonicalize

AT = 1_772_366_400
SITE = "https://www.example.org"
ANYBODY = GroupFilter(min_pages=1)


def squid(
    client: str, second: float, url: str, *, answer: str = "TCP_MISS/200", rest: str = ""
) -> str:
    return (
        f"{AT + second:.3f}    94 {client} {answer} 512 GET {url} - DIRECT/- {rest or 'text/html'}"
    )


def combined(
    client: str, request: str, referer: str = "-", status: int = 200, at: str = "12:00:01 +0000"
) -> str:
    return f'{client} - - [01/Mar/2026:{at}] "{request}" {status} 99 "{referer}" "Agent \\"x\\""'


def from_squid(path: Path, *lines: str, groups: GroupFilter = ANYBODY) -> Imported:
    path.write_text("\n".join(lines))
    return SquidImporter().read(path, "bees", **vars(groups))


def from_combined(path: Path, *lines: str, site: str = SITE) -> Imported:
    path.write_text("\n".join(lines))
    return CombinedImporter().read(path, "bees", site=site, **vars(ANYBODY))


def visits(session: Session) -> list[Visit]:
    return [event for event in session.events if isinstance(event, Visit)]


def test_every_client_of_a_proxy_has_a_session(tmp_path: Path) -> None:
    found = from_squid(
        tmp_path / "access.log",
        squid("10.0.0.1", 0.5, "http://a.test/"),
        squid("10.0.0.2", 1, "http://b.test/"),
        squid("10.0.0.1", 60, "http://a.test/bees", rest="text/html; charset=x"),
        squid("10.0.0.1", 9000, "http://c.test/"),
    )
    first, second = found.sessions
    assert (first.user, second.user) == ("10.0.0.1", "10.0.0.2")
    assert [(each.url, each.reached, each.from_url) for each in visits(first)] == [
        ("http://a.test/", Reached.TYPED, None),
        ("http://a.test/bees", Reached.LINK, "http://a.test/"),
        ("http://c.test/", Reached.TYPED, None),
    ]
    assert visits(first)[0].time == AT + 0.5


def test_only_successful_html_is_browsing(tmp_path: Path) -> None:
    found = from_squid(
        tmp_path / "access.log",
        squid("c", 0, "http://a.test/"),
        squid("c", 1, "http://a.test/known", answer="TCP_IMS_HIT/304", rest="-"),
        squid("c", 2, "http://a.test/x.png", answer="TCP_HIT/304", rest="-"),
        squid("c", 3, "http://a.test/x", rest="image/png"),
        squid("c", 4, "http://a.test/no", answer="TCP_DENIED/403"),
        squid("c", 5, "http://a.test/f").replace("GET", "POST"),
        squid("c", 6, "bank.test:443").replace("GET", "CONNECT"),
        squid("c", 7, "cache_object://localhost/"),
        "half a line",
        f"{AT} 1 c TCP_MISS/abc 1 GET http://a.test/ - - text/html",
        "nan 1 c TCP_MISS/200 1 GET http://a.test/ - - text/html",
        "",
    )
    (session,) = found.sessions
    assert [each.url for each in visits(session)] == ["http://a.test/", "http://a.test/known"]
    assert found.tally.read == 11
    assert found.tally.kept == 2
    assert found.tally.skipped["not a line of this format"] == 3


@pytest.mark.parametrize("end", ["", "\r", "  "])
def test_ends_of_lines_are_no_media_type(tmp_path: Path, end: str) -> None:
    line = squid("10.0.0.1", 1, f"{SITE}/a", rest="-") + end
    assert from_squid(tmp_path / "access.log", line, line).tally.kept


def test_combined_lines_have_referers_zones_and_escapes(tmp_path: Path) -> None:
    found = from_combined(
        tmp_path / "access.log",
        combined("::1", "GET / HTTP/1.1"),
        combined("::1", "GET /bees?a=1 HTTP/2.0", f"{SITE}/", at="13:00:02 +0100"),
        combined("::1", "GET /304 HTTP/1.1", f"{SITE}/", status=304, at="07:00:03 -0500"),
        combined("::1", "GET /style.css HTTP/1.1", f"{SITE}/"),
        combined("::1", 'GET /say\\"hi\\" HTTP/1.1', 'https://search.test/?q=\\"bees\\"'),
        combined("::1", "\\x16\\x03\\x01", status=400),
        combined("::1", "HEAD / HTTP/1.1"),
    )
    (session,) = found.sessions
    first, second, third, quoted = visits(session)
    assert (first.time, first.reached, first.from_url) == (AT + 1, Reached.TYPED, None)
    # Of the same second as the first, and therefore behind it.
    assert f'{SITE}/say"hi"' in (second.url, quoted.url)
    by_url = {each.url: each for each in (second, third, quoted)}
    assert by_url[f"{SITE}/bees?a=1"].time == AT + 2
    assert by_url[f"{SITE}/bees?a=1"].from_url == f"{SITE}/"
    assert by_url[f"{SITE}/304"].time == AT + 3


def test_hosts_come_from_the_line_when_it_has_one(tmp_path: Path) -> None:
    found = from_combined(
        tmp_path / "access.log",
        "www.a.test:443 " + combined("1.2.3.4", "GET /x HTTP/1.1"),
        "www.b.test:80 " + combined("1.2.3.4", "GET /y HTTP/1.1"),
        combined("1.2.3.4", "GET http://c.test/z HTTP/1.1"),
        site="",
    )
    (session,) = found.sessions
    assert session.user == "1.2.3.4"
    assert [each.url for each in visits(session)] == [
        "https://www.a.test/x",
        "http://www.b.test/y",
        "http://c.test/z",
    ]


@pytest.mark.parametrize(
    "who",
    [
        "203.0.113.77 - ann lee",
        '203.0.113.77 - "ann lee"',
        "203.0.113.77 - ann [of] lee",
        "203.0.113.77 - - lee",
        "203.0.113.77, 10.0.0.1 - -",
        "203.0.113.77,10.0.0.1, 10.0.0.2 - ann lee",
        '"203.0.113.77, 10.0.0.1" - -',
        "www.example.org:443 203.0.113.77 - ann lee",
        "www.example.org:443 203.0.113.77, 10.0.0.1 - -",
        "www.example.org:443 203.0.113.77 identity ann lee",
    ],
)
def test_who_asked_is_never_the_host_of_a_page(tmp_path: Path, who: str) -> None:
    line = combined("", "GET /private/a.html HTTP/1.1").replace(" - -", who, 1)
    (session,) = from_combined(tmp_path / "access.log", line).sessions
    assert session.user == "203.0.113.77"
    assert [each.url for each in visits(session)] == [f"{SITE}/private/a.html"]


@pytest.mark.parametrize(
    "who",
    [
        "203.0.113.77 identity ann lee",
        "203.0.113.77, 10.0.0.1 10.0.0.2 - -",
        "203.0.113.77 10.0.0.2 - -",
        "2001:db8::77 2001:db8::2 - -",
        "203.0.113.77 www.example.org - -",
    ],
)
def test_lines_that_may_begin_with_who_asked_are_no_lines(tmp_path: Path, who: str) -> None:
    line = combined("", "GET /private/a.html HTTP/1.1").replace(" - -", who, 1)
    read = combined("1.2.3.4", "GET / HTTP/1.1")
    found = from_combined(tmp_path / "access.log", line, read)
    assert found.tally.skipped == {"not a line of this format": 1}


def test_the_common_format_names_no_referers_so_the_page_before_counts(tmp_path: Path) -> None:
    lines = [combined("10.0.0.1", f"GET /{n}.html HTTP/1.1", at=f"12:0{n}:00 +0000") for n in "123"]
    common = [line.partition(' "-" ')[0] for line in lines]
    (session,) = from_combined(tmp_path / "access.log", *common).sessions
    assert [(each.url, each.from_url) for each in visits(session)] == [
        (f"{SITE}/1.html", None),
        (f"{SITE}/2.html", f"{SITE}/1.html"),
        (f"{SITE}/3.html", f"{SITE}/2.html"),
    ]


@given(
    st.sampled_from(["http://", "https://", "ftp://", "http:/", ""]),
    st.text("aZ09.-:[]@%x \\", max_size=12),
    st.sampled_from(["", "/", "/a b?c", "?q", "#f"]),
)
def test_pages_are_on_the_web_exactly_when_their_addresses_have_a_canonical_form(
    scheme: str, host: str, rest: str
) -> None:
    urls = [scheme + host + rest, f"{scheme}{host}/other", f"{scheme}{host}/third"]
    traces, tally = Traces("bees", "test"), Tally("lines")
    traces.collect([(b"client", 1.0, url.encode(), b"") for url in urls], tally, ANYBODY)
    wrong = sum(canonicalize(url) is None for url in urls)
    assert tally.skipped["not an address on the web"] == wrong


def test_without_a_host_the_site_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--site"):
        from_combined(tmp_path / "access.log", combined("c", "GET / HTTP/1.1"), site="")
    with pytest.raises(UsageError, match="not the address of a site"):
        from_combined(tmp_path / "access.log", combined("c", "GET / HTTP/1.1"), site="my site")


def test_programs_and_shared_proxies_are_left_out(tmp_path: Path) -> None:
    def pages(client: str, count: int, step: float) -> list[str]:
        urls = (f"http://a.test/{number}" for number in range(count))
        midnight = -43_200
        return [squid(client, midnight + number * step, url) for number, url in enumerate(urls)]

    lines = [
        *pages("calm", 101, 0.6),  # 100 in its first minute
        *pages("hasty", 102, 0.5),
        *pages("busy", 2001, 40.0),
        *pages("long", 2001, 44.0),  # over two days
        *pages("single", 1, 1.0),
    ]
    random.Random(1).shuffle(lines)
    found = from_squid(tmp_path / "access.log", *lines, groups=GroupFilter())
    assert {session.user for session in found.sessions} == {"calm", "long"}
    assert found.tally.kept == 101 + 2001
    assert found.tally.skipped["by clients with under 2 pages"] == 1
    assert "too busy" in found.tally.notes[-1]


def test_a_minute_is_any_sixty_seconds() -> None:
    groups = GroupFilter(max_per_minute=3, max_per_day=5)
    assert not groups.is_person(array("d", (76.0, 45.0, 60.0, 59.0)))
    assert groups.is_person(array("d", (30.0, 50.0, 70.0, 90.0)))
    night = 86_400.0
    assert not groups.is_person(array("d", [night + 3600.0 * hour for hour in range(-3, 3)]))
    assert groups.is_person(array("d", [night + 20_000.0 * n for n in range(-3, 3)]))


def test_images_count_as_accesses_of_a_client(tmp_path: Path) -> None:
    images = [squid("c", 0.1 * n, f"http://a.test/{n}.png", rest="image/png") for n in range(101)]
    page = squid("c", 5, "http://a.test/")
    assert list(from_squid(tmp_path / "access.log", page, *images).sessions) == []


@pytest.mark.parametrize("kind", ["squid", "combined"])
@pytest.mark.parametrize("packed", [False, True])
def test_ten_thousand_lines_with_damage_are_accounted_for(
    tmp_path: Path, kind: str, packed: bool
) -> None:
    log = "".join(generated(kind, 10_000, 50)).encode()
    path = tmp_path / "access.log"
    path.write_bytes(gzip.compress(log) if packed else log)
    options = {"site": SITE} if kind == "combined" else {}
    found = read_recording(importer(kind), path, "bees", options)
    assert found.tally.read == 10_000
    assert found.tally.skipped["not a line of this format"] == 20
    assert found.tally.kept == sum(len(visits(session)) for session in found.sessions) > 2000
    assert len(list(found.sessions)) == 50


def test_huge_binary_and_foreign_lines_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    good = squid("c", 0, "http://a.test/").encode()
    huge = b"x" * (MAX_LINE_BYTES + 1)
    path.write_bytes(
        b"\n".join(
            [
                good,
                b"y" * 5_000_000,
                good,
                huge,
                random.Random(2).randbytes(9000),
                good,
                b"\xff\xfe",
            ]
        )
    )
    found = SquidImporter().read(path, "bees", min_pages=1)
    assert found.tally.skipped["longer than 64 KB"] == 2
    assert found.tally.kept == 3


def test_bytes_that_logs_escape_are_those_that_were_asked_for(tmp_path: Path) -> None:
    found = from_combined(
        tmp_path / "access.log",
        combined("::1", "GET /caf\\xc3\\xa9 HTTP/1.1", at="12:00:01 +0000"),
        combined("::1", "GET /caf\\xe9 HTTP/1.1", at="12:00:02 +0000"),
        combined("::1", "GET /a\\\\x41 HTTP/1.1", f"{SITE}/caf\\xC3\\xA9", at="12:00:03 +0000"),
    )
    (session,) = found.sessions
    assert [(each.url, each.from_url) for each in visits(session)] == [
        (f"{SITE}/café", None),
        (f"{SITE}/caf%E9", None),
        (f"{SITE}/a\\x41", f"{SITE}/café"),
    ]


def test_a_mark_of_the_encoding_belongs_to_no_client(tmp_path: Path) -> None:
    lines = [combined("10.0.0.1", f"GET /{n} HTTP/1.1", f"{SITE}/") for n in "ab"]
    path = tmp_path / "access.log"
    for content in ("\n".join(lines).encode("utf-8-sig"), b"\xef\xbb\xbf", b"\xef\xbb"):
        path.write_bytes(gzip.compress(content))
        if b"GET" in content:
            found = CombinedImporter().read(path, "bees", site=SITE)
            assert [each.user for each in found.sessions] == ["10.0.0.1"]
        else:
            with pytest.raises(SessionError, match="is no log in the combined format"):
                CombinedImporter().read(path, "bees", site=SITE)


def test_a_line_that_breaks_off_is_no_visit(tmp_path: Path) -> None:
    whole, cut = squid("c", 0, "http://a.test/"), squid("c", 1, "http://a.test/bees/queen")
    path = tmp_path / "access.log"
    path.write_text(f"{whole}\n{cut[: cut.index('/queen')]}")
    found = SquidImporter().read(path, "bees", min_pages=1)
    (session,) = found.sessions
    assert [each.url for each in visits(session)] == ["http://a.test/"]
    assert (found.tally.read, found.tally.skipped["not a line of this format"]) == (2, 1)


def test_short_lines_of_old_logs_are_visits(tmp_path: Path) -> None:
    short = squid("c", 0, "http://a.test/bees").partition(" - ")[0]
    path = tmp_path / "access.log"
    path.write_text(f"{short}\n{short}\n")
    assert SquidImporter().read(path, "bees", min_pages=1).tally.kept == 2


def test_urls_in_other_encodings_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    lines = [squid("c", 0, "http://a.test/käse"), squid("c", 1, "http://a.test/kése")]
    path.write_bytes("\r\n".join(lines).encode("latin-1"))
    (session,) = SquidImporter().read(path, "bees", min_pages=1).sessions
    assert [each.url for each in visits(session)] == [
        "http://a.test/k%E4se",
        "http://a.test/k%E9se",
    ]


def test_a_cut_gzip_file_is_read_up_to_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "access.log.gz"
    lines = [squid("c", number, f"http://a.test/{number}") for number in range(5000)]
    packed = gzip.compress("\n".join(lines).encode())
    path.write_bytes(packed[: len(packed) // 2])
    found = SquidImporter().read(path, "bees", max_per_day=9999)
    assert 100 < found.tally.kept < 5000
    assert "damaged" in found.tally.notes[0]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"hello\nworld\n", bytes(3000)])
def test_what_is_no_log_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "access.log"
    path.write_bytes(content)
    with pytest.raises(SessionError, match="is no log in Squid's native format"):
        SquidImporter().read(path, "bees", min_pages=1)
    with pytest.raises(SessionError, match="is no log in the combined format"):
        CombinedImporter().read(path, "bees", site=SITE)


def test_a_log_of_the_other_kind_is_told_from_what_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text(combined("10.0.0.1", "GET / HTTP/1.1", f"{SITE}/"))
    with pytest.raises(SessionError, match="trailhound import combined"):
        SquidImporter().read(path, "bees")
    path.write_text(squid("10.0.0.1", 0, f"{SITE}/"))
    with pytest.raises(SessionError, match="trailhound import squid"):
        CombinedImporter().read(path, "bees", site=SITE)


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_any_lines_are_counted_and_never_fatal(lines: list[bytes]) -> None:
    for read in (squid_accesses, combined_accesses):
        tally = Tally("lines")
        accesses = list(read([lines], tally))
        assert tally.kept == sum(url is not None for _, _, url, _ in accesses)


def test_pseudonyms_are_the_same_in_a_workspace_and_differ_between_them(tmp_path: Path) -> None:
    ours, again = pseudonyms(tmp_path / "a"), pseudonyms(tmp_path / "a")
    theirs = pseudonyms(tmp_path / "b")
    assert ours(b"10.0.0.1") == again(b"10.0.0.1") != ours(b"10.0.0.2")
    assert ours(b"10.0.0.1") != theirs(b"10.0.0.1")
    assert (tmp_path / "a" / "address-salt").stat().st_mode & 0o077 == 0
