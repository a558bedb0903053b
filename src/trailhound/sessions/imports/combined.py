"""The access log of Apache and Nginx in the combined format (or common, or with the host first)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from trailhound.sessions.imports.imported import Tally
from trailhound.sessions.imports.pages_in_logs import (
    NO_HOST,
    NOT_A_LINE,
    why_no_page,
)
from trailhound.sessions.imports.traces import Access

# client identity user [time] "request" status bytes "referer" "user agent"
# Possessive (``*+``): what was taken is never tried in another way, which matters in long lines.
_QUOTED = rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
_WITHOUT_HOST = (
    rb"(\S++) \S++ \S++ \[(\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d):(\d\d [+-]\d{4})\] "
    + _QUOTED
    + rb" (\d{3}) (?:\d++|-)(?: "
    + _QUOTED
    + rb")?"
)
_LINE = re.compile(_WITHOUT_HOST)
_LINE_WITH_HOST = re.compile(rb"(\S++) " + _WITHOUT_HOST)
_MONTHS = {
    name: number
    for number, name in enumerate(b"jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_HTTPS_PORT = b":443"
_HTTP_PORT = b":80"


def combined_accesses(
    batches: Iterable[list[bytes]], tally: Tally, site: str = ""
) -> Iterator[Access]:
    """Every access that a line tells of; those that were for pages with URL and referring page.

    ``site`` (``https://www.example.org``) is where the paths are, unless a line names its host.
    """
    base, skipped, match = site.rstrip("/").encode(), tally.skipped, _LINE.match
    minutes, seconds = _Minutes(), _Seconds()
    for lines in batches:
        tally.read += len(lines)
        for line in lines:
            host, found = None, match(line)
            if found is not None:
                client, minute, second, request, status, referer = found.groups()
            elif (found := _LINE_WITH_HOST.match(line)) is not None:
                host, client, minute, second, request, status, referer = found.groups()
            else:
                _count_no_line(line, tally)
                continue
            try:
                when = minutes[minute] + seconds[second]
            except ValueError:
                skipped[NOT_A_LINE] += 1
                continue
            method, _, target = request.partition(b" ")
            target = target.rpartition(b" ")[0] or target
            reason = why_no_page(method, status, target)
            url = None if reason else _address(host, base, target)
            if url is None:
                skipped[reason or NO_HOST] += 1
            yield client, when, url, referer if referer and referer != b"-" else b""


def _count_no_line(line: bytes, tally: Tally) -> None:
    """A line that is none; blank ones do not count at all."""
    if not line or line.isspace():
        tally.read -= 1
    else:
        tally.skip(NOT_A_LINE)


class _Minutes(dict[bytes, float]):
    """From a minute as logs write it, ``01/Mar/2026:12:00``, to seconds since 1970 as if it were
    UTC; each is parsed once, ten times faster than by ``strptime``.
    """

    def __missing__(self, minute: bytes) -> float:
        month = _MONTHS.get(minute[3:6].lower(), 0)  # 0 is no month: a ValueError
        day, hours, minutes = int(minute[:2]), int(minute[12:14]), int(minute[15:17])
        when = datetime(int(minute[7:11]), month, day, hours, minutes, tzinfo=UTC).timestamp()
        if len(self) > 100_000:  # a log whose lines are in no order
            self.clear()
        self[minute] = when
        return when


class _Seconds(dict[bytes, float]):
    """From ``59 +0100`` to what comes on top of the minute: its seconds, less the zone's."""

    def __missing__(self, second: bytes) -> float:
        east = 60 * int(second[4:6]) + int(second[6:8])
        found = float(int(second[:2]) - 60 * (east if second[3:4] == b"+" else -east))
        if len(self) < 100_000:
            self[second] = found
        return found


def _address(host: bytes | None, base: bytes, target: bytes) -> bytes | None:
    if not target.startswith(b"/"):
        return target  # a proxy's log has whole addresses
    if host is None:
        return base + target if base else None
    if host.endswith(_HTTPS_PORT):
        return b"https://" + host.removesuffix(_HTTPS_PORT) + target
    return b"http://" + host.removesuffix(_HTTP_PORT) + target
