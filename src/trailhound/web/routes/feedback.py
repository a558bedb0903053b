"""What a person says of results, and what follows at once: marks, thresholds, judging again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import msgspec

from trailhound.storage.results_reading import ThresholdEffect
from trailhound.topics.crawls.marking import mark_results, open_results, unmark_results
from trailhound.topics.runs.judging import TopicThreshold, choose_threshold, threshold_of
from trailhound.web.api import ConflictError, NotThereError, OneCrawl, OneTopic, Routes
from trailhound.web.hub import Happening
from trailhound.web.jobs import Job
from trailhound.web.learning import REJUDGE, judge_again

if TYPE_CHECKING:
    from trailhound.web.state import App

routes = Routes("Results")

MAX_MARKED = 1_000
"""Pages that are marked in one request."""

Score = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class MarkRequest(OneCrawl, frozen=True, kw_only=True):
    """What a person thinks of some pages of a crawl; it counts in all crawls of the topic."""

    urls: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MAX_MARKED)]
    useful: bool | None
    """``null``: neither, whatever was marked before, here or while browsing."""


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    marked: list[str]
    """Addresses of the pages."""


class ThresholdQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """What another threshold would do."""

    topic: str
    at: Score


class ThresholdChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Which threshold is to hold."""

    topic: str
    threshold: Score | None
    """``null``: the learned one."""


@routes.post("/api/topics/{topic}/results/marks")
def mark_pages(app: App, asked: MarkRequest) -> Marks:
    """Mark pages as useful or not useful: they are in or out of the results at once."""
    folder, marked = app.crawl(asked.topic, asked.crawl), asked.urls
    if asked.useful is None:
        unmark_results(folder, asked.urls, time.time())
    else:
        pages = mark_results(folder, asked.urls, asked.useful, time.time()).pages
        marked = [page.address for page in pages]
    app.hub.tell(Happening(kind="results", topic=folder.topic.name))
    return Marks(marked=marked)


@routes.post("/api/topics/{topic}/results/rejudge")
def rejudge_results(app: App, asked: OneTopic) -> Job:
    """Judge all archived pages with what is known now; nothing is fetched."""
    return _judging(app, app.crawl(asked.topic).topic.name)


def _judging(app: App, topic: str) -> Job:
    job = judge_again(app, topic)
    if job is None:
        raise NotThereError(f"The crawl of '{topic}' has no pages yet. Ask again in a moment.")
    return job


@routes.get("/api/topics/{topic}/results/threshold")
def show_threshold(app: App, asked: OneTopic) -> TopicThreshold | None:
    """From which score on pages are relevant; ``null`` when the topic's judge has no threshold."""
    return threshold_of(app.crawl(asked.topic))


@routes.get("/api/topics/{topic}/results/threshold/effect")
def try_threshold(app: App, asked: ThresholdQuestion) -> ThresholdEffect:
    """How many pages another threshold would take in, and how many it would drop."""
    with open_results(app.crawl(asked.topic)) as results:
        return results.at_threshold(asked.at)


@routes.put("/api/topics/{topic}/results/threshold")
def set_threshold(app: App, asked: ThresholdChoice) -> Job:
    """Let another threshold hold; a job moves the pages between the two."""
    folder = app.crawl(asked.topic)
    if app.jobs.running(REJUDGE, folder.topic.name) is not None:
        raise ConflictError("Pages are being judged again. Wait until that has ended.")
    choose_threshold(folder, asked.threshold)
    return _judging(app, folder.topic.name)
