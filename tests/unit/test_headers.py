"""What the headers of an answer say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.fetching.headers import RobotsTags, read_robots_tags, retry_after_seconds


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
        ("1.5", 1.5),
        ("120.", 120.0),
        ("120, 120", 120.0),
        ("5,120.5 , 7", 120.5),
        ("1.2.3", None),
        ("120,", None),
        (", 5", None),
        ("120, soon", None),
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
