"""The log for machines: one JSON object per line, whatever happened to the last run."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from trailhound.errors import StorageError
from trailhound.records import (
    Candidate,
    FetchResult,
    FinishedPage,
    Outcome,
    PageEvent,
    Relevance,
)
from trailhound.storage.event_log import EventLog, ProblemHandler

URL = "http://a.test/"


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_event_is_a_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = EventLog(path, lambda: 7.0)
    log.note("start", seeds=[URL])
    event = PageEvent(
        1, URL, URL, Outcome.FETCHED, None, 0, 1.0, 1, 1, Relevance(0.5, True), at=8.0
    )
    result = FetchResult(URL, Outcome.FETCHED, URL, status=200)
    log.keep(FinishedPage(event, Candidate(URL, 1.0), result))
    log.close()
    start, page = lines(path)
    assert start == {"at": 7.0, "event": "start", "seeds": [URL]}
    assert (page["event"], page["at"], page["url"], page["status"]) == ("page", 8.0, URL, 200)
    assert page["relevance"] == {"score": 0.5, "relevant": True}


def test_half_a_line_of_a_killed_run_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"at": 1, "event": "start"}\n{"at": 2, "ev')
    log = EventLog(path, lambda: 3.0)
    log.note("start")
    log.close()
    good = path.read_text().splitlines()
    assert json.loads(good[0])["at"] == 1
    assert json.loads(good[2])["at"] == 3.0


def test_problems_inside_are_logged_too(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = EventLog(path, lambda: 1.0)
    logger = logging.getLogger("trailhound.test-of-the-log")
    handler = ProblemHandler(log)
    logger.addHandler(handler)
    logger.warning("Page %s is odd", URL)
    logger.removeHandler(handler)
    log.close()
    (problem,) = lines(path)
    assert (problem["event"], problem["message"]) == ("problem", f"Page {URL} is odd")


def test_a_log_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Check that its folder exists"):
        EventLog(tmp_path / "missing" / "log.jsonl", lambda: 0.0)


def test_what_utf8_cannot_carry_is_replaced(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "log.jsonl", lambda: 7.0)
    log.note("put-off", why="HTTP 503 Acc\udce8s", seeds=["\udc80"])
    log.close()
    (line,) = lines(tmp_path / "log.jsonl")
    assert line == {"at": 7.0, "event": "put-off", "why": "HTTP 503 Acc?s", "seeds": ["?"]}


def test_a_line_for_which_there_is_no_room_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = EventLog(tmp_path / "log.jsonl", lambda: 7.0)
    log.note("a")
    file = log._file._file

    class Full:
        """Takes some bytes, and then no more."""

        left = 5

        def write(self, piece: memoryview) -> int:
            taken = file.write(piece[: self.left])
            self.left -= taken
            if not taken:
                raise OSError(28, "No space left on device")
            return taken

        def __getattr__(self, name: str) -> object:
            return getattr(file, name)

    monkeypatch.setattr(log._file, "_file", Full())
    with pytest.raises(StorageError, match="No space"):
        log.note("b")
    monkeypatch.setattr(log._file, "_file", file)
    log.note("c")
    log.close()
    assert [line["event"] for line in lines(tmp_path / "log.jsonl")] == ["a", "c"]
