"""Inputs that once froze, flooded or broke a reader.

Nothing here looks at a clock: with its fault a reader would need minutes to hours, or all memory.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import random
import zipfile
import zlib
from pathlib import Path
from urllib.parse import unquote_to_bytes

import msgspec
import pytest
from benchmarks.fuzz.campaign import run
from benchmarks.fuzz.recordings import deep_folders, long_redirects
from benchmarks.fuzz.targets import target_named
from hypothesis import given
from hypothesis import strategies as st

from trailhound.config.layers import configure, parse_toml
from trailhound.errors import ConfigError
from trailhound.fetching.client import Answer
from trailhound.fetching.content_coding import decoder_for
from trailhound.fetching.robots import RobotsRules
from trailhound.fetching.sitemaps import SourceKind, parse_url_source
from trailhound.sessions.events import (
    MAX_PROBLEMS,
    Session,
    Visit,
    parse_session,
    session_lines,
)
from trailhound.sessions.files import read_session
from trailhound.sessions.importers import importer
from trailhound.sessions.importers.base import KnowsBookmarks, title_of
from trailhound.sessions.importers.har import parse_har
from trailhound.sessions.page_graph import build_page_graph
from trailhound.storage.cdxj import _unescaped, surt_key
from trailhound.storage.page_rows import snippet_of
from trailhound.storage.warc_repair import kept_records, whole_records
from trailhound.text.encoding import decode
from trailhound.text.extract import extract_page
from trailhound.text.tokens import count_terms
from trailhound.urls import canonicalize, typed_url

URL = "http://example.org/"


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_bytes_behind_a_long_compressed_body_end(coding: str, pack: object) -> None:
    """zlib goes on to name a tail that it has handed over already: the decoder ran in a circle."""
    assert callable(pack)
    text = bytes(range(256)) * 600
    found = bytearray()
    decoder = decoder_for(coding, found.extend)
    assert decoder is not None
    decoder.feed(pack(text) + b"trailing bytes" * 300)
    decoder.finish()
    assert bytes(found) == text


def test_a_refresh_of_blanks() -> None:
    html = f'<meta http-equiv=refresh content="{" " * 10_000}"><p>bees'
    assert extract_page(html.encode(), URL).links == ()


def test_a_charset_behind_blanks() -> None:
    assert decode(b"bees", "text/html; charset=" + " " * 1_000_000 + "!").encoding == "utf-8"
    assert decode("ü".encode("cp1252"), "charset = ' cp1252'").text == "ü"


def test_a_letter_with_a_million_accents() -> None:
    stack = "e" + "\u0301" * 500_000 + "\u0316" * 500_000
    assert len(count_terms(f"{stack} hive", "en")) == 2
    assert count_terms("he\u0301\u0323llo", "fr") == count_terms("h\u1eb9\u0301llo", "fr")


def test_links_far_below_elements_with_many_attributes() -> None:
    wide = "".join(f"<div {' '.join(f'a{n}' for n in range(600))}>" for _ in range(41))
    links = "".join(f"<p><a href=/{n}>x</a></p>" for n in range(3_000))
    page = extract_page((wide + links).encode(), URL)
    assert page.links[-1].tag_path.count("/") == 39


def test_a_snippet_between_a_thousand_links_of_one_letter() -> None:
    html = "<p>" + "a" * 9_000 + "".join(f"<a href=/{n}>a</a>" for n in range(4_000))
    assert snippet_of(extract_page(html.encode(), URL)).startswith("aaa")


def test_a_host_that_no_name_server_knows() -> None:
    """Once in punycode some were too long for the parser that had written them."""
    assert canonicalize("http://" + "a." * 2_000 + "example.co.uk/") is None
    assert canonicalize("//" + "Ünï.w." * 600, URL) is None
    long = "http://" + "a." * 120 + "example.org:8080/"
    assert canonicalize(long) == long


def test_a_history_whose_damage_is_no_text() -> None:
    report = run(target_named("firefox history"), range(102, 103), seed=7)
    assert report.findings == []


def test_typed_text_of_many_dots() -> None:
    assert typed_url("example.org:8080/a") == "https://example.org:8080/a"
    assert typed_url("a.b?c") == "https://a.b/?c"
    with pytest.raises(Exception, match="no web address"):
        typed_url("a." * 50_000 + " @")
    with pytest.raises(Exception, match="several web addresses"):
        typed_url("https://a.example/" + " " * 50_000 + "https://b.example/")


class _Server:
    def __init__(self, text: str) -> None:
        self._body = text.encode()

    async def get(self, url: str, *, max_bytes: int) -> Answer:
        return Answer(status=200, body=self._body[:max_bytes])


async def _may_fetch(robots: str, path: str) -> bool:
    rules = RobotsRules(_Server(robots), "bees-bot (+https://example.org/bot)")
    return await rules.refusal(f"{URL}{path}") is None


def _spelled(number: int) -> str:
    """``bees-bo`` with asterisks, which mean nothing there, in one of many ways."""
    return "".join(
        letter + "*" * (number >> 2 * place & 3) for place, letter in enumerate("bees-bo")
    )


@pytest.mark.parametrize(
    ("names", "allowed"),
    [
        ([f"User-agent: {_spelled(number)}" for number in range(8_000)], False),
        ([f"user\tagent robot{number}" for number in range(8_000)], True),
    ],
    ids=["asterisks", "tabs"],
)
def test_robots_of_many_names(names: list[str], allowed: bool) -> None:
    """Each of them would have kept all the rules: 64 million."""
    rules = [f"Disallow: /{number}" for number in range(8_000)]
    robots = "\n".join([*names, *rules])
    assert asyncio.run(_may_fetch(robots, "5")) is allowed


@pytest.mark.parametrize(
    ("robots", "allowed"),
    [
        ("User-agent: *\nDisallow: /a\nUser-agent: bees\nAllow: /a", True),
        ("User-agent: bees\nAllow: /a\nUser-agent: bees-b*\nDisallow: /a", False),
        ("User-agent: bot\nDisallow: /a", True),
        ("User-agent: **\nDisallow: /a", True),
        ("User agent BEES-BOT # us\nDisallow: /a", False),
        ("User-agent: x\nUser-agent: *\nDisallow: /a", False),
        ("User-agent: *\nDisallow:\nUser-agent: Bees-Bot/2.0\nDisallow: /a", False),
        ("User-agent: *\nDisallow:\nUser-agent: bees-bot (all versions)\nDisallow: /a", False),
        ("User-agent: bees-bottle/1.0\nDisallow: /a", True),
        ("User-agent: /1.0\nDisallow: /a", True),
    ],
)
def test_which_rules_of_robots_are_ours(robots: str, allowed: bool) -> None:
    assert asyncio.run(_may_fetch(robots, "a")) is allowed


_FEW = [f"Disallow: /shop/*{number}" for number in range(2_000)]


@pytest.mark.parametrize(
    ("lines", "path", "allowed"),
    [
        (["User-agent: *", *_FEW], "shop/x", True),
        (["User-agent: *", *_FEW, "Disallow: /shop/*never"], "shop/x", False),
        (["User-agent: *", *_FEW, "Disallow: /shop/*never"], "garden", True),
        (["User-agent: *", *_FEW, "Disallow: *never"], "garden", False),
        (["User-agent: *", "Disallow: /", *_FEW, "Allow: /*e"], "garden", False),
        (["User-agent: x", *_FEW, "User-agent: *", "Disallow: /shop/*never"], "shop/x", True),
        (["User-agent: *", *_FEW, "User-agent: x", "Disallow: /*never"], "shop/x", True),
        (["User-agent: *", "allow-x", "User-agent: x", *_FEW, "Disallow: /*n"], "a", False),
        (["User-agent: *", *(f"Disallow:/*01{n % 9}" for n in range(34_000))], "0" * 3_900, False),
    ],
    ids=["few", "one more", "elsewhere", "anywhere", "allowed", "others", "before", "odd", "all"],
)
def test_robots_of_many_wildcards(lines: list[str], path: str, allowed: bool) -> None:
    """Each was looked for in each address; of the last file that took seconds."""
    assert asyncio.run(_may_fetch("\n".join(lines), path)) is allowed


def test_a_sitemap_of_nothing_but_depth() -> None:
    source = parse_url_source(b"<urlset>" + b"<a>" * 5_000_000, URL)
    assert "nested too deeply" in " ".join(source.notes)


def test_a_sitemap_with_one_endless_tag() -> None:
    """The parser reads an unfinished tag anew with each piece that it is fed."""
    comment = b"<!--" + b"-" * 20_000_000
    source = parse_url_source(b"<urlset><url><loc>/a</loc></url>" + comment, URL)
    assert source.kind is SourceKind.SITEMAP
    assert [entry.url for entry in source.entries] == [f"{URL}a"]


def test_a_har_of_many_sites_and_one_unknown_referer() -> None:
    entry = (
        '{"request":{"url":"http://%d.test/","headers":[{"name":"referer","value":"http://no.test/"}]},'
        '"response":{"status":200,"content":{"mimeType":"text/html"}},'
        '"startedDateTime":"2026-03-01T12:00:00Z"}'
    )
    entries = ",".join(entry % number for number in range(15_000))
    (session,) = parse_har(f'{{"log":{{"entries":[{entries}]}}}}'.encode(), "x", "bees").sessions
    assert len(session.events) == 15_000


def test_a_history_of_one_long_chain_of_redirects(tmp_path: Path) -> None:
    (tmp_path / "History").write_bytes(long_redirects(3_000_000))
    (session,) = importer("chrome").read(tmp_path, "bees").sessions
    assert len(session.events) == 15_000


def test_bookmarks_at_the_bottom_of_many_folders(tmp_path: Path) -> None:
    (tmp_path / "places.sqlite").write_bytes(deep_folders(2_000_000))
    firefox = importer("firefox")
    assert isinstance(firefox, KnowsBookmarks)
    assert len(firefox.bookmarks(tmp_path)[0].folders) == 50


def test_a_package_with_many_captures_of_one_page(tmp_path: Path) -> None:
    record = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\nWARC-Date: "
        b"2026-03-01T12:%02d:%02dZ\r\nContent-Length: 44\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n\r\n\r\n"
    )
    archive = b"".join(record % (number // 60 % 60, number % 60) for number in range(8_000))
    page = '{"url": "http://a.test/", "ts": "2026-03-01T12:30:30Z"}\n'
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("archive/data.warc", archive)
        package.writestr("pages/pages.jsonl", page * 8_000)
    (session,) = importer("warc").read(path, "bees").sessions
    assert len(session.events) == 8_000


def test_a_damaged_package(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("archive/data.warc", random.Random(7).randbytes(3_000))
    data = bytearray(packed.getvalue())
    data[60:90] = b"\xff" * 30
    path = tmp_path / "a.wacz"
    path.write_bytes(data)
    imported = importer("warc").read(path, "bees")
    assert "could not be read to its end" in imported.tally.notes[0]


def test_a_title_behind_tags_that_multiply() -> None:
    hostile = "".join(f"<i id={number}><p>" for number in range(8_000))
    assert title_of(f"<title>Bees</title>{hostile}") == "Bees"


@given(st.lists(st.sampled_from(["%", "25", "2", "5", "%41", "a", "%2", "32", "35"]), max_size=30))
def test_escapes_of_escapes_are_undone_as_by_repetition(pieces: list[str]) -> None:
    raw = "".join(pieces).encode()
    while (further := unquote_to_bytes(raw)) != raw:
        raw = further
    assert _unescaped("".join(pieces).encode()) == raw


def test_keys_of_addresses_with_endless_escapes_and_sessions() -> None:
    assert surt_key("http://a.test/%" + "25" * 100_000 + "41") == "test,a)/a"
    sessions = "/(s(lit3py55t21z5v55vlm25s55))" * 20_000
    assert surt_key(f"http://a.test{sessions}/a.aspx") == "test,a)/a.aspx"
    assert surt_key(f"http://a.test/a.aspx{sessions}").count("lit3py55") == 20_000


def test_an_archive_full_of_beginnings(tmp_path: Path) -> None:
    """Each of them can be read to the end of the file, and none is whole."""
    stored = b"\0\x05\0\xfa\xffWARC/"
    beginning = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + stored
    block = b"\0" + len(beginning).to_bytes(2, "little")
    block += (0xFFFF ^ len(beginning)).to_bytes(2, "little") + beginning
    path = tmp_path / "torn.warc.gz"
    path.write_bytes(beginning + block * 60_000)
    assert list(whole_records(path)) == []


def test_a_session_that_refers_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    visits = tuple(
        Visit(time=float(number), url=f"{URL}{number}", html_ref=path.name)
        for number in range(10_000)
    )
    path.write_bytes(b"".join(session_lines(Session("bees", visits))))
    events = read_session(path).events
    assert len({id(event.html) for event in events if isinstance(event, Visit)}) == 1


def test_a_session_of_nothing_but_damage() -> None:
    data = b"".join(session_lines(Session("bees", ()))) + b"x\n" * 50_000
    assert len(parse_session(data, "x", strict=False).problems) == MAX_PROBLEMS


def test_a_session_of_one_long_chain_of_redirects() -> None:
    visits = tuple(
        Visit(float(number), f"{URL}{number + 1}", requested_url=f"{URL}{number}", title="Bees")
        for number in range(3_000)
    )
    graph = build_page_graph([Session("bees", visits)])
    assert [page.url for page in graph.pages] == [f"{URL}3000"]


def test_keys_with_thousands_of_parts() -> None:
    with pytest.raises(ValueError, match="parts"):
        parse_toml("a." * 200_000 + "a = 1")
    with pytest.raises(ValueError, match="parts"):
        parse_toml('x = {"a"' + ' . "a"' * 60_000 + " = 1}")
    hosts = ["a.b.c.d." * 20, "e.f"]
    text = f"# {'.' * 99}\nhosts = {hosts}\nwords = '''{'. ' * 99}'''\n[a.b.c]\nd.e = 1.5"
    assert parse_toml(text)["hosts"] == hosts


@pytest.mark.parametrize("value", ["0x{}", "[0x{}]", "{{a = 0x{}}}"])
def test_a_number_too_long_to_be_written(tmp_path: Path, value: str) -> None:
    path = tmp_path / "trailhound.toml"
    path.write_text(f"[crawl]\nmax_requests = {value.format('F' * 5_000)}\n")
    with pytest.raises(ConfigError, match="max_requests"):
        configure({}, {}, path)


def test_archives_without_a_status_are_indexed(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    record = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\n\r\nHTTP\r\n\r\n"
    )
    path.write_bytes(gzip.compress(record, mtime=0))
    kept = kept_records(path, path.name)
    assert len(kept.spans) == 1
    assert msgspec.json.decode(kept.index_lines[0].split(b" ", 2)[2])["status"] == ""
