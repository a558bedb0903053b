"""Requests are promised on disk before they are made, and none beyond the budget."""

from __future__ import annotations

from pathlib import Path

from trailhound.crawling.budget import AHEAD, Allowance, RequestLedger
from trailhound.records import Candidate, FetchResult, FinishedPage, Outcome, PageEvent
from trailhound.storage.results import ResultsStore


def on_disk(path: Path) -> tuple[int, int]:
    """What another process would read now."""
    store = ResultsStore(path)
    promised = store.promised
    store.close()
    return promised


def test_every_request_is_on_disk_before_it_is_made(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    store = ResultsStore(path)
    ledger = RequestLedger(store)
    for made in range(1, 20):
        ledger.promise(made)
        ledger.promise_robots()
        pages, robots = on_disk(path)
        assert made <= pages <= made + AHEAD
        assert made <= robots <= made + AHEAD
    ledger.promise(3)
    assert on_disk(path)[0] >= 19, "a promise is never lowered"
    store.settle(19, 18)
    store.close()
    assert on_disk(path) == (19, 18)
    assert RequestLedger(ResultsStore(path)).robots == 18


def test_a_page_takes_the_next_promise_along(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    store = ResultsStore(path)
    ledger = RequestLedger(store)
    ledger.renew(7)
    assert on_disk(path)[0] == 0
    url = "http://a.test/"
    event = PageEvent(1, url, url, Outcome.NOT_FOUND, None, 0, 1.0, 7, 7)
    candidate, result = Candidate(url, 1.0), FetchResult(url, Outcome.NOT_FOUND, url)
    store.keep(FinishedPage(event, candidate, result))
    assert on_disk(path)[0] == store.promised[0] == 7 + AHEAD
    store.close()


def test_nothing_is_promised_beyond_the_budget(tmp_path: Path) -> None:
    store = ResultsStore(tmp_path / "results.db")
    ledger = RequestLedger(store)
    ledger.limit = 5
    for made in range(1, 6):
        ledger.promise(made)
    assert store.promised[0] == 5
    store.close()


def test_a_question_is_promised_as_a_request_is() -> None:
    promised: list[int] = []
    allowance = Allowance(3, lambda: 1, promised.append)
    allowance.begin("http://a.test/")
    assert allowance.ask()
    allowance.begin("http://b.test/")
    assert not allowance.ask()
    assert promised == [2, 3, 3]
