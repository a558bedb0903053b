"""Crawls: started, watched, paused, stopped and gone on with, whoever has started them.

And hosts that they may read as the user: which there are, and how to take that back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from trailhound.errors import TrailhoundError, UsageError, unknown_name
from trailhound.storage.results_browsing import Filter, ResultsBrowser
from trailhound.topics.access import Access, HostView
from trailhound.topics.control.overview import crawls_of_now, with_finds_of_now
from trailhound.topics.control.running import (
    Mode,
    pause,
    request_stop,
    running_crawl,
    start_crawl,
)
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.status import RunningCrawl
from trailhound.topics.workspace import TopicFolder
from trailhound.web.api import ConflictError, Nothing, NotThereError, OneTopic, Routes
from trailhound.web.hub import Happening
from trailhound.web.plain_words import crawl_in_app
from trailhound.web.playground import is_of_playground
from trailhound.web.state import App, remember_user_agent, unless_made_up

if TYPE_CHECKING:
    from trailhound.config.settings import Settings

Count = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]

WORDS = "keywords:words="
"""How the judge begins that goes by words."""
_COMMA = re.compile(r"(?<!\\),")
"""Between two options of a judge; within one it is written ``\\,``."""

routes = Routes("Crawls")


class CrawlSetup(msgspec.Struct, frozen=True, kw_only=True):
    """How a crawl was set up, as far as a person asks."""

    seeds: tuple[str, ...]
    strategy: str
    judge: str
    words: str
    """That make a page useful, where it goes by some; as the form takes them."""
    user_agent: str
    """Empty where a real site was told that of the demo web, which is to be given anew."""
    delay_seconds: float | None
    max_requests: int | None
    max_seconds: float | None
    same_domain: bool
    scope: tuple[str, ...]
    exclude: tuple[str, ...]
    allow_addresses: tuple[str, ...]
    resolve: tuple[str, ...]
    as_me: tuple[str, ...]


class CrawlView(msgspec.Struct, frozen=True, kw_only=True):
    """A topic's crawl."""

    topic: str
    learned: bool
    """Whether there is a model to crawl with."""
    crawl: RunningCrawl | None
    """As it is, or as its last run left it; nothing when there never was one."""
    setup: CrawlSetup | None
    earlier: int
    """Crawls that were set aside when another was begun anew."""


class KeptCrawl(msgspec.Struct, frozen=True, kw_only=True):
    """One of a topic's crawls; of one that is damaged not everything is known."""

    name: str
    """``crawl`` is the present one; those that were set aside are ``crawl-1`` …"""
    begun_at: float | None = None
    """In seconds since 1970."""
    ended_at: float | None = None
    """When its last run ended."""
    finds: int | None = None
    """Marks that were made since it was last looked at are not counted in."""


class StartCrawl(msgspec.Struct, frozen=True, kw_only=True):
    """What a crawl is to do. What is left out is as in the run before, or as the settings say."""

    topic: str
    mode: Mode = "new"
    """``new``; ``resume`` to go on; ``refresh`` to go on and look first whether finds have changed;
    ``restart`` to begin anew, which keeps the old one beside it."""
    seeds: list[str] | None = None
    """Pages to start from; a crawl that goes on gets them in addition. Left out, a new one starts
    from pages of the sessions; a topic of the demo web has usual ones."""
    strategy: str = ""
    max_requests: Count | None = None
    """In all, earlier runs included."""
    max_time: str = ""
    """Of this run: ``90m``, ``8h``."""
    user_agent: str = ""
    """Who crawls, with a contact; remembered for other crawls."""
    delay_seconds: Seconds | None = None
    """Between two requests to a host."""
    same_domain: bool | None = None
    scope: list[str] = []
    """Hosts or beginnings of addresses to stay in."""
    exclude: list[str] = []
    sitemaps: bool | None = None
    words: str = ""
    """For a topic without sessions: pages with these words are useful."""
    resolve: list[str] = []
    """``HOST=ADDRESS:PORT``: where hosts are, for a web of this machine."""
    allow_addresses: list[str] = []
    """Hosts that may be at addresses inside."""
    as_me: list[str] | None = None
    """Hosts to read with the cookies kept for them (``/api/access``); what is left out stays."""


