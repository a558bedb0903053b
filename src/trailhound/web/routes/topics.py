"""Topics: all of them at a glance, made, renamed, merged, deleted; and how browsers are paired."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from trailhound import __version__
from trailhound.collector import extension_folder
from trailhound.errors import UsageError
from trailhound.topics.control.overview import TopicOverview, overview
from trailhound.topics.workspace import checked_name
from trailhound.web.api import ConflictError, Nothing, NotThereError, OneTopic, Routes
from trailhound.web.hub import Happening

if TYPE_CHECKING:
    from trailhound.web.state import App

routes = Routes("Topics")


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """What the first page shows."""

    version: str
    workspace: str
    """The folder with everything."""
    topics: list[TopicOverview]


class PairingView(msgspec.Struct, frozen=True, kw_only=True):
    """How a browser is paired."""

    code: str
    extension: str
    """The folder to load into the browser."""
    browsers: int
    """So many are paired."""


class NewName(msgspec.Struct, frozen=True, kw_only=True):
    """A topic and a name for it."""

    topic: str
    name: str


@routes.get("/api/home")
def show_home(app: App, asked: Nothing) -> Home:
    """All topics at a glance."""
    del asked
    return Home(
        version=__version__,
        workspace=str(app.workspace.folder),
        topics=list(overview(app.workspace)),
    )


@routes.get("/api/pairing")
def show_pairing(app: App, asked: Nothing) -> PairingView:
    """The code to enter in the extension's popup."""
    del asked
    return PairingView(
        code=app.pairing.code(app.port),
        extension=str(extension_folder()),
        browsers=len(app.pairing.origins),
    )


@routes.get("/api/topics/{topic}")
def show_topic(app: App, asked: OneTopic) -> TopicOverview:
    """One topic at a glance."""
    name = app.topic(asked.topic).name
    for each in overview(app.workspace):
        if each.topic == name:
            return each
    raise NotThereError(f"There is no topic '{name}' any more. It was renamed or deleted.")


@routes.post("/api/topics/{topic}")
def create_topic(app: App, asked: OneTopic) -> TopicOverview:
    """Make a topic, empty as yet."""
    folder = app.workspace.folder_for(asked.topic)
    if folder.exists() or folder.name in app.workspace.topics():
        raise ConflictError(f"There is a topic '{folder.name}' already. Choose another name.")
    folder.prepare()
    app.hub.tell(Happening(kind="topic", topic=folder.name))
    return TopicOverview(folder.name, 0, 0, learned=False)


@routes.delete("/api/topics/{topic}")
def delete_topic(app: App, asked: OneTopic) -> Nothing:
    """Delete a topic with its sessions, model, crawls and archives. There is no way back."""
    from trailhound.topics.upkeep.forgetting import forget_everything

    folder = app.topic(asked.topic, even_damaged=True)
    forget_everything(app.workspace, folder.name)  # raises while a crawl is running
    app.hub.tell(Happening(kind="topic", topic=folder.name))
    return Nothing()


@routes.post("/api/topics/{topic}/rename")
def rename_topic(app: App, asked: NewName) -> OneTopic:
    """Give a topic another name; everything it has moves along."""
    from trailhound.topics.upkeep.moving import rename

    topic = app.topic(asked.topic)
    renamed = rename(app.workspace, topic, checked_name(asked.name))
    for name in (topic.name, renamed.name):  # who looks at the old one learns that it is gone
        app.hub.tell(Happening(kind="topic", topic=name))
    return OneTopic(topic=renamed.name)


@routes.post("/api/topics/{topic}/merge")
def merge_topic(app: App, asked: NewName) -> OneTopic:
    """Copy a topic's sessions into another topic; learn that again to make use of them."""
    from trailhound.topics.upkeep.moving import merge_sessions

    source, target = app.topic(asked.topic), app.topic(asked.name)
    if source.name == target.name:
        raise UsageError("A topic cannot be merged with itself. Choose another.")
    merge_sessions(source, target)
    app.hub.tell(Happening(kind="topic", topic=target.name))
    return OneTopic(topic=target.name)
