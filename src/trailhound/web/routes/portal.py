"""Portals: which topics everybody may read, and where."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from trailhound.errors import ConfigError
from trailhound.portal.publishing import (
    name_for,
    publication,
    publication_of,
    publish,
    unpublish,
)
from trailhound.web.api import ConflictError, OneTopic, Routes
from trailhound.web.hub import Happening

if TYPE_CHECKING:
    from trailhound.web.state import App

routes = Routes("Portal")


class PortalView(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a topic is published, and how."""

    topic: str
    published: bool
    name: str
    """In its address; a suggestion while it is not published."""
    title: str
    description: str
    address: str
    """Where everybody reads it; empty while nobody does."""


class PublishRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How a topic is to be shown to everybody."""

    topic: str
    name: str = ""
    """In its address: small letters, digits and hyphens; made of the title when it is empty."""
    title: str = ""
    """The topic's name when it is empty."""
    description: str = ""


@routes.get("/api/topics/{topic}/portal")
def show_portal(app: App, asked: OneTopic) -> PortalView:
    """Whether and how a topic is published."""
    topic = app.topic(asked.topic)
    how = publication_of(topic)
    return PortalView(
        topic=topic.name,
        published=how is not None,
        name=how.name if how else name_for(topic.name),
        title=how.title if how else "",
        description=how.description if how else "",
        address=app.portal.address(how.name) if how else "",
    )


@routes.put("/api/topics/{topic}/portal")
async def publish_topic(app: App, asked: PublishRequest) -> PortalView:
    """Let everybody who reaches the portal's port read what was found, and nothing else.

    It stays published, also when the app is started again.
    """
    topic = app.crawl(asked.topic).topic
    before = publication_of(topic)
    how = publication(topic, asked.name, asked.title, asked.description)
    publish(app.workspace, topic, how, app.portal.more)
    try:
        await app.portal.follow()
    except ConfigError as error:
        if before is None:
            unpublish(topic)
        else:
            publish(app.workspace, topic, before)
        raise ConflictError(str(error)) from error
    app.hub.tell(Happening(kind="topic", topic=topic.name))
    return show_portal(app, OneTopic(topic=topic.name))


@routes.delete("/api/topics/{topic}/portal")
async def unpublish_topic(app: App, asked: OneTopic) -> PortalView:
    """Show it to nobody any more."""
    topic = app.topic(asked.topic)
    unpublish(topic)
    with suppress(ConfigError):  # others that are published cannot be served, as before
        await app.portal.follow()
    app.hub.tell(Happening(kind="topic", topic=topic.name))
    return show_portal(app, asked)
