"""Pages that are hard to parse, to read, or to believe."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.chaos.behaviours import PAGE, made, page
from benchmarks.chaos.kind import Kind


def _page(name: str, body: bytes) -> Kind:
    return Kind(name, page(body))


def _made(name: str, body: Callable[[], bytes], *, heavy: bool = False) -> Kind:
    return Kind(name, made(body), heavy=heavy)


def _numbered(piece: bytes, times: int) -> bytes:
    return b"".join(piece.replace(b"#", b"%d" % number) for number in range(times))


PARSE_BOMBS = [
    _made("bomb-formatting", lambda: _numbered(b"<p><i id=#><!--</i>-->", 4_500), heavy=True),
    _made(
        "bomb-formatting-large", lambda: _numbered(b"<p><i id=#><!--</i>-->", 22_000), heavy=True
    ),
    _made("bomb-unclosed", lambda: b"<span><!--</span>--></b></dd>" * 80_000, heavy=True),
    _made("bomb-unclosed-small", lambda: b"<span><!--</span>--></b></dd>" * 3_000),
    _made("bomb-misnested", lambda: b"<a><b><i><p></a></b>" * 2_000),
    _made("bomb-in-title", lambda: b"<p><b id=x><title></b></title>" * 2_000),
    _made("bomb-in-script", lambda: b"<p><b id=x><script></b></script>" * 2_000),
    _made("bomb-in-table", lambda: b"<table><tr><td><i></table>" * 3_000),
    _made("bomb-foster-parents", lambda: b"<table>" + b"<b>x<tr>" * 5_000),
]
NESTING = [
    _made("nested-divs", lambda: b"<div>" * 100_000 + b"deep"),
    _made("nested-tables", lambda: b"<table><tr><td>" * 3_000),
    _made("nested-lists", lambda: b"<ul><li>" * 5_000 + b"<a href=/x>x</a>"),
    _made("nested-templates", lambda: b"<template>" * 5_000 + PAGE),
    _made("nested-svg", lambda: b"<svg><foreignObject><math><mi>" * 2_000),
    _made("nested-objects", lambda: b"<object><button><marquee>" * 2_000),
    _made("nested-selects", lambda: b"<select><option><optgroup>" * 5_000),
]
HUGE = [
    _made("attributes-100000", lambda: b"<p " + _numbered(b"a#=# ", 100_000) + b">x", heavy=True),
    _made("attributes-20000", lambda: b"<p " + _numbered(b"a#=# ", 20_000) + b">x"),
    _made("attribute-of-2-megabytes", lambda: b"<a href='/" + b"x" * 2_000_000 + b"'>x</a>"),
    _made("word-of-5-megabytes", lambda: b"<p>" + b"x" * 4_990_000, heavy=True),
    _made("word-of-500-kilobytes", lambda: b"<p>" + b"w" * 500_000),
    _made("words-of-4-megabytes", lambda: b"<p>" + _numbered(b"w# ", 500_000), heavy=True),
    _made("title-of-a-megabyte", lambda: b"<title>" + b"Title " * 170_000),
    _made("titles-5000", lambda: b"<title>x</title>" * 5_000),
    _made("metas-20000", lambda: b"<meta name=robots content=x>" * 20_000),
    _made("script-of-4-megabytes", lambda: b"<script>" + b"if(a<b){}" * 440_000, heavy=True),
    _made("elements-unknown", lambda: _numbered(b"<x-#>", 10_000)),
    _made("images-10000", lambda: b"<img src=x alt=y srcset='a 1x, b 2x'>" * 10_000),
    _made("forms-10000", lambda: b"<form action=/x><input name=a>" * 10_000),
]
ENTITIES = [
    _made("entities-many", lambda: b"&amp;&lt;&nbsp;&notit;&#0;&#x110000;" * 20_000),
    _page("entities-overflow", b"<p>&#99999999999999999999;&#xFFFFFFFFFFFF;&#xD800;" * 50),
    _page(
        "entities-laughing",
        b'<!DOCTYPE html [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
        b'<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]><p>&c;&c;&c;',
    ),
    _page("entity-external", b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><p>&e;'),
]
UNENDED = [
    _page("comment-unended", b"<!--" + b"-" * 100_000 + b"<a href=/x>x</a>"),
    _page("quote-unended", b"<a href='/x" + b"<p>words " * 10_000),
    _page("tag-unended", b"<p" * 50_000),
    _page("doctype-unended", b"<!doctype html " + b"x" * 100_000),
    _page("cdata", b"<p><![CDATA[" + b"<a href=/x>]]" * 5_000 + b"]]>"),
    _page("plaintext", b"<plaintext>" + b"</plaintext><a href=/x>x</a>" * 1_000),
    _page("textarea-unended", b"<textarea>" + b"<a href=/x>x</a>" * 1_000),
    _page("noscript", b"<noscript><iframe><noembed><a href=/x>x</a>" * 1_000),
]
FRAMES = [
    _page("frames-of-frames", b"<frameset>" + b"<frame src=/f><frameset>" * 500),
    _page("frame-of-itself", b"<iframe src=/></iframe>" * 200),
    _page("frame-in-source", b"<iframe srcdoc='<iframe srcdoc=&quot;<a href=/x>x</a>&quot;>'>"),
]
TEXTS = [
    _page("empty", b""),
    _page("blanks", b" \t\r\n\x0c" * 20_000),
    _page("nuls", b"\0" * 400 + PAGE + b"\0" * 50_000),
    _page("control-characters", b"<p>" + bytes(range(1, 32)) * 2_000),
    _page("combining", b"<p>Z" + "\u0301\u0489".encode() * 50_000),
    _page("right-to-left", "<title>\u202e\u2066fdp.exe</title><p>\u202d\u200f".encode() * 500),
    _page("emojis", "<p>\U0001f468\u200d\U0001f469\u200d\U0001f467".encode() * 5_000),
    _page("escapes", b"<title>\x1b[2J\x1b]0;pwned\x07</title><p>\x1b[31m" + PAGE),
    _page("formula", b'<title>=HYPERLINK("http://x")</title><p>+1+1 @SUM(A1)'),
    _page("json", b'{"html": "<a href=/x>"' + b"[" * 10_000),
    _page("many-languages", "<p lang=xx>Das ist ein 漢字 текст عربى ".encode() * 2_000),
    _page("lang-of-a-kilobyte", b"<html lang='" + b"x-" * 500 + b"'>" + PAGE),
]
MARKUP = [*PARSE_BOMBS, *NESTING, *HUGE, *ENTITIES, *UNENDED, *FRAMES, *TEXTS]
