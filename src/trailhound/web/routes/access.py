"""Hosts that crawls may read as the user: which there are, and how to take that back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trailhound.topics.access import Access, HostView
from trailhound.web.api import Nothing, NotThereError, Routes

if TYPE_CHECKING:
    from trailhound.web.state import App

routes = Routes("Crawls")


class OneHost(msgspec.Struct, frozen=True, kw_only=True):
    """A host."""

    host: str


@routes.get("/api/access")
def list_access(app: App, asked: Nothing) -> list[HostView]:
    """Hosts for which cookies or headers are kept, and how many; never what is in them."""
    del asked
    return Access(app.workspace.folder).hosts()


@routes.delete("/api/access/{host}")
def remove_access(app: App, asked: OneHost) -> list[HostView]:
    """Remove what is kept for a host; those that are left."""
    access = Access(app.workspace.folder)
    if not access.remove(asked.host):
        raise NotThereError(f"Nothing is kept for '{asked.host}'. It may have been removed.")
    return access.hosts()
