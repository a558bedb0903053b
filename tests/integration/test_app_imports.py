"""Recordings of other programs come into a topic through the app."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from learned_topics import park_session
from test_import_har import GARDEN, entry

from app_server import RefusedError, ServedApp
from trailhound.sessions.events import Mark, session_lines


def har() -> bytes:
    return json.dumps({"log": {"version": "1.2", "entries": [entry(GARDEN, 1)]}}).encode()


def left(app: ServedApp) -> list[Path]:
    return list((app.server.app.workspace.folder / ".imports").iterdir())


def test_a_har_file_becomes_a_session_whose_pages_can_be_marked(app: ServedApp) -> None:
    kinds = {each["kind"]: each for each in app.get("/api/imports")["kinds"]}
    assert {"session", "har", "warc", "chrome", "firefox", "squid"} <= kinds.keys()
    app.post("/api/topics/bees")
    begun = app.upload("/api/topics/bees/import?kind=har&name=garden.har", har())
    job = app.job_done(begun)
    assert (job["kind"], job["state"]) == ("import", "done"), job
    assert "1 session with 1 visit of 1 page, 1 of them with content" in job["message"]
    assert app.get("/api/topics/bees")["sessions"] == 1
    app.put("/api/topics/bees/mark", {"url": GARDEN, "useful": True})
    assert app.get("/api/topics/bees")["marked"] == 1
    assert left(app) == []


def test_recordings_may_be_larger_than_other_requests(app: ServedApp) -> None:
    app.post("/api/topics/bees")
    large = har() + b" " * 5_000_000
    assert app.job_done(app.upload("/api/topics/bees/import?kind=har", large))["state"] == "done"
    with pytest.raises(RefusedError, match="413"):
        app.upload("/api/topics/bees/learn", large)


def test_a_session_file_comes_with_its_marks(app: ServedApp) -> None:
    app.post("/api/topics/walks")
    content = b"".join(session_lines(park_session()))
    job = app.job_done(app.upload("/api/topics/walks/import?kind=session&name=a.jsonl", content))
    assert job["state"] == "done", job
    useful = app.get("/api/topics/walks")["marked"]
    assert useful > 0
    assert job["message"].startswith("Imported 1 session with ")
    assert f", {useful} marked useful" in job["message"]
    again = app.job_done(app.upload("/api/topics/walks/import?kind=session", content))
    assert again["message"].startswith("No session was added, as all was there before: 1 session")
    assert app.get("/api/topics/walks")["sessions"] == 1


def test_what_is_missing_of_a_session_file_is_told(app: ServedApp) -> None:
    app.post("/api/topics/walks")
    content = b"".join(session_lines(park_session()))[:-20]
    job = app.job_done(app.upload("/api/topics/walks/import?kind=session&name=a.jsonl", content))
    assert job["state"] == "done", job
    assert "1 problem: line" in job["message"]
    assert "the last line is incomplete and was left out" in job["message"]


def test_a_servers_log_is_imported_when_it_is_told_whose_it_is(app: ServedApp) -> None:
    kinds = {each["kind"]: each["takes_site"] for each in app.get("/api/imports")["kinds"]}
    assert (kinds["combined"], kinds["squid"]) == (True, False)
    app.post("/api/topics/bees")
    said = '"http://a.test/" "Mozilla/5.0 (X11; Linux x86_64) Firefox/120.0"'
    lines = [
        f'10.0.0.1 - - [10/Oct/2026:13:{minute}:00 +0000] "GET /{minute} HTTP/1.1" 200 5120 {said}'
        for minute in range(10, 20)
    ]
    log = "\n".join(lines).encode()
    where = "/api/topics/bees/import?kind=combined&name=access.log"
    job = app.job_done(app.upload(where, log))
    assert "Write it under 'Whose log it is'" in job["message"]
    job = app.job_done(app.upload(f"{where}&site=https://a.test", log))
    assert job["state"] == "done", job
    wrong = app.job_done(app.upload("/api/topics/bees/import?kind=har&site=https://a.test", har()))
    assert wrong["state"] == "done", "it is for logs alone"


def test_marks_that_say_not_useful_are_counted_apart(app: ServedApp) -> None:
    app.post("/api/topics/walks")
    session = park_session()
    first = next(each for each in session.events if isinstance(each, Mark))
    events = (*session.events, msgspec.structs.replace(first, useful=False))
    content = b"".join(session_lines(msgspec.structs.replace(session, events=events)))
    job = app.job_done(app.upload("/api/topics/walks/import?kind=session", content))
    useful = app.get("/api/topics/walks")["marked"]
    assert job["message"].endswith(f", {useful} marked useful, 1 marked not useful.")


def test_what_cannot_be_imported_is_told_and_leaves_nothing(app: ServedApp) -> None:
    app.post("/api/topics/bees")
    job = app.job_done(app.upload("/api/topics/bees/import?kind=har&name=x.har", b"no HAR"))
    assert job["state"] == "failed"
    assert "x.har" in job["message"]
    assert str(app.server.app.workspace.folder) not in job["message"]
    job = app.job_done(app.upload("/api/topics/bees/import?kind=session&name=x.har", har()))
    assert job["message"].startswith("x.har is no session that Trailhound recorded. Choose")
    for address, why in {
        "/api/topics/none/import?kind=har": "404.*no topic",
        "/api/topics/bees/import?kind=haar": "400.*har",
        "/api/topics/bees/import?kind=har&fetch=true": "400.*who asks",
        "/api/topics/bees/import?kind=har&fetch=true&user_agent=me": "400.*whom to contact",
    }.items():
        with pytest.raises(RefusedError, match=why):
            app.upload(address, har())
    with pytest.raises(RefusedError, match=r"400.*empty"):
        app.upload("/api/topics/bees/import?kind=har", b"")
    assert left(app) == []
    assert app.get("/api/topics/bees")["sessions"] == 0
