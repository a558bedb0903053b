"""What went wrong is told once for each seed, and counted in all."""

from __future__ import annotations

from trailhound.crawling.answers import Troubles
from trailhound.crawling.budget import Budget
from trailhound.crawling.progress import CrawlProgress
from trailhound.records import Candidate, FetchResult, Outcome, PageEvent
from trailhound.topics.crawls.notices import ENDS, MAX_SEEDS_TOLD, Failure, SeedWatch, failures_of

SEED = "http://a.test/"


def event(url: str, outcome: Outcome, why: str = "") -> PageEvent:
    return PageEvent(1, url, url, outcome, None, 0, 1.0, 1, 1, why=why)


def test_every_outcome_has_its_words() -> None:
    assert set(ENDS) == set(Outcome) - {Outcome.FETCHED}


def test_a_seed_is_told_of_once_and_other_pages_never() -> None:
    told: list[str] = []
    watch = SeedWatch([SEED], told.append)
    spared = FetchResult(SEED, Outcome.POSTPONED, SEED, retry_after_seconds=1.0)
    watch.put_off(Candidate(SEED, 1.0), spared)
    watch.ended(event("http://a.test/other", Outcome.NOT_FOUND, "HTTP 404 Not Found"))
    assert told == []
    refused = FetchResult(
        SEED, Outcome.UNREACHABLE, SEED, detail="no connection", retry_after_seconds=600.0
    )
    watch.put_off(Candidate(SEED, 1.0), refused)
    watch.ended(event(SEED, Outcome.UNREACHABLE, "no connection"))
    assert told == [
        f"The seed {SEED} cannot be fetched now: no connection. It may be asked for again in 600 s."
    ]


def test_thousands_of_seeds_that_fail_do_not_flood_the_terminal() -> None:
    told: list[str] = []
    seeds = [f"http://a.test/{number}" for number in range(1000)]
    watch = SeedWatch(seeds, told.append)
    for seed in seeds:
        watch.ended(event(seed, Outcome.TIMEOUT))
    assert len(told) == MAX_SEEDS_TOLD
    assert told[-1].endswith("Further seeds that fail are counted at the end.")


def test_pages_hosts_and_plugins_are_counted_with_the_first_of_each() -> None:
    progress, troubles = CrawlProgress(Budget(), 0.0), Troubles()
    for outcome in (Outcome.FETCHED, Outcome.DUPLICATE, Outcome.NOT_MODIFIED):
        progress.add(event(SEED, outcome))
    progress.add(event("http://a.test/1", Outcome.TIMEOUT, "no answer within 10 s"))
    progress.add(event("http://a.test/2", Outcome.TIMEOUT, "no connection within 10 s"))
    for url in ("http://a.test/1", "http://a.test/2"):
        troubles.note("The sink Finds", RuntimeError("no database"), f" on {url}")
    troubles.note("The fetcher, being closed,", RuntimeError("gone"))
    in_trouble = {"b.test": "no connection", "c.test": "HTTP 503"}
    later = "the host is to be asked again later"
    assert failures_of(progress, in_trouble, troubles) == [
        Failure(ENDS[Outcome.TIMEOUT], 2, "http://a.test/1: no answer within 10 s", "timeout"),
        Failure(later, 2, "b.test: no connection"),
        Failure("The sink Finds failed", 2, "http://a.test/1: RuntimeError: no database"),
        Failure("The fetcher, being closed, failed", 1, "RuntimeError: gone"),
    ]
