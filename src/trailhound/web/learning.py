"""Learning as a job: from a button, after a session was submitted, or for the playground."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from trailhound.collector import learned_in_words
from trailhound.errors import TrailhoundError
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.finds.rejudging import rejudge
from trailhound.topics.learning import LearningRequest, learn_into, request_as_before
from trailhound.web.api import ConflictError
from trailhound.web.hub import Happening
from trailhound.web.jobs import Handle, Job

if TYPE_CHECKING:
    from trailhound.web.state import App

KIND = "learn"
REJUDGE = "rejudge"

Prepare = Callable[[Handle], LearningRequest]
"""Finds out what is to be learned; this may take a while itself."""


def start_learning(app: App, topic: str, prepare: Prepare) -> Job:
    """Learn in the background; ConflictError when the topic is being learned already."""

    def work(handle: Handle) -> str:
        learned = learn_into(app.workspace, prepare(handle), handle.report)
        app.hub.tell(Happening(kind="topic", topic=topic))
        judge_again(app, topic)
        return learned_in_words(learned)

    return app.jobs.start(KIND, topic, work)


def judge_again(app: App, topic: str) -> Job | None:
    """Judge what the topic's crawl has found with what is known now, as a job of its own.

    Nothing when there is no crawl; the job that is at it already when there is one.
    """
    folder = CrawlFolder(app.topic(topic))
    if not (folder.exists() and folder.results.is_file()):
        return None

    def work(handle: Handle) -> str:
        def progress(done: int, total: int) -> None:
            told = f"Judging archived pages again: {done:,} of {total:,}"
            handle.report(told, done / total if total else None)

        done = rejudge(folder, progress=progress, stop=handle.is_stopping)
        app.hub.tell(Happening(kind="results", topic=topic))
        return done.in_words()

    try:
        return app.jobs.start(REJUDGE, topic, work)
    except ConflictError:
        return app.jobs.running(REJUDGE, topic)


def learn_again(app: App, topic: str, changed: LearningRequest | None = None) -> Job:
    """Learn from all sessions the topic has: as before, or as ``changed`` says."""
    folder = app.topic(topic)
    folder.require_sessions()
    request = changed and replace(changed, topic=folder.name)
    return start_learning(app, folder.name, lambda _: request or request_as_before(folder))


def learn_after_submit(app: App, topic: str) -> str:
    """Learn as soon as what is being learned for the topic has ended, and wait for the end."""
    while True:
        try:
            job = learn_again(app, topic)
            break
        except ConflictError:
            if (other := app.jobs.running(KIND, topic)) is not None:
                app.jobs.wait(other)
    app.jobs.wait(job)
    if job.state == "failed":
        raise TrailhoundError(job.message)
    return job.message
