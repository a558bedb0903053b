"""A crawl's figures: for displays, for Prometheus and for its summary."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from trailhound.cli.terminal import duration, harmless, share, sparkline
from trailhound.crawling.budget import Budget
from trailhound.crawling.digestion import DuplicateFinder
from trailhound.crawling.metrics import CrawlMetrics
from trailhound.crawling.progress import BARREN_PAGES, MAX_BUCKETS, CrawlProgress, Harvest
from trailhound.frontier.base import FrontierStats
from trailhound.records import Outcome, Page, PageEvent, Relevance
from trailhound.text.near_duplicates import fingerprint


def event(
    number: int, *, relevant: bool | None = False, duplicate_of: str | None = None, at: float = 0.0
) -> PageEvent:
    url = f"http://h{number % 3}.test/{number}"
    relevance = None if relevant is None else Relevance(0.5, relevant)
    outcome = Outcome.NOT_FOUND if relevant is None else Outcome.FETCHED
    return PageEvent(
        number, url, url, outcome, None, 0, 1.0, 1, 10 + number, relevance,
        duplicate_of=duplicate_of, at=at,
    )  # fmt: skip


def test_pages_finds_copies_outcomes_and_hosts_are_counted() -> None:
    progress = CrawlProgress(Budget(), 0.0, requests_before=10)
    for made in (
        event(1, relevant=True),
        event(2, relevant=True, duplicate_of="http://h.test/"),
        event(3),
        event(4, relevant=None),
    ):
        progress.add(made)
    assert (progress.pages, progress.requests) == (4, 14)
    assert (progress.relevant, progress.duplicates, progress.hosts) == (1, 1, 3)
    assert progress.outcomes == {"fetched": 3, "not-found": 1}
    assert progress.barren == 2, "pages that could not be fetched say nothing about the topic"
    assert progress.latest is not None
    assert progress.latest.number == 1


def test_speed_is_that_of_the_last_half_minute() -> None:
    progress = CrawlProgress(Budget(), 0.0)
    for number in range(60):
        progress.add(event(number, at=float(number)))
    assert progress.pages_per_second(60.0) == pytest.approx(1.0, abs=0.05)
    assert progress.pages_per_second(1000.0) == 0.0


def test_time_left_is_that_of_the_budget_that_ends_first() -> None:
    progress = CrawlProgress(Budget(110, 1000.0), 0.0, requests_before=10)
    assert progress.seconds_left(0.0) == 1000.0
    for number in range(1, 11):
        progress.add(event(number))
    assert progress.seconds_left(10.0) == pytest.approx(90.0), "1 request a second, 90 to go"
    assert progress.share_done(10.0) == pytest.approx(20 / 110)
    assert CrawlProgress(Budget(), 0.0).seconds_left(5.0) is None


def test_the_harvest_rate_over_time_fits_a_line_however_long_the_crawl() -> None:
    harvest = Harvest()
    for page in range(10_000):
        harvest.add(page >= 5_000)
    rates = harvest.rates()
    assert 10 <= len(rates) <= MAX_BUCKETS
    assert rates[0] == 0.0
    assert rates[-1] == 1.0
    assert Harvest().rates() == []


def test_a_crawl_that_finds_nothing_for_long_starves() -> None:
    progress = CrawlProgress(Budget(), 0.0, barren=BARREN_PAGES - 2)
    story = []
    for made in (event(1), event(2), event(3, relevant=True)):
        progress.add(made)
        story.append(progress.starving)
    assert story == [False, True, False]


def test_metrics_are_in_the_text_format_of_prometheus() -> None:
    progress = CrawlProgress(Budget(), 0.0)
    progress.add(event(1, relevant=True))
    registry = CollectorRegistry()
    stats = FrontierStats(5, 2, 1, 3)
    registry.register(CrawlMetrics('bees "and"\nwasps\\', progress, lambda: stats, lambda: 60.0))
    text = generate_latest(registry).decode()
    label = r'topic="bees \"and\"\nwasps\\"'
    assert f'trailhound_pages_total{{outcome="fetched",{label}}} 1.0' in text
    assert f'trailhound_frontier_urls{{state="waiting",{label}}} 5.0' in text
    assert f"trailhound_run_seconds{{{label}}} 60.0" in text
    samples = [line for line in text.splitlines() if not line.startswith("# ")]
    assert {line.partition("{")[0] for line in samples} == {
        "trailhound_pages_total",
        "trailhound_frontier_urls",
        "trailhound_relevant_total",
        "trailhound_duplicates_total",
        "trailhound_requests_total",
        "trailhound_hosts_asked",
        "trailhound_hosts_waiting",
        "trailhound_barren_pages",
        "trailhound_run_seconds",
    }


def test_figures_in_words() -> None:
    assert [duration(seconds) for seconds in (0, 45, 720, 12000)] == [
        "0 s", "45 s", "12 min", "3 h 20 min",
    ]  # fmt: skip
    assert share(1, 8) == "12.5 %"
    assert share(0, 0) == "–"
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
    assert sparkline([0.0, 0.0]) == "▁▁"
    assert sparkline([]) == ""


def test_words_from_the_web_cannot_steer_the_terminal() -> None:
    assert harmless("a\x1b[31mb\u202ec\nd") == "a [31mb c d"
    assert harmless("Bücher über Bienen 🐝") == "Bücher über Bienen 🐝"


PROSE = " ".join(
    f"This is sentence number {n} about the keeping of bees in hives." for n in range(20)
)


def test_copies_are_found_and_no_page_is_its_own_copy() -> None:
    mark = fingerprint(Page("http://a.test/", text=PROSE))
    copy = fingerprint(Page("http://b.test/", text=f"{PROSE} One more line."))
    assert mark is not None
    assert copy is not None
    finder = DuplicateFinder()
    assert finder.find_or_add(mark, "http://a.test/") is None
    assert finder.find_or_add(copy, "http://b.test/") == "http://a.test/"
    assert finder.find_or_add(mark, "http://a.test/") is None, "fetched again after a crash"
    later = DuplicateFinder([("http://a.test/", mark)])
    assert later.find_or_add(copy, "http://b.test/") == "http://a.test/"
    assert fingerprint(Page("http://d.test/", text="short")) is None


def test_a_page_that_asks_not_to_be_listed_hides_no_other() -> None:
    finder = DuplicateFinder()
    assert finder.find_or_add(7, "http://a.test/print", noindex=True) is None
    assert finder.find_or_add(7, "http://a.test/") is None
    assert finder.find_or_add(7, "http://a.test/print", noindex=True) == "http://a.test/"
