"""What a crawl has found and met, in curves and tables; and why, for one page."""

from __future__ import annotations

from typing import Annotated

import msgspec

from trailhound.demo.crawl import DEMO_USER_AGENT
from trailhound.storage.results_figures import CurvePoint
from trailhound.topics.access import Access, HostView
from trailhound.topics.crawls.notices import Failure
from trailhound.topics.finds.explaining import Explanation
from trailhound.topics.finds.figures import (
    HostFigures,
    RefusalFigures,
    crawl_curve,
    crawl_errors,
    crawl_frontier,
    crawl_hosts,
    crawl_refusals,
)
from trailhound.topics.workspace import TopicFolder
from trailhound.web.api import NotThereError, OneTopic, Routes
from trailhound.web.plain_words import explained_in_app, failure_in_app
from trailhound.web.playground import MAX_REQUESTS, is_of_playground
from trailhound.web.state import App, remembered_user_agent

Limit = Annotated[int, msgspec.Meta(ge=1, le=1000)]
PLAIN_WORDS = {
    "trail": "Learns from your session which links lead to useful pages, and goes on learning with "
    "every page it fetches. The best choice unless you know better.",
    "hidden-markov": "Learns from the path you took how many steps a page is away from a useful "
    "one, and follows the links that seem nearest.",
    "memm": "Like hidden-markov, with the words of each link taken into account.",
    "intelligent": "Starts knowing nothing of links, and learns on the way what those to useful "
    "pages have in common.",
    "best-first": "Follows the links of the pages that are most like your useful ones.",
    "shark-search": "Follows links that lie near words of the topic, on pages that are like it.",
    "fish-search": "Follows the links of useful pages, and gives up a few dull pages further on.",
    "context-graph": "Learns the words of pages that lie one, two or more steps before a useful "
    "page. Needs somebody who knows which pages link to those.",
    "content-link": "Looks for words of the topic in page, link and address, and goes on for a "
    "while through pages without any.",
    "collaborative": "Goes where other readers of useful pages went. Needs an access log.",
    "breadth-first": "Follows all links in the order of their distance from the start, whatever "
    "they say. For small sites that you want whole.",
    "random": "Follows links by chance: only to compare others with.",
}
"""Each strategy for people who have never read about any."""

routes = Routes("Figures of a crawl")


