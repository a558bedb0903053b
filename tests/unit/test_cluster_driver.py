"""The driver of a cluster's crawl: budgets, ends and shards that fail.

Ray is not needed: what the driver asks of it is answered in this process, by shards that tell what
a test has them tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from found_pages import Find, add_finds
from trailhound.cluster import driver, opening
from trailhound.cluster.checkpoints import Checkpoint
from trailhound.cluster.driver import ClusterCrawl
from trailhound.cluster.fleet import Fleet
from trailhound.cluster.layout import ClusterFolder, ShardSpec, actor_name
from trailhound.cluster.messages import Look, ShardState, encode_look
from trailhound.cluster.uniting import unite
from trailhound.config.layers import configure
from trailhound.crawling.budget import StopReason
from trailhound.errors import StorageError, UsageError
from trailhound.records import Outcome, PageEvent
from trailhound.storage.results import ResultsStore
from trailhound.storage.visit_reading import found_at
from trailhound.topics.crawls.folder import CrawlFolder, CrawlRecord
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import TopicFolder, Workspace

SHARDS = 2


class StandIn:
    """A shard that makes all requests that it may at once, and would make more."""

    def __init__(self, number: int, **known: Any) -> None:
        told = {"shard": number, "epoch": 1, "state": "waiting", "waiting": 900, "limit": 0}
        self.state = msgspec.convert(told | {"hosts_waiting": 100} | known, ShardState)
        self.best: list[tuple[int, float]] = [(1, 0.9)] * 16
        self.is_slow = False
        self.pages: list[PageEvent] = []
        self.last_pages: list[PageEvent] = []
        """Those that it deals with while it is closed."""
        self.still_to_keep: list[int] = []
        """Bytes of its last checkpoint, of which some are kept in each minute."""

    def tell(self, **changes: Any) -> None:
        self.state = msgspec.structs.replace(self.state, **changes)

    def look(self, epoch: int, seen: int) -> bytes | None:
        new = self.pages[seen if epoch == self.state.epoch else 0 :]
        look = Look(self.state, len(self.pages), new, self.best)
        return None if self.is_slow else encode_look(look)

    def allow(self, limit: int | None) -> None:
        self.tell(limit=limit, requests=limit if limit is not None else self.state.requests)

    def close(self, epoch: int, seen: int) -> tuple[bool, bytes | None]:
        self.pages += self.last_pages
        self.last_pages = []
        is_over = not self.still_to_keep
        if is_over:
            self.tell(state="ended")
        else:
            self.tell(kept=self.state.kept + self.still_to_keep.pop())
        return is_over, self.look(epoch, seen)


class Here:
    """In place of Ray: its actors are in this process."""

    exceptions = SimpleNamespace(RayError=ConnectionError, ActorDiedError=ConnectionAbortedError)

    def __init__(self) -> None:
        self.killed: list[StandIn] = []
        self.shards: dict[str, StandIn] = {}
        self.made: dict[str, int] = {}
        """Requests of shards that were closed, as their files would tell."""
        self.specs: list[ShardSpec] = []
        """What actors were started with."""
        self.born_as: dict[str, ShardState] = {}
        """How shards begin, if not as usual."""
        self.first_pages: dict[str, list[PageEvent]] = {}
        """What shards have dealt with before they are looked at."""

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "NodeID": "here", "Resources": {"CPU": 2.0}}]

    def get_actor(self, name: str, _namespace: str) -> Any:
        if name not in self.shards:
            raise ValueError(name)
        return _Handle(self.shards[name])

    def start(self, name: str) -> Any:
        def made(spec: ShardSpec) -> Any:
            self.specs.append(spec)
            made = self.made.get(name, 0)
            self.shards[name] = StandIn(spec.number, requests=made, limit=made)
            self.shards[name].state = self.born_as.get(name, self.shards[name].state)
            self.shards[name].pages = self.first_pages.pop(name, [])
            return _Handle(self.shards[name])

        return SimpleNamespace(remote=made)

    def wait(self, asked: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        return [each for each in asked if each.answer is not None], []

    def get(self, asked: Any, timeout: float | None = None) -> Any:
        return asked.answer

    def kill(self, actor: Any) -> None:
        self.killed.append(actor.of)
        self.made |= {name: each.state.requests for name, each in self.shards.items()}
        self.shards = {name: each for name, each in self.shards.items() if each is not actor.of}


class _Handle:
    """Calls as Ray's are."""

    def __init__(self, of: StandIn) -> None:
        self.of = of

    def __getattr__(self, name: str) -> Any:
        method: Callable[..., Any] = getattr(self.of, name)
        return SimpleNamespace(remote=lambda *given: SimpleNamespace(answer=method(*given)))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    made = Here()

    @contextmanager
    def connected(_address: str) -> Iterator[Here]:
        yield made

    monkeypatch.setattr(opening, "load_ray", lambda: None)
    monkeypatch.setattr(opening, "connected", connected)
    monkeypatch.setattr(Fleet, "_actor_on", lambda _self, _machine, name: made.start(name))
    monkeypatch.setattr(driver, "LOOK_EVERY_SECONDS", 0.001)
    monkeypatch.setattr(driver, "IDLE_LOOK_SECONDS", 0.001)
    return made


