"""From a cluster to one machine and back: the same crawl, in shards or in one piece.

:func:`unite` brings everything of the shards into the crawl's folder, which is an ordinary one
then. :func:`scatter` gives each shard its part of an ordinary crawl's queue; results, log and
archive stay where they are, and what the shards find is gathered beside them. Both can be cut
short at any moment: the crawl is as it was before, or as it is to be.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from trailhound.cluster.keeping import refresh_copies
from trailhound.cluster.layout import ClusterFolder
from trailhound.cluster.status import STATUS_NAME
from trailhound.crawling.build import OwnParts
from trailhound.errors import UsageError
from trailhound.frontier.reading import last_page
from trailhound.frontier.splitting import join_frontiers, split_frontier
from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.frontier.tables import FRONTIER
from trailhound.records import Candidate
from trailhound.storage.files import PARTIAL_SUFFIX, explaining, write_whole
from trailhound.storage.results import RESULTS, ResultsStore
from trailhound.storage.results_reading import Results
from trailhound.storage.sqlite import transaction
from trailhound.storage.warc_repair import repair_archive
from trailhound.topics.crawls.folder import SHARDS, CrawlFolder, CrawlLock, CrawlRecord
from trailhound.topics.crawls.gathering import Gathering, gather_first
from trailhound.topics.runs.plan import CrawlRequest, knowledge_of, make_plan
from trailhound.topics.runs.strategy_memory import latest_snapshot, numbered_snapshot

_OUTGOING = "SELECT url, priority, memory, parent, depth FROM outgoing ORDER BY shard, number"
_HAS_OUTGOING = "SELECT 1 FROM sqlite_schema WHERE name = 'outgoing'"
_GONE = "shards-united"


def check_going_on(folder: CrawlFolder, request: CrawlRequest) -> None:
    """Raise what keeps a crawl in shards from going on here, before it is put into one piece."""
    plan = make_plan(request, folder, knowledge_of(folder.topic), OwnParts())
    requests = requests_of(gather_first(folder))
    plan.budget(requests, to_refresh=int(plan.refresh))


def unite(folder: CrawlFolder) -> int:
    """Make one crawl of a crawl in shards, none of which may be open; how many there were.

    Nothing happens to a crawl on one machine.
    """
    with CrawlLock(folder.topic):
        _finish(folder)
        shards = folder.shards()
        if not shards:
            return 0
        _bring_back(folder, shards)
        for shard in shards:
            if shard.archive.is_dir():
                repair_archive(shard.archive)
        with Gathering(folder) as gathering:
            gathering.settle()
            _join(folder, [shard for shard in shards if shard.frontier.is_file()])
            _take_refusals(folder, shards)
            _take_strategy(folder)
            with explaining(folder.path):
                (folder.path / SHARDS).rename(folder.path / _GONE)
        _finish(folder)
    return len(shards)


def _bring_back(folder: CrawlFolder, shards: Sequence[CrawlFolder]) -> None:
    """What is kept elsewhere, if it is."""
    cluster = ClusterFolder(folder.topic)
    if cluster.is_sharded() and (url := cluster.record().checkpoint):
        refresh_copies(url, {int(shard.path.name): shard.path for shard in shards})


def _finish(folder: CrawlFolder) -> None:
    """Remove what is in the whole crawl now."""
    if (folder.path / _GONE).is_dir():
        if folder.results.is_file():
            with RESULTS.explaining(folder.results), closing(RESULTS.open(folder.results)) as file:
                file.execute("DROP TABLE IF EXISTS gathered")
        with explaining(folder.path):
            for name in ("cluster.json", STATUS_NAME):
                (folder.path / name).unlink(missing_ok=True)
            shutil.rmtree(folder.path / _GONE)


def _join(folder: CrawlFolder, shards: Sequence[CrawlFolder]) -> None:
    """One frontier, with the links that were on their way between shards.

    Where a shard was killed between two stores of a page, all pages will be looked at when the
    crawl goes on.
    """
    last = _last_number(folder) if all(map(_agrees, shards)) else 0
    partial = _fresh(folder.frontier.with_name(folder.frontier.name + PARTIAL_SUFFIX))
    join_frontiers([shard.frontier for shard in shards], partial, last)
    frontier = SqliteFrontier(partial)
    try:
        for shard in shards:
            frontier.add(_outgoing(shard.frontier))
        frontier.commit()
    finally:
        frontier.close()
    with explaining(folder.frontier):
        partial.with_name(partial.name + ".lock").unlink(missing_ok=True)
        partial.replace(folder.frontier)


def _last_number(folder: CrawlFolder) -> int:
    if not folder.results.is_file():
        return 0
    with closing(ResultsStore(folder.results)) as results:
        return results.progress().pages


def requests_of(folder: CrawlFolder) -> int:
    """Those that are in the results of the whole crawl."""
    if not folder.results.is_file():
        return 0
    with Results(folder.results) as results:
        return results.summary().requests


def _agrees(shard: CrawlFolder) -> bool:
    """Whether a shard's queue knows its last page as done."""
    known = last_page(shard.frontier)
    return known is None or known >= _last_number(shard)


def _fresh(path: Path) -> Path:
    """A name of which an earlier attempt has left nothing."""
    with explaining(path):
        for ending in ("", "-wal", "-shm", ".lock"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
    return path


def _outgoing(path: Path) -> Iterator[Candidate]:
    """Links of a shard that their owner may not have yet."""
    with FRONTIER.explaining(path), closing(FRONTIER.open_for_reading(path)) as connection:
        if connection.execute(_HAS_OUTGOING).fetchone():
            yield from (Candidate(*row) for row in connection.execute(_OUTGOING))


def _take_refusals(folder: CrawlFolder, shards: Sequence[CrawlFolder]) -> None:
    insert = "INSERT OR IGNORE INTO refusal VALUES (?, ?, ?)"
    with RESULTS.explaining(folder.results), closing(RESULTS.open(folder.results)) as whole:
        for shard in shards:
            if not shard.results.is_file():
                continue
            with closing(RESULTS.open_for_reading(shard.results)) as part, transaction(whole):
                whole.executemany(insert, part.execute("SELECT url, reason, parent FROM refusal"))


def _take_strategy(folder: CrawlFolder) -> None:
    """What was learned on the way, if shards have: all of them tell each other the same."""
    latest = latest_snapshot(folder)
    if latest is not None and latest != folder.strategy:
        write_whole(folder.strategy, numbered_snapshot(latest, _last_number(folder)))


def scatter(
    folder: CrawlFolder, shards: int, owner: Callable[[str], int], record: CrawlRecord
) -> None:
    """Put an ordinary crawl, which is not running, into shards; ``owner`` has each URL's.

    ``record`` is what is to stand in each shard's ``crawl.json``.
    """
    if folder.shards():
        raise UsageError(f"The crawl of '{folder.topic.name}' is in shards already. Resume it.")
    made = folder.path / (SHARDS + PARTIAL_SUFFIX)
    with explaining(made):
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
    parts = [CrawlFolder(folder.topic, made / f"{number:03d}") for number in range(shards)]
    for part in parts:
        part.make()
        part.write(record)
        ResultsStore(part.results).close()
        if folder.strategy.is_file():
            write_whole(part.strategy, numbered_snapshot(folder.strategy, 0))
    if folder.frontier.is_file():
        targets = [part.frontier for part in parts]
        split_frontier(folder.frontier, targets, lambda host: owner(f"http://{host}/"))
    with explaining(made):
        made.rename(folder.path / SHARDS)
        folder.frontier.unlink(missing_ok=True)
