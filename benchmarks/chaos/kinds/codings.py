"""Bodies that are not coded, or not written, in the way that is said."""

from __future__ import annotations

import gzip
import zlib

import brotli
import zstandard

from benchmarks.chaos.behaviours import HEAD, PAGE, Behaviour, packed, page, says, typed
from benchmarks.chaos.bombs import brotli_bomb, deflate_bomb, gzip_bomb, wide_zstd, zstd_bomb
from benchmarks.chaos.kind import Kind

_WORDS = "<!doctype html><title>Käse</title><p>Grüße, 世界 \U0001f600."
_GZIPPED = gzip.compress(PAGE, mtime=0)


def _coded(name: str, coding: bytes, body: bytes) -> Kind:
    return Kind(name, packed(coding, lambda: body))


def _written(name: str, charset: bytes, body: bytes) -> Kind:
    return Kind(name, typed(b"text/html; charset=" + charset, body))


def _lie(coding: bytes) -> Behaviour:
    return page(PAGE, b"Content-Encoding: " + coding + b"\r\n")


BOMBS = [
    Kind("bomb-gzip", packed(b"gzip", gzip_bomb), "too-large", "larger than"),
    Kind("bomb-deflate", packed(b"deflate", deflate_bomb), "too-large", "larger than"),
    Kind("bomb-brotli", packed(b"br", brotli_bomb), "too-large", "larger than"),
    Kind("bomb-zstd", packed(b"zstd", zstd_bomb), "too-large", "larger than"),
    Kind("bomb-zstd-window", packed(b"zstd", wide_zstd), "server-error", "too much memory"),
    Kind(
        "bomb-gzip-members",
        packed(b"gzip", lambda: gzip.compress(PAGE) + gzip.compress(b"") * 30_000),
        "server-error",
        "members",
    ),
    Kind(
        "bomb-nested",
        packed(b"gzip, gzip", lambda: gzip.compress(gzip_bomb())),
        "server-error",
        "not known",
    ),
]
LIES = [
    Kind("coding-unknown", _lie(b"klingon"), "server-error", "klingon"),
    Kind("coding-gzip-lie", _lie(b"gzip"), "server-error", "encoded"),
    Kind("coding-brotli-lie", _lie(b"br"), "server-error", "encoded"),
    Kind("coding-zstd-lie", _lie(b"zstd"), "server-error", "encoded"),
    Kind("coding-deflate-lie", _lie(b"deflate"), "server-error", "encoded"),
    Kind("coding-cut", packed(b"gzip", lambda: gzip.compress(PAGE)[:-9]), "server-error", "breaks"),
    _coded("coding-brotli-cut", b"br", brotli.compress(PAGE)[:-5]),
    _coded("coding-zstd-cut", b"zstd", zstandard.compress(PAGE)[:-5]),
    _coded("coding-checksum", b"gzip", _GZIPPED[:-8] + b"\0\0\0\0" + _GZIPPED[-4:]),
    _coded("coding-trailing", b"gzip", _GZIPPED + b"garbage" * 1_000),
    _coded("coding-long-name", b"gzip", b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * 500_000),
    _coded("coding-raw-deflate", b"deflate", zlib.compress(PAGE, wbits=-15)),
    _coded("coding-list", b"gzip, br", brotli.compress(_GZIPPED)),
    _coded("coding-empty", b"", PAGE),
    _coded("coding-of-nothing", b"gzip", b""),
    _coded("coding-not-ascii", b"gz\xffip", _GZIPPED),
]
CHARSETS = [
    Kind(
        "charset-unknown",
        says(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\xff\xfe"
            b"\r\nContent-Length: 4\r\n\r\n<p>\xe4"
        ),
        "fetched",
    ),
    _written("charset-utf-7", b"utf-7", b"+ADw-a href=+ACI-/x+ACI-+AD4-" + PAGE),
    _written("charset-utf-16-lie", b"utf-16", _WORDS.encode()),
    _written("charset-utf-16", b"utf-8", _WORDS.encode("utf-16-be")),
    _written("charset-utf-32", b"utf-8", _WORDS.encode("utf-32")),
    _written("charset-bom-lie", b"utf-8", b"\xff\xfe" + _WORDS.encode()),
    _written("charset-two-boms", b"latin-1", b"\xef\xbb\xbf\xff\xfe\0\0" + _WORDS.encode()),
    _written("charset-latin-1-lie", b"utf-8", "<p>Käse ".encode("latin-1") * 2_000),
    _written("charset-surrogates", b"utf-8", b"<p>\xed\xa0\x80\xed\xb0\x80<a href='\xed\xa0\x80'>"),
    _written("charset-overlong", b"utf-8", b"<p>\xc0\xaf\xe0\x80\xaf\xf8\x88\x80\x80\x80" * 500),
    _written("charset-meta-lies", b"utf-8", b"<meta charset=utf-16><meta charset=koi8-r>" + PAGE),
    _written("charset-rot13", b"rot13", PAGE),
    _written("charset-zlib", b"zlib_codec", zlib.compress(PAGE)),
    _written("charset-escape", b"unicode_escape", b"<p>\\N{DIGIT ONE}\\uD800 \\x"),
    _written("charset-idna", b"idna", b"<p>xn--" + b"\xff" * 200),
    _written("charset-undefined", b"undefined", PAGE),
    _written("charset-long-name", b"x" * 20_000, PAGE),
    _written("charset-iso-2022", b"iso-2022-jp", b"<p>\x1b$B" + b"\x30" * 999 + b"\x1b("),
]
TYPES = [
    Kind("type-lie-png", page(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8), "not-html", "PNG"),
    Kind("type-not-html", says(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n"), "not-html"),
    Kind("type-lie-pdf", page(b"%PDF-1.7\n1 0 obj\n" + bytes(range(256)) * 40)),
    Kind("type-lie-zip", page(b"PK\x03\x04" + bytes(range(256)) * 40)),
    Kind("type-lie-late", page(PAGE + bytes(range(256)) * 400)),
    Kind("type-xml", typed(b"application/xhtml+xml", b"<?xml version='1.9'?><html><p>a</b></p>")),
    Kind("type-plain", typed(b"text/plain", PAGE * 100)),
    Kind("type-of-two-lines", says(HEAD[:-2] + b";\r\n charset=x\r\n\r\n" + PAGE, close=True)),
]
CODINGS = [*BOMBS, *LIES, *CHARSETS, *TYPES]
