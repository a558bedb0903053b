"""``turns.json``: what is kept between rounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from trailhound.errors import StorageError
from trailhound.topics.turn_planning import AskedQuery
from trailhound.topics.turn_records import OpenTurn, TurnReport, TurnsFile, TurnsRecord


def report(number: int, *texts: str) -> TurnReport:
    return TurnReport(
        number=number,
        queries=tuple(AskedQuery(0, text, 3) for text in texts),
        seeds=2,
        requests=40,
        relevant=5,
        adopted=1,
        pages_learned_from=30,
        crawl_ended="",
    )


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    file = TurnsFile(tmp_path / "turns.json")
    assert file.read() == TurnsRecord()
    turn = OpenTurn(
        number=2,
        queries=(AskedQuery(1, "wax", problem="down"),),
        n_seeds=1,
        seeds=("http://a.test/",),
        pages_before=3,
        requests_before=4,
        until_requests=44,
    )
    record = TurnsRecord(last_turn=2, turns=(report(1, "honey"),), open=turn, crawl_begun_at=1.5)
    file.write(record)
    assert file.read() == record
    assert record.asked == {"honey"}


def test_a_run_is_unfinished_until_its_last_turn_is_done() -> None:
    assert not TurnsRecord().unfinished
    assert TurnsRecord(last_turn=2, turns=(report(1),)).unfinished
    assert not TurnsRecord(last_turn=2, turns=(report(1), report(2))).unfinished


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b'{"last_turn": "x"}', "cannot be read"),
        (b'{"version": 99}', "Upgrade Trailhound"),
        (b'{"format": "else"}', "has format 'else'"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "turns.json"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=message):
        TurnsFile(path).read()