@pytest.fixture
def topic(tmp_path: Path) -> TopicFolder:
    made = Workspace(tmp_path).folder_for("bees")
    made.prepare()
    return made


def opened(
    topic: TopicFolder,
    *,
    resume: bool = False,
    restart: bool = False,
    checkpoint: str = "",
    notify: Callable[[str], None] = lambda _: None,
    **more: Any,
) -> ClusterCrawl:
    flags = {
        "crawl.seeds": () if resume else ("http://a.test/",),
        "judge.kind": "keywords:words=bees",
        "fetch.user_agent": "t (+http://a.test/)",
        **{f"crawl.{name}": value for name, value in more.items()},
    }
    request = CrawlRequest(configure(flags).settings, flags, resume=resume, restart=restart)
    shards = None if resume and ClusterFolder(topic).is_sharded() else SHARDS
    return opening.open_cluster_crawl(topic, request, "here", shards, notify, checkpoint)


def crawled_alone(topic: TopicFolder, requests: int) -> None:
    """What a crawl on one machine leaves."""
    folder = CrawlFolder(topic)
    folder.make()
    flags = {"crawl.seeds": ("http://a.test/",), "fetch.user_agent": "t (+http://a.test/)"}
    settings = configure(flags | {"judge.kind": "keywords:words=bees"}).settings
    folder.write(
        CrawlRecord(topic=topic.name, settings=settings, created_at=1.0, states=0, model="")
    )
    store = ResultsStore(folder.results)
    store.settle(requests, 0)
    store.close()


def test_requests_before_there_were_shards_count(here: Here, topic: TopicFolder) -> None:
    crawled_alone(topic, 30)
    with pytest.raises(UsageError, match="has made 30 requests, and its budget is 30"):
        opened(topic, resume=True, max_requests=30)
    assert not CrawlFolder(topic).shards()
    for limit in (40, 55):  # the second run finds them in shards
        with opened(topic, resume=True, max_requests=limit) as crawl:
            assert not list(crawl.run())
            assert crawl.stop_reason is StopReason.REQUESTS_SPENT
            assert crawl.progress.requests == limit
            assert sum(look.state.requests for look in crawl._fleet.looks.values()) == limit - 30


def test_requests_of_a_shard_that_fails_are_not_made_again_by_others(
    here: Here, topic: TopicFolder
) -> None:
    with opened(topic, max_requests=100) as crawl:
        first, second = here.shards.values()
        for shard in (first, second):
            shard.tell(requests=40, limit=50)
        list(crawl._look())
        assert not crawl._next_limits()
        first.state = ShardState(shard=0, state="failed", why="The disk is full.")
        first.best = []
        list(crawl._look())  # it is opened again at once
        assert crawl._requests() == 80
        assert not crawl._next_limits()
        first, _ = sorted(here.shards.values(), key=lambda shard: shard.state.shard)
        first.state = ShardState(shard=0)
        list(crawl._look())
        assert not crawl._next_limits()
        first.tell(state="waiting", epoch=2, requests=45, limit=45)
        list(crawl._look())
        assert not crawl._why_done()
        limits = crawl._next_limits()
        assert sum(limit or 0 for limit in (limits.get(0, 45), limits.get(1, 50))) <= 100


