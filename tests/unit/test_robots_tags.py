from __future__ import annotations

import pytest

from trailhound.fetching.robots_tags import RobotsTags, read_robots_tags


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
