"""How each kind of input is read: through the product's own functions, results checked.

A reader takes the bytes of one input. It returns, or raises an error that its target allows;
anything else, a failed assertion included, is a finding.
"""

from __future__ import annotations

import csv
import io
import tempfile
from atexit import register
from collections.abc import Coroutine
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from trailhound.collector.store import EventsMessage, read_message
from trailhound.config.layers import configure, from_assignments
from trailhound.crawling.scope import make_scope
from trailhound.crawling.traps import TrapGuard
from trailhound.errors import UsageError
from trailhound.fetching.client import Answer
from trailhound.fetching.content_coding import CodingError, decoder_for
from trailhound.fetching.headers import (
    MAX_RETRY_SECONDS,
    read_robots_tags,
    retry_after_seconds,
)
from trailhound.fetching.robots import RobotsRules
from trailhound.fetching.sitemaps import parse_url_source
from trailhound.lab.topics.topics_file import read_topics_file
from trailhound.media_types import DocumentKind, may_be_wanted, why_not_wanted
from trailhound.records import Outcome, Page
from trailhound.sessions.events import parse_session
from trailhound.sessions.files import read_with_problems
from trailhound.sessions.importers import importer
from trailhound.sessions.importers.base import KnowsBookmarks
from trailhound.sessions.importers.har import parse_har
from trailhound.sessions.page_graph import build_page_graph
from trailhound.sources.backlink_endpoint import _listed
from trailhound.sources.edge_list import EdgeList
from trailhound.sources.endpoint import _decoded
from trailhound.sources.search_endpoint import hits_in
from trailhound.storage.cdxj import surt_key
from trailhound.storage.exporting import FIELDS, ExportedPage, write_csv, write_jsonl
from trailhound.storage.page_rows import SNIPPET_CHARS, snippet_of
from trailhound.storage.results_reading import StoredPage
from trailhound.storage.warc_repair import kept_records
from trailhound.text.documents import read_document
from trailhound.text.documents.blocks import MAX_BLOCKS
from trailhound.text.encoding import decode
from trailhound.text.extract import extract_harmless, extract_page
from trailhound.text.language import detect_language
from trailhound.text.main_content import harmless_markdown
from trailhound.text.near_duplicates import fingerprint
from trailhound.text.parse_guard import BEARABLE, HARMLESS, harmless_start, is_harmless
from trailhound.urls import canonicalize, host_key, registered_domain, strip_tracking, typed_url

SITE = "http://example.org/"
csv.field_size_limit(100_000_000)  # of what is read back
_BOT = "bees-bot"


@cache
def _folder() -> Path:
    """A folder for files that are read by their names; gone with this process."""
    folder = tempfile.TemporaryDirectory(prefix="trailhound-fuzz-")
    register(folder.cleanup)
    return Path(folder.name)


