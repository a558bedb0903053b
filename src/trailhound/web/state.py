"""What all routes of the app share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from trailhound.collector import Pairing
from trailhound.config.settings import Settings
from trailhound.errors import UsageError
from trailhound.topics.control.scheduler import Scheduler
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.gathering import gather_first
from trailhound.topics.workspace import TopicFolder, Workspace, checked_name
from trailhound.web.api import NotThereError
from trailhound.web.documents import Documents
from trailhound.web.hub import Hub
from trailhound.web.jobs import Jobs
from trailhound.web.playground import Playground
from trailhound.web.portal_server import PortalServer
from trailhound.web.session_graphs import SessionGraphs
from trailhound.web.session_pictures import SessionPictures

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
        from trailhound.config import configure, find_file

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
