"""Shards on disks of their own, kept elsewhere: others take over, and nothing is lost."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from half_way_crawls import PAGES, page
from live_webs import USER_AGENT, Resource, TinySite, wait_until
from test_cluster_shards import SHARDS, Together

from trailhound.cluster import keeping
from trailhound.cluster.checkpoints import Checkpoint
from trailhound.cluster.keeping import refresh_copies, scratch_folder, shard_url
from trailhound.cluster.layout import ClusterFolder
from trailhound.cluster.places import FencedError
from trailhound.cluster.shard import Shard, parts_to_mend
from trailhound.cluster.uniting import unite
from trailhound.config.layers import configure
from trailhound.frontier.reading import all_urls
from trailhound.frontier.tables import forget_urls
from trailhound.storage.results_reading import Results
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.gathering import Gathering
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.upkeep.repairing import check_crawl
from trailhound.topics.workspace import Workspace

HOSTS = [f"h{number}.test" for number in range(6)]
ALL = {f"http://{host}/{number}" for host in HOSTS for number in range(PAGES)}


@dataclass
class KeptElsewhere(Together):
    """Shards on disks that nobody else sees."""

    url: str = ""

    def __post_init__(self) -> None:
        placement = ClusterFolder(self.topic).begin(SHARDS, self.url)
        for number in range(SHARDS):
            folder = CrawlFolder(self.topic, scratch_folder(f"test-{number}", number))
            kept_at = shard_url(self.url, number)
            self.shards[number] = Shard(folder, placement, self, kept_at=kept_at)

    def start(self, limit: int | None = None) -> None:
        for shard in self.shards.values():
            shard.open(self.request, limit=limit)
        for shard in self.shards.values():
            thread = threading.Thread(target=self._run, args=(shard,))
            thread.start()
            self.threads.append(thread)

    def _run(self, shard: Shard) -> None:
        with suppress(FencedError, BaseExceptionGroup):  # another has it
            shard.run()


@pytest.fixture
def site() -> Iterator[TinySite]:
    resources: dict[str, Resource] = {}
    for number in range(PAGES):
        made = page(number)
        elsewhere = "".join(f'<a href="http://{host}/{number}">x</a>' for host in HOSTS)
        resources[f"/{number}"] = Resource(made.body + elsewhere.encode())
    with TinySite(resources) as served:
        yield served


def _request(port: int) -> CrawlRequest:
    flags = {
        "crawl.seeds": (f"http://{HOSTS[0]}/0",),
        "crawl.strategy": "breadth-first",
        "judge.kind": "keywords:words=bees",
        "fetch.user_agent": USER_AGENT,
        "fetch.resolve": (f"*.test=127.0.0.1:{port}",),
        "fetch.allow_addresses": ("*.test",),
        "fetch.max_crawl_delay_seconds": 0.0,  # else hosts of a lost shard rest for a minute
        "fetch.allow_impolite": True,
    }
    return CrawlRequest(configure(flags).settings, flags)


def _urls(folder: CrawlFolder) -> list[str]:
    with Results(folder.results) as results:
        return [key.url for key in results.event_keys()]


def test_another_machine_goes_on_from_a_checkpoint(
    site: TinySite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    monkeypatch.setattr(keeping, "SAVE_EVERY_SECONDS", 0.2)
    topic, url = Workspace(tmp_path).folder_for("bees"), (tmp_path / "kept").as_uri()
    topic.prepare()
    lost = KeptElsewhere(topic, _request(site.port), url=url)
    lost.start()
    wait_until(lambda: sum(state.pages for state in lost.states()) > len(ALL) // 3)
    wait_until(lambda: all(Checkpoint(shard_url(url, n)).exists() for n in range(SHARDS)))
    # Believed dead, and only slow: what it writes from here on is refused.
    together = KeptElsewhere(topic, _request(site.port), url=url)
    together.start()
    wait_until(together.is_done)
    together.stop()
    lost.stop()
    folder = ClusterFolder(topic)
    refresh_copies(url, {number: folder.shard(number).path for number in range(SHARDS)})
    folder.write(folder.shard(0).read())
    fetched = [each for shard in folder.shards() for each in _urls(shard)]
    assert set(fetched) == ALL
    assert len(fetched) == len(ALL)
    with Gathering(folder) as gathering:
        assert gathering.settle().pages == len(ALL)
    folder.shard(0).frontier.unlink()
    assert check_crawl(folder, repair=True, parts_of=parts_to_mend).is_sound
    owners = {folder.placement().owner(url) for url, _ in all_urls(folder.shard(0).frontier)}
    assert owners == {0}  # others' links are in its outbox
    assert not forget_urls(folder.shard(0).frontier, lambda url: "nowhere" in url)
    assert unite(folder) == SHARDS
    assert set(_urls(CrawlFolder(topic))) == ALL
