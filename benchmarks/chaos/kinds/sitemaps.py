"""Sitemaps and feeds that are made to be unpacked, expanded or followed for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from benchmarks.chaos.behaviours import (
    Asked,
    Behaviour,
    hangs,
    page,
    redirects_to,
    text,
    typed,
)
from benchmarks.chaos.bombs import gzip_bomb
from benchmarks.chaos.kind import Kind

_XMLNS = b"xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
_LAUGHS = b"".join(
    b'<!ENTITY l%d "%s">' % (level, b"&l%d;" % (level - 1) * 10) for level in range(1, 10)
)


def _site(name: str, sitemap: Behaviour, *, heavy: bool = False, slow: bool = False) -> Kind:
    """A site with a harmless page beside its sitemap."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        chosen = sitemap if "sitemap" in asked.path else page()
        await chosen(asked, writer)

    return Kind(name, behave, heavy=heavy, slow=slow, seed=True)


def _xml(name: str, body: bytes) -> Kind:
    return _site(name, typed(b"application/xml", body))


def _made(name: str, body: Callable[[], bytes], *, heavy: bool = False) -> Kind:
    return _site(name, text(body), heavy=heavy)


def _urls(count: int) -> bytes:
    listed = b"".join(b"<url><loc>/%d</loc></url>" % number for number in range(count))
    return b"<urlset %s>%s</urlset>" % (_XMLNS, listed)


SITEMAPS = [
    _xml(
        "sitemap-laughs",
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">%s]><urlset>&l9;</urlset>' % _LAUGHS,
    ),
    _xml(
        "sitemap-external",
        b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset><url><loc>&e;</loc>',
    ),
    _xml(
        "sitemap-circle",
        b"<sitemapindex %s><sitemap><loc>/sitemap.xml</loc></sitemap></sitemapindex>" % _XMLNS,
    ),
    _made("sitemap-bomb", gzip_bomb),
    _made("sitemap-50000", lambda: _urls(50_000), heavy=True),
    _made("sitemap-deep", lambda: b"<urlset>" + b"<url>" * 50_000),
    _xml("sitemap-forbidden", b"<urlset><url><loc>http://127.0.0.1/</loc></url></urlset>"),
    _xml("sitemap-torn", _urls(500)[:-300]),
    _xml("sitemap-odd-dates", b"<urlset><url><loc>/x</loc><lastmod>9999-99-99T</lastmod></url>"),
    _site("sitemap-html", page()),
    _site("sitemap-elsewhere", redirects_to("http://169.254.169.254/")),
    _site("sitemap-hang", hangs(), slow=True),
]
