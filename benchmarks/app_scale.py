"""How long the app takes to answer for a large crawl: ``python -m benchmarks.app_scale``.

A topic with many finds and near misses of made-up words is written to a folder; then its routes are
asked as the server asks them, answers encoded, and the time is told that the server spends on each.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.portal_search import MadeUpPages
from trailhound.collector import load_pairing
from trailhound.config.settings import Settings
from trailhound.records import FinishedPage, Relevance
from trailhound.sessions.events import Event, Mark, Session, Visit
from trailhound.sessions.files import write_session
from trailhound.storage.results import ResultsStore
from trailhound.storage.text_index import index_for_search
from trailhound.topics.crawls.folder import CrawlFolder, CrawlRecord
from trailhound.topics.workspace import Workspace
from trailhound.web import AppServer, load_token
from trailhound.web.api import Route
from trailhound.web.routes import ALL_ROUTES
from trailhound.web.state import App

TOPIC = "benchmark"
THRESHOLD = 0.5
FINDS_OF_TEN = 8
MOST_MILLISECONDS = 300.0
"""Of the first page of results: what the app promises."""


class CrawledPages:
    """Made-up pages as a crawl meets them: finds, near misses, copies, each found on another."""

    def __init__(self, seed: int = 7) -> None:
        self.made_up = MadeUpPages(seed)
        self._random = random.Random(seed)
        self._urls: list[tuple[str, int]] = []

    def page(self, number: int) -> FinishedPage:
        """The page with a number."""
        made = self.made_up.page(number)
        is_find = self._random.randrange(10) < FINDS_OF_TEN
        low, high = (THRESHOLD, 1.0) if is_find else (0.0, THRESHOLD)
        parent, depth = self._random.choice(self._urls[-5000:]) if self._urls else (None, -1)
        is_copy = is_find and parent is not None and not self._random.randrange(20)
        event = msgspec.structs.replace(
            made.event,
            relevance=Relevance(self._random.uniform(low, high), is_find),
            parent=parent,
            depth=depth + 1,
            duplicate_of=parent if is_copy else None,
        )
        if depth < 7:
            self._urls.append((event.url, depth + 1))
        return FinishedPage(event, made.candidate, made.result, made.page)


def make_topic(workspace: Workspace, pages: int) -> tuple[CrawlFolder, CrawledPages]:
    """A topic with so many pages."""
    topic = workspace.folder_for(TOPIC)
    topic.prepare()
    crawl = CrawlFolder(topic)
    crawl.make()
    record = CrawlRecord(topic=TOPIC, settings=Settings(), created_at=0, states=4, model="")
    crawl.write(record)
    crawled = CrawledPages()
    with closing(ResultsStore(crawl.results)) as store:
        for number in range(1, pages + 1):
            store.keep(crawled.page(number))
    return crawl, crawled


def make_session(workspace: Workspace, pages: int) -> None:
    """A session of so many pages of some hosts, each with links to others; every tenth useful."""
    chance = random.Random(7)
    words = MadeUpPages()
    urls = [f"https://host{number % 40}.test/visited/{number}" for number in range(pages)]
    events: list[Event] = []
    for number, url in enumerate(urls):
        ends = {urls[(number + step) % pages] for step in (1, 2, 40)} | {chance.choice(urls)}
        links = "".join(f'<a href="{end}">{words.some(3)}</a> ' for end in sorted(ends))
        html = f"<title>{words.some(5)}</title><p>{words.some(60)}</p>{links}"
        came_from = urls[number - 1] if number else None
        events.append(Visit(float(number), url, words.some(5), from_url=came_from, html=html))
        if number % 10 == 9:
            events.append(Mark(number + 0.5, url))
    path = workspace.folder_for(TOPIC).sessions_path / "large.jsonl"
    write_session(Session(TOPIC, tuple(events)), path)


class Asking:
    """Asks routes as the server does."""

    def __init__(self, app: App) -> None:
        self._app = app

    def __call__(self, path: str, **values: Any) -> Any:
        """What a GET of this path gives, encoded and decoded."""
        route = next(each for each in ALL_ROUTES if (each.method, each.path) == ("GET", path))
        return msgspec.json.decode(self._encoded(route, values))

    def _encoded(self, route: Route, values: dict[str, Any]) -> bytes:
        asked = msgspec.convert({"topic": TOPIC, **values}, route.takes, strict=False)
        return msgspec.json.encode(route.function(self._app, asked))


def questions(ask: Asking, words: list[str]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What the results view asks for."""
    listing = "/api/topics/{topic}/results"
    first = ask(listing)
    deep = "0.75:1"
    yield "results, first page", lambda: ask(listing)
    yield "results, second page", lambda: ask(listing, after=first["after"])
    yield "results, in the middle", lambda: ask(listing, after=deep)
    yield "new ones", lambda: ask(listing, kind="new")
    yield "changed ones", lambda: ask(listing, kind="changed")
    yield "marked ones", lambda: ask(listing, kind="useful")
    yield "near misses", lambda: ask(listing, kind="missed")
    yield "a frequent host", lambda: ask(listing, host="host1.test")
    yield "a rare host", lambda: ask(listing, host="host4321.test")
    yield "a language", lambda: ask(listing, language="de")
    yield "a language that none has", lambda: ask(listing, language="xx")
    yield "one day", lambda: ask(listing, since=1_600_800_000.0, until=1_600_886_400.0)
    yield "scores between", lambda: ask(listing, min_score=0.6, max_score=0.61)
    yield "a word on nearly every page", lambda: ask(listing, q=words[0])
    yield "a middling word", lambda: ask(listing, q=words[200])
    yield "a rare word", lambda: ask(listing, q=words[20_000])
    yield "how many there are", lambda: ask(f"{listing}/count")
    yield "how many, one language", lambda: ask(f"{listing}/count", language="de")
    yield "hosts and languages", lambda: ask(f"{listing}/facets")
    yield "a session's graph", lambda: ask("/api/topics/{topic}/session")
    yield "what a threshold takes in", lambda: ask(f"{listing}/threshold/effect", at=0.3)


def main() -> None:
    """Make, ask, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--nodes", type=int, default=2_000, help="Pages of the session's graph.")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="Keep the workspace here, and use it again.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trailhound-app-") as made:
        workspace = Workspace(arguments.folder or Path(made))
        workspace.folder.mkdir(parents=True, exist_ok=True)
        if not CrawlFolder(workspace.folder_for(TOPIC)).exists():
            crawl, _ = make_topic(workspace, arguments.pages)
            index_for_search(crawl.results)
            make_session(workspace, arguments.nodes)
        folder = workspace.folder
        server = AppServer(workspace, load_pairing(folder), load_token(folder))
        words = MadeUpPages().words
        for name, ask in questions(Asking(server.app), words):
            _timed(name, ask, arguments.repeat)


def _timed(name: str, ask: Callable[[], Any], times: int) -> None:
    """CPU time of the median run and of the slowest: the first, in which caches are cold."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        ask()
        taken.append(1000 * (time.process_time() - started))
    middle = sorted(taken)[len(taken) // 2]
    slow = "" if max(taken) <= MOST_MILLISECONDS else f"  over {MOST_MILLISECONDS:.0f} ms"
    print(f"{name:<32} {middle:8.1f} ms  (slowest {max(taken):8.1f} ms){slow}")


if __name__ == "__main__":
    main()
