"""The lines of access logs: Squid's native format, and the combined format of Apache and Nginx."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from trailhound.sessions.importers.base import Tally

Access = tuple[bytes, float, bytes | None, bytes]
"""Client, Unix time, URL if it was for a page, referring page or nothing."""

MAX_TIME = 1e11
"""Seconds; far beyond any log, so that arithmetic stays exact."""

NOT_A_LINE = "not a line of this format"
NOT_GET = "no GET"
NOT_SUCCESSFUL = "no successful answer"
NOT_HTML = "not HTML, or not by its name"
NO_HOST = "no host in the line (give --site)"
NOT_ON_THE_WEB = "not an address on the web"

_FILES = frozenset(
    b"""css js mjs map json xml rss atom txt csv tsv ico png jpg jpeg gif webp svg bmp tif tiff avif
    woff woff2 ttf otf eot mp3 mp4 m4a m4v webm ogg ogv oga wav flac avi mov wmv mkv swf flv pdf ps
    doc docx xls xlsx ppt pptx odt ods odp rtf epub zip gz tgz bz2 xz zst 7z rar tar jar war exe msi
    dmg iso deb rpm apk bin dll class wasm torrent md5 sha1 sha256 sig asc m3u8 ts mpd webmanifest
    crl crx cab dat""".split()
)
_LONGEST_ENDING = max(map(len, _FILES))


def why_no_page(method: bytes, status: bytes, url: bytes) -> str:
    """Why a request was not for a page, as far as its name tells; empty when it may have been."""
    if method != b"GET":
        return NOT_GET
    if status != b"200" and not is_success(status):
        return NOT_SUCCESSFUL
    # Most requests are for a file whose name ends the address: a shortcut worth a second in a
    # million lines.
    if url.rpartition(b".")[2] in _FILES and b"?" not in url:
        return NOT_HTML
    return "" if may_be_page(url) else NOT_HTML


def may_be_page(url: bytes) -> bool:
    """Whether the name in a URL is not that of another kind of file."""
    path = url.partition(b"?")[0]
    _, dot, ending = path[-_LONGEST_ENDING - 1 :].rpartition(b".")
    return not dot or ending.lower() not in _FILES


def is_success(status: bytes) -> bool:
    """A page was sent, or the browser had it already (304)."""
    return status[:1] == b"2" or status == b"304"


def is_whole_in_squid(line: bytes) -> bool:
    """Whether a line that just ends may have broken off nowhere, its address least of all."""
    return len(line.split(None, _SQUID_FIELDS - 1)) == _SQUID_FIELDS


_SQUID_FIELDS = 10
_HTML = (b"text/html", b"application/xhtml+xml")


def squid_accesses(batches: Iterable[list[bytes]], tally: Tally) -> Iterator[Access]:
    """Every access that a line tells of; those that were for pages with their URL."""
    skipped = tally.skipped
    for lines in batches:
        for line in lines:
            # One split is the fastest parser there is; the tenth field takes the rest.
            fields = line.split(None, _SQUID_FIELDS - 1)
            if not fields:
                continue
            tally.read += 1
            try:
                when = float(fields[0])
                _, _, client, answer, _, method, url = fields[:7]
            except ValueError:
                skipped[NOT_A_LINE] += 1
                continue
            status = answer.rpartition(b"/")[2]
            if not 0 < when < MAX_TIME or not status.isdigit():
                skipped[NOT_A_LINE] += 1
                continue
            media_type = fields[9].strip() if len(fields) > 9 else b"-"
            reason = _why_no_squid_page(method, status, url, media_type)
            if reason:
                skipped[reason] += 1
            yield client, when, None if reason else url, b""


def _why_no_squid_page(method: bytes, status: bytes, url: bytes, media_type: bytes) -> str:
    if method != b"GET":
        return "CONNECT: encrypted, the page is unknown" if method == b"CONNECT" else NOT_GET
    if not is_success(status):
        return NOT_SUCCESSFUL
    if media_type == b"-" or not media_type.strip():
        return "" if may_be_page(url) else NOT_HTML
    return "" if media_type.lower().startswith(_HTML) else NOT_HTML


# client identity user [time] "request" status bytes "referer" "user agent"
# Possessive (``*+``): what was taken is never tried in another way, which matters in long lines.
_QUOTED = rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
# Of addresses that were forwarded, ``client, proxy``, the first is who asked.
_CLIENT = rb'"?+([^\s,"]++)(?:,++ ?+[^\s,"]++)*+"?+ '
_TIME = rb"\[(\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d):(\d\d [+-]\d{4})\] "
_ANSWER = _QUOTED + rb" (\d{3}) (?:\d++|-)(?: " + _QUOTED + rb")?"
_LINE = re.compile(_CLIENT + rb"\S++ \S++ " + _TIME + _ANSWER)
# A user's name may hold blanks: it goes on up to the time.
_USER = rb"[^\[]*+(?:\[(?!\d\d/[A-Za-z]{3}/)[^\[]*+)*+(?<= )"
_LINE_WITH_LONG_NAME = re.compile(_CLIENT + rb"- " + _USER + _TIME + _ANSWER)
# Behind a host. Other words there are who asked, an identity and a name of two words, and the first
# of them must never become a page's host.
_IS_CLIENT = rb'(?!- )(?=\S++ - |"?+[0-9A-Fa-f]*+[.:])'
# So a bare address is no host: with a port it is, or in brackets.
_IS_HOST = rb"(?!(?:\d++(?:\.\d++){3}|[0-9A-Fa-f]*+:[0-9A-Fa-f]*+:[0-9A-Fa-f:.]*+) )"
_LINE_WITH_HOST = re.compile(
    _IS_HOST + rb'([^\s,"]++) ' + _IS_CLIENT + _CLIENT + rb"\S++ " + _USER + _TIME + _ANSWER
)
_ESCAPED = re.compile(rb'\\(?:x([0-9A-Fa-f]{2})|(["\\]))')
_MONTHS = {
    name: number
    for number, name in enumerate(b"jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}


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
            host, found = None, match(line) or _LINE_WITH_LONG_NAME.match(line)
            if found is not None:
                client, minute, second, request, status, referer = found.groups()
            elif (found := _LINE_WITH_HOST.match(line)) is not None:
                host, client, minute, second, request, status, referer = found.groups()
            else:
                if line and not line.isspace():
                    skipped[NOT_A_LINE] += 1
                else:
                    tally.read -= 1
                continue
            try:
                when = minutes[minute] + seconds[second]
            except ValueError:
                skipped[NOT_A_LINE] += 1
                continue
            method, _, target = request.partition(b" ")
            target = _unescaped(target.rpartition(b" ")[0] or target)
            reason = why_no_page(method, status, target)
            url = None if reason else _address(host, base, target)
            if url is None:
                skipped[reason or NO_HOST] += 1
            yield client, when, url, _unescaped(referer) if referer and referer != b"-" else b""


def _unescaped(text: bytes) -> bytes:
    """What Apache and Nginx were sent: they write quotes, and bytes that do not print, escaped."""
    return _ESCAPED.sub(_escaped_byte, text) if b"\\" in text else text


def _escaped_byte(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(found[1].decode()) if found[1] else found[2]


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
    if host.endswith(b":443"):
        return b"https://" + host.removesuffix(b":443") + target
    return b"http://" + host.removesuffix(b":80") + target
