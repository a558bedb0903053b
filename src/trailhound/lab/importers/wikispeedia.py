"""Wikispeedia: an encyclopedia for schools, its categories, and how players found their way in it.

A category becomes a label, a game becomes a trail.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec

from trailhound.lab.corpora.contents import BACK, Trail
from trailhound.lab.corpora.writer import CorpusWriter
from trailhound.lab.importers import CorpusKind, ImportRequest
from trailhound.lab.importers.packs import Pack, read_json_lines, read_table
from trailhound.urls import canonicalize

# A game that nobody plays on is closed after this pause, which is counted in its duration.
IDLE_SECONDS_OF_A_TIMEOUT = 1800

_NOTES = (
    "Origin: SNAP, Wikispeedia navigation paths (West and Leskovec, WWW 2012; West, Pineau and "
    "Precup, IJCAI 2009) on the 2007 Wikipedia Selection for Schools.",
    "Licence: page text GNU FDL (Wikipedia), some pages © SOS Children; game logs for research, "
    "with citation.",
    "Times: one start and one duration per game, clicks spaced evenly; the idle half hour of "
    "games that timed out is taken off.",
)


class PageLine(msgspec.Struct):
    """One line of ``pages.jsonl``."""

    url: str
    html: str
    article: str | None = None
    """The name by which tables and games call the page."""


def record_wikispeedia(request: ImportRequest, writer: CorpusWriter) -> None:
    """Read the pack in ``request.source``."""
    pack = Pack(request.source, "pages.jsonl.xz, categories.tsv.xz and paths_*.tsv.xz")
    urls = _record_pages(pack.required("pages.jsonl"), request, writer)
    for name, pattern, record in (
        ("categories", "categories.tsv", _record_categories),
        ("finished games", "paths_finished*.tsv", partial(_record_games, finished=True)),
        ("unfinished games", "paths_unfinished*.tsv", partial(_record_games, finished=False)),
    ):
        path = pack.optional(pattern)
        if path is None:
            writer.note(f"Missing in the pack: the table of {name}.")
        else:
            record(path, urls, writer)
    for note in _NOTES:
        writer.note(note)


def _record_pages(path: Path, request: ImportRequest, writer: CorpusWriter) -> dict[str, str]:
    """Record all pages; returns the canonical URL of each article name."""
    urls = {}
    for number, line in enumerate(read_json_lines(path, PageLine), start=1):
        writer.add_page(line.url, line.html.encode(errors="replace"), "text/html; charset=utf-8")
        if line.article is not None and (url := canonicalize(line.url)):
            urls[line.article] = url
        request.progress(number, None, "pages")
    return urls


def _record_categories(path: Path, urls: Mapping[str, str], writer: CorpusWriter) -> None:
    for fields in read_table(path):
        if len(fields) < 2:
            writer.skip("incomplete line of the table of categories")
        elif fields[0] not in urls:
            writer.skip("category of an article without a page")
        else:
            writer.add_label(urls[fields[0]], fields[1])


def _record_games(
    path: Path, urls: Mapping[str, str], writer: CorpusWriter, *, finished: bool
) -> None:
    kind = "finished" if finished else "unfinished"
    for fields in read_table(path):
        trail = _trail(fields, urls, finished)
        if trail is None:
            writer.skip(f"{kind} game that is incomplete or visits an article without a page")
        else:
            writer.add_trail(trail)


def _trail(fields: list[str], urls: Mapping[str, str], finished: bool) -> Trail | None:
    """Columns: user, time, duration, path; then a rating, or target and end (timeout, restart)."""
    if len(fields) < (4 if finished else 6) or not all(map(str.isdecimal, fields[1:3])):
        return None
    names = fields[3].split(";")
    if any(name != BACK and name not in urls for name in names):
        return None
    steps = tuple(BACK if name == BACK else urls[name] for name in names)
    seconds = float(fields[2])
    if finished:
        goal = steps[-1] if steps[-1] != BACK else ""
    else:
        goal = urls.get(fields[4], "")
        if fields[5] == "timeout":
            seconds = max(0.0, seconds - IDLE_SECONDS_OF_A_TIMEOUT)
    return Trail(fields[0], float(fields[1]), seconds, steps, finished, goal)


WIKISPEEDIA = CorpusKind(
    name="wikispeedia",
    summary="an encyclopedia with categories and thousands of recorded walks through it",
    record=record_wikispeedia,
)
