"""Results for other programs."""

from __future__ import annotations

import csv
import io
import json
import sys

import msgspec
import pytest

from trailhound.errors import UsageError
from trailhound.records import Outcome
from trailhound.storage.exporting import (
    FIELDS,
    WRITERS,
    ExportedPage,
    write_csv,
    write_jsonl,
    write_urls,
)
from trailhound.storage.results_reading import StoredPage

STORED = StoredPage(
    number=7,
    address="https://bees.example/varroa",
    url="https://bees.example/old",
    title="Varroa",
    score=0.75,
    relevant=True,
    snippet='Mites, "and" more\nof them',
    outcome=Outcome.FETCHED,
    why="",
    parent="https://bees.example/",
    depth=2,
    priority=-0.5,
    duplicate_of=None,
    noindex=False,
    at=1772366400.0,
    language="en",
    status=200,
    links_found=3,
    links_added=1,
    links_outside=0,
    requests=2,
    etag='"x"',
    last_modified="",
    known=False,
)
WAY = ["https://bees.example/", STORED.address]
PAGE = ExportedPage(STORED, "text/html", "useful", WAY)


def evil(title: str) -> ExportedPage:
    return PAGE._replace(page=msgspec.structs.replace(STORED, title=title))


def test_json_lines_have_all_fields() -> None:
    out = io.BytesIO()
    assert write_jsonl([PAGE, PAGE], out) == 2
    first, second = map(json.loads, out.getvalue().splitlines())
    assert tuple(first) == FIELDS
    assert (first["rank"], second["rank"]) == (1, 2)
    assert first["url"] == STORED.address
    assert first["requested_url"] == STORED.url
    assert first["fetched_at"] == "2026-03-01T12:00:00+00:00"
    assert first["duplicate_of"] is None
    assert (first["content_type"], first["marked"], first["path"]) == ("text/html", "useful", WAY)


def test_json_lines_may_have_the_texts() -> None:
    out = io.BytesIO()
    write_jsonl([PAGE._replace(text="Mites\n\nand more")], out)
    (line,) = map(json.loads, out.getvalue().splitlines())
    assert tuple(line) == (*FIELDS, "text")
    assert line["text"] == "Mites\n\nand more"


def test_csv_can_be_read_back() -> None:
    out = io.BytesIO()
    assert write_csv([PAGE], out) == 1
    (row,) = csv.DictReader(io.StringIO(out.getvalue().decode(), newline=""))
    assert row["snippet"] == STORED.snippet
    assert row["score"] == "0.75"
    assert row["priority"] == "-0.5", "a number is no formula"
    assert row["duplicate_of"] == ""
    assert row["path"].split() == WAY
    out.write(b"")  # still open: the caller closes it


PLAIN_SIGNS = ["=", "+", "-", "@", "\t", "\r", "\n"]
WIDE_SIGNS = ["\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe66", "\u2212"]
HIDDEN_SIGNS = ["\u200b=", "\ufeff+", "\u2060\u00ad-", " @", "\xa0\uff1d", "\x00=", "\ufe0f="]


@pytest.mark.parametrize("sign", PLAIN_SIGNS + WIDE_SIGNS + HIDDEN_SIGNS)
def test_csv_never_lets_a_spreadsheet_calculate_what_strangers_wrote(sign: str) -> None:
    out = io.BytesIO()
    write_csv([evil(f"{sign}cmd|' /C calc'!A0")], out)
    (row,) = csv.DictReader(io.StringIO(out.getvalue().decode(), newline=""))
    assert row["title"].startswith("'")


@pytest.mark.parametrize("title", ["Bees", "", "\u200b", "蜂蜜 = honey", "ﬁne", "½ = 0.5"])
def test_other_titles_stay_as_they_are_in_csv(title: str) -> None:
    out = io.BytesIO()
    write_csv([evil(title)], out)
    (row,) = csv.DictReader(io.StringIO(out.getvalue().decode(), newline=""))
    assert row["title"] == title


def test_urls_are_lines() -> None:
    out = io.BytesIO()
    assert write_urls([STORED], out) == 1
    assert out.getvalue() == b"https://bees.example/varroa\n"


def test_nothing_is_a_valid_file_in_every_format() -> None:
    for name, write in WRITERS.items():
        if name == "parquet":
            pytest.importorskip("pyarrow")
        assert write([], io.BytesIO()) == 0


def test_parquet_has_typed_columns() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    out = io.BytesIO()
    assert WRITERS["parquet"]([PAGE, evil("=1+1")], out) == 2
    table = parquet.read_table(pyarrow.BufferReader(out.getvalue()))
    assert tuple(table.column_names) == FIELDS
    assert table.schema.field("score").type == pyarrow.float64()
    assert table.column("title").to_pylist() == ["Varroa", "=1+1"], "no spreadsheet, no quotes"
    assert table.column("path").to_pylist() == [WAY, WAY]


def test_parquet_may_have_the_texts() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    out = io.BytesIO()
    WRITERS["parquet"]([PAGE._replace(text=f"text {n}") for n in range(2_500)], out)
    table = parquet.read_table(pyarrow.BufferReader(out.getvalue()))
    assert tuple(table.column_names) == (*FIELDS, "text")
    assert table.column("text").to_pylist()[-1] == "text 2499"


def test_parquet_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'trailhound\[parquet\]'"):
        WRITERS["parquet"]([PAGE], io.BytesIO())
