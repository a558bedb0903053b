"""Inputs that are meant to be slow: what each reader's loops and patterns would stumble over.

Each family is an input of any size; it should cost four times as much at four times the size.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping

from benchmarks.fuzz import documents
from benchmarks.fuzz.mutations import Swollen
from benchmarks.fuzz.recordings import deep_folders, long_redirects

Make = Callable[[int], bytes]


def grown(head: bytes, piece: bytes, tail: bytes = b"") -> Make:
    """``head``, ``piece`` as often as fits, ``tail``."""
    return Swollen(head, piece, tail).of_size


def halves(head: bytes, first: bytes, second: bytes, tail: bytes = b"") -> Make:
    """One piece in the first half, another in the second."""

    def make(size: int) -> bytes:
        before = Swollen(b"", first).of_size(size // 2)
        return head + before + Swollen(b"", second).of_size(size // 2) + tail

    return make


_SESSION = b'{"format":"trailhound-session","version":1,"topic":"t"}\n'
_HAR = b'{"log":{"entries":['
_HAR_ENTRY = (
    b'{"request":{"url":"http://h######.test/","headers":[{"name":"Referer","value":'
    b'"http://none.test/"}]},"response":{"status":200,"content":{"mimeType":"text/html"}},'
    b'"startedDateTime":"2026-03-01T12:00:00Z"},'
)
_LOG_LINE = b'10.0.0.1 - - [01/Mar/2026:12:00:00 +0000] "GET /###### HTTP/1.1" 200 9 "-" "x"\n'
_SQUID_LINE = b"1772366400.1 9 c###### TCP_MISS/200 9 GET http://a.test/ - NONE/- text/html\n"
_WARC_RECORD = (
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/######\r\n"
    b"WARC-Date: 2026-03-01T12:00:00Z\r\nContent-Length: 59\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Bees</a>\r\n\r\n"
)


def _torn_archive(size: int) -> bytes:
    stored = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\0\x05\0\xfa\xffWARC/"
    block = b"\0" + len(stored).to_bytes(2, "little")
    block += (0xFFFF ^ len(stored)).to_bytes(2, "little") + stored
    return grown(stored, block)(size)


def _packed_then_junk(size: int) -> bytes:
    return b"\x01" + zlib.compress(b"bees " * size) + b"\xff" * size


def _members(size: int) -> bytes:
    return grown(b"\0", gzip.compress(b"", mtime=0))(size)


FAMILIES: Mapping[str, Mapping[str, Make]] = {
    **documents.FAMILIES,
    "page": {
        "blanks in a refresh": grown(b"<meta http-equiv=refresh content='", b" ", b"'>"),
        "blanks in meta charset": grown(b"<meta charset=", b" ", b"!>"),
        "comments that do not end": grown(b"", b"<!--"),
        "accents on one letter": halves(b"e", "\u0301".encode(), "\u0316".encode()),
        "ligatures that expand": grown(b"", "\ufdfa".encode()),
        "paragraphs": grown(b"", b"<p>"),
        "open elements": grown(b"", b"<div>"),
        "open formatting": grown(b"", b"<b>"),
        "numbered formatting": grown(b"", b"<p><i id=######>"),
        "formatting behind comments": grown(b"", b"<p><i id=######><!--</i>-->"),
        "stray end tags": grown(b"", b"<span><!--</span>--></b></dd>"),
        "tables in tables": grown(b"", b"<table><td>"),
        "tables and formatting": grown(b"", b"<table><b>x</table>"),
        "attributes": grown(b"<p ", b"a###### ", b">"),
        "small attributes": grown(b"", b"<p a b c d e f g h i j k>"),
        "links": grown(b"", b"<a href=/######>bees</a> "),
        "links with attributes": grown(b"", b"<a href=/###### a b c d e f g h i j k l m>x</a>"),
        "links of one letter": halves(b"", b"aaaaaaaa", b"<a href=/######>a</a>"),
        "long addresses": grown(b"", b"<a href=/" + b"x" * 7_000 + b"######>b</a>"),
        "addresses of accents": grown(
            b"", b"<a href=http://######" + "\u0301".encode() * 900 + "\u0316".encode() * 900 + b">"
        ),
        "addresses of dots": grown(b"", b"<a href=" + b"../x/" * 1_500 + b"######>b</a>"),
        "headings": grown(b"", b"<h2>bees ######</h2>"),
        "hidden in hidden": grown(b"", b"<div hidden>x"),
        "styles": grown(b"", b"<p style='display                     : nne'>"),
        "one long style": grown(b"<p style='", b"display ", b"'>"),
        "options": grown(b"<select>", b"<option>"),
        "frames": grown(b"<frameset>", b"<frame src=/######>"),
        "noframes": grown(b"<frameset><noframes>", b"<a href=/######>b</a>", b"</noframes>"),
        "sentences": grown(b"<p>", b"The hive of the bees is in the garden ######. "),
        "Chinese": grown(b"<p>", "蜜蜂采花".encode()),
        "words": grown(b"<p>", b"w###### "),
        "entities": grown(b"<p>", b"&amp;&#x110000;&lt"),
        "invalid UTF-8": grown(b"<meta charset=utf-8>", b"\xff"),
        "images in a link": grown(b"<a href=x title=t>", b"<img alt='a ######'>"),
        "scripts": grown(b"", b"<script>"),
        "foreign elements": grown(b"", b"<svg><p>"),
        "nested foreign elements": grown(b"", b"<math><mi><annotation-xml><svg>"),
        "rubies": grown(b"", b"<ruby><rt>"),
        "list items": grown(b"", b"<li><p>"),
        "forms and buttons": grown(b"", b"<form><button>"),
        "templates": grown(b"", b"<template>"),
        "body tags": grown(b"", b"<body a######=1>"),
    },
    "encoding": {
        "blanks before a charset": grown(b"text/html; charset=", b" ", b"!\n<p>"),
        "many charsets": grown(b"", b"charset = ", b"\n<p>"),
        **{
            f"junk as {name}": grown(b"text/html; charset=" + name.encode() + b"\n", b"\xff\x81")
            for name in ("utf-8", "gb18030", "big5", "shift_jis", "euc-jp", "iso-2022-jp", "cp1252")
        },
        "escapes of ISO-2022": grown(b"charset=iso-2022-jp\n", b"\x1b$B\x1b(B"),
        "undeclared bytes": grown(b"\n", b"\xe4\xf6\xfc "),
        "UTF-16 halves": grown(b"\n\xff\xfe", b"\x00\xd8"),
    },
    "parse guard": {
        "tags": grown(b"", b"<b>"),
        "signs": grown(b"", b"<a ="),
        "quotes": grown(b"<a b=", b"\"'="),
        "comments": grown(b"", b"<p><i id=######><!--</i>-->"),
        "attributes": grown(b"<p ", b"a###### "),
    },
    "url": {
        "dot segments": grown(b"http://a.test/", b"a/../"),
        "slashes": grown(b"http://a.test", b"/"),
        "labels": grown(b"http://", b"a.", b"co.uk/"),
        "letters in a host": grown(b"http://", "é".encode(), b".org/"),
        "other letters in a host": grown(b"http://", "\u0627\u0301\u0316".encode(), b".org/"),
        "users": grown(b"http://", b"a:b@", b"a.test/"),
        "escapes of escapes": grown(b"http://a.test/%", b"25"),
        "mixed escapes": grown(b"http://a.test/", b"%%32%35"),
        "parameters": grown(b"http://a.test/?", b"utm_a=1&b=2&"),
        "session parameters": grown(b"http://a.test/?", b"cfid=1&cftoken=2&jsessionid="),
        "sessions in a path": grown(b"http://a.test/", b";jsessionid=1/.."),
        "sessions of ASP": grown(b"http://a.test/a.aspx", b"/(s(lit3py55t21z5v55vlm25s55))"),
        "a typed name": grown(b"", b"a.", b" @"),
        "tabs and line ends": grown(b"http://a.test/", b"a\t\n"),
        "an IPv4 address": grown(b"http://", b"0x7f."),
        "an IPv6 address": grown(b"http://[", b"1:", b"]/"),
    },
    "headers": {
        "charset": grown(b"Content-Type: charset=", b" ", b"!"),
        "retry digits": grown(b"Retry-After: ", b"9"),
        "retry words": grown(b"Retry-After: Sun, ", b"01 Mar "),
        "retry signs": grown(b"Retry-After: 1", b"-1:1+"),
        "location": grown(b"Location: ", b"/.."),
        "raw bytes in a location": grown(b"Location: /", b"\xff"),
        "robots tags": grown(b"X-Robots-Tag: ", b"noindex, a:"),
    },
    "content coding": {
        "junk behind a body": _packed_then_junk,
        "empty members": _members,
        "a zstd frame of skips": grown(b"\x03", b"\x50\x2a\x4d\x18\0\0\0\0"),
        "brotli metadata": grown(b"\x02\x0c", b"\x0c"),
    },
    "robots": {
        "names and rules": halves(b"", b"User-agent: x######\n", b"Disallow: /######\n"),
        "asterisks": halves(b"", b"User-agent: b*e*######*\n", b"Disallow: /######\n"),
        "prefixes": halves(b"", b"User-agent: bees\nUser-agent: b\n", b"Disallow: /######\n"),
        "names with a tab": halves(b"", b"user\tagent x######\n", b"Disallow: /######\n"),
        "wildcards": grown(b"User-agent: *\n", b"Disallow: /*a*b*c*d*######*$\n"),
        "one long wildcard": grown(b"User-agent: *\nDisallow: /", b"*a"),
        "dollars": grown(b"User-agent: *\n", b"Disallow: /$$$$$######\n"),
        "one line of dollars": grown(b"User-agent: *\nDisallow: /", b"$"),
        "sitemaps": grown(b"", b"Sitemap: /######\n"),
        "digits": grown(b"User-agent: *\nRequest-rate: 1/", b"9"),
        "escapes": grown(b"User-agent: *\nDisallow: /", b"%e4"),
        "words": grown(b"", b"a "),
    },
    "sitemap": {
        "depth": grown(b"<urlset>", b"<a>"),
        "entries": grown(b"<urlset>", b"<url><loc>/######</loc></url>"),
        "bare entries": grown(b"<urlset>", b"<url/>"),
        "a comment without end": grown(b"<urlset><!--", b"x"),
        "a tag without end": grown(b"<urlset><url a='", b"x"),
        "attributes": grown(b"<urlset><url ", b"a######='' ", b">"),
        "name spaces": grown(b"<urlset ", b"xmlns:a######='x' ", b">"),
        "text": grown(b"<urlset><url><loc>", b"x&amp;"),
        "dates": grown(b"<urlset>", b"<url><loc>/######</loc><lastmod>1 1 1 1</lastmod></url>"),
        "a long date": grown(b"<urlset><url><loc>/a</loc><lastmod>", b"1 ", b"</lastmod></url>"),
        "lines": grown(b"", b"http://a.test/######\n"),
        "names": grown(b"<urlset>", b"<n######/>"),
    },
    "session": {
        "visits": grown(_SESSION, b'{"event":"visit","time":1,"url":"http://a.test/######"}\n'),
        "references to itself": grown(
            _SESSION, b'{"event":"visit","time":1,"url":"x","html_ref":"session.jsonl"}\n'
        ),
        "damaged lines": grown(_SESSION, b"x\n"),
        "blank lines": grown(_SESSION, b"\n"),
        "depth": grown(_SESSION, b"["),
        "escapes": grown(_SESSION + b'{"event":"visit","url":"', b"\\u0041"),
        "one long number": grown(_SESSION + b'{"event":"submit","time":', b"9", b"}"),
    },
    "page graph": {
        "redirects": grown(
            _SESSION,
            b'{"event":"visit","time":1,"url":"http://a.test/a######","requested_url":"http://a.t/"}\n',
        ),
        "visits": grown(_SESSION, b'{"event":"visit","time":1,"url":"http://a.test/######"}\n'),
        "marks": grown(_SESSION, b'{"event":"mark","time":1,"url":"http://a.test/######"}\n'),
        "frames": grown(
            _SESSION,
            b'{"event":"visit","time":1,"url":"http://a.t/######","frame_of":"http://a.t/"}\n',
        ),
        "copies of one page": grown(
            _SESSION,
            b'{"event":"visit","time":1,"url":"http://a.t/######","html":"<link rel=canonical '
            b'href=/x>the same few words for all of them"}\n',
        ),
    },
    "collector": {
        "depth": grown(b"", b"["),
        "events": grown(
            b'{"session":"20260301t120000-0123456789ab","topic":"bees","events":[',
            b'{"event":"submit","time":1},', b'{"event":"submit","time":1}]}',
        ),
        "a long topic": grown(b'{"session":"20260301t120000-0123456789ab","topic":"', b"a ", b'"}'),
    },
    "har": {
        "sites": grown(_HAR, _HAR_ENTRY, b"1]}}"),
        "numbers": grown(_HAR, b"1,", b"1]}}"),
        "headers": grown(
            _HAR + b'{"request":{"url":"http://a.test/","headers":[', b'{"name":"a"},',
            b'{"name":"a"}]},"response":{"status":200,"content":{"mimeType":"text/html"}},'
            b'"startedDateTime":"2026-03-01T12:00:00Z"}]}}',
        ),
        "a long type": grown(
            _HAR + b'{"request":{"url":"http://a.test/"},"startedDateTime":"2026-03-01T12:00:00Z",'
            b'"response":{"status":200,"content":{"encoding":"base64","text":"YQ==",'
            b'"mimeType":"text/html;charset=', b" ", b'!"}}}]}}',
        ),
        "pages": grown(b'{"log":{"entries":[],"pages":[', b'{"id":"p######"},', b"1]}}"),
        "a hostile page": grown(
            _HAR + b'{"request":{"url":"http://a.test/"},"startedDateTime":"2026-03-01T12:00:00Z",'
            b'"response":{"status":200,"content":{"mimeType":"text/html","text":"',
            b"<p><i id=######>", b'"}}}]}}',
        ),
    },
    "combined log": {
        "lines": grown(b"", _LOG_LINE),
        "clients": grown(b"", b"c######" + _LOG_LINE.partition(b"######")[0][8:] + b'x" 200 9\n'),
        "no lines": grown(b"", b"x\n"),
        "a long line": grown(b"", b"x"),
        "quotes": grown(b'1 - - [01/Mar/2026:12:00:00 +0000] "', b'\\"'),
        "words": grown(b"", b"a " * 30_000 + b"\n"),
        "packed": lambda size: gzip.compress(grown(b"", _LOG_LINE)(size), 1, mtime=0),
    },
    "squid log": {
        "clients": grown(b"", _SQUID_LINE),
        "numbers": grown(b"", b"1 2 3\n"),
        "digits": grown(b"", b"9" * 60_000 + b" 1\n"),
        "addresses": grown(b"", b"1 1 c a/200 1 GET http://a######.test/ - - -\n"),
    },
    "warc": {
        "records": grown(b"", _WARC_RECORD),
        "headers": grown(b"WARC/1.1\r\nWARC-Type: response\r\n", b"a: b\r\n"),
        "one header": grown(b"WARC/1.1\r\nWARC-Type: response\r\nA: ", b"a"),
        "continued headers": grown(b"WARC/1.1\r\nWARC-Type: response\r\nA: ", b"\r\n b"),
        "line ends": grown(_WARC_RECORD, b"\r\n"),
        "versions": grown(b"", b"WARC/1.1\r\n\r\n"),
    },
    "archive repair": {
        "beginnings": grown(b"", b"\x1f\x8b\x08\0"),
        "named beginnings": grown(b"", b"\x1f\x8b\x08\x08"),
        "records within records": _torn_archive,
        "records": lambda size: gzip.compress(_WARC_RECORD, 1, mtime=0) * (size // 200),
    },
    "chrome history": {"redirects": long_redirects},
    "firefox history": {"folders": deep_folders},
    "bookmarks": {
        "depth": grown(b'{"roots":{"a":', b'{"children":['),
        "marks": grown(b'{"roots":{"a":{"children":[', b'{"url":"x######"},', b"1]}}}"),
        "numbers": grown(b'{"roots":{"a":{"children":[', b"1,", b"1]}}}"),
    },
    "configuration": {
        "dotted keys": grown(b"[crawl]\n", b"a.", b"a = 1"),
        "dotted tables": grown(b"[", b"a.", b"a]"),
        "quoted keys": grown(b"x = {", b'"a" . ', b"b = 1}"),
        "tables": grown(b"", b"[a######]\n"),
        "lists": grown(b"a = ", b"["),
        "seeds": grown(b"[crawl]\nseeds = [", b'"http://a.test/######",', b"]"),
        "escapes": grown(b'[crawl]\nstrategy = "', b"\\u0041", b'"'),
        "open texts": grown(b"", b'"""\\"'),
        "hexadecimal digits": grown(b"[crawl]\nmax_requests = 0x", b"F"),
        "digits": grown(b"[crawl]\nmax_requests = ", b"9"),
        "comments": grown(b"", b"#......\n"),
    },
    "topics file": {
        "words": grown(b"[topics.a]\nwords = [", b'"w######",', b"]"),
        "one glob": grown(b"[topics.a]\nurl_patterns = '", b"*a", b"'"),
        "topics": grown(b"", b"[topics.t######]\nwords = ['a']\n"),
    },
    "assignments": {
        "durations": grown(b"crawl.max_time=", b"1h"),
        "digits": grown(b"crawl.max_time=", b"1", b"!"),
        "names": grown(b"crawl.", b"max_", b"=1"),
        "seeds": grown(b"crawl.seeds=", b"a , "),
    },
    "edges": {
        "lines": grown(b"", b"http://a.test/######\thttp://b.test/\n"),
        "quotes": grown(b"", b'"",'),
        "no lines": grown(b"", b"x,"),
    },
    "endpoint": {
        "depth": grown(b"", b"["),
        "results": grown(b"[", b'{"url":"http://a.test/"},', b"1]"),
        "junk": grown(b"[", b"1,", b"1]"),
    },
    "export": {
        "unseen characters": grown(b"", "\u200b".encode()),
        "quotes": grown(b"", b'"'),
        "line ends": grown(b"", b"\r"),
    },
}  # fmt: skip
