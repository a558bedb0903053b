"""What is new for a person since she last looked: new finds and changed ones, told apart.

``TOPIC/looked.json`` holds when that was.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import NamedTuple

import msgspec

from trailhound.errors import UNREADABLE, StorageError
from trailhound.storage.files import write_whole
from trailhound.storage.visit_reading import NewsPage, count_news, news_pages
from trailhound.topics.crawl_folder import CrawlFolder
from trailhound.topics.heeding import heed_marks
from trailhound.topics.workspace import TopicFolder

LOOKED = "looked.json"


class News(NamedTuple):
    """What has happened to a topic's finds."""

    since: float
    """Seconds since 1970; 0 when she never looked."""
    new: int
    """Finds that are new since then; marked and visited ones are no news."""
    changed: int
    """Others that have changed."""
    pages: list[NewsPage]
    """The best of both, best first."""


class _Looked(msgspec.Struct):
    at: float


def news(folder: CrawlFolder, since: float | None = None, limit: int | None = 50) -> News:
    """What is new since a moment, by default since she last looked."""
    moment = last_looked(folder.topic) if since is None else since
    if not folder.results.is_file():
        return News(moment, 0, 0, [])
    with suppress(StorageError):
        heed_marks(folder)
    counts = count_news(folder.results, moment)
    return News(moment, *counts, news_pages(folder.results, moment, limit) if any(counts) else [])


def last_looked(topic: TopicFolder) -> float:
    """When somebody last looked at what is new; 0 for never."""
    with suppress(OSError, *UNREADABLE):
        return msgspec.json.decode((topic.path / LOOKED).read_bytes(), type=_Looked).at
    return 0.0


def note_looked(topic: TopicFolder, at: float | None = None) -> None:
    """She has seen what is new up to ``at``, or now."""
    moment = time.time() if at is None else at
    write_whole(topic.path / LOOKED, msgspec.json.encode(_Looked(moment)))
