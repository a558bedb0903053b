"""Sessions: what was browsed, drawn; marks that can be changed; what is to be forgotten."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from trailhound.errors import UsageError
from trailhound.topics.control.overview import SessionOverview, session_overviews
from trailhound.topics.crawls.marking import mark_visited
from trailhound.topics.upkeep.forgetting import (
    ForgetReport,
    forget_pages,
    forget_session,
    one_host,
    one_url,
)
from trailhound.web.api import NotThereError, OneTopic, Routes
from trailhound.web.hub import Happening
from trailhound.web.jobs import Handle, Job
from trailhound.web.learning import judge_again
from trailhound.web.session_pictures import SessionPicture, mark_of

if TYPE_CHECKING:
    from trailhound.web.session_graphs import SessionGraph
    from trailhound.web.state import App

TEXT_SHOWN = 800
"""Characters of a page's text in its preview."""
LINKS_SHOWN = 200

routes = Routes("Sessions")


class OnePage(msgspec.Struct, frozen=True, kw_only=True):
    """A visited page of a topic."""

    topic: str
    url: str


class PageView(msgspec.Struct, frozen=True, kw_only=True):
    """A page in short, as text."""

    url: str
    title: str
    text: str
    """Its first words; empty when its content was not recorded."""
    language: str
    hops: int | None
    mark: bool | None
    visits: int
    links_to: list[str]
    """Visited pages that it links to."""
    linked_from: list[str]


class NewMark(msgspec.Struct, frozen=True, kw_only=True):
    """What a user says of a page; nothing takes an earlier mark back."""

    topic: str
    url: str
    useful: bool | None


class OneSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session of a topic, by the name of its file."""

    topic: str
    session: str


class WhatToForget(msgspec.Struct, frozen=True, kw_only=True):
    """A page, or all pages of a host."""

    topic: str
    url: str = ""
    host: str = ""


@routes.get("/api/topics/{topic}/sessions")
def list_sessions(app: App, asked: OneTopic) -> list[SessionOverview]:
    """What was browsed for the topic, the latest session first."""
    folder = app.topic(asked.topic)
    app.session_pictures.prepare(folder)
    return session_overviews(folder)


@routes.get("/api/topics/{topic}/session")
def draw_session(app: App, asked: OneTopic) -> SessionPicture:
    """The pages of all sessions with the links between them, ready to be drawn."""
    return app.session_pictures.of(app.topic(asked.topic))


@routes.get("/api/topics/{topic}/page")
def show_page(app: App, asked: OnePage) -> PageView:
    """A visited page in short: title, first words, mark, and how it is linked."""
    found = app.session_graphs.of(app.topic(asked.topic))
    number = _number(found, asked.url)
    page, graph = found.graph.pages[number], found.graph
    return PageView(
        url=page.url,
        title=page.title,
        text=page.text[:TEXT_SHOWN],
        language=page.language,
        hops=found.hops[number],
        mark=mark_of(found, number),
        visits=found.visits.get(number, 0),
        links_to=[graph.pages[end].url for begin, end in graph.edges if begin == number][
            :LINKS_SHOWN
        ],
        linked_from=[graph.pages[begin].url for begin, end in graph.edges if end == number][
            :LINKS_SHOWN
        ],
    )


@routes.put("/api/topics/{topic}/mark")
def mark_page(app: App, asked: NewMark) -> PageView:
    """Say whether a visited page is useful; the next learning takes it in."""
    folder = app.topic(asked.topic)
    found = app.session_graphs.of(folder)
    page = found.graph.pages[_number(found, asked.url)]
    mark_visited(folder, page.url, asked.useful, time.time())
    app.hub.tell(Happening(kind="session", topic=folder.name))
    return show_page(app, OnePage(topic=folder.name, url=page.url))


@routes.delete("/api/topics/{topic}/sessions/{session}")
def delete_session(app: App, asked: OneSession) -> Job:
    """Delete one session; the model is learned again from what is left."""
    folder = app.topic(asked.topic)
    if asked.session not in folder.session_names():
        raise NotThereError(f"There is no session '{asked.session}'. It may be deleted already.")
    return _forgetting(
        app, folder.name, lambda: forget_session(app.workspace, folder.name, asked.session)
    )


@routes.post("/api/topics/{topic}/forget")
def forget_page(app: App, asked: WhatToForget) -> Job:
    """Remove a page, or a host, from the topic's sessions, model, crawls and archives."""
    folder = app.topic(asked.topic)
    if bool(asked.url) == bool(asked.host):
        raise UsageError("Name one thing to forget: a page's url, or a host.")
    forgotten = one_url(asked.url) if asked.url else one_host(asked.host)
    return _forgetting(
        app, folder.name, lambda: forget_pages(app.workspace, folder.name, forgotten)
    )


def _forgetting(app: App, topic: str, forget: Callable[[], ForgetReport]) -> Job:
    def work(handle: Handle) -> str:
        handle.report("Forgetting")
        report = forget()
        app.hub.tell(Happening(kind="session", topic=topic))
        if report.model and app.topic(topic).is_learned():  # without a model, nobody could judge
            judge_again(app, topic)
        return report.in_words()

    return app.jobs.start("forget", topic, work)


def _number(found: SessionGraph, url: str) -> int:
    if url not in found.numbers:
        raise NotThereError(f"No session shows the page {url}. It may have been forgotten.")
    return found.numbers[url]
