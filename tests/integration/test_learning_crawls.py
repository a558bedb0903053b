"""Strategies that learn on the way, on the live web of the demo: explained, killed and resumed."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from live_webs import Site

from trailhound.config.layers import configure
from trailhound.demo import DemoWeb
from trailhound.errors import StorageError
from trailhound.records import (
    FinishedPage,
    Outcome,
)
from trailhound.storage.results import ResultsStore
from trailhound.storage.results_reading import Results
from trailhound.strategies.base import Briefing, Remembering
from trailhound.strategies.choosing import make_strategy
from trailhound.strategies.content_link.strategy import KeptCrawl
from trailhound.strategies.intelligent.strategy import IntelligentStrategy
from trailhound.strategies.trail.strategy import TrailStrategy
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.finds.explaining import Explainer
from trailhound.topics.finds.opinions import Opinions, lessons_about_links
from trailhound.topics.runs.crawl import TopicCrawl
from trailhound.topics.runs.strategy_memory import StrategyMemory
from trailhound.topics.upkeep.forgetting import forget_pages, one_url
from trailhound.topics.workspace import Workspace

LEARNING = ("trail", "intelligent", "content-link")


@pytest.mark.parametrize("spec", LEARNING)
def test_a_learning_crawl_is_explained_and_goes_on_with_what_it_learned(
    spec: str, web: DemoWeb, demo: Site
) -> None:
    seeds = web.start_urls
    with demo.begun(crawl__strategy=spec, crawl__seeds=seeds, crawl__max_requests=40) as crawl:
        first = list(crawl.run())
    with demo.resumed(crawl__max_requests=80) as crawl:
        second = list(crawl.run())
    assert not demo.notices, "the snapshot was taken up without complaint"
    assert {event.outcome for event in first + second} & {Outcome.BROKEN} == set()
    assert second[0].number == first[-1].number + 1
    strategy = make_strategy(spec, Briefing(demo.topic.load().model.graph))
    StrategyMemory(strategy, crawl.folder.strategy).restore(demo.notices.append)
    assert not demo.notices
    if isinstance(strategy, IntelligentStrategy):
        fetched = sum(event.outcome is Outcome.FETCHED for event in first + second)
        assert strategy._interest.pages >= fetched
    with Results(crawl.folder.results) as results:
        pages = [page for event in second for page in results.events_of(event.url)]
        said = Opinions(crawl.folder, results)
        assert any(said.belief(page.memory) or said.reasons(page) for page in pages)


def waiting_links(crawl: TopicCrawl) -> set[str]:
    """Addresses that trail has links to, beyond those of the session, and did not fetch yet."""
    strategy = crawl._memory._strategy
    assert isinstance(strategy, TrailStrategy)
    nodes, size = strategy._table.nodes, strategy._table.nodes.size
    linked = nodes["queued"][:size] & ~nodes["done"][:size] & (nodes["n_links"][:size] > 0)
    pages = crawl.folder.topic.load().model.graph.pages
    shown = {link.url for page in pages for link in page.links}
    return {strategy._table.urls[node] for node in linked.nonzero()[0].tolist()} - shown


def test_the_links_that_trail_knew_come_back(web: DemoWeb, demo: Site) -> None:
    seeds = web.start_urls
    with demo.begun(crawl__strategy="trail", crawl__seeds=seeds, crawl__max_requests=20) as crawl:
        list(crawl.run())
    old = crawl.folder.strategy.read_bytes()
    with demo.resumed(crawl__max_requests=45) as crawl:
        list(crawl.run())
        known = waiting_links(crawl)
    assert known
    with demo.resumed(crawl__max_requests=46) as crawl:
        assert waiting_links(crawl) >= known
    # As a process that is killed leaves it: the pages are kept, the snapshot is an old one.
    crawl.folder.strategy.write_bytes(old)
    with demo.resumed(crawl__max_requests=46) as crawl:
        assert waiting_links(crawl) >= known
    assert not demo.notices


def restored(snapshot: bytes) -> KeptCrawl:
    """The snapshot, but for the numbers of families: they leave room after a restart."""
    kept = msgspec.msgpack.decode(snapshot, type=KeptCrawl)
    tunnels = msgspec.structs.replace(kept.tunnels, newest=0, failures={})
    return msgspec.structs.replace(kept, tunnels=tunnels)


def remembered(crawl: TopicCrawl) -> bytes:
    strategy = crawl._memory._strategy
    assert isinstance(strategy, Remembering)
    return strategy.snapshot()


@pytest.mark.parametrize("spec", ["content-link:literal=true", "content-link"])
def test_pages_after_the_last_snapshot_are_looked_at_again(
    spec: str, web: DemoWeb, demo: Site
) -> None:
    seeds = web.start_urls
    with demo.begun(crawl__strategy=spec, crawl__seeds=seeds, crawl__max_requests=20) as crawl:
        list(crawl.run())
    old = crawl.folder.strategy.read_bytes()
    with demo.resumed(crawl__max_requests=45) as crawl:
        list(crawl.run())
        known = remembered(crawl)
    # As a process that is killed leaves it: the pages are kept, the snapshot is an old one.
    crawl.folder.strategy.write_bytes(old)
    with demo.resumed(crawl__max_requests=46) as crawl:
        assert restored(remembered(crawl)) == restored(known)
    crawl.folder.strategy.unlink()
    with demo.resumed(crawl__max_requests=46) as crawl:
        assert restored(remembered(crawl)) == restored(known), "the first snapshot is not needed"
    assert not demo.notices


def test_a_page_that_could_not_be_kept_is_not_in_the_snapshot(
    web: DemoWeb, demo: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The strategy has seen it, and is shown it again, as it was archived."""
    keep = ResultsStore.keep

    def failing(store: ResultsStore, finished: FinishedPage) -> None:
        if finished.event.number == 10:
            raise StorageError("the disk is full")
        keep(store, finished)

    with (
        monkeypatch.context() as disk,
        demo.begun(crawl__strategy="content-link", crawl__seeds=web.start_urls) as crawl,
    ):
        disk.setattr(ResultsStore, "keep", failing)
        with pytest.raises(StorageError):
            list(crawl.run())
    assert not crawl.folder.strategy.exists(), "there was no other snapshot yet"
    with demo.resumed(crawl__max_requests=40) as crawl:
        assert crawl._memory.known_until == 10
        assert "1 page restored in the results" in crawl.mended
        list(crawl.run())
    assert crawl.folder.strategy.exists()


