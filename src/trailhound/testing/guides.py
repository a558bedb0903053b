"""What strategies and judges promise."""

from __future__ import annotations

import asyncio
import math
import pickle
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from itertools import cycle
from typing import Any

from trailhound.crawling.answers import checked_candidate, checked_verdict, link_score
from trailhound.crawling.ranking import pace_of
from trailhound.judges.base import RelevanceJudge
from trailhound.records import Candidate, CrawledPage, Outcome, Relevance, ScoredLink
from trailhound.strategies.base import (
    Asking,
    Briefing,
    Entering,
    Explaining,
    FoundLink,
    Inheriting,
    Judging,
    Lesson,
    News,
    Reason,
    Reasoning,
    Regretting,
    Remembering,
    Rescoring,
    Restocking,
    Sharing,
    Strategy,
    Telling,
    learns_online,
)
from trailhound.testing.promises import crawled, expect, never_raising, page_graph, pages

MakeStrategy = Callable[[Briefing], Strategy | Awaitable[Strategy]]


def check_strategy(make: MakeStrategy, briefing: Briefing | None = None) -> None:
    """``make`` is the class method ``from_briefing`` of a strategy.

    It learns from ``briefing``, or from two pages about bees and cars.
    """
    briefing = briefing or Briefing(page_graph(), seed=7)
    strategy = _made(make, briefing)
    for needed in ("score_links", "observe"):
        expect(callable(getattr(strategy, needed, None)), f"from_briefing gives what can {needed}")
    for name in ("name", "summary"):
        said = getattr(strategy, name, "")
        expect(bool(said) and "\n" not in said, f"A strategy has a {name} of one line")
    expect(isinstance(getattr(strategy, "paper", None), str), "A strategy has a paper, or ''")
    with never_raising("What a strategy says of its pace are numbers"):
        pace_of(strategy)
    ranked = _seen(strategy)
    expect(
        ranked == _seen(_made(make, briefing)), "The same seed and pages give the same priorities"
    )
    _check_options(strategy, dict(ranked))
    if isinstance(strategy, Sharing):
        _check_sharing(make, briefing)
    if not learns_online(strategy):
        copy = pickle.loads(pickle.dumps(strategy))  # noqa: S301 (our own bytes)
        bees = crawled(pages()[0])
        alike = _scored(copy, bees) == _scored(strategy, bees)
        expect(alike, "A copy of a strategy that does not learn on the way says the same")


def _made(make: MakeStrategy, briefing: Briefing) -> Strategy:
    async def wait() -> Strategy:
        made = make(briefing)
        return await made if isawaitable(made) else made

    with never_raising("from_briefing makes a strategy"):
        return asyncio.run(wait())


def _seen(strategy: Strategy) -> list[tuple[str, bytes]]:
    """Show it all pages; (URL, memory) of its links, in the order of their priorities."""
    told: list[ScoredLink] = []
    for depth, page in enumerate(pages()):
        memory = told[0].memory if told else b""
        shown = crawled(page, memory, depth)
        with never_raising(f"observe and score_links take any page ({page.url})"):
            strategy.observe(shown)
            told += _scored(strategy, shown)
    told.sort(key=lambda scored: -scored.priority)
    return [(scored.link.url, scored.memory) for scored in told]


def _scored(strategy: Strategy, shown: CrawledPage) -> list[ScoredLink]:
    scored = list(strategy.score_links(shown))
    for each in scored:
        expect(isinstance(each, ScoredLink), "score_links gives ScoredLinks")
        expect(not math.isnan(each.priority), "A priority is a number that can be compared")
        with never_raising("score_links gives what a queue can keep"):
            link_score(each)
    return scored


def _check_verdict(strategy: Judging) -> None:
    shown = crawled(pages()[0])
    with never_raising("verdict gives a Relevance or None"):
        own = strategy.verdict(shown)
        if own is not None:
            checked_verdict(own, "a strategy")


_NO_PAGE = (Outcome.NOT_FOUND, Outcome.ROBOTS, Outcome.NOT_HTML)


def _check_options(strategy: Strategy, memories: dict[str, bytes]) -> None:
    """What a strategy may do besides, if it does."""
    for name in ("is_entry_due", "is_rank_due"):
        with never_raising(f"{name} may be read at any time"):
            bool(getattr(strategy, name, False))
    if isinstance(strategy, Rescoring):
        with never_raising("rescore takes what waits"):
            scores = strategy.rescore(memories)
        numbers = (scores or {}).values()
        expect(not any(map(math.isnan, numbers)), "New priorities are numbers")
    _check_tales(strategy, memories)
    if isinstance(strategy, Regretting):
        for url, outcome in zip((*memories, "http://nowhere.test/"), cycle(_NO_PAGE), strict=False):
            with never_raising("regret takes every end of any candidate"):
                strategy.regret(Candidate(url, 0.0), outcome)
    if isinstance(strategy, Judging):
        _check_verdict(strategy)
    if isinstance(strategy, Asking):
        with never_raising("ask takes any page"):
            asyncio.run(strategy.ask(crawled(pages()[0])))
    if isinstance(strategy, Remembering):
        _check_memory(strategy)
    _check_named(strategy)


