"""What happens, told to every open page of the app as it happens.

Crawls belong to whoever started them: they are looked at while somebody looks at the app.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import msgspec

from trailhound.errors import TrailhoundError
from trailhound.topics.control.running import running_crawl
from trailhound.topics.crawls.status import STATUS
from trailhound.topics.workspace import TopicFolder, Workspace

MOST_WAITING = 500
"""Of events that a page has not fetched yet; one that sleeps loses the oldest and looks anew."""


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an open page may want to show."""

    kind: str
    """``session``, ``job``, ``crawl``, ``schedule``, ``topic``, ``results`` or ``said``."""
    topic: str = ""
    text: str = ""
    """In words, for people."""


class Hub:
    """Passes happenings on; may be told from any thread once a loop is running."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners: set[asyncio.Queue[Happening]] = set()

    @property
    def has_listeners(self) -> bool:
        """Whether anybody would hear."""
        return bool(self._listeners)

    def tell(self, happening: Happening) -> None:
        """Pass it on, soon."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._pass_on, happening)

    def _pass_on(self, happening: Happening) -> None:
        for queue in self._listeners:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(happening)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[asyncio.Queue[Happening]]:
        """A queue of what happens from now on."""
        self._loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Happening] = asyncio.Queue(MOST_WAITING)
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)


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
