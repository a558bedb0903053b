"""The table of everything that reads what others wrote: how inputs are made, and who reads them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random

import brotli
import zstandard

from benchmarks.fuzz import documents, readers, recordings, web_grammars
from benchmarks.fuzz.grammar import Grammar
from benchmarks.fuzz.mutations import mutated
from trailhound.collector.guard import RefusedRequestError
from trailhound.errors import TrailhoundError
from trailhound.fetching.content_coding import CodingError
from trailhound.text.documents import UnreadableDocumentError

Make = Callable[[Random], bytes]
Read = Callable[[bytes], object]


@dataclass(frozen=True)
class Target:
    """One reader."""

    name: str
    make: Make
    read: Read
    share: int
    """Of a million inputs, thousands."""
    allowed: tuple[type[Exception], ...] = (TrailhoundError,)
    """What it may raise by its contract."""
    largest: int = 4_000_000
    """Bytes of the input whose memory is measured: larger ones are refused, cut, or cannot come."""


def text_of(grammar: Grammar) -> Make:
    """Inputs of a grammar, in UTF-8; every second one bent."""
    return _half_bent(lambda rng: grammar.make(rng).encode("utf-8", "replace"))


def _half_bent(make: Make) -> Make:
    def bent(rng: Random) -> bytes:
        data = make(rng)
        return mutated(rng, data) if rng.random() < 0.5 else data

    return bent


def _encoded_page(rng: Random) -> bytes:
    header = web_grammars.HEADERS.make(rng, "type").replace("\n", " ").encode("utf-8", "replace")
    page = web_grammars.PAGE.make(rng)
    codec = rng.choice(("utf-8", "utf-16", "cp1252", "gb18030", "big5", "iso2022_jp", "cp932"))
    return header + b"\n" + page.encode(codec, "replace")


def _packed(rng: Random) -> bytes:
    text = web_grammars.PAGE.make(rng).encode("utf-8", "replace") * rng.choice((1, 1, 50))
    packers = (gzip.compress, zlib.compress, brotli.compress, zstandard.compress)
    coding = rng.randrange(4)
    lie = rng.randrange(5) if rng.random() < 0.1 else coding
    return bytes([lie]) + packers[coding](text) * rng.choice((1, 1, 1, 3))


def _sitemap(rng: Random) -> bytes:
    text = web_grammars.SITEMAP.make(rng).encode("utf-8", "replace")
    return gzip.compress(text, 1, mtime=0) if rng.random() < 0.1 else text


def _log(grammar: Grammar) -> Make:
    def make(rng: Random) -> bytes:
        text = grammar.make(rng).encode("utf-8", "replace")
        return gzip.compress(text, 1, mtime=0) if rng.random() < 0.1 else text

    return _half_bent(make)


def _edges(rng: Random) -> bytes:
    sign = rng.choice("\t,")
    urls = [web_grammars.URL.make(rng) for _ in range(rng.randrange(2, 12))]
    lines = (f"{source}{sign}{target}" for source, target in pairwise(urls))
    return "\n".join(lines).encode("utf-8", "replace")


TARGETS = (
    Target("page", text_of(web_grammars.PAGE), readers.page, 60, largest=390_000),
    Target("parse guard", text_of(web_grammars.PAGE), readers.parse_guard, 160),
    Target("encoding", _half_bent(_encoded_page), readers.encoding, 80),
    Target("url", text_of(web_grammars.URL), readers.url, 120, largest=60_000),
    Target("headers", text_of(web_grammars.HEADERS), readers.headers, 150, largest=32_000),
    Target("content coding", _half_bent(_packed), readers.content_coding, 20,
           (CodingError,)),
    Target("robots", text_of(web_grammars.ROBOTS), readers.robots, 100, largest=500_000),
    Target("sitemap", _half_bent(_sitemap), readers.sitemap, 90),
    Target("feed", text_of(documents.FEED), readers.feed, 20, (UnreadableDocumentError,)),
    Target("text", text_of(documents.MARKDOWN), readers.text, 20),
    Target("office", _half_bent(documents.office), readers.office, 6, (UnreadableDocumentError,)),
    Target("pdf", _half_bent(documents.pdf), readers.pdf, 6, (UnreadableDocumentError,)),
    Target("session", text_of(recordings.SESSION), readers.session, 30),
    Target("page graph", text_of(recordings.SESSION), readers.page_graph, 8),
    Target("collector", text_of(recordings.MESSAGE), readers.message, 60,
           (RefusedRequestError,)),
    Target("har", text_of(recordings.HAR), readers.har, 60),
    Target("combined log", _log(recordings.COMBINED),
           partial(readers.recording, "combined", "access.log", site="https://example.org"), 15),
    Target("squid log", _log(recordings.SQUID),
           partial(readers.recording, "squid", "squid.log"), 15),
    Target("warc", _half_bent(recordings.warc),
           partial(readers.recording, "warc", "data.warc"), 10),
    Target("wacz", _half_bent(recordings.wacz),
           partial(readers.recording, "warc", "data.wacz"), 4),
    Target("archive repair", _half_bent(recordings.warc), readers.archive_repair, 8),
    Target("chrome history", _half_bent(recordings.chrome_history),
           partial(readers.recording, "chrome", "History"), 3),
    Target("firefox history", _half_bent(recordings.firefox_history),
           partial(readers.recording, "firefox", "places.sqlite"), 3),
    Target("bookmarks", text_of(recordings.BOOKMARKS), readers.bookmarks, 10),
    Target("configuration", text_of(recordings.TOML), readers.configuration, 10, largest=500_000),
    Target("topics file", text_of(recordings.TOML), readers.topics_file, 15, largest=500_000),
    Target("assignments", text_of(recordings.ASSIGNMENT), readers.assignments, 10, largest=128_000),
    Target("edges", _edges, readers.edges, 3),
    Target("endpoint", text_of(recordings.ANSWER), readers.endpoint, 50),
    Target("export", text_of(web_grammars.PAGE), readers.export, 25),
)  # fmt: skip


def target_named(name: str) -> Target:
    """ValueError when there is none."""
    for target in TARGETS:
        if target.name == name:
            return target
    raise ValueError(f"There is no target '{name}': {', '.join(each.name for each in TARGETS)}.")
