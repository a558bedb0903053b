"""Opening a crawl on a cluster: mistakes are found here, before anything is fetched."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from types import ModuleType

from trailhound.cluster.connecting import connected, load_ray
from trailhound.cluster.driver import ClusterCrawl
from trailhound.cluster.fleet import Fleet
from trailhound.cluster.keeping import keep_first
from trailhound.cluster.layout import DEFAULT_SHARDS, ClusterFolder, Placement, actor_name
from trailhound.cluster.uniting import requests_of, scatter
from trailhound.config.settings import SourceSettings
from trailhound.counting import counted
from trailhound.crawling.build import OwnParts
from trailhound.errors import StorageError, TrailhoundError, UsageError
from trailhound.storage.results import ResultsStore
from trailhound.storage.visit_reading import found_at
from trailhound.strategies.choosing import declares
from trailhound.topics.access import needs_secrets
from trailhound.topics.crawls.folder import CrawlLock
from trailhound.topics.crawls.gathering import gather_first
from trailhound.topics.crawls.notices import Notify
from trailhound.topics.runs.beacon import CrawlBeacon
from trailhound.topics.runs.plan import CrawlPlan, CrawlRequest, knowledge_of, make_plan
from trailhound.topics.runs.strategy_memory import crawl_to_learn_from, told_of_lessons
from trailhound.topics.workspace import TopicFolder


def open_cluster_crawl(
    topic: TopicFolder,
    request: CrawlRequest,
    address: str,
    shards: int | None,
    notify: Notify = lambda _: None,
    checkpoint: str = "",
) -> ClusterCrawl:
    """Prepare a run on the cluster at ``address``; ``shards`` are for a new crawl.

    ``checkpoint`` is the address below which shards are kept, when machines have them on their own
    disks: each crawl, and each scattering of one, has a place of its own there.
    """
    load_ray()
    folder = ClusterFolder(topic)
    stack = ExitStack()
    try:
        stack.enter_context(CrawlLock(topic))
        beacon = stack.enter_context(CrawlBeacon(topic.path, topic.name, request.started_by))
        notify = beacon.noting(notify)
        known = knowledge_of(topic)
        plan = make_plan(request, folder, known, OwnParts())
        _check(plan, folder, shards)
        ray = stack.enter_context(connected(address))
        record = plan.record_of(topic.name, known.states, known.fingerprint, time.time())
        # A shard that is new takes the crawl's settings and seeds, also when others are not.
        request = replace(request, settings=record.settings)
        if plan.record is None:
            _end_left(ray, folder)
            aside = gather_first(folder).set_aside()
            stack.callback(folder.put_back, aside)
            placement = folder.begin(shards or DEFAULT_SHARDS, _own_place(checkpoint))
            _inherit_finds(folder, aside)
            _tell_of_lessons(folder, plan, known.fingerprint, notify)
            if plan.told_of_seeds:
                notify(plan.told_of_seeds)
        elif folder.is_sharded():
            known_as = folder.record()
            kept_at = _kept_at(known_as.checkpoint, checkpoint)
            placement = folder.begin(known_as.shards, kept_at, known_as.requests)
        else:
            # Those of a scattering that was cut short are all there.
            placement = Placement(len(folder.shards()) or shards or DEFAULT_SHARDS)
            requests = requests_of(folder)
            plan.budget(requests)  # raises before anything is moved
            if not folder.shards():
                scatter(folder, placement.shards, placement.owner, record)
            folder.begin(placement.shards, _own_place(checkpoint), requests)
        if folder.record().checkpoint:
            parts = {n: folder.shard(n).path for n in range(placement.shards)}
            keep_first(folder.record().checkpoint, parts)
        crawl = ClusterCrawl(ray, folder, plan, request, placement, stack, notify, beacon)
        folder.write(record)
        return crawl
    except BaseException:
        with suppress(TrailhoundError):
            stack.close()
        raise


def _end_left(ray: ModuleType, folder: ClusterFolder) -> None:
    """Shards of an earlier crawl may be at work, without a driver: they are not the new one's."""
    if folder.is_sharded():
        name = partial(actor_name, folder.topic)
        fleet = Fleet(ray, folder.record().shards, name, lambda *_: None, lambda *_, **__: None)
        fleet.end_left()


def _tell_of_lessons(folder: ClusterFolder, plan: CrawlPlan, model: str, notify: Notify) -> None:
    """The shards begin with what an earlier crawl has learned, and tell nobody."""
    if not plan.fresh and declares(plan.settings.crawl.strategy, "inherit"):
        earlier = crawl_to_learn_from(folder.shard(0), plan.settings, model)
        if earlier is not None:
            notify(told_of_lessons(in_full=earlier[1]))


def _inherit_finds(folder: ClusterFolder, aside: Path | None) -> None:
    """As in any new crawl: what the one before it has found is no news."""
    earlier = aside / folder.results.name if aside is not None else None
    if earlier is not None and earlier.is_file():
        with suppress(StorageError), closing(ResultsStore(folder.results)) as results:
            results.inherit_finds(found_at(earlier))


def _kept_at(known: str, asked: str) -> str:
    """Where a crawl's shards are kept; UsageError when that is not below the address ``asked``."""
    if not known:
        return _own_place(asked)
    if asked and asked.rstrip("/") not in (known, known.rpartition("/")[0]):
        raise UsageError(
            f"The shards of the crawl are kept at {known}, not at {asked}. Leave out --checkpoint."
        )
    return known


def _own_place(address: str) -> str:
    """A new place below ``address``: shards that another crawl has left there are not this one's.

    Nor are those that this one has left there, before it was put into one piece and went on.
    """
    if not address:
        return ""
    begun = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return f"{address.rstrip('/')}/{begun}-{token_hex(3)}"


def _check(plan: CrawlPlan, folder: ClusterFolder, shards: int | None) -> None:
    """UsageError for what a crawl on a cluster cannot do."""
    crawl = plan.settings.crawl
    if plan.refresh:
        raise UsageError(
            "--refresh is for crawls on one machine. Leave out --cluster, and the shards are put "
            "into one piece first."
        )
    if plan.settings.sources != SourceSettings() or crawl.seeds_from:
        raise UsageError(
            "--backlinks, --trace, --search and --seeds-from are asked by crawls on one machine. "
            "Leave them out, or leave out --cluster."
        )
    if needs_secrets(plan.settings.fetch):
        raise UsageError(
            "Cookies, headers for hosts and logins of proxies stay on this machine. Leave out "
            "--for-host and such proxies, or leave out --cluster."
        )
    if crawl.frontier != "sqlite":
        raise UsageError(
            f"A crawl on a cluster keeps what waits in SQLite, and [crawl] frontier is "
            f"'{crawl.frontier}'. Leave that out."
        )
    if plan.record is None or not folder.is_sharded() or shards is None:
        return
    fixed = folder.placement().shards
    if shards != fixed:
        raise UsageError(
            f"The crawl was begun in {counted(fixed, 'shard')}, and hosts stay where they are. "
            "Resume without --shards; machines may come and go."
        )
