"""The benchmark of many hosts crawls all of its pages; how much memory that takes is its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.storage.results_reading import Results

if sys.platform == "win32":
    pytest.skip("limits of POSIX", allow_module_level=True)
from benchmarks import flat_memory


@pytest.mark.parametrize("strategy", ["intelligent", "trail"])
def test_a_tiny_one_fetches_every_page_of_every_host(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resource.setrlimit", lambda *_: None)
    tenths = flat_memory.crawl(tmp_path, pages=600, hosts=300, strategy=strategy)
    assert [tenth.pages for tenth in tenths] == [60] * flat_memory.TENTHS
    assert all(tenth.cpu_seconds > 0 and tenth.resident_mb > 0 for tenth in tenths)
    crawl = tmp_path / "topics" / "flat" / "crawl"
    with Results(crawl / "results.db") as results:
        assert results.summary().outcomes == {"fetched": 600}
    frontier = SqliteFrontier(crawl / "frontier.db")
    stats = frontier.stats()
    assert (stats.finished, frontier.pages_of("h7.flat.test")) == (600, 2)
    frontier.close()
