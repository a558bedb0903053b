"""What is new for each topic, for the extension's badge, popup and new tab; what is said of it; and
cookies of hosts that the user lets us read as herself.

Marks count at once, as those of ``trailhound mark`` do.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from trailhound.collector.guard import RefusedRequestError
from trailhound.errors import UNREADABLE, ConfigError, TrailhoundError, UsageError
from trailhound.topics.access import Access, cookies_of_browser, named_host
from trailhound.topics.control.overview import news, note_looked
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.marking import mark_results
from trailhound.topics.workspace import TopicFolder, Workspace, checked_name

MOST_FINDS = 20
"""Of one topic that are told at once, the best."""
MAX_URL_LENGTH = 16_000
_MAX_SHOWN_CHARS = 300
_LATEST_TIME = 1e11
_MAX_COOKIES = 1_000


class NewsMessage(msgspec.Struct):
    """A question after everything that is new."""


class MarkMessage(msgspec.Struct):
    """What a person thinks of a find."""

    topic: str
    url: str
    useful: bool | None
    """``null`` takes it back."""


class SeenMessage(msgspec.Struct):
    """She has seen what was new in a topic."""

    topic: str
    at: float
    """When the news was told, in seconds since 1970: what came since is new next time."""


class AccessMessage(msgspec.Struct):
    """Cookies of one host, by which it may be read as the user. She pressed a button for it."""

    host: str
    """As in the page's address: with a port that is not the usual one."""
    cookies: list[Any]
    """As ``chrome.cookies`` gives them."""

    def __repr__(self) -> str:
        return f"AccessMessage({self.host!r})"


class NewFind(msgspec.Struct, frozen=True):
    """A page that is new, or has changed."""

    url: str
    title: str
    snippet: str
    score: float
    new: bool
    """Else it has changed."""


class TopicNews(msgspec.Struct, frozen=True):
    """What has happened to the finds of one topic."""

    topic: str
    new: int
    changed: int
    finds: list[NewFind]
    """The best of both, best first."""


class News(msgspec.Struct, frozen=True):
    """What is new in all topics that have something new."""

    at: float
    topics: list[TopicNews]


Message = TypeVar("Message", NewsMessage, MarkMessage, SeenMessage, AccessMessage)


def decoded(body: bytes, kind: type[Message]) -> Message:
    """The message in ``body``; RefusedRequestError says what is wrong with it."""
    try:
        return msgspec.json.decode(body, type=kind)
    except UNREADABLE as error:
        raise RefusedRequestError(400, f"The message cannot be read: {error}.") from error


def all_news(workspace: Workspace) -> News:
    """Of all topics; one whose results cannot be read hides no other."""
    now = time.time()
    return News(now, list(_topics(workspace)))


def _topics(workspace: Workspace) -> Iterator[TopicNews]:
    for name in workspace.topics():
        folder = CrawlFolder(workspace.folder_for(name))
        try:
            found = news(folder, limit=MOST_FINDS) if folder.exists() else None
        except TrailhoundError:
            continue
        if found is not None and (found.new or found.changed):
            finds = [
                NewFind(
                    each.page.address,
                    each.page.title[:_MAX_SHOWN_CHARS],
                    each.page.snippet[:_MAX_SHOWN_CHARS],
                    each.page.score or 0.0,
                    each.is_new,
                )
                for each in found.pages
                if each.page.address.startswith(("http://", "https://"))
            ]
            yield TopicNews(name, found.new, found.changed, finds)


def mark_find(workspace: Workspace, message: MarkMessage) -> None:
    """Let it count; RefusedRequestError when there is no such page."""
    if len(message.url) > MAX_URL_LENGTH:
        raise RefusedRequestError(400, "The address is too long.")
    topic = _topic(workspace, message.topic)
    try:
        folder = CrawlFolder(topic).require()
        mark_results(folder, [message.url], message.useful, time.time())
    except UsageError as error:
        raise RefusedRequestError(400, str(error)) from error


def keep_cookies(workspace: Workspace, message: AccessMessage) -> dict[str, int]:
    """Keep them where only the user can read them; how many there are."""
    if len(message.host) > MAX_URL_LENGTH or len(message.cookies) > _MAX_COOKIES:
        raise RefusedRequestError(
            400,
            "These are too many cookies for one host. Delete those of the site in the browser, "
            "log in again, and press the button anew.",
        )
    try:
        host, cookies = named_host(message.host), cookies_of_browser(message.cookies)
        return {"kept": Access(workspace.folder).give_cookies([host], cookies, "browser")}
    except (UsageError, ConfigError) as error:
        raise RefusedRequestError(400, str(error)) from error


def note_seen(workspace: Workspace, message: SeenMessage) -> None:
    """What was told up to then is not new any more."""
    if not math.isfinite(message.at) or not 0 <= message.at < _LATEST_TIME:
        raise RefusedRequestError(400, f"The time {message.at} is not one in seconds.")
    note_looked(_topic(workspace, message.topic), min(message.at, time.time()))


def _topic(workspace: Workspace, name: str) -> TopicFolder:
    try:
        folder = workspace.folder_for(checked_name(name))
    except UsageError as error:
        raise RefusedRequestError(400, str(error)) from error
    if not folder.exists():
        raise RefusedRequestError(404, f"There is no topic '{folder.name}'.")
    return folder