class SeedSuggestion(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the sessions from which a crawl may start."""

    url: str
    reason: str
    usual: bool
    """Whether a crawl starts there when nobody chooses."""


class StrategyChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A way to choose the next link."""

    name: str
    words: str


class StartChoices(msgspec.Struct, frozen=True, kw_only=True):
    """What the form for a new crawl begins with."""

    seeds: list[SeedSuggestion]
    strategies: list[StrategyChoice]
    strategy: str
    """The usual one."""
    max_requests: int
    delay_seconds: float
    user_agent: str
    """As it was given last; empty when it must be asked for."""
    access: list[HostView]
    """Hosts that may be read as the user, if the crawl names them."""
    playground: bool
    """Whether it is about the demo web, which the app serves."""


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A URL that waits for its turn."""

    url: str
    priority: float
    parent: str | None
    depth: int


class SomeOf(msgspec.Struct, frozen=True, kw_only=True):
    """Of a table of a crawl."""

    topic: str
    limit: Limit = 50


class SomeRefusals(msgspec.Struct, frozen=True, kw_only=True):
    """Of what was refused, by one rule or by all."""

    topic: str
    limit: Limit = 50
    rule: str = ""


class OnePage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a crawl."""

    topic: str
    url: str


@routes.get("/api/topics/{topic}/crawl/choices")
def show_choices(app: App, asked: OneTopic) -> StartChoices:
    """What a new crawl may start from, and how: suggested seeds, strategies, usual settings."""
    from trailhound.config.settings import DEFAULT_MAX_REQUESTS

    topic, usual = app.topic(asked.topic), app.usual_settings()
    remembered = remembered_user_agent(app.workspace.folder)
    delay = usual.fetch.delay_seconds
    plays = is_of_playground(topic)
    return StartChoices(
        playground=plays,
        access=Access(app.workspace.folder).hosts(),
        seeds=_suggestions(topic),
        strategies=_strategies(usual.crawl.strategy),
        strategy=usual.crawl.strategy,
        max_requests=MAX_REQUESTS if plays else usual.crawl.max_requests or DEFAULT_MAX_REQUESTS,
        delay_seconds=1.0 if delay is None else delay,
        user_agent=remembered or usual.fetch.user_agent or (DEMO_USER_AGENT if plays else ""),
    )


@routes.get("/api/topics/{topic}/crawl/curve")
def show_curve(app: App, asked: OneTopic) -> list[CurvePoint]:
    """Finds and mean score against requests, over all runs."""
    return crawl_curve(app.crawl(asked.topic))


@routes.get("/api/topics/{topic}/crawl/hosts")
def show_hosts(app: App, asked: SomeOf) -> list[HostFigures]:
    """Hosts, those with most finds first."""
    return crawl_hosts(app.crawl(asked.topic), asked.limit)


@routes.get("/api/topics/{topic}/crawl/frontier")
def show_frontier(app: App, asked: SomeOf) -> list[Waiting]:
    """What comes next, the best first."""
    return [
        Waiting(url=each.url, priority=each.priority, parent=each.parent, depth=each.depth)
        for each in crawl_frontier(app.crawl(asked.topic), asked.limit)
    ]


@routes.get("/api/topics/{topic}/crawl/errors")
def show_errors(app: App, asked: OneTopic) -> list[Failure]:
    """What went wrong, in words, the most frequent first."""
    return [failure_in_app(each) for each in crawl_errors(app.crawl(asked.topic))]


@routes.get("/api/topics/{topic}/crawl/refusals")
def show_refusals(app: App, asked: SomeRefusals) -> RefusalFigures:
    """What the crawl's own rules kept away, and why."""
    return crawl_refusals(app.crawl(asked.topic), asked.limit, asked.rule or None)


@routes.get("/api/topics/{topic}/crawl/explain")
def explain_page(app: App, asked: OnePage) -> Explanation:
    """Why a page was fetched when it was, or why it was not."""
    from trailhound.storage.results_reading import Results
    from trailhound.topics.finds.explaining import Explainer
    from trailhound.topics.finds.opinions import Opinions

    folder = app.crawl(asked.topic)
    if not folder.results.is_file():
        raise NotThereError("The crawl has only just begun. Ask again in a moment.")
    with Results(folder.results) as results:
        said = Opinions(folder, results)
        explainer = Explainer(folder, results, said.belief, said.reasons, said.words)
        return explained_in_app(explainer.explain(asked.url))


def _suggestions(topic: TopicFolder) -> list[SeedSuggestion]:
    from trailhound.topics.runs.starts import USUAL_SEEDS, suggested_seeds

    if not topic.is_learned():
        return []
    return [
        SeedSuggestion(url=each.url, reason=each.reason, usual=rank < USUAL_SEEDS)
        for rank, each in enumerate(suggested_seeds(topic))
    ]


def _strategies(usual: str) -> list[StrategyChoice]:
    """The usual one first, then as in the list above, then those of plug-ins."""
    from trailhound.strategies.choosing import declares, describe_strategy, live_strategy_names

    # A form cannot name the log that a strategy goes by.
    names = [name for name in live_strategy_names() if not declares(name, "needs_trace")]
    ranks = {name: rank for rank, name in enumerate(PLAIN_WORDS)}
    ordered = sorted(names, key=lambda name: (name != usual, ranks.get(name, len(ranks)), name))
    return [
        StrategyChoice(name=name, words=PLAIN_WORDS.get(name) or describe_strategy(name).summary)
        for name in ordered
    ]
