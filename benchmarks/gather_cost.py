"""CPU per page of gathering what the shards of a cluster have found, and of keeping it elsewhere.

    python -m benchmarks.gather_cost [--pages 4_000] [--shards 8] [--small]

Shards are made up: results with words and texts, WARC archive, each page with an address and words
of its own (of :mod:`benchmarks.measured_web`; with ``--small`` the demo web's). They are gathered
into one crawl, gathered again with nothing new, and checkpointed into a folder twice. Prints CPU
milliseconds a page, and what a page takes on disk. Exits with 1 when gathering a page costs more
than 0.5 ms.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import islice
from pathlib import Path

from benchmarks.crawl_measures import TOPIC, Stopwatch
from benchmarks.rejudge_cost import bodies, make_crawl, numbered
from trailhound.cluster.checkpoints import Checkpoint
from trailhound.judges.choosing import make_judge
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.topics.crawls.folder import SHARDS, CrawlFolder
from trailhound.topics.crawls.gathering import Gathering
from trailhound.topics.workspace import Workspace

LIMIT_MS = 0.5


def make_shards(folder: CrawlFolder, pages: int, shards: int, *, small: bool) -> None:
    """So many shards with so many pages in all."""
    judge = make_judge("keywords:words=research", Briefing(PageGraph((), (), frozenset())))
    made = numbered(bodies(small), pages)
    for number in range(shards):
        shard = CrawlFolder(folder.topic, folder.path / SHARDS / f"{number:03d}")
        make_crawl(shard, judge, islice(made, pages // shards), words=True)
    folder.write(folder.shards()[0].read())


def main() -> int:
    """Measure, print, and say whether it is cheap enough."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=4_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        topic = Workspace(Path(place) / "workspace").folder_for(TOPIC)
        topic.prepare()
        folder = CrawlFolder(topic)
        make_shards(folder, asked.pages, asked.shards, small=asked.small)
        return _measure(folder, asked.pages, Path(place) / "elsewhere")


def _measure(folder: CrawlFolder, pages: int, elsewhere: Path) -> int:
    shards = folder.shards()
    with Gathering(folder) as gathering:
        watch = Stopwatch()
        gathered = gathering.catch_up()
        cost = watch.cost(pages).cpu_ms_per_page
        watch = Stopwatch()
        gathering.catch_up()
        idle = watch.cost(len(shards)).cpu_ms_per_page
        watch = Stopwatch()
        gathering.settle()
        settling = watch.cost(pages).cpu_ms_per_page
    print(f"{gathered.pages:,} pages of {len(shards)} shards")
    print(f"gathering: {cost:.3f} ms of CPU a page (limit {LIMIT_MS})")
    print(f"nothing new: {idle:.2f} ms a shard")
    print(f"one index of the archive in the end: {settling:.3f} ms a page")
    _tell_sizes(folder, pages)
    for what in ("checkpoint", "another one"):
        watch = Stopwatch()
        saved = [_saved(shard, elsewhere) for shard in shards]
        saving = watch.cost(pages).cpu_ms_per_page
        kept, sent = sum(each[0] for each in saved), sum(each[1] for each in saved)
        print(f"{what}: {saving:.3f} ms a page; {sent / 1e6:.1f} of {kept / 1e6:.1f} MB uploaded")
    return int(cost > LIMIT_MS)


def _saved(shard: CrawlFolder, elsewhere: Path) -> tuple[int, int]:
    checkpoint = Checkpoint((elsewhere / shard.path.name).as_uri())
    epoch = checkpoint.fence.current() or checkpoint.fence.advance()
    saved = checkpoint.save(shard.path, epoch)
    return saved.bytes, saved.uploaded


def _tell_sizes(folder: CrawlFolder, pages: int) -> None:
    results = folder.results.stat().st_size
    archive = sum(path.stat().st_size for path in folder.archive.glob("*.warc.gz"))
    log = folder.log.stat().st_size
    for what, size in (("results", results), ("archive", archive), ("log", log)):
        print(f"{what}: {size / pages / 1000:.2f} KB a page")


if __name__ == "__main__":
    sys.exit(main())