def test_a_crawl_with_trail_is_explained_in_words_and_counts(web: DemoWeb, demo: Site) -> None:
    asked: dict[str, Any] = {"crawl__strategy": "trail", "crawl__max_requests": 80}
    with demo.begun(crawl__seeds=web.start_urls, **asked) as crawl:
        events = list(crawl.run())
    with Results(crawl.folder.results) as results:
        said = Opinions(crawl.folder, results)
        tell = Explainer(crawl.folder, results, said.belief, said.reasons, said.words)
        told = [tell.explain(event.url) for event in events[-20:]]
        assert not tell.explain(web.start_urls[0]).reasons, "a seed is nobody's link"
    words = [reason.words for each in told for reason in each.reasons]
    assert any(each.startswith("anchor '") for each in words)
    assert any(re.fullmatch(r"its (host|folder) had given \d+ of \d+", each) for each in words)
    assert any("found on" in each for each in words)
    fetched = [each for each in told if each.verdict == "fetched"]
    silent = [each.url for each in fetched if not (each.words_for or each.words_against)]
    assert len(silent) < len(fetched) / 10, "a page may have no word that the session had"
    assert all(each.words_for for each in fetched if "and is relevant" in each.because)


def test_what_a_crawl_has_learned_of_links_is_told_beside_what_the_session_taught(
    web: DemoWeb, demo: Site
) -> None:
    asked: dict[str, Any] = {"crawl__strategy": "trail", "crawl__seeds": web.start_urls}
    pages = demo.topic.load().model.graph.pages
    folder = CrawlFolder(demo.topic)
    before = lessons_about_links(folder, configure(demo.flags(**asked)).settings, pages)
    assert before is not None
    assert not before.after_crawl
    with demo.begun(crawl__max_requests=80, **asked) as crawl:
        list(crawl.run())
    after = lessons_about_links(folder, configure({}).settings, pages)
    assert after is not None
    assert after.from_sessions == before.from_sessions
    assert {each.field for each in after.after_crawl} > {"", "anchor", "address"}
    told = after.told(5)
    assert re.match(r"\S+ [+-]\d\.\d", told["anchor"])
    assert told["what else counts"].count("(") == 5, "each with what it was before"
    others = configure(demo.flags(crawl__strategy="breadth-first")).settings
    assert lessons_about_links(CrawlFolder(demo.topic, folder.path / "no"), others, pages) is None


BEGINS_WITH = "It begins with what an earlier crawl has learned of links"


def test_a_crawl_that_is_begun_anew_starts_from_what_was_learned(web: DemoWeb, demo: Site) -> None:
    asked: dict[str, Any] = {"crawl__strategy": "trail", "crawl__seeds": web.start_urls}
    with demo.begun(crawl__max_requests=60, **asked) as crawl:
        first = list(crawl.run())
    assert not demo.notices
    with demo.begun(restart=True, crawl__max_requests=60, **asked) as crawl:
        crawl.begin()
        taught = remembered(crawl)
    assert demo.notices == [f"{BEGINS_WITH} (--fresh: without)."]
    with demo.resumed() as crawl:
        assert remembered(crawl) == taught, "it was killed before its first page, and knows it all"
        second = list(crawl.run())
    assert {event.url for event in second} & {event.url for event in first}, "pages are read anew"
    demo.notices.clear()
    with demo.begun(restart=True, fresh=True, crawl__max_requests=20, **asked) as crawl:
        assert len(remembered(crawl)) < len(taught)
    with demo.begun(restart=True, **(asked | {"crawl__strategy": "best-first"})) as crawl:
        crawl.begin()
    assert not demo.notices
    with demo.begun(restart=True, judge__kind="cosine", **asked):
        pass
    assert "as topic or judge have changed since" in demo.notices[-1]


def test_what_is_forgotten_or_damaged_is_not_learned_from(web: DemoWeb, demo: Site) -> None:
    asked: dict[str, Any] = {"crawl__strategy": "trail", "crawl__seeds": web.start_urls}
    with demo.begun(crawl__max_requests=40, **asked) as crawl:
        url = list(crawl.run())[-1].url
    whole = crawl.folder.strategy.read_bytes()
    crawl.folder.strategy.write_bytes(whole[: len(whole) // 2])
    with demo.begun(restart=True, **asked):
        pass
    assert "What an earlier crawl has learned is of no use here" in demo.notices.pop()
    crawl.folder.strategy.write_bytes(whole)
    workspace = Workspace(demo.topic.path.parent.parent)
    forget_pages(workspace, demo.topic.name, one_url(url))
    with demo.begun(restart=True, **asked):
        pass
    assert not demo.notices
