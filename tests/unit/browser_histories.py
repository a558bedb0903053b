"""Histories as browsers write them, made for tests: the tables that matter, with their columns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

AT = 1_772_366_400  # 2026-03-01 12:00:00 UTC

_FIREFOX = """
CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url LONGVARCHAR, title LONGVARCHAR,
  rev_host LONGVARCHAR, visit_count INTEGER DEFAULT 0, hidden INTEGER DEFAULT 0 NOT NULL,
  typed INTEGER DEFAULT 0 NOT NULL, frecency INTEGER DEFAULT -1 NOT NULL, last_visit_date INTEGER,
  guid TEXT, foreign_count INTEGER DEFAULT 0 NOT NULL, url_hash INTEGER DEFAULT 0 NOT NULL,
  description TEXT, preview_image_url TEXT, site_name TEXT, origin_id INTEGER,
  recalc_frecency INTEGER NOT NULL DEFAULT 0, alt_frecency INTEGER,
  recalc_alt_frecency INTEGER NOT NULL DEFAULT 0);
CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, from_visit INTEGER, place_id INTEGER,
  visit_date INTEGER, visit_type INTEGER, session INTEGER, source INTEGER DEFAULT 0 NOT NULL,
  triggeringPlaceId INTEGER);
CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type INTEGER, fk INTEGER DEFAULT NULL,
  parent INTEGER, position INTEGER, title LONGVARCHAR, keyword_id INTEGER, folder_type TEXT,
  dateAdded INTEGER, lastModified INTEGER, guid TEXT, syncStatus INTEGER NOT NULL DEFAULT 0,
  syncChangeCounter INTEGER NOT NULL DEFAULT 1);
"""
_CHROME = """
CREATE TABLE urls (id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR,
  visit_count INTEGER DEFAULT 0 NOT NULL, typed_count INTEGER DEFAULT 0 NOT NULL,
  last_visit_time INTEGER NOT NULL, hidden INTEGER DEFAULT 0 NOT NULL);
CREATE TABLE visits (id INTEGER PRIMARY KEY AUTOINCREMENT, url INTEGER NOT NULL,
  visit_time INTEGER NOT NULL, from_visit INTEGER, transition INTEGER DEFAULT 0 NOT NULL,
  segment_id INTEGER, visit_duration INTEGER DEFAULT 0 NOT NULL,
  opener_visit INTEGER);
"""


class Step(NamedTuple):
    """One visit; its number is its place in the list, from 1."""

    url: str
    kind: int
    came_from: int = 0
    opener: int = 0


def places(
    path: Path,
    steps: Iterable[Step],
    bookmarks: Iterable[tuple[str, str]] = (),
) -> Path:
    """Firefox's database, with bookmarks as (folder, url)."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(_FIREFOX)
        numbers: dict[str, int] = {}
        for number, step in enumerate(steps, start=1):
            place = _place(db, numbers, step.url)
            row = (number, step.came_from, place, (AT + number) * 1_000_000, step.kind)
            db.execute(
                "INSERT INTO moz_historyvisits (id, from_visit, place_id, visit_date, visit_type) "
                "VALUES (?, ?, ?, ?, ?)",
                row,
            )
        db.execute("INSERT INTO moz_bookmarks (id, type, parent, title) VALUES (1, 2, 0, '')")
        for number, (folder, url) in enumerate(bookmarks, start=10):
            values = (number * 2, 2, None, 1, folder)
            insert = "INSERT INTO moz_bookmarks (id, type, fk, parent, title) VALUES (?,?,?,?,?)"
            db.execute(insert, values)
            db.execute(insert, (number * 2 + 1, 1, _place(db, numbers, url), number * 2, "x"))
        db.commit()
    return path


def _place(db: sqlite3.Connection, numbers: dict[str, int], url: str) -> int:
    if url not in numbers:
        numbers[url] = len(numbers) + 1
        row = (numbers[url], url, f"Title of {url}")
        db.execute("INSERT INTO moz_places (id, url, title) VALUES (?, ?, ?)", row)
    return numbers[url]


def chrome_history(path: Path, steps: Iterable[Step]) -> Path:
    """Chrome's database."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(_CHROME)
        for number, step in enumerate(steps, start=1):
            when = (AT + number + 11_644_473_600) * 1_000_000
            db.execute(
                "INSERT INTO urls (id, url, title, last_visit_time) VALUES (?, ?, ?, ?)",
                (number, step.url, f"Title of {step.url}", when),
            )
            kind = step.kind - (1 << 32) if step.kind >> 31 else step.kind
            db.execute(
                "INSERT INTO visits (id, url, visit_time, from_visit, transition, opener_visit) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (number, number, when, step.came_from, kind, step.opener),
            )
        db.commit()
    return path


def chrome_bookmarks_file(path: Path, folder: str, urls: Iterable[str]) -> Path:
    """Chrome's bookmarks, all in one folder."""
    inner = [{"type": "url", "name": "x", "url": url} for url in urls]
    bar = {"type": "folder", "name": "Bookmarks bar", "children": [
        {"type": "folder", "name": folder, "children": inner}
    ]}  # fmt: skip
    path.write_text(json.dumps({"roots": {"bookmark_bar": bar, "other": {"children": []}}}))
    return path
