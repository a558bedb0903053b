"""Curves and tables of a crawl, against what its results say page by page."""

from __future__ import annotations

from pathlib import Path

import pytest
from half_way_crawls import TOPIC
from live_webs import Resource, TinySite

from command_line import Command
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Outcome
from trailhound.storage.results import ResultsStore
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.finds.figures import (
    crawl_curve,
    crawl_errors,
    crawl_frontier,
    crawl_hosts,
    crawl_refusals,
)
from trailhound.topics.workspace import Workspace


@pytest.fixture
def folder(half_way: Path, workspace_folder: Path) -> CrawlFolder:
    assert half_way.is_dir()
    return CrawlFolder(Workspace(workspace_folder).topic(TOPIC))


def test_a_curve_has_every_page_and_is_thinned(folder: CrawlFolder) -> None:
    with Results(folder.results) as results:
        pages = results.since(0)
    every = crawl_curve(folder)
    assert [point.pages for point in every] == list(range(1, 25))
    assert [point.requests for point in every] == [page.number for page in pages]
    finds = [sum(page.relevant for page in pages[:n]) for n in range(1, 25)]
    assert [point.finds for point in every] == finds
    assert [point.mean_score for point in every] == [page.score for page in pages]
    some = crawl_curve(folder, points=5)
    assert len(some) == 5
    assert (some[-1].pages, some[-1].finds) == (24, finds[-1])


def test_finds_that_are_looked_at_again_stay_where_they_were_made(
    folder: CrawlFolder, crawl: Command
) -> None:
    before = crawl_curve(folder)
    assert crawl("--refresh").code == 0
    after = crawl_curve(folder)
    assert len(after) > len(before)
    assert [point.finds for point in after[: len(before)]] == [point.finds for point in before]
    assert {point.finds for point in after[len(before) :]} == {before[-1].finds}


def test_tables_tell_of_hosts_frontier_errors_and_refusals(
    folder: CrawlFolder, site: TinySite, crawl: Command
) -> None:
    host = f"127.0.0.1:{site.port}"
    (figures,) = crawl_hosts(folder)
    assert (figures.host, figures.pages) == (host, 24)
    assert figures.finds == crawl_curve(folder)[-1].finds
    (best, *_) = next_ones = crawl_frontier(folder, 2)
    assert figures.waiting >= len(next_ones)
    frontier = SqliteFrontier(folder.frontier)
    (leased,) = frontier.lease(1, 1e12)
    frontier.close()
    assert leased == best
    assert crawl_errors(folder) == []
    site.resources |= {f"/{number}": Resource(b"no", 404) for number in range(24, 40)}
    crawl("--resume", "--max-requests", "30")
    (error,) = crawl_errors(folder)
    assert (error.what, error.outcome) == ("there is no such page", Outcome.NOT_FOUND)
    assert error.times >= 2
    assert error.example.startswith(f"http://{host}/")
    store = ResultsStore(folder.results)
    store.note_refusals([(f"http://{host}/{n}", f"rule-{n % 2}: too much", None) for n in range(5)])
    store.close()
    refused = crawl_refusals(folder, rule="rule-1")
    assert refused.by_rule == {"rule-0": 3, "rule-1": 2}
    assert [each.url[-1] for each in refused.some] == ["1", "3"]


def test_a_crawl_that_has_not_begun_has_nothing(tmp_path: Path) -> None:
    folder = CrawlFolder(Workspace(tmp_path).folder_for("none"))
    assert not crawl_curve(folder)
    assert not crawl_hosts(folder)
    assert not crawl_errors(folder)
    assert not crawl_frontier(folder)
    assert crawl_refusals(folder).by_rule == {}


def test_what_is_new_is_told_once_on_the_command_line(
    folder: CrawlFolder, trailhound: Command, crawl: Command
) -> None:
    for _ in range(2):  # what was not shown stays new
        assert "The best 1 of" in trailhound("results", TOPIC, "--since-last", "-n", "1").err
    first = trailhound("results", TOPIC, "--since-last", "--json").report
    assert (first["new"], first["changed"]) == (len(first["pages"]), 0)
    assert first["new"] == crawl_curve(folder)[-1].finds
    assert {page["news"] for page in first["pages"]} == {"new"}
    assert "Nothing is new since" in trailhound("results", TOPIC, "--since-last").err
    assert crawl("--resume", "--max-requests", "40").code == 0
    later = trailhound("results", TOPIC, "--since-last")
    assert "new page" in later.err
    assert "Page 39" in later.out
