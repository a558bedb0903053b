"""``crawl`` without a seed: it starts where the session led on to what was useful."""

from __future__ import annotations

import pytest
from live_webs import Site

from trailhound.errors import UsageError
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.seed_suggestions import USUAL_SEEDS, suggested_seeds
from trailhound.urls import host_key


def test_a_crawl_starts_from_pages_of_the_session(demo: Site) -> None:
    suggested = [seed.url for seed in suggested_seeds(demo.topic)]
    with demo.begun(crawl__strategy="best-first", crawl__max_requests=12) as crawl:
        events = list(crawl.run())
    begun = [event.url for event in events if event.parent is None]
    assert sorted(begun) == sorted(suggested[:USUAL_SEEDS])
    assert set(CrawlFolder(demo.topic).read().settings.crawl.seeds) == set(begun)
    assert any(suggested[0] in notice for notice in demo.notices if "No seed" in notice)
    demo.notices.clear()
    with demo.resumed(crawl__max_requests=20) as crawl:
        assert list(crawl.run())
    assert not any("No seed" in notice for notice in demo.notices), "it has its seeds"


def test_trail_goes_in_by_more_of_them_and_says_so(demo: Site) -> None:
    with demo.begun(crawl__strategy="trail", crawl__max_requests=60) as crawl:
        events = list(crawl.run())
    begun = [event.url for event in events if event.parent is None]
    visited = {page.url for page in demo.topic.load().model.graph.pages}
    assert len(begun) > USUAL_SEEDS
    assert visited.issuperset(begun)


def test_it_starts_where_it_may_go(demo: Site) -> None:
    *_, last = (seed.url for seed in suggested_seeds(demo.topic))
    host = host_key(last)
    with (
        pytest.raises(UsageError, match="needs a page to start from"),
        demo.begun(crawl__scope=["elsewhere.test"], crawl__max_requests=5),
    ):
        pass
    with demo.begun(crawl__scope=[host], crawl__max_requests=5) as crawl:
        assert all(host_key(event.url) == host for event in crawl.run())
