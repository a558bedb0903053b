"""How long the app takes to draw a large session: ``python -m benchmarks.session_graph``.

A session of made-up pages is written and learned; then the app is asked for its picture as its
pages ask, answers encoded, and the CPU time is told that the server spends on each.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from trailhound.collector import load_pairing
from trailhound.sessions.events import Event, Mark, Reached, Session, Visit
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.workspace import Workspace
from trailhound.web import AppServer, load_token
from trailhound.web.api import OneTopic
from trailhound.web.graph_layout import lay_out
from trailhound.web.routes.sessions import NewMark, OnePage, draw_session, mark_page, show_page

TOPIC = "large"
WORDS = [f"word{number}" for number in range(3_000)]
WORDS_A_PAGE, LINKS_A_PAGE, HOSTS = 500, 25, 40
USEFUL_SHARE = 0.03


def address(number: int) -> str:
    """Of a made-up page."""
    return f"http://host{number % HOSTS}.test/{number}"


def made_up_session(n_pages: int, seed: int = 7) -> Session:
    """Somebody follows links of pages that she has seen lately."""
    chance = random.Random(seed)
    events: list[Event] = []
    for number in range(n_pages):
        linked = [number + 1, *(chance.randrange(n_pages) for _ in range(LINKS_A_PAGE))]
        anchors = (f'<a href="{address(each)}">{chance.choice(WORDS)}</a>' for each in linked)
        text = " ".join(chance.choices(WORDS, k=WORDS_A_PAGE))
        title = f"Page {number} on {chance.choice(WORDS)}"
        html = f"<html lang=en><title>{title}</title><p>{text}</p>{' '.join(anchors)}"
        came_from = address(chance.randrange(max(0, number - 50), number)) if number else None
        reached = Reached.LINK if number else Reached.TYPED
        events.append(Visit(float(number), address(number), title, reached, came_from, html=html))
        if chance.random() < USEFUL_SHARE:
            events.append(Mark(number + 0.5, address(number)))
    return Session(TOPIC, tuple(events))


def main() -> None:
    """Make, ask, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trailhound-app-") as folder:
        workspace = Workspace(Path(folder))
        learn_into(workspace, LearningRequest(TOPIC, [made_up_session(arguments.pages)]))
        asked = OneTopic(topic=TOPIC)
        first = _server(workspace).app
        _timed("first of all, in the background", lambda: draw_session(first, asked))
        _tell(_server(workspace).app, asked)


def _server(workspace: Workspace) -> AppServer:
    return AppServer(workspace, load_pairing(workspace.folder), load_token(workspace.folder))


def _tell(app: Any, asked: OneTopic) -> None:
    _timed("first time after a start", lambda: draw_session(app, asked))
    _timed("again", lambda: draw_session(app, asked))
    page = OnePage(topic=TOPIC, url=address(7))
    _timed("preview of a page", lambda: show_page(app, page))
    _timed("a mark", lambda: mark_page(app, NewMark(topic=TOPIC, url=page.url, useful=True)))
    _timed("after the mark", lambda: draw_session(app, asked))
    found = app.session_graphs.of(app.topic(TOPIC))
    n_pages, n_links = len(found.graph.pages), len(found.graph.edges)
    _timed("of it places for the pages", lambda: lay_out(n_pages, found.followed).tolist())
    print(f"{n_pages:,} pages, {n_links:,} links, {len(found.drawn):,} of them drawn")


def _timed(name: str, ask: Callable[[], Any]) -> None:
    started = time.process_time()
    size = len(msgspec.json.encode(ask()))
    taken = 1000 * (time.process_time() - started)
    print(f"{name:<32} {taken:8.1f} ms  {size:>9,} bytes")


if __name__ == "__main__":
    main()