def test_a_shard_that_could_not_be_opened_is_opened_when_the_cause_is_mended(
    here: Here, topic: TopicFolder
) -> None:
    name = actor_name(topic, 1)
    here.born_as[name] = ShardState(shard=1, state="failed", why="The store is away.")
    with pytest.raises(StorageError, match="Shard 1 cannot be opened: The store is away"):
        opened(topic, max_requests=100)
    assert not here.shards  # nothing goes on without a driver
    assert not CrawlFolder(topic).path.exists()
    here.shards[name] = StandIn(1)  # left by one that was killed
    here.shards[name].state = here.born_as.pop(name)
    with opened(topic, max_requests=100) as crawl:
        assert [look.state.state for look in crawl._fleet.looks.values()] == ["waiting"] * SHARDS


def test_a_crawl_does_not_end_by_what_a_shard_said_before_it_got_work(
    here: Here, topic: TopicFolder
) -> None:
    with opened(topic, max_time=3600.0) as crawl:
        slow, other = here.shards.values()
        for shard in (slow, other):
            shard.tell(waiting=0, limit=None)
            shard.best = []
        other.tell(outgoing=1)
        list(crawl._look())
        slow.is_slow = True  # it takes the link in, and does not get round to telling
        other.tell(outgoing=0, sent=1)
        for _ in range(3):
            list(crawl._look())
            assert crawl._why_done() is None
        slow.is_slow = False
        crawl._fleet._pending.clear()
        slow.tell(received=1)
        told = []
        for _ in range(2):
            list(crawl._look())
            told.append(crawl._why_done())
        assert told == [None, StopReason.FRONTIER_EMPTY]


