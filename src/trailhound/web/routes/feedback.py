"""What a person says of results, and what follows at once: marks, thresholds, judging again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import msgspec

from trailhound.storage.results_reading import ThresholdEffect
from trailhound.topics.heeding import open_results
from trailhound.topics.judging import TopicThreshold, choose_threshold, threshold_of
from trailhound.topics.learning import learn_into
from trailhound.topics.marking import mark_results
from trailhound.topics.rejudging import rejudge
from trailhound.web.api import OneTopic, Routes
from trailhound.web.hub import Happening
from trailhound.web.jobs import Handle, Job
from trailhound.web.learning import request_as_before

if TYPE_CHECKING:
    from trailhound.topics.crawl_folder import CrawlFolder
    from trailhound.web.state import App

routes = Routes("Results")

MAX_MARKED = 1_000
"""Pages that are marked in one request."""

Score = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class MarkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a person thinks of some pages."""

    topic: str
    urls: Annotated[list[str], msgspec.Meta(min_length=1, max_length=MAX_MARKED)]
    useful: bool | None
    """``null`` takes earlier marks back."""


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    marked: list[str]
    """Addresses of the pages."""


class RejudgeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """How pages are to be judged again."""

    topic: str
    learn: bool = False
    """Learn the topic again first, from sessions and marks."""


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
    folder = app.crawl(asked.topic)
    marked = mark_results(folder, asked.urls, asked.useful, time.time())
    app.hub.tell(Happening(kind="results", topic=folder.topic.name))
    return Marks(marked=[page.address for page in marked.pages])


@routes.post("/api/topics/{topic}/results/rejudge")
def judge_again(app: App, asked: RejudgeRequest) -> Job:
    """Judge all archived pages with what is known now; nothing is fetched."""
    folder = app.crawl(asked.topic)
    return app.jobs.start(
        "rejudge", folder.topic.name, lambda handle: _rejudge(app, folder, handle, asked.learn)
    )


def _rejudge(app: App, folder: CrawlFolder, handle: Handle, learn: bool) -> str:
    learned = ""
    if learn:
        handle.report("Learning from sessions and marks")
        learn_into(app.workspace, request_as_before(folder.topic), handle.report)
        learned = "Learned. "

    def progress(done: int, total: int) -> None:
        handle.report(f"Judged {done:,} of {total:,} pages", done / total if total else None)

    done = rejudge(folder, progress=progress, stop=handle.is_stopping)
    app.hub.tell(Happening(kind="results", topic=folder.topic.name))
    return learned + done.in_words()


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
    choose_threshold(folder, asked.threshold)
    return judge_again(app, RejudgeRequest(topic=folder.topic.name))
