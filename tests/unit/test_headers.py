"""What the headers of an answer say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.fetching.headers import (
    RobotsTags,
    is_html_type,
    looks_like_html,
    may_be_html,
    read_robots_tags,
    retry_after_seconds,
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


@pytest.mark.parametrize(
    ("headers", "noindex", "nofollow"),
    [
        ([], False, False),
        (["noindex"], True, False),
        (["NoIndex, NoFollow"], True, True),
        (["none"], True, True),
        (["all"], False, False),
        (["noindex", "nofollow"], True, True),
        (["noarchive, nosnippet"], False, False),
        (["bees-bot: noindex, nofollow"], True, True),
        (["BEES-BOT:nofollow"], False, True),
        (["googlebot: noindex"], False, False),
        (["googlebot: noindex", "nofollow"], False, True),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST"], False, False),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], True, False),
        (["max-snippet:20, nofollow"], False, True),
        (["noindex, max-image-preview: large"], True, False),
        (["", ":", "::,:"], False, False),
    ],
)
def test_wishes(headers: list[str], noindex: bool, nofollow: bool) -> None:
    assert read_robots_tags(headers, "bees-bot") == RobotsTags(noindex, nofollow)


NOW = 1_767_225_600.0  # 1 January 2026, 00:00:00 UTC


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("99999999999999999999", 86_400.0),
        ("Thu, 01 Jan 2026 00:02:00 GMT", 120.0),
        ("Thursday, 01-Jan-26 00:02:00 GMT", 120.0),
        ("Thu Jan  1 00:02:00 2026", 120.0),
        ("Thu, 01 Jan 2026 01:02:00 +0100", 120.0),
        ("Wed, 31 Dec 2025 23:59:59 GMT", 0.0),
        ("Fri, 01 Jan 2027 00:00:00 GMT", 86_400.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("Thu, 99 Jan 2026 00:02:00 GMT", None),
        ("٣", None),
    ],
)
def test_seconds_and_dates(header: str, seconds: float | None) -> None:
    assert retry_after_seconds(header, NOW) == seconds


@given(st.text())
def test_no_header_is_too_strange(header: str) -> None:
    seconds = retry_after_seconds(header, NOW)
    assert seconds is None or 0 <= seconds <= 86_400
