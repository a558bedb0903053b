"""The strategy trail when things go wrong: it stays close to best-first, and no host takes all.

Finds are counted by ground truth and added up over several webs, so that no single link decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from benchmarks.wide_web import SMALL
from troubled_webs import (
    CrawlCounts,
    Trial,
    TroubledWeb,
    behind_hosts,
    browse,
    first_host,
    lying_host,
    one_huge_host,
    ordinary,
    stuffed_page,
)

from trailhound.demo import DemoWeb
from trailhound.lab.corpora import CorpusWriter
from trailhound.lab.experiment import plan_experiment
from trailhound.lab.importers import no_progress
from trailhound.lab.importers.demo import record_answers, record_knowledge
from trailhound.lab.runner import TopicRunner

SEEDS = (1, 2)
REQUESTS = 120
TRAIL, BEST, BREADTH = "trail", "best-first", "breadth-first"

MakeTrial = Callable[[int, Path], Trial]


def usual(make: Callable[[int], TroubledWeb], seed: int, folder: Path, **trouble: float) -> Trial:
    """A session on the first host, and a crawl from two others."""
    web = make(seed)
    return Trial(web, folder, browse(web, first_host(web)), web.homes[1:3], **trouble)


def from_the_huge_host(seed: int, folder: Path) -> Trial:
    """It begins there and on a small one."""
    web = one_huge_host(seed)
    return Trial(web, folder, browse(web, first_host(web)), [web.homes[1], web.homes[-1]])


def after_three_pages(seed: int, folder: Path) -> Trial:
    """Home, a section, and the one page that was marked."""
    web = ordinary(seed)
    base = web.homes[0]
    marked = min(url for url in web.relevant if url.startswith(base))
    return Trial(web, folder, browse(web, [base, f"{base}0/", marked]), web.homes[1:3])


def after_many_pages(seed: int, folder: Path) -> Trial:
    """The first 700 pages of a larger web, thirty of them marked."""
    web = ordinary(seed, hosts=20)
    return Trial(web, folder, browse(web, list(web.pages)[:700], 30), web.homes[16:18])


TROUBLES: dict[str, MakeTrial] = {
    "a fifth of all verdicts are wrong": partial(usual, ordinary, flipped=0.2),
    "all links say click here": partial(usual, partial(ordinary, anchors="click here")),
    "one huge host": from_the_huge_host,
    "wanted pages are anywhere": partial(usual, partial(ordinary, coherence=0.0)),
    "three pages and one mark": after_three_pages,
    "a session of 700 pages": after_many_pages,
    "a stuffed page with a thousand links": partial(usual, stuffed_page),
}


def crawls(
    make: MakeTrial, folder: Path, requests: int = REQUESTS, seeds: Sequence[int] = SEEDS
) -> dict[str, list[CrawlCounts]]:
    """By strategy, a crawl of each web."""
    found: dict[str, list[CrawlCounts]] = {TRAIL: [], BEST: [], BREADTH: []}
    for seed in seeds:
        trial = make(seed, folder / str(seed))
        for strategy, counts in found.items():
            counts.append(trial.crawl(strategy, requests))
    return found


def total(counts: list[CrawlCounts]) -> int:
    return sum(len(each.finds) for each in counts)


def check(found: dict[str, list[CrawlCounts]]) -> None:
    """Close to best-first, above breadth-first, and no host has half unless it holds half."""
    assert total(found[TRAIL]) >= total(found[BREADTH])
    assert total(found[TRAIL]) >= 0.9 * total(found[BEST])
    for crawl in found[TRAIL]:
        host, pages = crawl.host_pages.most_common(1)[0]
        finds = crawl.host_finds[host]
        assert pages <= crawl.requests / 2 or finds > len(crawl.finds) / 2, host


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_does_not_make_it_worse_than_simple_orders(trouble: str, tmp_path: Path) -> None:
    check(crawls(TROUBLES[trouble], tmp_path))


def test_a_host_that_says_what_one_likes_to_hear_gets_no_more_than_half(tmp_path: Path) -> None:
    check(crawls(partial(usual, lying_host), tmp_path, requests=200))


def test_with_nothing_to_go_by_it_finds_as_much_as_breadth_first(tmp_path: Path) -> None:
    """Wanted pages are anywhere and no link says a thing: only luck is left, which evens out."""
    nothing = partial(usual, partial(ordinary, coherence=0.0, anchors="click here"))
    found = crawls(nothing, tmp_path, seeds=range(1, 7))
    assert total(found[TRAIL]) >= 0.8 * total(found[BREADTH])


def far_away(seed: int, folder: Path) -> Trial:
    """All of the first host was browsed, which nothing else links to."""
    web = behind_hosts(seed)
    shown = [url for url in web.pages if url.startswith(web.homes[0])]
    return Trial(web, folder, browse(web, shown), web.homes[1:3])


def test_first_third_and_tenth_far_find_come_no_later_than_with_best_first(tmp_path: Path) -> None:
    found = crawls(far_away, tmp_path)
    until = {
        strategy: sum(each.until(find) for each in counts for find in (1, 3, 10))
        for strategy, counts in found.items()
    }
    assert until[TRAIL] <= until[BEST] <= until[BREADTH]


def test_no_topic_of_the_demo_web_is_worse_than_with_best_first(tmp_path: Path) -> None:
    path = tmp_path / "demo.thc"
    with CorpusWriter(path, "demo") as writer:
        web = DemoWeb.generate(3, SMALL)
        record_answers(web, no_progress, writer)
        record_knowledge(web, writer)
    plan = plan_experiment(path, [TRAIL, BEST], judge="fields", max_requests=150, seed_sets=1)
    runner = TopicRunner(plan)
    tasks = {(task.topic, task.strategy): task for task in plan.tasks()}
    finds = {topic: max(runner.run(tasks[topic, BEST]).curve) for topic in plan.parameters.topics}
    compared = {topic: best for topic, best in finds.items() if best >= 5}
    assert compared
    for topic, best in compared.items():
        assert max(runner.run(tasks[topic, TRAIL]).curve) >= 0.9 * best, topic
