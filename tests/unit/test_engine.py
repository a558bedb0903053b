"""The crawl loop on webs small enough to follow by hand."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from trailhound.crawling.analysis import Analyst, PageJob
from trailhound.crawling.budget import StopReason
from trailhound.crawling.engine import Crawler
from trailhound.crawling.gate import LinkGate
from trailhound.errors import FrontierError
from trailhound.fetching.base import MayGoOn, always
from trailhound.fetching.polite_settings import PoliteSettings
from trailhound.fetching.politeness import Politeness
from trailhound.frontier.memory import MemoryFrontier
from trailhound.judges.base import RelevanceJudge
from trailhound.records import (
    Candidate,
    CrawledPage,
    FetchResult,
    FinishedPage,
    Link,
    Outcome,
    Page,
    PageEvent,
    Relevance,
    ScoredLink,
)
from trailhound.strategies.base import Strategy, learns_online, reads_surroundings
from trailhound.strategies.baselines import BreadthFirstStrategy, RandomStrategy


class TinyWeb:
    """A fetcher over a dictionary: a list of links is a page, a string a redirect."""

    def __init__(self, web: Mapping[str, Sequence[str] | str], seconds: float = 0.0) -> None:
        self._web = web
        self._seconds = seconds
        self.closed = False

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        await asyncio.sleep(self._seconds)
        requests = 1
        final = url
        entry = self._web.get(final)
        while isinstance(entry, str):
            final, requests = entry, requests + 1
            entry = self._web.get(final)
        if entry is None:
            return FetchResult(url, Outcome.NOT_FOUND, final, requests, 404, detail="status 404")
        page = Page(final, title=final[-1], links=tuple(Link(link) for link in entry))
        return FetchResult(url, Outcome.FETCHED, final, requests, 200, page=page)

    async def close(self) -> None:
        self.closed = True


class TitleJudge:
    def judge(self, page: Page) -> Relevance:
        return Relevance(float(page.title == "t"), page.title == "t")


def u(name: str) -> str:
    return f"http://h.test/{name}"


WEB: Mapping[str, Sequence[str] | str] = {
    u("a"): [u("b"), u("c"), u("b")],
    u("b"): [u("d"), u("gone")],
    u("c"): [u("t"), "http://elsewhere.test/"],
    u("d"): [],
    u("t"): [u("a")],
    u("old"): u("c"),
}


def crawler(
    web: Mapping[str, Sequence[str] | str], strategy: Strategy | None = None, **options: object
) -> Crawler:
    return Crawler(
        strategy=strategy or BreadthFirstStrategy(),
        frontier=MemoryFrontier(),
        fetcher=TinyWeb(web),
        judge=TitleJudge(),
        in_scope=lambda url: url.startswith("http://h.test/"),
        concurrency=int(str(options.get("concurrency", 1))),
    )


def names(events: Iterable[PageEvent]) -> str:
    return " ".join(event.url.rsplit("/", 1)[1] for event in events)


def test_breadth_first_visits_level_by_level_and_stops_when_nothing_is_left() -> None:
    crawl = crawler(WEB)
    events = list(crawl.run([u("a")]))
    assert names(events) == "a b c d gone t"
    assert crawl.stop_reason is StopReason.FRONTIER_EMPTY
    assert [event.number for event in events] == [1, 2, 3, 4, 5, 6]
    assert [event.requests_total for event in events] == [1, 2, 3, 4, 5, 6]


def test_an_event_tells_parent_depth_outcome_relevance_and_links() -> None:
    events = {event.url: event for event in crawler(WEB).run([u("a")])}
    found = events[u("t")]
    assert (found.parent, found.depth, found.outcome) == (u("c"), 2, Outcome.FETCHED)
    assert found.relevance == Relevance(1.0, True)
    assert (events[u("c")].links_found, events[u("c")].links_outside) == (2, 1)
    assert events[u("a")].links_added == 2
    gone = events[u("gone")]
    assert (gone.outcome, gone.why, gone.relevance) == (Outcome.NOT_FOUND, "status 404", None)


def test_the_budget_counts_every_request() -> None:
    crawl = crawler(WEB)
    events = list(crawl.run([u("a")], max_requests=3))
    assert names(events) == "a b c"
    assert crawl.stop_reason is StopReason.REQUESTS_SPENT


def test_a_redirect_costs_two_requests_and_its_end_is_not_fetched_again() -> None:
    events = list(crawler(WEB).run([u("old"), u("a")]))
    assert names(events) == "old a t b d gone"
    assert events[0].requests == 2
    assert events[0].final_url == u("c")


def test_a_redirect_to_a_known_page_is_a_duplicate() -> None:
    web = {u("a"): [u("c"), u("old")], u("c"): [], u("old"): u("c")}
    events = list(crawler(web).run([u("a")]))
    assert [event.outcome for event in events][-1] is Outcome.DUPLICATE
    assert events[-1].relevance is None


def test_a_redirect_to_a_known_page_is_not_followed() -> None:
    class Asking(TinyWeb):
        async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
            entry = self._web.get(url)
            if isinstance(entry, str) and not may_go_on(entry):
                return FetchResult(url, Outcome.POSTPONED, entry, 1, 301)
            return await super().fetch(url, may_go_on=may_go_on)

    web = {u("a"): [u("c"), u("old")], u("c"): [], u("old"): u("c")}
    crawl = crawler(web)
    crawl.fetcher = Asking(web)
    *_, last = crawl.run([u("a")])
    assert (last.outcome, last.requests) == (Outcome.DUPLICATE, 1)
    assert last.why == f"it redirects to {u('c')}, which was fetched before"


def test_where_a_redirect_leads_to_waits_by_itself_when_its_host_is_to_be_spared() -> None:
    class Sparing(TinyWeb):
        async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
            entry = self._web.get(url)
            if isinstance(entry, str):
                waits = "h.test may be asked again in 0.01 s"
                return FetchResult(
                    url, Outcome.POSTPONED, entry, 1, 301, detail=waits, retry_after_seconds=0.01
                )
            return await super().fetch(url, may_go_on=may_go_on)

    web = {u("old"): u("c"), u("c"): []}
    crawl = crawler(web)
    crawl.fetcher = Sparing(web)
    events = list(crawl.run([u("old")]))
    assert [(event.url, event.outcome) for event in events] == [
        (u("old"), Outcome.POSTPONED),
        (u("c"), Outcome.FETCHED),
    ]
    assert crawl.requests == 2


def test_a_page_in_flight_that_a_redirect_has_led_to_counts_once() -> None:
    class Slow(TinyWeb):
        async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
            if url == u("c"):
                for _ in range(50):
                    await asyncio.sleep(0)
            return await super().fetch(url, may_go_on=may_go_on)

    web = {u("old"): u("c"), u("c"): [u("d")], u("d"): [u("older")], u("older"): u("c")}
    crawl = crawler(web, concurrency=2)
    crawl.fetcher = Slow(web)
    events = list(crawl.run([u("old"), u("c")]))
    ends = [(event.url.rsplit("/", 1)[1], event.outcome.value) for event in events]
    assert sorted(ends) == [
        ("c", "duplicate"),
        ("d", "fetched"),
        ("old", "fetched"),
        ("older", "duplicate"),
    ]
    assert crawl.frontier.outcome_of(u("c")) is Outcome.FETCHED


def test_pages_in_flight_together_are_all_processed() -> None:
    wide: dict[str, Sequence[str] | str] = {u("a"): [u(str(n)) for n in range(50)]}
    wide |= {u(str(n)): [] for n in range(50)}
    events = list(crawler(wide, concurrency=8).run([u("a")], max_requests=40))
    assert len(events) == 40
    assert len({event.url for event in events}) == 40


def test_a_strategy_that_raises_costs_the_page_not_the_crawl() -> None:
    class Clumsy(BreadthFirstStrategy):
        name: ClassVar[str] = "clumsy"

        def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
            if crawled.page.url == u("b"):
                raise ValueError("cannot read this")
            return super().score_links(crawled)

    events = {event.url: event for event in crawler(WEB, Clumsy()).run([u("a")])}
    assert events[u("b")].outcome is Outcome.BROKEN
    assert events[u("b")].why == "the strategy clumsy failed: ValueError: cannot read this"
    assert events[u("t")].outcome is Outcome.FETCHED
    job = PageJob(Candidate(u("b"), 1.0), u("b"), "", b"", Page(u("b")))
    apart = Analyst(TitleJudge(), Clumsy()).analyse(job)
    assert apart.failure == events[u("b")].why


def test_a_learning_strategy_re_ranks_the_frontier() -> None:
    class Reverser(BreadthFirstStrategy):
        offers = 0

        def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float]:
            type(self).offers += 1
            return {url: float(url.rsplit("/", 1)[1]) for url in candidates}

    wide: dict[str, Sequence[str] | str] = {u("a"): [u(str(n)) for n in range(120)]}
    wide |= {u(str(n)): [] for n in range(120)}
    events = list(crawler(wide, Reverser()).run([u("a")]))
    assert Reverser.offers == 2
    assert names(events[50:52]) == "119 118"


def test_a_strategy_may_rank_anew_only_the_best_of_what_waits() -> None:
    class Modest(BreadthFirstStrategy):
        name: ClassVar[str] = "modest"
        rescore_every = 2
        rescore_best = 3
        offered: ClassVar[list[str]] = []

        def rescore(self, candidates: Mapping[str, bytes]) -> None:
            self.offered.append(" ".join(url.rsplit("/", 1)[1] for url in candidates))

    wide: dict[str, Sequence[str] | str] = {u("a"): [u(str(n)) for n in range(6)]}
    wide |= {u(str(n)): [] for n in range(6)}
    list(crawler(wide, Modest()).run([u("a")]))
    assert Modest.offered == ["1 2 3", "3 4 5", "5"]


def test_a_crawl_that_is_left_early_says_so_and_closes_its_fetcher() -> None:
    fetcher = TinyWeb(WEB)
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=MemoryFrontier(),
        fetcher=fetcher,
        judge=TitleJudge(),
    )
    events = crawl.run([u("a")])
    next(iter(events))
    events.close()
    assert crawl.stop_reason is StopReason.INTERRUPTED
    assert fetcher.closed


def test_the_time_budget_ends_a_crawl() -> None:
    ticks = iter(range(1000))
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=MemoryFrontier(),
        fetcher=TinyWeb(WEB),
        judge=TitleJudge(),
        steady=lambda: float(next(ticks)),
    )
    assert list(crawl.run([u("a")], max_seconds=4.0))
    assert crawl.stop_reason is StopReason.TIME_SPENT


@pytest.mark.parametrize("jump", [-7200.0, 7200.0])
def test_a_clock_that_is_put_does_not_end_a_crawl(jump: float) -> None:
    put = [0.0]

    class PuttingJudge(TitleJudge):
        def judge(self, page: Page) -> Relevance:
            put[0] += jump
            return super().judge(page)

    frontier, wall = MemoryFrontier(), (lambda: time.time() + put[0])
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=frontier,
        fetcher=TinyWeb(WEB),
        judge=PuttingJudge(),
        politeness=Politeness(PoliteSettings(delay_seconds=0.01), frontier, wall_clock=wall),
        patience_seconds=60.0,
        clock=wall,
    )
    assert len(list(crawl.run([u("a")], max_seconds=600.0))) == 7
    assert crawl.stop_reason is StopReason.FRONTIER_EMPTY


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_sleeping_host_is_waited_for(concurrency: int) -> None:
    frontier = MemoryFrontier()
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=frontier,
        fetcher=TinyWeb(WEB),
        judge=TitleJudge(),
        concurrency=concurrency,
        clock=time.monotonic,
    )
    frontier.delay_host("h.test", time.monotonic() + 0.05)
    assert list(crawl.run([u("a")], max_requests=2))


class MoodyWeb(TinyWeb):
    """Answers "come back later" a few times first."""

    def __init__(self, answers: Sequence[FetchResult]) -> None:
        super().__init__(WEB)
        self._answers = list(answers)
        self.asked = 0

    async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
        self.asked += 1
        return (
            self._answers.pop(0) if self._answers else await super().fetch(url, may_go_on=may_go_on)
        )


def later(outcome: Outcome, requests: int) -> FetchResult:
    return FetchResult(
        u("a"),
        outcome,
        u("a"),
        requests,
        retry_after_seconds=0.01,
    )


def moody_crawl(answers: Sequence[FetchResult]) -> tuple[list[PageEvent], MoodyWeb, float]:
    fetcher = MoodyWeb(answers)
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=MemoryFrontier(),
        fetcher=fetcher,
        judge=TitleJudge(),
    )
    started = time.monotonic()
    return list(crawl.run([u("a")], max_requests=6)), fetcher, time.monotonic() - started


def test_a_busy_server_is_asked_again_after_the_time_it_wants() -> None:
    events, _, seconds = moody_crawl([later(Outcome.BUSY, 1)])
    assert events[0].outcome is Outcome.FETCHED
    assert events[0].requests_total == 2
    assert seconds >= 0.01


def test_a_server_that_stays_busy_is_given_up() -> None:
    events, fetcher, _ = moody_crawl([later(Outcome.BUSY, 1)] * 3)
    assert [event.outcome for event in events] == [Outcome.BUSY]
    assert fetcher.asked == 3


def test_waiting_for_a_turn_is_no_attempt() -> None:
    events, fetcher, _ = moody_crawl([later(Outcome.POSTPONED, 0)] * 5)
    assert events[0].outcome is Outcome.FETCHED
    assert fetcher.asked >= 6


def test_sinks_get_every_page_before_it_is_finished() -> None:
    frontier = MemoryFrontier()
    seen: list[tuple[str, str | None, bool]] = []

    class Recorder:
        def keep(self, finished: FinishedPage) -> None:
            url, page = finished.event.url, finished.page
            is_finished = frontier.outcome_of(url) is not None
            seen.append((url[-1], page.title if page else None, is_finished))

        def close(self) -> None: ...

    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=frontier,
        fetcher=TinyWeb(WEB),
        judge=TitleJudge(),
        sinks=[Recorder()],
    )
    list(crawl.run([u("b")]))
    assert seen == [("b", "b", False), ("d", "d", False), ("e", None, False)]


def test_the_same_words_are_counted_once_however_many_pages_have_them() -> None:
    class SameEverywhere(TinyWeb):
        async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
            result = await super().fetch(url, may_go_on=may_go_on)
            if result.page is None:
                return result
            page = msgspec.structs.replace(result.page, text="say it again " * 50)
            return msgspec.structs.replace(result, page=page)

    class Texts:
        def __init__(self) -> None:
            self.first: dict[int, str] = {}

        def find_or_add(self, fingerprint: int, url: str, *, noindex: bool = False) -> str | None:
            del noindex
            earlier = self.first.setdefault(fingerprint, url)
            return earlier if earlier != url else None

    class YesJudge:
        def judge(self, page: Page) -> Relevance:
            return Relevance(1.0, True)

    def copies(judge: RelevanceJudge) -> list[str | None]:
        crawl = Crawler(
            strategy=BreadthFirstStrategy(),
            frontier=MemoryFrontier(),
            fetcher=SameEverywhere(WEB),
            judge=judge,
            known_texts=Texts(),
        )
        fetched = (event for event in crawl.run([u("b")]) if event.outcome is Outcome.FETCHED)
        return [event.duplicate_of for event in fetched]

    assert copies(YesJudge()) == [None, u("b")]
    assert copies(TitleJudge()) == [None, None], "what is not relevant counts for nothing anyway"


def test_a_host_rests_from_the_end_of_its_fetch() -> None:
    class Patient(MemoryFrontier):
        def __init__(self) -> None:
            super().__init__()
            self.rests: list[float] = []

        def delay_host(self, host: str, until: float) -> None:
            self.rests.append(until)
            super().delay_host(host, until)

    class SlowJudge(TitleJudge):
        def judge(self, page: Page) -> Relevance:
            now[0] += 5.0
            return super().judge(page)

    now = [100.0]
    frontier = Patient()
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=frontier,
        fetcher=TinyWeb(WEB),
        judge=SlowJudge(),
        politeness=Politeness(
            PoliteSettings(delay_seconds=2.0, max_wait_seconds=5.0),
            frontier,
            clock=lambda: now[0],
            wall_clock=lambda: now[0],
        ),
        clock=lambda: now[0],
    )
    list(crawl.run([u("d")]))
    assert frontier.rests == [107.0, 102.0], "a promise that outlives a kill, then the delay"


class Heir(BreadthFirstStrategy):
    """Has inherited a promise."""


class Ranker(BreadthFirstStrategy):
    """Changes its mind, whatever it says."""

    learns_online: ClassVar[bool] = False

    def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float] | None:
        return None


@pytest.mark.parametrize(
    ("strategy", "learns"),
    [
        (BreadthFirstStrategy(), False),
        (RandomStrategy(), True),  # its numbers depend on the order of pages
        (Heir(), True),
        (Ranker(), True),
    ],
)
def test_only_a_strategy_that_promises_not_to_learn_is_taken_at_its_word(
    strategy: Strategy, learns: bool
) -> None:
    assert learns_online(strategy) is learns


def test_a_strategy_may_know_of_pages_that_nobody_links_to() -> None:
    class Knowing(BreadthFirstStrategy):
        name: ClassVar[str] = "knowing"

        def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
            yield ScoredLink(Link(u("t")), 9.0)
            yield ScoredLink(Link("http://elsewhere.test/"), 8.0)
            yield from super().score_links(crawled)

    events = list(crawler(WEB, Knowing()).run([u("b")]))
    assert names(events) == "b t d gone a c", "what lies outside the scope stays outside"


def test_a_strategy_that_knows_more_goes_on_when_nothing_is_left() -> None:
    class Restocking(BreadthFirstStrategy):
        name: ClassVar[str] = "restocking"
        more: ClassVar[list[str]] = [u("t"), "http://elsewhere.test/", u("t"), u("d")]

        def restock(self) -> Iterable[Candidate]:
            return [Candidate(self.more.pop(0), 1.0)] if self.more else ()

    crawl = crawler({u("d"): [], u("t"): []}, Restocking())
    assert names(crawl.run([])) == "t d"
    assert crawl.stop_reason is StopReason.FRONTIER_EMPTY


def test_a_strategy_that_knows_ways_in_begins_with_them_behind_the_seeds() -> None:
    class Knowing(BreadthFirstStrategy):
        name: ClassVar[str] = "knowing"

        def entrances(self, in_scope: Callable[[str], bool]) -> Iterable[Candidate]:
            assert in_scope(u("d"))
            assert not in_scope("http://elsewhere.test/")
            return [
                Candidate(u("d"), 1.0),
                Candidate("http://elsewhere.test/", 9.0),
                Candidate(u("t"), 5.0),
            ]

    web: dict[str, list[str]] = {u("a"): [], u("d"): [], u("t"): []}
    assert names(crawler(web, Knowing()).run([u("a")])) == "a t d"
    assert names(crawler(web, Knowing()).run([])) == "t d"


def test_a_strategy_that_fails_to_name_ways_in_costs_nothing_else() -> None:
    class Broken(BreadthFirstStrategy):
        name: ClassVar[str] = "broken"

        def entrances(self, in_scope: Callable[[str], bool]) -> Iterable[Candidate]:
            yield Candidate(u("t"), 1.0)
            raise ZeroDivisionError

    assert names(crawler({u("a"): [], u("t"): []}, Broken()).run([u("a")])) == "a"


def test_what_waits_is_ranked_at_once_when_the_strategy_says_that_it_is_due() -> None:
    class Turning(BreadthFirstStrategy):
        name: ClassVar[str] = "turning"
        is_rank_due = False

        def observe(self, crawled: CrawledPage) -> None:
            self.is_rank_due = crawled.page.url == u("a")

        def rescore(self, candidates: Mapping[str, bytes]) -> Mapping[str, float]:
            self.is_rank_due = False
            return {url: 9.0 if url == u("t") else 1.0 for url in candidates}

    web = {u("a"): [u("c"), u("d"), u("t")], u("c"): [], u("d"): [], u("t"): []}
    assert names(crawler(web, Turning()).run([u("a")])) == "a t c d"


def test_a_strategy_is_told_of_what_brought_no_page() -> None:
    class Sorry(BreadthFirstStrategy):
        name: ClassVar[str] = "sorry"
        heard: ClassVar[list[tuple[str, Outcome]]] = []

        def regret(self, candidate: Candidate, outcome: Outcome) -> None:
            self.heard.append((candidate.url, outcome))
            raise ValueError("that as well")

    crawl = crawler({u("s"): [u("t"), u("dead")], u("t"): []}, Sorry())
    assert [each.outcome for each in crawl.run([u("s")])].count(Outcome.FETCHED) == 2
    assert Sorry.heard == [(u("dead"), Outcome.NOT_FOUND)]


def test_a_strategy_that_knows_only_what_is_outside_is_not_asked_for_ever() -> None:
    class Lost(BreadthFirstStrategy):
        name: ClassVar[str] = "lost"

        def restock(self) -> Iterable[Candidate]:
            return [Candidate("http://elsewhere.test/", 1.0)]

    crawl = crawler({u("d"): []}, Lost())
    assert names(crawl.run([u("d")])) == "d"
    assert crawl.stop_reason is StopReason.FRONTIER_EMPTY


def test_only_a_class_that_says_so_itself_goes_without_surroundings() -> None:
    class Curious(BreadthFirstStrategy):
        name: ClassVar[str] = "curious"

    assert not reads_surroundings(BreadthFirstStrategy())
    assert reads_surroundings(Curious())


def test_a_frontier_that_breaks_while_fetches_are_out_ends_the_crawl() -> None:
    class Breaking(MemoryFrontier):
        def delay_host(self, host: str, until: float) -> None:
            self.writes = getattr(self, "writes", 0) + 1
            if self.writes > 1:
                raise FrontierError("the disk is full")
            super().delay_host(host, until)

    frontier = Breaking()
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=frontier,
        fetcher=TinyWeb(WEB),
        judge=TitleJudge(),
        politeness=Politeness(PoliteSettings(delay_seconds=0.01), frontier),
    )
    with pytest.raises(FrontierError, match="disk is full"):
        list(crawl.run([u("a")]))


@pytest.mark.parametrize("seconds", [5.0, 0.005, 0.0])
def test_a_host_with_something_much_better_is_waited_for_while_it_is_asked(seconds: float) -> None:
    class Choosy(BreadthFirstStrategy):
        name: ClassVar[str] = "choosy"
        much_better: ClassVar[float] = 0.5

        def score_links(self, crawled: CrawledPage) -> Iterable[ScoredLink]:
            return [ScoredLink(link, float("good" in link.url)) for link in crawled.page.links]

    class Slow(TinyWeb):
        async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
            await asyncio.sleep(0.01)
            return await super().fetch(url, may_go_on=may_go_on)

    pages = [f"http://{host}.test/{n}" for host in ("poor", "good") for n in range(4)]
    frontier = MemoryFrontier()
    crawl = Crawler(
        strategy=Choosy(),
        frontier=frontier,
        fetcher=Slow({u("a"): pages} | {page: [] for page in pages}),
        judge=TitleJudge(),
        politeness=Politeness(PoliteSettings(delay_seconds=0.01), frontier),
        concurrency=4,
        wait_for_better=seconds,
    )
    hosts = [event.url[7:11] for event in crawl.run([u("a")])][1:]
    in_order = ["good"] * 4 + ["poor"] * 4
    # A host that has to rest for longer is not waited for afterwards, so not while asked, either.
    assert (hosts == in_order) is (seconds > 0.01)
    assert sorted(hosts) == in_order


def test_a_redirect_to_a_busy_host_holds_that_host_alone() -> None:
    other = "http://busy.test/"

    class Busy(TinyWeb):
        async def fetch(self, url: str, *, may_go_on: MayGoOn = always) -> FetchResult:
            if url == u("old"):
                return FetchResult(url, Outcome.BUSY, other, 2, 503, retry_after_seconds=3600.0)
            return await super().fetch(url, may_go_on=may_go_on)

    frontier = MemoryFrontier()
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=frontier,
        fetcher=Busy(WEB),
        judge=TitleJudge(),
    )
    events = list(crawl.run([u("old"), u("d")], max_requests=3))
    assert [event.outcome for event in events] == [Outcome.POSTPONED, Outcome.FETCHED]
    assert frontier.ready_at("h.test") is None, "it has done nothing wrong"
    state = frontier.state_of(other)
    assert state is not None
    assert state.status == "waiting", "under its own address and its own host's delay"


def test_the_gate_is_saved_when_a_crawl_ends() -> None:
    saved: list[bool] = []

    class SavedGate(LinkGate):
        def close(self) -> None:
            saved.append(True)

    gate = SavedGate()
    crawl = Crawler(
        strategy=BreadthFirstStrategy(),
        frontier=MemoryFrontier(),
        fetcher=TinyWeb(WEB),
        judge=TitleJudge(),
        gate=gate,
    )
    list(crawl.run([u("a")]))
    assert saved == [True]


def test_crawls_that_overlap_leave_the_process_as_it_was() -> None:
    def state() -> tuple[set[int], tuple[int, int, int]]:
        threads = {library["num_threads"] for library in threadpool_info()}
        return threads, gc.get_threshold()

    with threadpool_limits(limits=2):
        before = state()
        assert before[0] == {2}
        first, second = (crawler(WEB).run([u("a")]) for _ in range(2))
        next(first)
        next(second)
        while_they_run = state()
        assert while_they_run[0] == {1}
        assert while_they_run[1] != before[1]
        first.close()
        assert state() == while_they_run
        second.close()
        assert state() == before
