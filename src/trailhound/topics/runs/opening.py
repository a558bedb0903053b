"""A run of a topic's crawl is prepared: mistakes are found before anything is fetched.

Once it is open, Prometheus may have its figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from shlex import quote

from trailhound.config.settings import Settings
from trailhound.crawling.build import Knowledge, OwnParts
from trailhound.errors import TrailhoundError, UsageError
from trailhound.topics.access import hosts_that_miss_headers, hosts_without_keys
from trailhound.topics.crawls.folder import CrawlFolder, CrawlLock
from trailhound.topics.crawls.notices import Notify
from trailhound.topics.runs.beacon import CrawlBeacon
from trailhound.topics.runs.crawl import TopicCrawl
from trailhound.topics.runs.plan import CrawlRequest, knowledge_of, make_plan
from trailhound.topics.workspace import TopicFolder


def open_crawl(
    topic: TopicFolder,
    request: CrawlRequest,
    notify: Notify = lambda _: None,
    *,
    folder: CrawlFolder | None = None,
    known: Knowledge | None = None,
    own: OwnParts | None = None,
) -> TopicCrawl:
    """Prepare a run. Mistakes are found here, before anything is fetched.

    A program may have a ``folder`` of its own for the crawl, may have learned the topic itself
    (``known``), and may bring parts of its ``own``.
    """
    folder, own = folder or CrawlFolder(topic), own or OwnParts()
    stack = ExitStack()
    try:
        if folder.is_kept:
            named = None if folder.is_the_topics_own else folder.path
            stack.enter_context(CrawlLock(topic, folder.lock_path, named))
        if folder.is_the_topics_own and not request.restart and folder.shards():
            raise UsageError(
                f"The crawl of '{topic.name}' is in shards. Go on with it on a cluster (trailhound "
                f"crawl {topic.name} --resume --cluster ADDRESS), or on this machine, where it is "
                f"put into one piece first (trailhound crawl {quote(topic.name)} --resume)."
            )
        is_watched = folder.is_the_topics_own and not request.mends_all
        beacon = stack.enter_context(
            CrawlBeacon(topic.path if is_watched else None, topic.name, request.started_by)
        )
        notify = beacon.noting(notify)
        known = known or knowledge_of(topic)
        plan = make_plan(request, folder, known, own)
        if known.model is None:
            notify(
                f"Nothing has been learned for the topic '{topic.name}': the crawl goes by its "
                "judge, and learns from what that finds."
            )
        if plan.told_of_sinks:
            notify(plan.told_of_sinks)
        _tell_missing_keys(plan.settings, notify)
        return TopicCrawl(folder, plan, known, own, stack, notify, beacon)
    except BaseException:
        with suppress(TrailhoundError):  # what failed first is told
            stack.close()
        raise


def _tell_missing_keys(settings: Settings, notify: Notify) -> None:
    """Hosts that will not know who asks, though somebody wanted that."""
    for host in hosts_without_keys(settings):
        notify(
            f"No cookies or headers are kept for {host} any more: it is read as anybody. Give "
            f"them with --cookies FILE --for-host {host}"
        )
    for host in hosts_that_miss_headers(settings):
        notify(
            f"The headers for {host} are sent over https alone, and the crawl asks it over "
            f"http. If they may go over http, give them again with --for-host http://{host}"
        )


@contextmanager
def figures_served(running: TopicCrawl, notify: Notify) -> Iterator[None]:
    """Serve them at the port that is set, if any, and tell where that is."""
    port = running.settings.output.metrics_port
    if port is None:
        yield
        return
    from trailhound.crawling.metrics import CrawlMetrics, metrics_served

    metrics = CrawlMetrics(running.folder.topic.name, running.progress, running.stats)
    with metrics_served(port, metrics, *running.more_metrics()) as address:
        notify(f"Figures for Prometheus: {address}")
        yield