def _file(data: bytes, name: str) -> Path:
    path = _folder() / name
    path.write_bytes(data)
    return path


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _at_once(task: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits for anything."""
    try:
        task.send(None)
    except StopIteration as done:
        return done.value
    task.close()
    raise AssertionError("it waited")


def page(data: bytes) -> None:
    """Those that a crawl reads at once; others go to a process that can be stopped.

    The first byte chooses the announced type, as servers do without looking.
    """
    types = ("", "text/html", "text/html; charset=utf-8", "text/plain", "text/html; charset=gb2312")
    found = extract_harmless(data, SITE, types[data[0] % len(types)] if data else "")
    if found is not None:
        _check_page(found)


def _check_page(found: Page) -> None:
    encoded = msgspec.json.encode(found)
    assert msgspec.json.decode(encoded, type=Page) == found
    assert all(link.url.startswith("http") and link.url != found.url for link in found.links)
    assert found.text == " ".join(found.text.split())
    fingerprint(found)
    assert len(snippet_of(found)) <= SNIPPET_CHARS


def feed(data: bytes) -> None:
    """Whatever its root says."""
    _check_document(data, DocumentKind.FEEDS, "")


def text(data: bytes) -> None:
    """The first byte says whether it is Markdown, and not in which encoding it is."""
    _check_document(data, DocumentKind.TEXT, "text/plain" if data[:1] == b"p" else "text/markdown")


def office(data: bytes) -> None:
    """Any package."""
    _check_document(data, DocumentKind.OFFICE, "")


def pdf(data: bytes) -> None:
    """Read here, by a library that is not ours, in a crawl in a process that can be lost."""
    _check_document(data, DocumentKind.PDF, "")


@cache
def _know_languages() -> None:
    """Their model is read at need, whatever needs it first."""
    detect_language("The hive of the bees is in the garden behind the house.")


def _check_document(data: bytes, kind: DocumentKind, content_type: str) -> None:
    _know_languages()
    document = read_document(data, SITE, content_type, kind)
    assert len(document.blocks) <= MAX_BLOCKS + 2
    html = document.html()
    assert len(html) < 10_000_000
    document.text()
    harmless_markdown(document.markdown(SITE))
    _check_page(extract_page(html.encode("utf-8", "replace"), SITE, "text/html; charset=utf-8"))


def parse_guard(data: bytes) -> None:
    """What is left is a beginning of what was given, and bearable."""
    html = _text(data)
    start = harmless_start(html, BEARABLE)
    assert html.startswith(start)
    assert is_harmless(start, BEARABLE)
    if is_harmless(html, HARMLESS):
        assert start is html


def encoding(data: bytes) -> None:
    """The first line is the header, the rest the body."""
    header, _, body = data.partition(b"\n")
    decode(body, header.decode("latin-1"))


def url(data: bytes) -> None:
    """Canonical forms are fixed points; everything that takes an address takes this one."""
    text = _text(data)
    if b"\xed\xa0\x80" in data:
        text += "\ud800"
    with suppress(UsageError):
        typed_url(text)
    for found in (canonicalize(text), canonicalize(text, SITE)):
        if found is None:
            continue
        assert canonicalize(found) == found
        assert canonicalize(strip_tracking(found)) == strip_tracking(found)
        assert host_key(found)
        assert registered_domain(found)
        surt_key(found)
        TrapGuard().reason_against(found)
        scope = make_scope(excluded=["*.bank.example", found])
        assert scope is not None
        assert not scope(found)


def headers(data: bytes) -> None:
    """Lines of ``name: value``; each value is read by whoever reads such a header."""
    for line in _text(data).splitlines():
        name, _, value = line.partition(":")
        match name.lower():
            case "content-type":
                may_be_wanted(value, frozenset(DocumentKind))
                why_not_wanted(data[:512], value, frozenset(DocumentKind))
                decode(b"<p>bees \xfc</p>", value)
            case "retry-after" | "last-modified":
                seconds = retry_after_seconds(value, 1_772_366_400.0)
                assert seconds is None or 0 <= seconds <= MAX_RETRY_SECONDS
            case "location":
                Answer(status=302, location=value).redirect_target(SITE)
            case _:
                read_robots_tags([value], _BOT)


def content_coding(data: bytes) -> None:
    """The first byte chooses the coding; what comes out is counted and dropped."""
    coding = ("gzip", "deflate", "br", "zstd", "x-gzip")[data[0] % 5] if data else "gzip"
    room = 5_000_000

    def receive(piece: bytes) -> None:
        nonlocal room
        room -= len(piece)
        if room < 0:
            raise CodingError("too large")

    decoder = decoder_for(coding, receive)
    assert decoder is not None
    for start in range(1, len(data), 65_536):  # as a connection hands it on
        decoder.feed(data[start : start + 65_536])
    decoder.finish()


class _Server:
    """Answers every request with one robots.txt file."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def get(self, url: str, *, max_bytes: int) -> Answer:
        """The file, cut as the client would."""
        del url
        too_large = Outcome.TOO_LARGE if len(self._body) > max_bytes else None
        return Answer(status=200, body=self._body[:max_bytes], failure=too_large)


def robots(data: bytes) -> None:
    """A file that breaks the parser is refused, and a finding."""
    rules = RobotsRules(_Server(data), f"{_BOT} (+https://example.org/bot)")
    for address in (SITE, f"{SITE}a/b?c=%41&d=*$"):
        refusal = _at_once(rules.refusal(address))
        assert refusal is None or "could not be read" not in refusal.detail, refusal.detail
    _at_once(rules.sitemaps(SITE))
    assert 0 <= rules.delay_seconds(SITE) <= MAX_RETRY_SECONDS


def sitemap(data: bytes) -> None:
    """Whatever is listed is canonical."""
    source = parse_url_source(data, SITE)
    assert all(canonicalize(entry.url) == entry.url for entry in source.entries[:20])


def session(data: bytes) -> None:
    """Strictly and leniently, with the sources that it refers to."""
    lenient = parse_session(data, "a session", strict=False)
    path = _file(data, "session.jsonl")
    kept = read_with_problems(path, strict=False).session.events
    assert len(kept) <= len(lenient.session.events)
    parse_session(data, "a session")


def page_graph(data: bytes) -> None:
    """What learning makes of a session."""
    reading = parse_session(data, "a session", strict=False)
    graph = build_page_graph([reading.session])
    assert all(0 <= page < len(graph.pages) for edge in graph.edges for page in edge)


def message(data: bytes) -> None:
    """What the extension sends."""
    read_message(data, EventsMessage)


def har(data: bytes) -> None:
    """Kept and skipped add up."""
    imported = parse_har(data, "a file", "bees")
    assert sum(len(each.events) for each in imported.sessions) == imported.tally.kept


def recording(kind: str, name: str, data: bytes, **options: Any) -> None:
    """Any kind that ``trailhound import`` knows, read from a file."""
    path = _file(data, name)
    found = importer(kind)
    for each in found.read(path, "bees", **options).sessions:
        assert len(each.events) >= 0
    if kind == "firefox" and isinstance(found, KnowsBookmarks):
        found.bookmarks(path)


def bookmarks(data: bytes) -> None:
    """Chrome's bookmarks beside its history."""
    _file(data, "Bookmarks")
    found = importer("chrome")
    assert isinstance(found, KnowsBookmarks)
    found.bookmarks(_folder())


def archive_repair(data: bytes) -> None:
    """What a killed crawl left."""
    kept = kept_records(_file(data, "torn.warc.gz"), "torn.warc.gz")
    assert kept.size <= len(data)


def configuration(data: bytes) -> None:
    """The file that a crawl is set up by."""
    configure({}, {}, _file(data, "trailhound.toml"))


def topics_file(data: bytes) -> None:
    """The file that names a lab's topics."""
    read_topics_file(_file(data, "topics.toml"))


def assignments(data: bytes) -> None:
    """Options and variables of the environment, one in each line."""
    for line in _text(data).splitlines():
        from_assignments([line])


def edges(data: bytes) -> None:
    """A file of backlinks, indexed."""
    path = _file(data, "edges.tsv")
    index = _folder() / "edges"
    try:
        EdgeList.open(path, index).close()
    finally:
        for left in index.glob("*"):
            left.unlink()


def endpoint(data: bytes) -> None:
    """The answers of searches and of backlink services."""
    answer = _decoded(data)
    _listed(answer)
    hits_in(answer, 10)


def export(data: bytes) -> None:
    """Cells come back as they were, but for an apostrophe in front of formulas."""
    texts = (_text(data).split("\n") + [""] * 5)[:5]
    stored = StoredPage(
        number=1, address=texts[0], url=texts[1], title=texts[2], score=0.5, relevant=True,
        snippet=texts[3], outcome=Outcome.FETCHED, why="", parent=texts[4], depth=0, priority=0.0,
        duplicate_of=None, noindex=False, at=0.0, language="", status=200, links_found=0,
        links_added=0, links_outside=0, requests=1, etag=texts[0], last_modified="", known=False,
    )  # fmt: skip
    table, lines = io.BytesIO(), io.BytesIO()
    exported = ExportedPage(stored, path=texts[:1], marked=texts[1])
    write_csv([exported], table)
    rows = list(csv.DictReader(io.StringIO(table.getvalue().decode(), newline="")))
    assert len(rows) == 1
    for name, text in zip(
        ("url", "requested_url", "title", "snippet", "parent"), texts, strict=True
    ):
        assert rows[0][name].removeprefix("'") == text.removeprefix("'")
        assert not rows[0][name].lstrip().startswith(("=", "+", "-", "@"))
    write_jsonl([exported], lines)
    assert set(msgspec.json.decode(lines.getvalue())) == set(FIELDS)
    assert lines.getvalue().count(b"\n") == 1
