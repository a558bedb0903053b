"""What all routes of the app share.

Among it who crawls from this workspace, as sites are told: asked once, and remembered for all
topics. And whole documents that are shown inside the app without its rights, such as reports: a
page in a frame cannot send the app's token, so that each document gets an address that nobody can
guess and that soon leads nowhere. It is served into a sandbox: another origin, no script, nothing
loaded, no form, no way to the app around it.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from aiohttp import hdrs, web

from trailhound.collector import Pairing
from trailhound.config.settings import Settings
from trailhound.demo.crawl import DEMO_USER_AGENT
from trailhound.errors import UNREADABLE, UsageError
from trailhound.storage.files import write_whole
from trailhound.topics.control.scheduler import Scheduler
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.gathering import gather_first
from trailhound.topics.workspace import TopicFolder, Workspace, checked_name
from trailhound.web.api import NotThereError
from trailhound.web.hub import Hub
from trailhound.web.jobs import Jobs
from trailhound.web.playground import Playground
from trailhound.web.portal_server import PortalServer
from trailhound.web.session_graphs import SessionGraphs
from trailhound.web.session_pictures import SessionPictures

DOCUMENTS_AT = "/document/"
DOCUMENT_SECONDS = 120.0
MOST_DOCUMENTS = 50
_HEADERS = {
    hdrs.CONTENT_TYPE: "text/html; charset=utf-8",
    "Content-Security-Policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'; "
        "frame-ancestors 'self'"
    ),
    "X-Frame-Options": "SAMEORIGIN",
}


class Documents:
    """Documents by their tickets."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def address(self, content: bytes) -> str:
        """Under which a document can be fetched for a short while."""
        ticket = secrets.token_urlsafe(24)
        self._kept[ticket] = self._now() + DOCUMENT_SECONDS, content
        while len(self._kept) > MOST_DOCUMENTS:
            self._kept.popitem(last=False)
        return DOCUMENTS_AT + ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """The document, or nothing when its time is over."""
        until, content = self._kept.get(request.match_info["ticket"], (0.0, b""))
        if self._now() > until:
            raise web.HTTPNotFound(reason="This address was good for two minutes. Open it anew.")
        return web.Response(body=content, headers=_HEADERS)


CONTACT = "contact.json"


class _Contact(msgspec.Struct):
    user_agent: str


def remembered_user_agent(workspace: Path) -> str:
    """What was given last; empty when nothing was, or it cannot be read."""
    try:
        content = (workspace / CONTACT).read_bytes()
        return unless_made_up(msgspec.json.decode(content, type=_Contact).user_agent)
    except (OSError, *UNREADABLE):
        return ""


def remember_user_agent(workspace: Path, user_agent: str) -> None:
    """Keep it for the next crawl, of any topic; not that of the demo web, which is nobody's."""
    if unless_made_up(user_agent) and user_agent != remembered_user_agent(workspace):
        write_whole(workspace / CONTACT, msgspec.json.encode(_Contact(user_agent)))


def unless_made_up(user_agent: str) -> str:
    """Empty for the one of the demo web: real sites must not be told that they can reach it."""
    return "" if user_agent == DEMO_USER_AGENT else user_agent


MOST_VIEWS = 20
"""That are remembered, of all topics together."""

View = TypeVar("View")


@dataclass
class App:
    """A workspace that is being served."""

    workspace: Workspace
    pairing: Pairing
    hub: Hub
    jobs: Jobs
    portal: PortalServer
    scheduler: Scheduler
    """Which the server ticks."""
    documents: Documents = field(default_factory=Documents)
    port: int = 0
    """Where the extension finds it; known once the server listens."""
    config_file: Path | None = None
    """With settings for crawls, if the user named one."""
    session_graphs: SessionGraphs = field(default_factory=SessionGraphs)

    _views: dict[tuple[str, Path], tuple[str, Any]] = field(default_factory=dict)

    def remembered(
        self, kind: str, folder: TopicFolder, version: str, look: Callable[[TopicFolder], View]
    ) -> View:
        """What ``look`` makes of a topic, which takes a while; anew when the version is another."""
        known = self._views.get((kind, folder.path))
        if known is None or known[0] != version:
            if len(self._views) >= MOST_VIEWS:
                self._views.clear()
            known = self._views[kind, folder.path] = (version, look(folder))
        view: View = known[1]
        return view

    @cached_property
    def session_pictures(self) -> SessionPictures:
        """What was browsed, drawn."""
        return SessionPictures(self.session_graphs)

    @cached_property
    def playground(self) -> Playground:
        """The demo web, for first steps."""
        return Playground(self.workspace.folder)

    def usual_settings(self, said: Mapping[str, Any] | None = None) -> Settings:
        """Those of crawls: what was said, by ``section.name``, then environment, file, defaults."""
        from trailhound.config.layers import configure, find_file

        file = find_file(self.config_file, os.environ, Path.cwd())
        return configure(said or {}, os.environ, file).settings

    def topic(self, name: str, *, even_damaged: bool = False) -> TopicFolder:
        """One that exists; NotThereError otherwise."""
        name = checked_name(name)
        try:
            return self.workspace.topic(name, even_damaged=even_damaged)
        except UsageError as error:
            told = f"There is no topic '{name}'. It may have been renamed or deleted."
            raise NotThereError(told) from error

    def crawl(self, name: str, crawl: str = "") -> CrawlFolder:
        """The present crawl of a topic, or the one named ``crawl``; NotThereError without one."""
        folder = CrawlFolder(self.topic(name))
        try:
            folder = folder.named(crawl) if crawl else folder
        except UsageError as error:
            raise NotThereError(str(error)) from error
        if not folder.exists():
            damaged = (
                f"{crawl} of '{name}' has lost its crawl.json, and cannot be shown. Bring the file "
                "back from a copy, or delete that folder."
            )
            none = f"The topic '{name}' has not been crawled yet."
            raise NotThereError(damaged if crawl else none)
        return gather_first(folder)