@pytest.mark.parametrize("hours", [1, -1])
def test_time_is_spent_by_a_clock_that_nobody_puts(
    hours: int, here: Here, topic: TopicFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall, steady = time.time, time.monotonic
    with opened(topic, max_time=600.0) as crawl:
        monkeypatch.setattr(time, "time", lambda: wall() + 3600 * hours)
        assert crawl._why_over() is None
        monkeypatch.setattr(time, "monotonic", lambda: steady() + 601)
        assert crawl._why_over() is StopReason.TIME_SPENT


def test_a_shard_that_is_being_kept_is_waited_for_as_long_as_that_goes_on(
    here: Here, topic: TopicFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    minutes = count()
    with opened(topic, max_requests=100) as crawl:
        large, stuck = here.shards.values()
        large.still_to_keep, stuck.still_to_keep = [1] * 30, [0] * 30
        monkeypatch.setattr(time, "monotonic", lambda: 60.0 * next(minutes))
        ended = crawl._fleet.close()
        monkeypatch.undo()
    assert here.killed == [large, stuck]
    assert (ended[0].state.state, ended[0].state.kept) == ("ended", 30)
    assert ended[1].state.state == "waiting"
    assert 15 < len(stuck.still_to_keep) < 25  # given up after ten minutes


def keep(spec: ShardSpec, folder: CrawlFolder) -> None:
    """What a shard on a disk of its own does with what it has."""
    checkpoint = Checkpoint(spec.kept_at)
    checkpoint.save(folder.path, checkpoint.fence.advance())


def test_a_new_crawl_at_a_used_address_begins_with_nothing_and_removes_nothing(
    here: Here, topic: TopicFolder, tmp_path: Path
) -> None:
    address = (tmp_path / "kept").as_uri()
    crawled_alone(topic, 3)
    opened(topic, restart=True, checkpoint=address, max_requests=100).close()
    first = here.specs[-SHARDS:]
    for spec in first:
        keep(spec, CrawlFolder(topic))
    with opened(topic, resume=True, checkpoint=address + "/", max_requests=100):
        assert ClusterFolder(topic).record().checkpoint.startswith(address)
    with pytest.raises(UsageError, match="are kept at"):
        opened(topic, resume=True, checkpoint=address + "-2", max_requests=100)
    left = list(here.shards.values())  # at work, without a driver
    here.specs.clear()
    opened(topic, restart=True, checkpoint=address, max_requests=100).close()
    assert here.killed == left
    assert not set(map(id, left)) & set(map(id, here.shards.values()))
    assert not any(Checkpoint(spec.kept_at).exists() for spec in here.specs)
    assert all(Checkpoint(spec.kept_at).exists() for spec in first)


def test_shards_that_were_put_into_one_piece_do_not_come_back(
    here: Here, topic: TopicFolder, tmp_path: Path
) -> None:
    address = (tmp_path / "kept").as_uri()
    crawled_alone(topic, 3)
    with opened(topic, resume=True, checkpoint=address, max_requests=100) as crawl:
        keep(here.specs[-1], crawl.folder.shard(SHARDS - 1))
    unite(CrawlFolder(topic))
    here.shards.clear()
    CrawlFolder(topic).strategy.write_bytes(b"learned since")
    with opened(topic, resume=True, checkpoint=address, max_requests=100):
        assert Checkpoint(here.specs[-1].kept_at).restore(tmp_path / "restored")
    assert (tmp_path / "restored" / "strategy.bin").read_bytes().endswith(b"learned since")


def test_what_an_earlier_crawl_has_found_is_no_news_in_a_cluster_s(
    here: Here, topic: TopicFolder
) -> None:
    crawled_alone(topic, 3)
    found = [("http://a.test/find", 5.0)]
    with closing(ResultsStore(CrawlFolder(topic).results)) as store:
        store.inherit_finds(found)
    add_finds(CrawlFolder(topic), [Find("http://a.test/", relevant=False)])
    CrawlFolder(topic).strategy.write_bytes(b"learned")
    told: list[str] = []
    with opened(topic, restart=True, notify=told.append, max_requests=100) as crawl:
        assert found_at(crawl.folder.results) == found
        assert any("begins with what an earlier crawl has learned" in each for each in told)


def dealt_with(*numbers: int) -> list[PageEvent]:
    """Pages of a shard, at as many seconds."""
    return [
        PageEvent(number, url, url, Outcome.FETCHED, None, 0, 1.0, 1, number, at=float(number))
        for number in numbers
        for url in (f"http://a.test/{number}",)
    ]


def test_no_page_is_missed_while_shards_are_opened_moved_and_closed(
    here: Here, topic: TopicFolder
) -> None:
    names = [actor_name(topic, number) for number in range(SHARDS)]
    here.first_pages = {names[0]: dealt_with(1, 2)}
    here.born_as[names[0]] = StandIn(0, pages=2, requests=2).state
    with opened(topic, max_requests=100) as crawl:
        assert crawl.before == (0, 0, 0)
        second = here.shards[names[1]]
        second.pages += dealt_with(3)
        pages = crawl.run()
        told = [next(pages) for _ in range(3)]
        second.last_pages = dealt_with(4)
        here.born_as.clear()
        crawl._fleet.reopen(1)  # elsewhere
        told.append(next(pages))
        here.shards[names[0]].last_pages = dealt_with(5)
        crawl.stop()
        told += pages
        assert crawl.progress.pages == 5
    assert [page.number for page in told] == [1, 2, 3, 4, 5]
    assert [page.url[-1] for page in told] == ["1", "2", "3", "4", "5"]


def test_pages_of_an_earlier_driver_are_not_this_run_s(here: Here, topic: TopicFolder) -> None:
    opened(topic, max_requests=100).close()  # as one that was killed: its shards go on
    shard = here.shards[actor_name(topic, 0)]
    shard.pages = dealt_with(1, 2)
    shard.tell(pages=2, requests=2)
    with opened(topic, resume=True, max_requests=100) as crawl:
        assert crawl.before == (2, 2, 0)
        crawl.stop()
        assert not list(crawl.run())


def test_a_shard_that_does_not_answer_is_told_of(
    here: Here, topic: TopicFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    with opened(topic, max_requests=100) as crawl:
        silent, other = here.shards.values()
        list(crawl._look())
        silent.is_slow = True
        monkeypatch.setattr(crawl._board, "_clock", lambda: now + 60)
        list(crawl._look())
        heard = [line.heard_at for line in crawl._board.now().shards]
        assert heard[1] - heard[0] > 30
        assert other.state.shard == 1
