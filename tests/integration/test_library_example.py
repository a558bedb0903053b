"""The library as ``docs/library.md`` shows it, against a server on loopback."""

from __future__ import annotations

from pathlib import Path

from examples.focused_crawl import crawl
from live_webs import SMALL

import trailhound as th
from trailhound.demo import DemoWeb
from trailhound.demo.files import write_demo_sessions
from trailhound.demo.server import serve_in_thread
from trailhound.fetching.resolver import MappedResolver

ROOT = Path(__file__).parents[2]


def fetcher(port: int) -> th.HttpFetcher:
    return th.HttpFetcher(
        "library-test (+http://www.demo.test/about)",
        allow_addresses=["*.demo.test"],
        resolver=MappedResolver({"*.demo.test": f"127.0.0.1:{port}"}, use_dns=False),
    )


def test_the_documented_crawl_runs_and_goes_on(tmp_path: Path) -> None:
    web = DemoWeb.generate(parameters=SMALL)
    session = write_demo_sessions(web, tmp_path / "sessions")[0]
    seeds = list(web.start_urls)
    with serve_in_thread(web) as port:
        first = list(crawl(session, seeds, fetcher(port), tmp_path, max_pages=40))
        second = list(crawl(session, seeds, fetcher(port), tmp_path, max_pages=60))
    assert [event.number for event in first + second] == list(range(1, len(first + second) + 1))
    assert any(event.relevance is not None for event in first)
    with th.Results(tmp_path / "results.db") as results:
        assert results.summary().pages == len(first + second)


def test_the_documentation_shows_the_example_as_it_is() -> None:
    source = (ROOT / "examples" / "focused_crawl.py").read_text("utf-8")
    document = (ROOT / "docs" / "library.md").read_text("utf-8")
    assert source[source.index("import sys") :] in document
