"""A crawl that is killed loses nothing; ``benchmarks/kill_resume.py`` does this twenty times."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.kill_resume import check_delays, kill_again_and_again


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_crawl_killed_at_random_moments_loses_nothing(tmp_path: Path) -> None:
    kills = 3
    findings = kill_again_and_again(tmp_path, kills, seed=5, max_seconds=1.5, last_requests=60)
    assert findings.kills == kills
    assert findings.links > 1000
    assert findings.fetched_twice <= 16 * kills, "no more than can be in flight"


def test_the_check_of_delays_would_notice() -> None:
    moments = [(0.0, "http://forum.a.test/"), (1.0, "http://forum.a.test/x")]
    assert check_delays(moments) == 2
    with pytest.raises(AssertionError, match=r"again after 0\.50 s"):
        check_delays([*moments, (1.5, "http://forum.a.test/y")])