@routes.get("/api/crawls")
def list_crawls(app: App, asked: Nothing) -> list[RunningCrawl]:
    """The crawls of all topics, those that run first."""
    del asked
    return [crawl_in_app(each) for each in crawls_of_now(app.workspace)]


@routes.get("/api/topics/{topic}/crawl")
def show_crawl(app: App, asked: OneTopic) -> CrawlView:
    """How a topic's crawl is, or how its last run ended."""
    topic = app.topic(asked.topic)
    folder, crawl = CrawlFolder(topic), running_crawl(topic)
    return CrawlView(
        topic=topic.name,
        learned=topic.is_learned(),
        crawl=crawl and crawl_in_app(with_finds_of_now(topic, crawl)),
        setup=_setup(folder) if folder.exists() else None,
        earlier=sum(path.name != "crawl" for path in folder.crawls()),
    )


@routes.get("/api/topics/{topic}/crawls")
def list_kept_crawls(app: App, asked: OneTopic) -> list[KeptCrawl]:
    """The topic's crawls: the present one, then those that were set aside, newest first."""
    present = CrawlFolder(app.topic(asked.topic))
    crawls = [CrawlFolder(present.topic, path) for path in present.crawls()]
    kept = [_kept(each) for each in crawls if each.exists()]
    return sorted(kept, key=lambda each: (each.name != present.path.name, -(each.begun_at or 0.0)))


@routes.post("/api/topics/{topic}/crawl/start")
def begin_crawl(app: App, asked: StartCrawl) -> RunningCrawl:
    """Start a crawl, or go on with one, in a process of its own; answers once it has begun."""
    topic = app.topic(asked.topic)
    present = running_crawl(topic)
    if present is not None and present.is_alive:
        raise ConflictError(f"'{topic.name}' is being crawled already. Stop that crawl first.")
    if asked.strategy:
        _check_strategy(asked.strategy)
    if asked.mode in ("new", "restart") and asked.seeds is not None and not _lines(asked.seeds):
        _check_start(app.usual_settings(), asked.strategy)
    settings = {**_of_playground(app, topic, asked), **_settings(asked)}
    begun = start_crawl(app.workspace, topic.name, settings, mode=asked.mode)
    if asked.user_agent.strip():  # not before: one that was refused is of no use to others either
        remember_user_agent(app.workspace.folder, asked.user_agent.strip())
    _tell(app, topic.name)
    return crawl_in_app(begun)


def _check_start(usual: Settings, strategy: str | None) -> None:
    """Nothing was ticked or written: the settings may say where to start."""
    from trailhound.strategies.choosing import declares

    goes_by_trace = declares(strategy or usual.crawl.strategy, "needs_trace")
    has_trace = bool(usual.sources.trace) and goes_by_trace
    if not (usual.crawl.seeds or usual.crawl.seeds_from or has_trace):
        raise UsageError(
            "A crawl needs a page to start from. Tick or write one or more under 'Where to start'."
        )


@routes.post("/api/topics/{topic}/crawl/pause")
def pause_crawl(app: App, asked: OneTopic) -> RunningCrawl:
    """End a crawl for the time being, remembered as paused."""
    return _end(app, asked.topic, pause)


@routes.post("/api/topics/{topic}/crawl/stop")
def stop_crawl(app: App, asked: OneTopic) -> RunningCrawl:
    """End a crawl cleanly, wherever it was started; what is in flight is dealt with first."""
    return _end(app, asked.topic, request_stop)


def _end(app: App, name: str, how: Callable[[TopicFolder], RunningCrawl]) -> RunningCrawl:
    topic = app.topic(name)
    status = running_crawl(topic)
    if status is None:
        raise NotThereError(f"The topic '{topic.name}' has not been crawled yet. Start a crawl.")
    if not status.is_alive:
        raise ConflictError(
            f"No crawl of '{topic.name}' is running: it has ended meanwhile. "
            "Go on with it, or begin anew."
        )
    status = how(topic)
    _tell(app, topic.name)
    return crawl_in_app(status)


