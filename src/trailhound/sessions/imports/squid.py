"""Squid's native access log.

A line is ``time elapsed client code/status bytes method URL user peer type``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trailhound.sessions.imports.imported import Tally
from trailhound.sessions.imports.pages_in_logs import (
    NOT_A_LINE,
    NOT_GET,
    NOT_HTML,
    NOT_SUCCESSFUL,
    is_success,
    may_be_page,
)
from trailhound.sessions.imports.traces import MAX_TIME, Access

_HTML = (b"text/html", b"application/xhtml+xml")


def squid_accesses(batches: Iterable[list[bytes]], tally: Tally) -> Iterator[Access]:
    """Every access that a line tells of; those that were for pages with their URL."""
    skipped = tally.skipped
    for lines in batches:
        for line in lines:
            # One split is the fastest parser there is; the tenth field takes the rest.
            fields = line.split(None, 9)
            if not fields:
                continue
            tally.read += 1
            try:
                when, client, answer, method, url = (
                    float(fields[0]),
                    fields[2],
                    fields[3],
                    fields[5],
                    fields[6],
                )
            except (IndexError, ValueError):
                skipped[NOT_A_LINE] += 1
                continue
            status = answer.rpartition(b"/")[2]
            if not 0 < when < MAX_TIME or not status.isdigit():
                skipped[NOT_A_LINE] += 1
                continue
            reason = _why_no_page(method, status, url, fields[-1] if len(fields) > 9 else b"-")
            if reason:
                skipped[reason] += 1
            yield client, when, None if reason else url, b""


def _why_no_page(method: bytes, status: bytes, url: bytes, media_type: bytes) -> str:
    if method != b"GET":
        return "CONNECT: encrypted, the page is unknown" if method == b"CONNECT" else NOT_GET
    if not is_success(status):
        return NOT_SUCCESSFUL
    if media_type == b"-" or not media_type.strip():
        return "" if may_be_page(url) else NOT_HTML
    return "" if media_type.lower().startswith(_HTML) else NOT_HTML
