"""Sitemaps and feeds, good and bad."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.fetching import sitemaps
from trailhound.fetching.sitemaps import ListedUrl, SourceKind, parse_date, parse_url_source

AT = "http://site.test/sitemap.xml"
NOON = 1_772_366_400.0  # 2026-03-01 12:00 UTC
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SITEMAP = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset {NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url><loc> http://site.test/a?x=1&amp;y=2 </loc><lastmod>2026-03-01T12:00:00Z</lastmod>
    <image:image><image:loc>http://site.test/picture.jpg</image:loc></image:image></url>
  <url><loc>http://site.test/\u00fc</loc><priority>0.5</priority></url>
  <url><loc>http://site.test/a?x=1&amp;y=2</loc></url>
  <url><lastmod>2026-03-01</lastmod></url>
</urlset>""".encode()


def urls(body: bytes) -> list[str]:
    return [entry.url for entry in parse_url_source(body, AT).entries]


def test_a_sitemap_gives_its_pages_once() -> None:
    source = parse_url_source(SITEMAP, AT)
    assert source.kind is SourceKind.SITEMAP
    assert source.entries == (
        ListedUrl("http://site.test/a?x=1&y=2", NOON),
        ListedUrl("http://site.test/%C3%BC", None),
    )
    assert source.notes == ()


def test_compressed_ones_are_unpacked() -> None:
    assert parse_url_source(gzip.compress(SITEMAP), AT) == parse_url_source(SITEMAP, AT)
    parts = (SITEMAP[:100], SITEMAP[100:300], SITEMAP[300:])
    assert urls(b"".join(map(gzip.compress, parts))) == urls(SITEMAP), "in several members"


@pytest.mark.parametrize("before", [b"\n", b"\xef\xbb\xbf\r\n", b" " * 300])
def test_blanks_may_stand_before_the_declaration(before: bytes) -> None:
    assert parse_url_source(before + SITEMAP, AT) == parse_url_source(SITEMAP, AT)


def test_a_page_in_other_languages_is_listed_under_its_own_address() -> None:
    other = b'<x:link rel="alternate" hreflang="de" href="http://site.test/de"/>'
    page = b"<loc>http://site.test/en</loc>"
    for fields in (other + page, page + other):
        body = b'<urlset xmlns:x="http://www.w3.org/1999/xhtml"><url>%s</url></urlset>' % fields
        assert urls(body) == ["http://site.test/en"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings(encoding: str) -> None:
    text = SITEMAP.decode().replace("UTF-8", encoding.removesuffix("-sig"))
    assert urls(text.encode(encoding)) == urls(SITEMAP)


@pytest.mark.parametrize(
    "encoding", ["GBK", "gb2312", "GB18030", "Shift_JIS", "EUC-JP", "Big5", "EUC-KR", "iso-2022-jp"]
)
def test_encodings_that_the_parser_does_not_know(encoding: str) -> None:
    text = f"""<?xml version='1.0' encoding='{encoding}'?>
        <urlset><url><loc>http://site.test/大</loc></url></urlset>"""
    assert urls(text.encode(encoding)) == ["http://site.test/%E5%A4%A7"]


def test_an_index_gives_further_sitemaps() -> None:
    body = f"""<sitemapindex {NAMESPACE}>
        <sitemap><loc>http://site.test/1.xml.gz</loc><lastmod>2026-03</lastmod></sitemap>
        <sitemap><loc>/2.xml</loc></sitemap></sitemapindex>""".encode()
    source = parse_url_source(body, AT)
    assert source.kind is SourceKind.SITEMAP_INDEX
    assert [entry.url for entry in source.entries] == [
        "http://site.test/1.xml.gz",
        "http://site.test/2.xml",
    ]


def test_text_lists() -> None:
    body = "\ufeffhttp://site.test/a\r\n\r\n  https://site.test/b \nnonsense\n".encode()
    source = parse_url_source(body, AT)
    assert source.kind is SourceKind.TEXT_LIST
    assert [entry.url for entry in source.entries] == ["http://site.test/a", "https://site.test/b"]


def test_rss() -> None:
    body = b"""<rss version="2.0"><channel><title>News</title><link>http://site.test/</link>
        <item><title>A</title><link>http://site.test/a</link>
          <pubDate>Sun, 01 Mar 2026 12:00:00 GMT</pubDate><guid>tag:x</guid></item>
        <item><link><![CDATA[http://site.test/b?x&y]]></link></item>
        <item><guid isPermaLink="true">http://site.test/c</guid></item>
        <item><guid>just-an-id</guid></item></channel></rss>"""
    source = parse_url_source(body, AT)
    assert source.kind is SourceKind.FEED
    assert source.entries == (
        ListedUrl("http://site.test/a", NOON),
        ListedUrl("http://site.test/b?x&y"),
        ListedUrl("http://site.test/c"),
    )


def test_rss_1_with_name_spaces() -> None:
    body = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
        <channel><link>http://site.test/</link></channel>
        <item><link>http://site.test/a</link><dc:date>2026-03-01T13:00:00+01:00</dc:date></item>
        </rdf:RDF>"""
    assert parse_url_source(body, AT).entries == (ListedUrl("http://site.test/a", NOON),)


def test_atom() -> None:
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://site.test/"/>
        <entry><link rel="self" href="http://site.test/a.xml"/><link href="/a"/>
          <published>2020-01-01T00:00:00Z</published><updated>2026-03-01T12:00:00Z</updated></entry>
        <entry><link rel="alternate" href="http://site.test/b"/><author><uri>http://x.test/</uri>
          </author><content type="xhtml"><a href="http://no.test/">x</a></content></entry>
        <entry><id>http://site.test/c</id></entry></feed>"""
    source = parse_url_source(body, AT)
    assert source.entries == (
        ListedUrl("http://site.test/a", NOON),
        ListedUrl("http://site.test/b"),
        ListedUrl("http://site.test/c"),
    )


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (SITEMAP[:-60] + b"<", "malformed"),
        (SITEMAP.replace(b"</urlset>", b"<url><loc>http://site.test/&nbsp;x"), "malformed"),
        (SITEMAP.replace(b"<priority>", b"<b></a>"), "malformed"),
        (gzip.compress(SITEMAP * 1)[:-20], "too soon"),
    ],
)
def test_what_is_readable_is_given_with_a_note(body: bytes, note: str) -> None:
    source = parse_url_source(body, AT)
    assert source.entries[0] == ListedUrl("http://site.test/a?x=1&y=2", NOON)
    assert note in source.notes[0]


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (b"", "neither"),
        (b"   \n", "neither"),
        (b"hello", "neither XML nor a list"),
        (b"<html><body><a href='http://site.test/'>x</a></body></html>", "it is <html>"),
        (b"<", "malformed"),
        (b"\x1f\x8b\x08 broken", "damaged"),
        (b"<?xml version='1.0' encoding='no-such'?><urlset/>", "malformed"),
    ],
)
def test_what_is_something_else_gives_nothing(body: bytes, note: str) -> None:
    source = parse_url_source(body, AT)
    assert source.entries == ()
    assert source.kind is SourceKind.UNKNOWN
    assert any(note in line for line in source.notes)


