"""Strategies that learn on the way, on the live web of the demo: explained, killed and resumed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_webs import SMALL, Site, learn

from trailhound.archive.result_reading import Results
from trailhound.demo import DemoWeb
from trailhound.demo.server import serve_in_thread
from trailhound.records import Outcome
from trailhound.registry import make_strategy
from trailhound.strategies.base import Briefing, Explaining, Remembering
from trailhound.strategies.intelligent import IntelligentStrategy

LEARNING = ("intelligent", "content-link")


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb.generate(parameters=SMALL)


@pytest.fixture(scope="module")
def port(web: DemoWeb) -> Iterator[int]:
    with serve_in_thread(web) as served:
        yield served


@pytest.mark.parametrize("spec", LEARNING)
def test_a_learning_crawl_is_explained_and_goes_on_with_what_it_learned(
    spec: str, web: DemoWeb, port: int, tmp_path: Path
) -> None:
    topic = max(web.topics, key=lambda name: len(web.topics[name]))
    site = Site(learn(web, topic, tmp_path), port)
    seeds = web.start_urls
    with site.begun(crawl__strategy=spec, crawl__seeds=seeds, crawl__max_pages=40) as crawl:
        first = list(crawl.run())
    with site.resumed(crawl__max_pages=80) as crawl:
        second = list(crawl.run())
    assert not site.notices, "the snapshot was taken up without complaint"
    assert {event.outcome for event in first + second} & {Outcome.BROKEN} == set()
    assert second[0].number == first[-1].number + 1
    snapshot = (crawl.folder.path / "strategy.bin").read_bytes()
    strategy = make_strategy(spec, Briefing(site.topic.load().model.graph))
    assert isinstance(strategy, Remembering)
    assert isinstance(strategy, Explaining)
    strategy.restore(snapshot)
    if isinstance(strategy, IntelligentStrategy):
        fetched = sum(event.outcome is Outcome.FETCHED for event in first + second)
        assert strategy._interest.pages >= fetched
    with Results(crawl.folder.results) as results:
        pages = [page for event in second for page in results.events_of(event.url)]
    assert any(strategy.explain(page.memory) for page in pages)
