"""Session files: what is written is read back, and damage is named instead of guessed around."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.errors import SessionError, UsageError
from trailhound.sessions.events import (
    Event,
    Mark,
    Reached,
    Session,
    Submit,
    Visit,
    parse_session,
    problem_summary,
    session_lines,
)
from trailhound.sessions.files import (
    SessionRecorder,
    load_sessions,
    marks_in,
    read_session,
    read_with_problems,
    write_session,
)

HEADER = b'{"format":"trailhound-session","version":1,"topic":"bees"}\n'
VISIT = b'{"event":"visit","time":1,"url":"http://bees.example/"}\n'
MARK = b'{"event":"mark","time":2,"url":"http://bees.example/"}\n'
BEES = Session(
    "bees",
    (
        Visit(1.5, "http://bees.example/", title="Biẽnen 🐝", reached=Reached.TYPED),
        Visit(2.0, "http://bees.example/hive", from_url="http://bees.example/", html="<p>\n\u2028"),
        Mark(3.0, "http://bees.example/hive", label="hives"),
        Mark(4.0, "http://bees.example/hive", useful=None, label="hives"),
        Submit(5.0),
    ),
    user="ann",
    recorder="test",
)


def write(folder: Path, data: bytes, name: str = "bees.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_a_written_session_is_read_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "Bienen – Übung.jsonl"
    write_session(BEES, path)
    assert read_session(path) == BEES
    assert os.listdir(tmp_path) == [path.name]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
visits = st.builds(
    Visit,
    st.floats(0, 4e9),
    texts,
    title=texts,
    reached=st.sampled_from(Reached),
    from_url=st.none() | texts,
    html=st.none() | texts,
)
marks = st.builds(Mark, st.floats(0, 4e9), texts, st.sampled_from([True, False, None]), texts)
sessions = st.builds(
    Session,
    texts,
    st.lists(visits | marks | st.builds(Submit, st.floats(0, 4e9))).map(tuple),
    texts,
)


@given(sessions)
def test_any_session_survives_the_round_trip(session: Session) -> None:
    assert parse_session(b"".join(session_lines(session)), "it").session == session


@given(sessions, st.integers(0, 200))
def test_a_file_cut_anywhere_gives_its_first_events(session: Session, cut: int) -> None:
    data = b"".join(session_lines(session))
    header_size = data.index(b"\n") + 1
    kept = parse_session(data[: max(header_size, len(data) - cut)], "it").session
    assert kept.events == session.events[: len(kept.events)]


@given(st.binary(max_size=200))
def test_any_bytes_give_a_session_or_a_session_error(data: bytes) -> None:
    with contextlib.suppress(SessionError):
        parse_session(HEADER + data, "it")
    parse_session(HEADER + data, "it", strict=False)


def test_half_surrogates_are_replaced_not_fatal(tmp_path: Path) -> None:
    write_session(Session("t", (Visit(1, "http://a/", title="x\ud83d"),)), tmp_path / "s.jsonl")
    event = read_session(tmp_path / "s.jsonl").events[0]
    assert isinstance(event, Visit)
    assert event.title == "x?"


def test_an_incomplete_last_line_is_left_out_and_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, HEADER + VISIT + '{"event":"visit","title":"ä'.encode()[:-1])
    with caplog.at_level(logging.WARNING):
        session = read_session(path)
    assert len(session.events) == 1
    assert "line 3: the last line is incomplete" in caplog.text
    assert read_with_problems(path).problems[0].line == 3


def test_a_missing_final_line_feed_loses_nothing(tmp_path: Path) -> None:
    reading = read_with_problems(write(tmp_path, HEADER + VISIT + MARK.rstrip()))
    assert len(reading.session.events) == 2
    assert reading.problems == ()


def test_damage_in_the_middle_names_file_line_reason_and_next_step(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + VISIT + b'{"event":"visit","time":"no"}\n' + MARK)
    with pytest.raises(SessionError, match=r"bees\.jsonl, line 3 is damaged: .*time.* Mend"):
        read_session(path)


def test_a_line_that_is_nested_too_deeply_is_damage(tmp_path: Path) -> None:
    nested = b'{"event":"mark","time":1,"x":' + b"[" * 100_000 + b"\n"
    path = write(tmp_path, HEADER + nested + MARK)
    with pytest.raises(SessionError, match=r"line 2 is damaged: .*recursion"):
        read_session(path)
    assert len(read_with_problems(path, strict=False).session.events) == 1
    assert len(list(marks_in(path))) == 1
    with pytest.raises(SessionError, match="recursion"):
        read_session(write(tmp_path, nested))


def test_damage_is_skipped_and_counted_when_lenient(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + b"nonsense\n" + VISIT + b"\xff\xfe\n" + MARK)
    reading = read_with_problems(path, strict=False)
    assert len(reading.session.events) == 2
    assert [problem.line for problem in reading.problems] == [2, 4]
    assert problem_summary("f", reading.problems).startswith("f: 2 problems: line 2: skipped")


def test_blank_lines_windows_line_ends_and_bom_do_no_harm(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + (HEADER + b"\n" + VISIT + MARK).replace(b"\n", b"\r\n")
    assert len(read_session(write(tmp_path, data)).events) == 2


def test_unknown_fields_are_ignored() -> None:
    line = b'{"event":"mark","time":2,"url":"http://a/","colour":"red"}\n'
    assert parse_session(HEADER + line, "it").session.events == (Mark(2, "http://a/"),)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"\n  \n", "is empty"),
        (b"<!doctype html>", "is not a Trailhound session"),
        (VISIT, "is not a Trailhound session"),
        (b'{"format":"har","version":1}\n', "format is 'har'"),
        (b'{"format":"trailhound-session","version":"x"}\n', "is not a Trailhound session"),
        (b'{"format":"trailhound-session","version":2}\n', "version 2.*up to version 1.*Upgrade"),
        (b'{"format":"trailhound-session","version":0}\n', "never existed"),
        (HEADER.decode().encode("utf-16"), "UTF-16.*Save it as UTF-8"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"\xff\xd8\xff\xe0 jpeg", "is not a Trailhound session"),
    ],
)
def test_what_is_no_session_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    with pytest.raises(SessionError, match=reason):
        read_session(write(tmp_path, data), strict=False)


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no session file"):
        read_session(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="folder"):
        read_session(tmp_path)
    with pytest.raises(SessionError, match="holds no session"):
        load_sessions(tmp_path)


def test_a_folder_gives_its_sessions_by_name(tmp_path: Path) -> None:
    for topic in ("b", "a"):
        write_session(Session(topic, ()), tmp_path / f"{topic}.jsonl")
    write(tmp_path, b"half", ".c.jsonl.1.part")
    write(tmp_path, b"notes", "notes.txt")
    assert [session.topic for session in load_sessions(tmp_path)] == ["a", "b"]
    several = load_sessions([tmp_path / "b.jsonl", str(tmp_path / "a.jsonl")])
    assert [session.topic for session in several] == ["b", "a"]


def test_a_dash_means_the_standard_streams(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    write_session(BEES, "-")
    written = capsysbinary.readouterr().out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(written)))
    assert load_sessions("-") == [BEES]


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="cannot be written to"):
        write_session(BEES, tmp_path / "missing" / "bees.jsonl")
    (tmp_path / "taken.jsonl").mkdir()
    with pytest.raises(SessionError, match="cannot be written to"):
        write_session(BEES, tmp_path / "taken.jsonl")
    assert os.listdir(tmp_path) == ["taken.jsonl"]


def test_sources_beside_the_session_are_filled_in(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "1.html").write_bytes("<p>Wabe ü".encode())
    write_session(
        Session("t", (Visit(1, "http://a/", html_ref="pages/1.html"),)), tmp_path / "s.jsonl"
    )
    event = read_session(tmp_path / "s.jsonl").events[0]
    assert isinstance(event, Visit)
    assert event.html == "<p>Wabe ü"


def test_a_missing_source_is_a_problem_not_an_error(tmp_path: Path) -> None:
    write_session(Session("t", (Visit(1, "http://a/", html_ref="1.html"),)), tmp_path / "s.jsonl")
    reading = read_with_problems(tmp_path / "s.jsonl")
    assert len(reading.session.events) == 1
    assert "'1.html' cannot be read" in str(reading.problems[0])


@pytest.mark.parametrize(
    "reference", ["../secret", "/etc/passwd", "a/../../secret", "..\\secret", "C:secret", "link"]
)
def test_a_source_outside_the_folder_is_refused(tmp_path: Path, reference: str) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    write_session(Session("t", (Visit(1, "http://a/", html_ref=reference),)), folder / "s.jsonl")
    with pytest.raises(SessionError, match="leaves the session's folder"):
        read_session(folder / "s.jsonl")


def record(path: Path, *events: Event) -> SessionRecorder:
    with SessionRecorder(path, "bees", "ann", "test") as recorder:
        for event in events:
            recorder.append(event)
    return recorder


def test_recorded_events_are_in_the_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    with SessionRecorder(path, BEES.topic, BEES.user, BEES.recorder) as recorder:
        for count, event in enumerate(BEES.events, start=1):
            recorder.append(event)
            assert read_session(path).events == BEES.events[:count]
    assert read_session(path) == BEES


def test_whoever_looks_while_a_recording_begins_finds_it_with_its_header(tmp_path: Path) -> None:
    found: list[int] = []
    begun = threading.Event()

    def look() -> None:
        for number in range(100):
            path = tmp_path / f"{number}.jsonl"
            begun.set()
            while not path.exists():
                pass
            found.append(len(path.read_bytes()))

    reader = threading.Thread(target=look)
    reader.start()
    assert begun.wait(10)
    for number in range(100):
        record(tmp_path / f"{number}.jsonl")
    reader.join(60)
    assert len(found) == 100
    assert min(found) > 0


def test_a_recording_is_continued_after_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    record(path, BEES.events[0])
    with path.open("ab") as file:
        file.write(b'{"event":"vis')
    assert record(path, BEES.events[1]).bytes_cut == 13
    assert read_with_problems(path).session.events == BEES.events[:2]
    assert read_with_problems(path).problems == ()


def test_a_whole_last_line_without_line_feed_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + VISIT.rstrip())
    assert record(path, Mark(2, "http://bees.example/")).bytes_cut == 0
    assert path.read_bytes() == HEADER + VISIT + MARK


def test_a_recording_killed_in_its_header_starts_afresh(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER[:30])
    record(path, BEES.events[0])
    assert read_session(path).events == BEES.events[:1]


@pytest.mark.parametrize("content", [b"my diary\n", b"my diary", VISIT])
def test_a_foreign_file_is_not_recorded_into(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, content)
    with pytest.raises(SessionError, match="not a Trailhound session"):
        SessionRecorder(path, "bees")
    assert path.read_bytes() == content


def test_a_place_that_cannot_be_recorded_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="cannot be written to"):
        SessionRecorder(tmp_path / "missing" / "live.jsonl", "bees")
