"""``trailhound topics``, ``crawls`` and ``stop``: what there is in the workspace, and what runs.

Crawls of all topics are seen and ended from here.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli import options
from trailhound.cli.options import JsonOption, WorkspaceOption, open_workspace
from trailhound.cli.terminal import duration, patiently, print_json, say, show_pairs, show_table
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.topics.control.overview import TopicOverview
    from trailhound.topics.crawls.status import RunningCrawl


def topics(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """List all topics: sessions, useful pages, whether learned, and what crawls found.

    Example:

      trailhound topics
    """
    from trailhound.topics.control.overview import overview

    place = open_workspace(workspace)
    found = list(overview(place))
    if as_json:
        print_json(found)
        return
    if not found:
        say(f"The workspace {place.folder} has no topics yet. Begin with: trailhound collect")
        return
    headings = ("topic", "sessions", "useful", "learned", "fetched", "finds", "crawl")
    show_table(headings, map(_topic_row, found), figures=("sessions", "useful", "fetched", "finds"))
    for each in found:
        if each.problem:
            say(f"Note: {each.topic}: {each.problem}")


def _topic_row(each: TopicOverview) -> tuple[str, ...]:
    crawl = each.crawl
    figures = (f"{crawl.pages:,}", f"{crawl.finds:,}") if crawl is not None else ("", "")
    if crawl is None:
        state = "damaged" if each.problem else "none yet"
    else:
        ended = crawl.ended.partition(":")[0] if crawl.state == "ended" else ""
        state = ended or crawl.state.value.replace("-", " ")
    learned = "yes" if each.learned else "no"
    return (each.topic, f"{each.sessions:,}", f"{each.marked:,}", learned, *figures, state)


def crawls(workspace: options.WorkspaceOption = None, as_json: options.JsonOption = False) -> None:
    """List the crawls of all topics: those that run, are paused, or have ended.

    Whoever has started them: a terminal, the app, or a schedule.

    Example:

      trailhound crawls
    """
    from trailhound.topics.control.overview import crawls_of_now

    found = list(crawls_of_now(options.open_workspace(workspace)))
    if as_json:
        print_json(found)
        return
    if not found:
        say("No topic has been crawled yet. Begin with: trailhound crawl TOPIC --seed URL")
        return
    headings = ("topic", "state", "requests", "pages", "finds", "waiting", "pages/s", "since")
    figures = ("requests", "pages", "finds", "waiting", "pages/s")
    show_table(headings, map(_crawl_row, found), figures)


def stop(
    topic: options.TopicArgument,
    pause: Annotated[
        bool, typer.Option("--pause", help="End it for the time being, remembered as paused.")
    ] = False,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Stop a running crawl cleanly, as Ctrl-C does, wherever it was started.

    Example:

      trailhound stop bees
    """
    from trailhound.topics.control.running import pause as pause_crawl
    from trailhound.topics.control.running import request_stop, wait_for_end

    folder = options.open_workspace(workspace).topic(topic)
    (pause_crawl if pause else request_stop)(folder)
    with patiently("Waiting for what is in flight"):
        ended = wait_for_end(folder)
    if as_json:
        print_json(ended)
    elif ended is not None:
        show_pairs(_summary(ended))
        say(f"Go on with: trailhound crawl {shlex.quote(topic)} --resume")
    if ended is not None and ended.is_alive:
        say("It has been asked to end and has not yet: see 'trailhound crawls'.")
        raise typer.Exit(options.FAILED_EXIT_CODE)


def _crawl_row(crawl: RunningCrawl) -> tuple[str, ...]:
    budget = f" of {crawl.max_requests:,}" if crawl.max_requests is not None else ""
    state = crawl.state.value.replace("-", " ")
    if not crawl.is_alive and crawl.ended and crawl.run and crawl.state.value == "ended":
        state = crawl.ended.partition(":")[0]
    moment = crawl.started_at if crawl.is_alive else crawl.ended_at or crawl.updated_at
    return (
        crawl.topic,
        state,
        f"{crawl.requests:,}{budget}",
        f"{crawl.pages:,}",
        f"{crawl.finds:,}",
        f"{crawl.waiting:,}" if crawl.run else "",
        f"{crawl.pages_per_second:.1f}" if crawl.is_alive else "",
        duration(max(0.0, time.time() - moment)) if moment else "",
    )


def _summary(crawl: RunningCrawl) -> Iterator[tuple[str, str]]:
    yield "state", crawl.state.value.replace("-", " ")
    run = f" ({crawl.pages_of_run:,} in this run)" if crawl.pages_of_run else ""
    yield "pages", f"{crawl.pages:,}{run}, {counted(crawl.requests, 'request')}"
    yield "relevant", f"{crawl.finds:,}"
    yield "frontier", f"{crawl.waiting:,} waiting on {counted(crawl.hosts_waiting, 'host')}"
