"""The path that is told of a page: from a seed, or from what the strategy knew beforehand."""

from __future__ import annotations

from pathlib import Path

from kept_pages import keep, u

from trailhound.storage.results import ResultsStore
from trailhound.storage.results_reading import Results
from trailhound.topics.finds.explaining import FORGOTTEN, shown_path


def paths(store: ResultsStore, path: Path) -> dict[str, list[str]]:
    store.close()
    with Results(path) as results:
        pages = results.ranked(everything=True)
        return {page.address: shown_path(results, page) for page in pages}


def test_a_path_begins_with_the_page_that_was_known_to_link_there(tmp_path: Path) -> None:
    store = ResultsStore(tmp_path / "results.db")
    keep(store, "seed", score=0.9, number=1)
    keep(store, "shown", score=0.9, number=2, parent="front", depth=0)
    keep(store, "behind", score=0.9, number=3, parent="shown", depth=1)
    keep(store, "found", score=0.9, number=4, parent="seed", depth=1)
    found = paths(store, tmp_path / "results.db")
    assert found[u("shown")] == [u("front"), u("shown")]
    assert found[u("behind")] == [u("front"), u("shown"), u("behind")]
    assert found[u("found")] == [u("seed"), u("found")]


def test_how_the_crawl_came_to_that_page_later_is_no_part_of_it(tmp_path: Path) -> None:
    store = ResultsStore(tmp_path / "results.db")
    keep(store, "seed", score=0.9, number=1)
    keep(store, "shown", score=0.9, number=2, parent="front", depth=0)
    keep(store, "list", score=0.9, number=3, parent="seed", depth=1)
    keep(store, "front", score=0.9, number=4, parent="list", depth=2)
    keep(store, "behind", score=0.9, number=5, parent="shown", depth=1)
    keep(store, "fresh", score=0.9, number=6, parent="front", depth=3)
    found = paths(store, tmp_path / "results.db")
    assert found[u("shown")] == [u("front"), u("shown")]
    assert found[u("behind")] == [u("front"), u("shown"), u("behind")]
    assert found[u("fresh")] == [u(name) for name in ("seed", "list", "front", "fresh")]


def test_a_page_stands_once_in_a_path(tmp_path: Path) -> None:
    store = ResultsStore(tmp_path / "results.db")
    keep(store, "shown", score=0.9, number=1, parent="front", depth=0)
    keep(store, "front", score=0.9, number=2, parent="shown", depth=1)
    found = paths(store, tmp_path / "results.db")
    assert found[u("front")] == [u("shown"), u("front")]


def test_a_forgotten_page_that_was_known_to_link_there_is_not_named(tmp_path: Path) -> None:
    store = ResultsStore(tmp_path / "results.db")
    keep(store, "shown", score=0.9, number=1, parent="-forgotten-12", depth=0)
    keep(store, "behind", score=0.9, number=2, parent="shown", depth=1)
    found = paths(store, tmp_path / "results.db")
    assert found[u("shown")] == [FORGOTTEN, u("shown")]
    assert found[u("behind")] == [FORGOTTEN, u("shown"), u("behind")]
