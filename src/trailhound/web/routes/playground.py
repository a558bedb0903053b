"""The playground: a topic from a recorded session, and the demo web to crawl for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trailhound.demo.words import TOPIC_KEYS
from trailhound.errors import unknown_name
from trailhound.topics.learning import LearningRequest
from trailhound.web.api import ConflictError, Nothing, Routes
from trailhound.web.hub import Happening
from trailhound.web.jobs import Handle, Job
from trailhound.web.learning import start_learning
from trailhound.web.playground import is_of_playground

if TYPE_CHECKING:
    from trailhound.web.state import App

routes = Routes("Playground")


class PlaygroundView(msgspec.Struct, frozen=True, kw_only=True):
    """The demo web, as a crawl needs it."""

    port: int
    """At which it is served on 127.0.0.1; 0 while it is not."""
    subjects: list[str]
    """What its recorded sessions are about."""
    topics: list[str]
    """Topics of this workspace that were made from them."""
    settings: dict[str, Any]
    """For a crawl of it, by ``section.name``, seeds included; empty while it is not served."""


class NewPlayground(msgspec.Struct, frozen=True, kw_only=True):
    """Which subject to try."""

    subject: str = TOPIC_KEYS[0]


class PlaygroundTopic(msgspec.Struct, frozen=True, kw_only=True):
    """A topic of the playground, and the job that learns it; none when that was done before."""

    topic: str
    job: Job | None


@routes.get("/api/playground")
def show_playground(app: App, asked: Nothing) -> PlaygroundView:
    """Whether the demo web is served, and what a crawl of it needs."""
    del asked
    names = app.workspace.topics()
    return PlaygroundView(
        port=app.playground.port,
        subjects=list(TOPIC_KEYS),
        topics=[name for name in names if is_of_playground(app.workspace.folder_for(name))],
        settings=app.playground.settings() if app.playground.port else {},
    )


@routes.post("/api/playground")
def start_playground(app: App, asked: Nothing) -> PlaygroundView:
    """Serve the demo web on this machine, at the port that it had before if that is free."""
    app.playground.start()
    return show_playground(app, asked)


@routes.delete("/api/playground")
def stop_playground(app: App, asked: Nothing) -> PlaygroundView:
    """Serve the demo web no more; topics made from it stay."""
    app.playground.stop()
    return show_playground(app, asked)


@routes.post("/api/playground/topic")
def create_playground_topic(app: App, asked: NewPlayground) -> PlaygroundTopic:
    """Make a topic from a session recorded in the demo web, serve that web, and learn."""
    if asked.subject not in TOPIC_KEYS:
        raise unknown_name("subject of the demo web", asked.subject, TOPIC_KEYS)
    folder = app.workspace.folder_for(f"{asked.subject.replace('-', ' ')} (demo)")
    folder.prepare()
    app.hub.tell(Happening(kind="topic", topic=folder.name))

    def prepare(handle: Handle) -> LearningRequest:
        handle.report("Making the demo web")
        app.playground.start()
        return LearningRequest(folder.name, [app.playground.session(asked.subject)])

    try:
        if folder.is_learned():
            app.playground.start()
            return PlaygroundTopic(topic=folder.name, job=None)
        job: Job | None = start_learning(app, folder.name, prepare)
    except ConflictError:
        job = app.jobs.running("learn", folder.name)
    return PlaygroundTopic(topic=folder.name, job=job)
