"""What people hand in: recordings of browsing, archives, logs, configuration files."""

from __future__ import annotations

import gzip
import io
import sqlite3
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from random import Random

from benchmarks.fuzz.grammar import Grammar
from benchmarks.fuzz.web_grammars import HEADERS, PAGE, URL

# Well formed throughout: what is broken at all is refused as a whole, and mutations break enough.
_JSON = {
    "string": ('"«word»"', '"«escaped»"', '"\\u0000\\ud83d\\udc1d"', '"«date»"', '"«number»"',
               '""'),
    "escaped": ("bees", "\\n\\t«escaped»", "«url»", "«number»"),
    "url": ("http://a.test/", "https://b.test/x?y#z", "about:blank", "http://[", "", "//x",
            "http://«word».test/«small»", "http://a.test:«number»/"),
    "json": ("null", "«numeral»", "«string»", "[«json»,«json»]", '{"a":«json»}', "true", "{}"),
    "numeral": ("0", "-1", "1.5", "1e308", "9223372036854775808", "9" * 400, "-0.0", "200"),
    "time": ("1772366400", "1772366400.5", "«numeral»", "-1", "1e300", "«json»"),
}  # fmt: skip

SESSION = Grammar(_JSON | {
    "start": ('{"format":"trailhound-session","version":1,"topic":"t"}\n«events»',
              "«header»\n«events»"),
    "header": ('{"format":«string»,"version":«numeral»}',
               '{"format":"trailhound-session","version":2}',
               '{"format":"trailhound-session","version":1,"topic":«json»}', "«json»", "",
               "\ufeff{}"),
    "events": ("«event»", "«event»\n«events»", "«event»\n«events»\n«events»"),
    "event": (
        '{"event":"visit","time":«time»,"url":"«url»"}',
        '{"event":"visit","time":1,"url":"«url»","from_url":"«url»","reached":"«reached»",'
        '"requested_url":"«url»","frame_of":"«url»","title":«string»,"html":«html»}',
        '{"event":"visit","time":2,"url":"«url»","html_ref":"«reference»"}',
        '{"event":"mark","time":«time»,"url":"«url»","useful":«useful»,"label":«string»}',
        '{"event":"submit","time":«time»}',
        '{"event":«json»}',
        "«json»",
        "«odd»",
    ),
    "reached": ("link", "typed", "back", "form", "«word»"),
    "useful": ("true", "false", "null", "«json»"),
    "html": ('"<a href=/b>bees</a>"', '"<frameset><frame src=x>"', "«string»", "null",
             '"<link rel=canonical href=http://a.test/>the same words for all"'),
    "reference": ("page.html", "../x", "/etc/passwd", "«word»", "a/b", "", ".", "C:\\\\x",
                  "«escaped»"),
})  # fmt: skip

MESSAGE = Grammar(_JSON | {
    "start": ('{"session":"20260301t120000-0123456789ab","topic":«topic»,"events":[«events»]}',
              '{"session":«string»,"topic":«string»,"events":«json»}', "«json»"),
    "events": ("«event»", "«event»,«events»"),
    "topic": ('"bees"', "«string»", '"../x"', '"con"', '"«odd»"', '"«word» «number»"'),
    "event": (
        '{"event":"visit","time":«time»,"url":"«url»","title":«string»,"from_url":"«url»"}',
        '{"event":"mark","time":«time»,"url":"«url»"}',
        '{"event":"submit","time":«time»}',
        "«json»",
    ),
})  # fmt: skip

HAR = Grammar(_JSON | {
    "start": ('{"log":{"pages":[«page»],"entries":[«entries»]}}', '{"log":{"entries":[«entries»]}}',
              '{"log":«json»}', "«json»", '\ufeff{"log":{"entries":[«entries»]}}'),
    "page": ('{"id":"p","title":«string»}', "«json»", '{"id":«json»}'),
    "entries": ("«entry»", "«entry»,«entries»", "«entry»,«entry»,«entries»"),
    "entry": (
        '{"request":«request»,"response":«response»,"startedDateTime":"«date»","pageref":"p"}',
        '{"request":«request»,"response":«response»,"startedDateTime":«string»,"_resourceType":«string»}',
        "«json»",
    ),
    "request": ('{"url":"«url»","method":"GET","headers":[«headers»]}', '{"url":«json»}', "«json»"),
    "headers": ('{"name":"Referer","value":"«url»"}', '{"name":«string»,"value":«json»}',
                '{"name":"sec-fetch-dest","value":"iframe"}', "«headers»,«headers»"),
    "response": (
        '{"status":200,"content":{"mimeType":"text/html","text":"<title>«word»</title>"}}',
        '{"status":200,"content":{"mimeType":«string»,"text":«string»,"encoding":"base64"}}',
        '{"status":302,"redirectURL":"«url»"}',
        '{"status":«numeral»,"content":«json»,"headers":[{"name":"Location","value":«string»}]}',
    ),
})  # fmt: skip

