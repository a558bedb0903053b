"""A sink of your own: finds are posted to a web service, some at a time, while the crawl goes on.

Try it, without installing anything::

    trailhound crawl bees --seed https://example.org/ \
        --user-agent 'bees-bot (+https://example.org/bot)' \
        --sink examples/own_sink.py:url=http://localhost:8000/finds,batch=10

To ship it, put the class into a package and register it::

    [project.entry-points."trailhound.sinks"]
    webhook = "your_package.webhook:Webhook"
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp

from trailhound.records import FinishedPage


class Webhook:
    """Posts ``{"topic": …, "pages": […]}``; what could not be sent goes with the next batch."""

    summary = "relevant pages, posted to a web service as JSON"

    def __init__(self, topic: str, url: str, batch: int) -> None:
        self._topic, self._url, self._batch = topic, url, batch
        self._waiting: list[dict[str, Any]] = []

    @classmethod
    def open(cls, topic: str, folder: Path | None, *, url: str, batch: int = 20) -> Webhook:
        """Keyword arguments are options: ``url`` must be given."""
        del folder  # it keeps no files
        return cls(topic, url, batch)

    async def keep(self, finished: FinishedPage) -> None:
        """Collect relevant pages; the crawl waits while a batch is sent."""
        event, page = finished.event, finished.page
        if page is None or event.relevance is None or not event.relevance.relevant:
            return
        self._waiting.append({"url": page.url, "title": page.title, "score": event.relevance.score})
        if len(self._waiting) >= self._batch:
            await self._send()

    async def _send(self) -> None:
        timeout = aiohttp.ClientTimeout(total=10)
        async with aiohttp.ClientSession(timeout=timeout, raise_for_status=True) as session:
            await session.post(self._url, json={"topic": self._topic, "pages": self._waiting})
        self._waiting.clear()

    async def close(self) -> None:
        """Send the rest."""
        if self._waiting:
            await self._send()