def _kept(folder: CrawlFolder) -> KeptCrawl:
    """As far as it can be read: one that is damaged hides no other."""
    kept = KeptCrawl(name=folder.path.name)
    with suppress(TrailhoundError):
        record = folder.read()
        kept = msgspec.structs.replace(kept, begun_at=record.created_at, ended_at=record.ended_at)
    with suppress(TrailhoundError), ResultsBrowser(folder.results) as browser:
        kept = msgspec.structs.replace(kept, finds=browser.count(Filter()))
    return kept


def _setup(folder: CrawlFolder) -> CrawlSetup:
    settings = folder.read().settings
    agent = settings.fetch.user_agent
    return CrawlSetup(
        seeds=settings.crawl.seeds,
        strategy=settings.crawl.strategy,
        judge=settings.judge.kind,
        words=_words(settings.judge.kind),
        user_agent=agent if is_of_playground(folder.topic) else unless_made_up(agent),
        delay_seconds=settings.fetch.delay_seconds,
        max_requests=settings.crawl.max_requests,
        max_seconds=settings.crawl.max_time,
        same_domain=settings.crawl.same_domain,
        scope=settings.crawl.scope,
        exclude=settings.crawl.exclude,
        allow_addresses=settings.fetch.allow_addresses,
        resolve=settings.fetch.resolve,
        as_me=settings.fetch.as_me,
    )


def _words(judge: str) -> str:
    """Of a judge as :func:`_settings` names it."""
    words = _COMMA.split(judge.removeprefix(WORDS))[0].replace("\\,", ",")
    return words if judge.startswith(WORDS) else ""


def _check_strategy(spec: str) -> None:
    """By its name alone: a file with a program is for whoever sits at the command line."""
    from trailhound.strategies.choosing import live_strategy_names, parse_spec

    name, _ = parse_spec(spec)
    if name not in live_strategy_names():
        raise unknown_name("strategy", name, live_strategy_names())


def _of_playground(app: App, topic: TopicFolder, asked: StartCrawl) -> dict[str, Any]:
    """Where the demo web is, for topics that come from it; it is served from now on."""
    if asked.resolve or not is_of_playground(topic):
        return {}
    settings = app.playground.settings()
    if asked.mode not in ("new", "restart"):
        return {"fetch.resolve": settings["fetch.resolve"]}
    if asked.seeds is not None:
        del settings["crawl.seeds"]
    return settings


def _settings(asked: StartCrawl) -> dict[str, Any]:
    """By ``section.name``, only what was said."""
    words = asked.words.replace(",", "\\,").strip()
    said = {
        "crawl.seeds": _lines(asked.seeds or []),
        "crawl.strategy": asked.strategy,
        "crawl.max_requests": asked.max_requests,
        "crawl.max_time": asked.max_time.strip(),
        "crawl.same_domain": asked.same_domain,
        "crawl.scope": _lines(asked.scope),
        "crawl.exclude": _lines(asked.exclude),
        "crawl.sitemaps": asked.sitemaps,
        "judge.kind": f"{WORDS}{words}" if words else "",
        "fetch.user_agent": asked.user_agent.strip(),
        "fetch.delay_seconds": asked.delay_seconds,
        "fetch.resolve": _lines(asked.resolve),
        "fetch.allow_addresses": _lines(asked.allow_addresses),
    }
    chosen = {key: value for key, value in said.items() if value not in (None, "", ())}
    return chosen if asked.as_me is None else {**chosen, "fetch.as_me": _lines(asked.as_me)}


def _lines(texts: list[str]) -> tuple[str, ...]:
    return tuple(text.strip() for text in texts if text.strip())


def _tell(app: App, topic: str) -> None:
    app.hub.tell(Happening(kind="crawl", topic=topic))


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