BOOKMARKS = Grammar(_JSON | {
    "start": ('{"roots":{"bar":«node»,"other":«node»}}', '{"roots":«json»}', "«json»"),
    "node": ('{"url":"«url»","name":«string»}', '{"name":«json»,"children":[«node»,«node»]}',
             '{"children":«json»}', "«json»", '{"url":«json»,"children":[«node»]}'),
})  # fmt: skip

ANSWER = Grammar(_JSON | {
    "start": ("[«results»]", '{"results":[«results»]}', '{"backlinks":[«results»]}', "«json»",
              '["q",[«results»],[«results»],[«results»]]'),
    "results": ('"«url»"', '{"url":"«url»","title":«json»,"content":«string»}', "«json»,«results»"),
})  # fmt: skip

COMBINED = Grammar({
    "start": ("«line»", "«line»\n«start»", "«line»\r\n«start»", "«line»\n«line»\n«start»"),
    "line": (
        '10.0.0.1 - - [01/Mar/2026:12:00:00 +0000] "GET /«small» HTTP/1.1" 200 9 "-" "x"',
        '«client» - - [«stamp»] "«request»" «status» «number» "«referer»" "Mozilla"',
        '«host» «client» - - [«stamp»] "«request»" «status» - "«referer»" "x"',
        '«client» - - [«stamp»] "«request»" «status» «small»',
        "«odd»",
        "«any» «odd»",
        "",
    ),
    "client": ("10.0.0.«small»", "::1", "«odd»", "host.test"),
    "host": ("www.test", "www.test:443", "www.test:80", "«odd»"),
    "stamp": ("01/Mar/2026:12:00:00 +0000", "01/Mar/2026:12:«small»:«small» +0100",
              "31/Feb/2026:12:00:00 +0000", "01/Xyz/0000:99:99:99 -9999",
              "01/Jan/9999:23:59:59 -9999",
              "01/Jan/0001:00:00:00 +9999", "«odd»"),
    "request": ("GET / HTTP/1.1", "GET «path» HTTP/1.1", "POST / HTTP/1.0", "«odd»", "GET", "GET  ",
                'GET \\"«odd»', "GET http://«host»«path»", "-"),
    "path": ("/", "/a.html", "/a.png", "/«odd»", "/a?b=«odd»", "/«small»", "«path»«path»"),
    "status": ("200", "304", "404", "«number»", "20٣"),
    "referer": ("-", "", "https://www.test/«small»", "«odd»", 'a\\"b', "http://["),
})  # fmt: skip

SQUID = Grammar({
    "start": ("«line»", "«line»\n«start»", "«line»\n«line»\n«start»"),
    "line": (
        "1772366400.1 9 10.0.0.1 TCP_MISS/200 9 GET http://a.test/«small» - HIER_NONE/- text/html",
        "«time» 10 «client» TCP_MISS/«status» 99 «method» «url» - HIER_DIRECT/192.0.2.1 «type»",
        "«time» 10 «client» TCP_MISS/200 99 GET «url»",
        "«odd» «line»",
        "«any»",
        "",
    ),
    "time": ("1772366400.123", "«number»", "1772366«small»", "nan", "inf", "1e10"),
    "client": ("10.0.0.«small»", "«odd»"),
    "status": ("200", "304", "«number»"),
    "method": ("GET", "CONNECT", "POST", "«odd»"),
    "url": ("http://«word».test/", "«odd»", "http://[", "a.test:443", "http://a.test/«small»"),
    "type": ("text/html", "-", "image/png", "«odd»", ""),
})  # fmt: skip