def test_only_web_addresses_count() -> None:
    body = b"<urlset><url><loc>javascript:alert(1)</loc></url><url><loc>/ok</loc></url></urlset>"
    source = parse_url_source(body, AT)
    assert source.entries == (ListedUrl("http://site.test/ok"),)
    assert source.notes == ("1 entry without a web address",)


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "http://site.test/"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://evil.test/x.dtd"> %a;',
    ],
)
def test_entities_are_refused(declaration: str) -> None:
    body = f"<!DOCTYPE urlset [{declaration}]><urlset><url><loc>&b;</loc></url></urlset>".encode()
    source = parse_url_source(body, AT)
    assert source.entries == ()
    assert "entities" in source.notes[0]


def test_a_gzip_bomb_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_BYTES", 1_000_000)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = b"http://site.test/a\n"
    bomb = packer.compress(head) + packer.compress(bytes(50_000_000)) + packer.flush()
    source = parse_url_source(bomb, AT)
    assert [entry.url for entry in source.entries] == ["http://site.test/a"]
    assert source.notes == ("only its first 1000000 bytes were read",)


def test_entries_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_ENTRIES", 1000)
    entries = "".join(
        f"<url><loc>http://site.test/{number}</loc></url>" for number in range(20_000)
    )
    source = parse_url_source(f"<urlset>{entries}</urlset>".encode(), AT)
    assert len(source.entries) == 1000
    assert source.notes == ("only its first 1000 entries were taken",)


def test_an_endless_field_does_not_fill_the_memory() -> None:
    body = b"<urlset><url><loc>http://site.test/" + b"x" * 2_000_000 + b"</loc></url></urlset>"
    assert parse_url_source(body, AT).entries == ()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-03-01T12:00:00Z", NOON),
        ("2026-03-01T14:00:00.5+02:00", NOON + 0.5),
        ("2026-03-01T12:00", NOON),
        ("2026-03-01", NOON - 43200),
        ("2026-03", NOON - 43200),
        ("2026", 1_767_225_600.0),
        ("Sun, 01 Mar 2026 12:00:00 +0000", NOON),
        ("Sun, 01 Mar 2026 07:00:00 EST", NOON),
        ("yesterday", None),
        ("", None),
        ("9999-99-99", None),
    ],
)
def test_dates(text: str, seconds: float | None) -> None:
    assert parse_date(text) == seconds


@given(st.binary(max_size=300), st.integers(0, len(SITEMAP)))
def test_no_content_raises(noise: bytes, position: int) -> None:
    parse_url_source(noise, AT)
    parse_url_source(SITEMAP[:position] + noise + SITEMAP[position:], AT)
    parse_url_source(gzip.compress(noise)[:position], AT)


@given(st.text(max_size=40))
def test_no_date_raises(text: str) -> None:
    parse_date(text)
