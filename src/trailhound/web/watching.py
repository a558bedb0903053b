"""Looks after crawls while somebody looks at the app: what changes is told to open pages."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import NamedTuple

from trailhound.errors import TrailhoundError
from trailhound.topics.control.running import running_crawl
from trailhound.topics.crawls.status import STATUS
from trailhound.topics.workspace import TopicFolder, Workspace
from trailhound.web.hub import Happening, Hub

LOOK_EVERY_SECONDS = 1.0
"""As often as a crawl tells how it is."""


class _Seen(NamedTuple):
    written_at: int
    """When the crawl told something last, in nanoseconds."""
    is_alive: bool


class CrawlWatcher:
    """Tells ``crawl`` for each topic whose crawl has told something, or has died.

    Without listeners it reads nothing. A crawl that rests costs one look at a file's date.
    """

    def __init__(self, workspace: Workspace, hub: Hub) -> None:
        self._workspace = workspace
        self._hub = hub
        self._seen: dict[str, _Seen] = {}

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            if self._hub.has_listeners:
                with suppress(TrailhoundError):  # a workspace that cannot be read just now
                    for topic in await asyncio.to_thread(self.changed):
                        self._hub.tell(Happening(kind="crawl", topic=topic))
            await asyncio.sleep(LOOK_EVERY_SECONDS)

    def changed(self) -> list[str]:
        """Topics whose crawls are not as they were at the last look."""
        now = {
            name: self._look(self._workspace.folder_for(name)) for name in self._workspace.topics()
        }
        changed = [name for name, seen in now.items() if seen != self._seen.get(name)]
        self._seen = now
        return changed

    def _look(self, topic: TopicFolder) -> _Seen:
        try:
            written_at = (topic.path / STATUS).stat().st_mtime_ns
        except OSError:
            return _Seen(0, False)
        before = self._seen.get(topic.name)
        if before is not None and before == (written_at, False):
            return before
        with suppress(TrailhoundError):  # of a damaged one, the view itself tells
            status = running_crawl(topic)
            return _Seen(written_at, status is not None and status.is_alive)
        return _Seen(written_at, False)