TOML = Grammar({
    "start": ("[crawl]\n«setting»", "«section»\n«settings»", "«section»\n«settings»\n«start»",
              "«odd»"),
    "section": ("[crawl]", "[fetch]", "[judge]", "[output]", "[sources]", "[«key»]", "[[crawl]]",
                "[crawl.«key»]", "[[fetch.«key»]]", "[topics.bees]", "[topics]"),
    "settings": ("«setting»", "«setting»\n«settings»"),
    "setting": ("max_requests = «value»", "«name» = «value»", "«name» = «value»",
                "«key» = «value»"),
    "name": ("max_time", "seeds", "scope", "strategy", "same_domain", "delay_seconds", "max_bytes",
             "threshold", "kind", "user_agent", "metrics_port", "sinks", "max_idle", "max_pages",
             "concurrency", "archive_file_bytes", "urls", "url_patterns", "url_regexes", "words",
             "text_regexes", "session", "start"),
    "key": ("a", "a.b", '"«word»"', "'«odd»'", "«word»", "seed", "max_request", '""', "«run»"),
    "value": ("1", "«number»", '"«word»"', "'«odd»'", "[«value», «value»]", "{a = «value»}", "true",
              "0x«hex»", "«date»", '"""«odd»"""', '"\\u«hex»"', "'10m'", "'«number»h'", "nan",
              "['https://example.org/', '«word»']", "'('", "'*.«word»'", "-inf",
              "1979-05-27T07:32:00Z"),
    "hex": ("F", "FFFF", "«hex»«hex»", "d800", "FFFFFFFFFFFFFFFF«hex»", "F" * 4000),
})  # fmt: skip

ASSIGNMENT = Grammar({
    "start": ("crawl.max_requests=«value»", "«key»=«value»", "«key» = «value»", "«odd»"),
    "key": ("crawl.max_time", "crawl.seeds", "fetch.delay_seconds", "judge.threshold", "«odd»",
            "crawl.max_pages", "output.archive", "crawl.seed", "output.metrics_port",
            "fetch.resolve"),
    "value": ("1", "«number»", "«odd»", "«number»h«number»m", "true", "a,b «word»", "«any»",
              "1h30m",
              "«run»"),
})  # fmt: skip

_RECORDS = Grammar({
    "start": ("«record»", "«record»«start»"),
    "record": ("WARC/1.«small»\r\n«fields»\r\n",),
    "fields": ("«field»\r\n", "«field»\r\n«fields»"),
    "field": (
        "WARC-Type: «type»",
        "WARC-Target-URI: http://a.test/",
        "WARC-Target-URI: <«odd»>",
        "WARC-Date: «date»",
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>",
        "WARC-Payload-Digest: sha1:«word»",
        "Content-Type: application/http; msgtype=response",
        "Content-Length: «number»",
        "WARC-Refers-To-Target-URI: «odd»",
        "«odd»: «any»",
        " «odd»",
    ),
    "type": ("response", "resource", "revisit", "warcinfo", "request", "«odd»"),
})  # fmt: skip


