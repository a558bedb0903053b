from __future__ import annotations

import pytest

from trailhound.fetching.media_types import (
    is_html_type,
    looks_like_html,
    may_be_html,
    why_not_html,
)


@pytest.mark.parametrize(
    "header",
    ["text/html", "TEXT/HTML; charset=utf-8", " text/html ;x", "application/xhtml+xml"],
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


@pytest.mark.parametrize("header", ["", "unknown/unknown", "*/*", "text/html"])
def test_headers_worth_a_look(header: str) -> None:
    assert may_be_html(header)


@pytest.mark.parametrize("header", ["text/plain", "application/octet-stream", "image/png"])
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
    reason = why_not_html(start, "text/html")
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
    assert why_not_html(start, "text/html; charset=x") is None


def test_an_unannounced_page_must_look_like_one() -> None:
    assert why_not_html(b"<html>", "") is None
    assert why_not_html(b"words", "") is not None