def _check_tales(strategy: Strategy, memories: dict[str, bytes]) -> None:
    """What it can put into words."""
    if isinstance(strategy, Explaining):
        for memory in {b"", *memories.values()}:
            with never_raising("explain takes every memory, and none"):
                strategy.explain(memory)
    if isinstance(strategy, Reasoning):
        for url, memory in memories.items():
            with never_raising("reasons takes every link, its page known or not"):
                told = strategy.reasons(FoundLink(url, memory))
            expect(all(isinstance(each, Reason) for each in told), "reasons gives Reasons")
    if isinstance(strategy, Telling):
        with never_raising("lessons takes any pages"):
            learned = strategy.lessons(pages())
        expect(all(isinstance(each, Lesson) for each in learned), "lessons gives Lessons")


def _check_named(strategy: Strategy) -> None:
    """Pages that it names by itself."""
    asked: dict[str, Callable[[], Iterable[Candidate]]] = {}
    if isinstance(strategy, Entering):
        asked["entrances"] = partial(strategy.entrances, lambda _: True)
    if isinstance(strategy, Restocking):
        asked["restock"] = strategy.restock
    for name, ask in asked.items():
        with never_raising(f"{name} may be asked at any time"):
            found = list(ask())
        expect(all(isinstance(each, Candidate) for each in found), f"{name} gives Candidates")
        with never_raising(f"{name} gives what a queue can keep"):
            list(map(checked_candidate, found))


def _check_memory(strategy: Any) -> None:
    snapshot = strategy.snapshot()
    expect(isinstance(snapshot, bytes), "A snapshot is bytes")
    with never_raising("Nonsense is taken, or refused with a ValueError"):
        try:
            strategy.restore(b"no snapshot at all")
        except ValueError:
            expect(strategy.snapshot() == snapshot, "Nonsense that is refused changes nothing")
    with never_raising("restore takes a snapshot"):
        strategy.restore(snapshot)
    if isinstance(strategy, Inheriting):
        with never_raising("inherit takes a snapshot of the same strategy"):
            strategy.inherit(snapshot, in_full=False)


MOST_NEWS_BYTES = 10_000
"""Of one small page."""


def _check_sharing(make: MakeStrategy, briefing: Briefing) -> None:
    """One tells of its pages; others heed that in one order, in another, and twice."""
    told = _told(_sharing(make, briefing))
    heard = [_sharing(make, briefing) for _ in range(3)]
    for strategy, news in zip(heard, (told, told[::-1], [*told, *told]), strict=True):
        with never_raising("heed takes the news of a copy"):
            for each in news:
                strategy.heed([each])
    bees = crawled(pages()[0])
    first, reverse, twice = (_scored(strategy, bees) for strategy in heard)
    expect(_alike(first, reverse), "After the same news, whatever their order, copies rank alike")
    expect(_alike(first, twice), "News that are heeded twice change nothing")
    with never_raising("Nonsense is taken, or refused with a ValueError"):
        with suppress(ValueError):
            heard[0].heed([News(b"no news at all", b"nor links")])
        expect(_alike(_scored(heard[0], bees), first), "Nonsense changes nothing")


def _sharing(make: MakeStrategy, briefing: Briefing) -> Any:
    strategy = _made(make, briefing)
    expect(isinstance(strategy, Sharing), "A strategy that shares is made each time")
    if isinstance(strategy, Sharing):
        strategy.join(lambda url: url.endswith("e"))
    return strategy


def _told(strategy: Any) -> list[News]:
    told = []
    for page in pages():
        shown = crawled(page)
        strategy.observe(shown)
        _scored(strategy, shown)
        with never_raising(f"news takes the page that was observed last ({page.url})"):
            news = strategy.news(shown)
        expect(isinstance(news, News), "news gives News")
        size = len(news.for_all) + len(news.for_owners)
        expect(size < MOST_NEWS_BYTES, f"News of one small page are short, not {size} bytes")
        told.append(news)
    return told


def _alike(some: list[ScoredLink], others: list[ScoredLink]) -> bool:
    """Whether the same links have the same priorities, but for what rounding does."""
    ours, theirs = ({each.link.url: each.priority for each in told} for told in (some, others))
    return ours.keys() == theirs.keys() and all(
        math.isclose(ours[url], theirs[url], rel_tol=1e-3, abs_tol=1e-3) for url in ours
    )


def check_judge(judge: RelevanceJudge) -> None:
    """``judge`` is one that is ready to judge."""
    for page in pages():
        with never_raising(f"A judge judges any page ({page.url})"):
            said = judge.judge(page)
        expect(isinstance(said, Relevance), "judge gives a Relevance")
        expect(0.0 <= said.score <= 1.0, f"A score is from 0 to 1, not {said.score}")
        expect(isinstance(said.relevant, bool), "relevant is True or False")
        expect(judge.judge(page) == said, "The same page gets the same verdict")
    with never_raising("A judge can be copied into worker processes (pickle)"):
        copy = pickle.loads(pickle.dumps(judge))  # noqa: S301 (our own bytes)
    first = pages()[0]
    expect(copy.judge(first) == judge.judge(first), "A copy of a judge says the same")