def warc(rng: Random) -> bytes:
    """A few records, most of them whole; compressed or not."""
    records = [_warc_record(rng) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.3:
        records.append(_RECORDS.make(rng).encode("utf-8", "replace"))
    if rng.random() < 0.4:
        return b"".join(gzip.compress(record, 1, mtime=0) for record in records)
    return b"".join(records)


def _warc_record(rng: Random) -> bytes:
    url = URL.make(rng).encode("utf-8", "replace") if rng.random() < 0.5 else b"http://a.test/"
    kind = rng.choice((b"response", b"response", b"resource", b"revisit", b"metadata"))
    block = _http_message(rng) if rng.random() < 0.9 else rng.randbytes(40)
    length = len(block) if rng.random() < 0.9 else rng.choice((0, 1, len(block) + 9, 10**12, -1))
    date = rng.choice((b"2026-03-01T12:00:00Z", b"2026", b"", b"0001-01-01T00:00:00+14:00"))
    head = b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Target-URI: %b\r\nWARC-Date: %b\r\n"
    fields = head + b"WARC-Payload-Digest: sha1:%d\r\nContent-Length: %d\r\n\r\n%b\r\n\r\n"
    return fields % (kind, url.replace(b"%", b"%%"), date, rng.randrange(3), length, block)


def _http_message(rng: Random) -> bytes:
    body = PAGE.make(rng).encode("utf-8", "replace")
    coding = rng.choice((b"", b"Content-Encoding: gzip\r\n", b"Transfer-Encoding: chunked\r\n"))
    if b"gzip" in coding and rng.random() < 0.7:
        body = gzip.compress(body, 1, mtime=0)
    elif b"chunked" in coding and rng.random() < 0.7:
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    status = rng.choice((b"200 OK", b"302 Found", b"", b"999999999999 x", b"-1", b"304"))
    headers = HEADERS.make(rng).encode("utf-8", "replace").replace(b"\n", b"\r\n")
    return b"HTTP/1.1 %b\r\n%b%b\r\n\r\n%b" % (status, coding, headers, body)


def wacz(rng: Random) -> bytes:
    """A package with an archive and a list of pages."""
    file = io.BytesIO()
    packing = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(file, "w", packing) as package:
        package.writestr("archive/data.warc", warc(rng))
        lines = [_listed_page(rng) for _ in range(rng.randrange(5))]
        package.writestr("pages/pages.jsonl", '{"format":"json-pages-1.0"}\n' + "\n".join(lines))
    return file.getvalue()


def _listed_page(rng: Random) -> str:
    stamp = rng.choice(
        ('"2026-03-01T12:00:00Z"', "1772366400000", '"20260301120000"', "1e999", '""')
    )
    return f'{{"url": "{rng.choice(("http://a.test/", "x"))}", "ts": {stamp}, "title": "bees"}}'


_CHROME = (
    "CREATE TABLE urls (id INTEGER PRIMARY KEY, url, title)",
    "CREATE TABLE visits (id INTEGER PRIMARY KEY, url, visit_time, from_visit, transition,"
    " opener_visit)",
)
_FIREFOX = (
    "CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url, title)",
    "CREATE TABLE moz_historyvisits (id INTEGER PRIMARY KEY, place_id, visit_date, from_visit,"
    " visit_type)",
    "CREATE TABLE moz_bookmarks (id INTEGER PRIMARY KEY, type, fk, parent, title)",
)
_VALUES = (
    None,
    0,
    1,
    2,
    3,
    5,
    7,
    -1,
    2**63 - 1,
    -(2**63),
    1.5,
    1e300,
    float("inf"),
    "x",
    b"\xff",
    "",
)
_AT = 13_416_840_000_000_000

Tables = Mapping[str, Sequence[Sequence[object]]]
"""Rows by the names of their tables."""


def chrome_history(rng: Random) -> bytes:
    """A database of the right shape with values of any kind."""
    pages = [(number, _some_url(rng), rng.choice(_VALUES)) for number in range(1, 6)]
    visits = [(number, rng.choice((1, 2, 3, *_VALUES)), rng.choice((_AT, *_VALUES)),
               *(rng.choice((number - 1, *_VALUES)) for _ in range(3)))
              for number in range(1, rng.randrange(2, 12))]  # fmt: skip
    return database(_CHROME, {"urls": pages, "visits": visits})


def firefox_history(rng: Random) -> bytes:
    """The same for Firefox."""
    places = [(number, _some_url(rng), rng.choice(_VALUES)) for number in range(1, 6)]
    visits = [(number, rng.choice((1, 2, 3, *_VALUES)), rng.choice((_AT, *_VALUES)),
               rng.choice((number - 1, *_VALUES)), rng.choice((1, 5, 6, *_VALUES)))
              for number in range(1, rng.randrange(2, 12))]  # fmt: skip
    marks = [(number, rng.choice((1, 2)), *(rng.choice((number - 1, *_VALUES)) for _ in range(3)))
             for number in range(1, 8)]  # fmt: skip
    rows: Tables = {"moz_places": places, "moz_historyvisits": visits, "moz_bookmarks": marks}
    return database(_FIREFOX, rows)


def long_redirects(size: int) -> bytes:
    """A chain of redirects, and as many visits that all follow from its end."""
    half = size // 200
    steps = [*range(half), *[half] * half]
    pages = [(number, f"http://a.test/{number}", "") for number in range(1, len(steps) + 1)]
    redirect = 0x8000_0000 - (1 << 32)
    visits = [(n, n, _AT + n, before, redirect, 0) for n, before in enumerate(steps, start=1)]
    return database(_CHROME, {"urls": pages, "visits": visits})


def deep_folders(size: int) -> bytes:
    """Bookmarks at the bottom of folders within folders."""
    half = size // 200
    folders = [(number, 2, None, number - 1, "folder") for number in range(1, half)]
    marks = [(number, 1, 1, half - 1, "") for number in range(half, 2 * half)]
    rows: Tables = {"moz_places": [(1, "http://a.test/", "")], "moz_bookmarks": [*folders, *marks]}
    return database(_FIREFOX, rows)


def database(tables: Iterable[str], rows: Tables) -> bytes:
    """The file of an SQLite database."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in tables:
            connection.execute(table)
        for name, values in rows.items():
            places = ", ".join("?" * len(values[0])) if values else ""
            connection.executemany(f"INSERT INTO {name} VALUES ({places})", values)
        connection.commit()
        return connection.serialize()


def _some_url(rng: Random) -> object:
    return rng.choice((f"http://a.test/{rng.randrange(5)}", URL.make(rng), *_VALUES))
