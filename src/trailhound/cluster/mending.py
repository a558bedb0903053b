"""A shard whose stores are mended, and which is not run: links of others go into its outbox."""

from __future__ import annotations

from trailhound.cluster.layout import ClusterFolder
from trailhound.cluster.messages import Receipt, Turn, TurnWish
from trailhound.cluster.news import Heard, Letter
from trailhound.cluster.shard import Shard
from trailhound.crawling.build import OwnParts
from trailhound.topics.crawls.folder import CrawlFolder


def parts_to_mend(folder: CrawlFolder) -> OwnParts:
    """What opening a shard needs besides its folder; nothing for a crawl on one machine."""
    cluster = ClusterFolder(folder.topic)
    if folder.whole_results is None or not cluster.is_sharded():
        return OwnParts()
    return OwnParts(neighbours=Shard(folder, cluster.placement(), _Nobody()))


class _Nobody:
    """The other shards are not at work."""

    async def deliver(self, shard: int, batch: bytes) -> Receipt:
        del batch
        raise ConnectionError(f"Shard {shard} is not open.")

    async def ask_turn(self, shard: int, wish: TurnWish) -> Turn:
        del wish
        raise ConnectionError(f"Shard {shard} is not open.")

    async def ask_news(self, shard: int, receiver: int, heard: Heard) -> Letter:
        del receiver, heard
        raise ConnectionError(f"Shard {shard} is not open.")
