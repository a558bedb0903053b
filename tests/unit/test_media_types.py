"""What an answer holds, by its header and its first bytes."""

from __future__ import annotations

import pytest

from trailhound.errors import ConfigError
from trailhound.media_types import (
    DocumentKind,
    document_kind,
    is_html_type,
    looks_like_html,
    may_be_html,
    may_be_wanted,
    wanted_documents,
    why_not_wanted,
)

ALL = frozenset(DocumentKind)
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
LOCAL_HEADER = b"PK\x03\x04" + bytes(26)


@pytest.mark.parametrize(
    "header",
    [
        *("text/html", "TEXT/HTML; charset=utf-8", " text/html ;x", "application/xhtml+xml"),
        *("text/html charset=utf-8", "text/html, text/html; charset=utf-8", '"text/html"'),
    ],
)
def test_html_headers(header: str) -> None:
    assert is_html_type(header)


@pytest.mark.parametrize("header", ["", "text/plain", "image/png", "application/xml", "html"])
def test_other_headers(header: str) -> None:
    assert not is_html_type(header)


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><p>",
        b"\xef\xbb\xbf\n <HTML>",
        b"<?xml version='1.0'?>\n<html >",
        b"<!-- x",
        b"<p>text",
        b"<a href='x'>",
        b"<!doctype  html public>",
    ],
)
def test_bodies_that_begin_as_html(body: bytes) -> None:
    assert looks_like_html(body)


@pytest.mark.parametrize(
    "body",
    [b"", b"plain words", b"%PDF-1.4", b"<?xml version='1.0'?><rss>", b"<address>", b"\0<p>"],
)
def test_other_bodies(body: bytes) -> None:
    assert not looks_like_html(body)


@pytest.mark.parametrize("header", ["", "unknown/unknown", "*/*", "text/html", "html", "/"])
def test_headers_worth_a_look(header: str) -> None:
    assert may_be_html(header)


@pytest.mark.parametrize("header", ["text/plain", "application/octet-stream", "image/png x"])
def test_headers_not_worth_a_look(header: str) -> None:
    assert not may_be_html(header)


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
        (b"GIF89a\1\0", "GIF"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG"),
        (b"%PDF-1.7\n", "PDF"),
        (b"PK\x03\x04\x14\0", "ZIP"),
        (b"\0\0\0\x20ftypisom", "film"),
        (b"words and \0 then", "binary"),
    ],
)
def test_files_labelled_as_html_are_seen_through(start: bytes, kind: str) -> None:
    reason = why_not_wanted(start, "text/html")
    assert reason is not None
    assert kind in reason


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"plain words under a html label",
        b"\x1b$B\x46\x7c",
        "<p>ä".encode("utf-16"),
        "<p>ä".encode("utf-16-le"),
        "<p>ä".encode("utf-16-be"),
        "\n<p>ä".encode("utf-16-be"),
        "<p>".encode("utf-32"),
    ],
)
def test_an_announced_page_is_believed(start: bytes) -> None:
    assert why_not_wanted(start, "text/html; charset=x") is None


def test_an_unannounced_page_must_look_like_one() -> None:
    assert why_not_wanted(b"<html>", "") is None
    assert why_not_wanted(b"words", "") == "no content type, and the body is not HTML"
    assert why_not_wanted(b"<html>", "html") is None
    assert why_not_wanted(b"words", "html") == "the content type is html, and the body is not HTML"


@pytest.mark.parametrize(
    ("start", "header", "kind"),
    [
        (b"%PDF-1.7", "application/pdf", "pdf"),
        (b"%PDF-1.7", "text/html", "pdf"),
        (b"\n%PDF-1.7", "application/octet-stream", "pdf"),
        (b"junk %PDF-1.7", "application/pdf", "pdf"),
        (b"junk %PDF-1.7", "text/plain", "text"),
        (b"<html>", "application/pdf", None),
        (LOCAL_HEADER + b"[Content_Types].xml", "", "office"),
        (LOCAL_HEADER + b"mimetypeapplication/epub+zip", "application/zip", "office"),
        (LOCAL_HEADER + b"mimetypeapplication/vnd.oasis.opendocument.text", "text/html", "office"),
        (LOCAL_HEADER + b"photos/1.jpg", "application/zip", None),
        (LOCAL_HEADER + b"custom.xml", DOCX, "office"),
        (b"<?xml version='1.0'?><!-- a --><rss version='2.0'>", "text/html", "feeds"),
        (b"<feed xmlns='x'>", "text/plain", "feeds"),
        ("<?xml version='1.0'?>\n<rss version='2.0'>".encode("utf-16"), "text/xml", "feeds"),
        ("\ufeff<feed>".encode("utf-16-be"), "application/atom+xml", "feeds"),
        (b"\xef\xbb\xbf<rdf:RDF>", "application/xml", "feeds"),
        (b"<?xml version='1.0'?><urlset>", "application/xml", None),
        (b"<?xml version='1.0'?><html>", "application/xml", None),
        (b'{"version": "https://jsonfeed.org/version/1.1"', "application/json", "feeds"),
        (b'{"bees": 1}', "application/json", None),
        (b"# Bees", "text/markdown; charset=utf-8", "text"),
        (b"Bees", "text/plain", "text"),
        ("\ufeffBees".encode("utf-16-le"), "text/plain", "text"),
        (b"Bees\0\1\2", "text/plain", None),
        (b"body { color: red }", "text/css", None),
        (b"<p>Bees", "text/html", None),
        (b"<p>Bees", "", None),
    ],
)
def test_kinds_of_documents(start: bytes, header: str, kind: str | None) -> None:
    assert document_kind(start, header) == kind
    wanted = may_be_wanted(header, ALL) and why_not_wanted(start, header, ALL) is None
    assert wanted == (kind is not None or start == b"<p>Bees")


@pytest.mark.parametrize(
    "header", ["text/plain", "application/pdf", "application/octet-stream", "text/xml", DOCX]
)
def test_without_documents_only_html_is_worth_a_look(header: str) -> None:
    assert may_be_wanted(header, ALL)
    assert not may_be_wanted(header, frozenset())


def test_files_that_may_be_anything_are_looked_at_for_the_sake_of_pdf_and_office() -> None:
    assert not may_be_wanted("application/octet-stream", frozenset([DocumentKind.TEXT]))
    reason = why_not_wanted(b"GIF89a", "application/octet-stream", ALL)
    assert reason == "the content type is application/octet-stream, but the body is a GIF image"


def test_a_kind_that_is_not_wanted_is_named() -> None:
    reason = why_not_wanted(b"%PDF-1.7", "text/html", frozenset([DocumentKind.TEXT]))
    assert reason == "the content type is text/html, but the body is a PDF document"


def test_which_documents_are_wanted() -> None:
    assert wanted_documents("none") == frozenset()
    assert wanted_documents("auto") == ALL
    assert wanted_documents("feeds, pdf") == {DocumentKind.FEEDS, DocumentKind.PDF}
    with pytest.raises(ConfigError, match="'word' is no kind of document"):
        wanted_documents("pdf,word")


def test_without_the_library_pdf_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trailhound.media_types.find_spec", lambda _: None)
    assert wanted_documents("auto") == {DocumentKind.FEEDS, DocumentKind.TEXT}
    assert wanted_documents("office") == {DocumentKind.OFFICE}
    with pytest.raises(ConfigError, match=r"pip install 'trailhound\[documents\]'"):
        wanted_documents("pdf")
