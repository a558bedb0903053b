"""What all imports have in common: read, mark, perhaps fetch, keep, and tell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from trailhound.config.settings import FetchSettings
    from trailhound.sessions.events import Session
    from trailhound.sessions.importers.base import Imported
    from trailhound.sessions.importers.browser_histories import Bookmark
    from trailhound.sessions.importers.choosing import Period
    from trailhound.topics.page_fetching import FetchedPages, Progress
    from trailhound.topics.workspace import TopicFolder


SYNCED_SESSIONS = 20
"""Of more sessions, a log's, not each is waited for until it is on the disk itself."""


@dataclass(frozen=True)
class ImportJob:
    """What a user asked for, whatever the kind of file."""

    topic: str
    useful: Sequence[str] | None
    period: Period
    workspace: Path | None
    as_json: bool


@dataclass(frozen=True)
class FetchChoice:
    """Whether and how to get pages that the file does not hold."""

    wanted: bool
    max_pages: int
    user_agent: str | None
    config: Path | None


@dataclass
class Kept:
    """What an import has put into the topic."""

    sessions: int = 0
    visits: int = 0
    pages: int = 0
    with_content: int = 0
    marked: int = 0
    fetched: dict[str, int] | None = None
    """Outcomes of ``--fetch``."""
    unfetched: int = 0
    """Pages beyond the limit of ``--fetch``."""


def chosen_period(since: str | None, until: str | None) -> Period:
    """The time that ``--since`` and ``--until`` name, in local time unless they say otherwise."""
    from trailhound.sessions.importers.choosing import Period

    period = Period(_local_time(since, float("-inf")), _local_time(until, float("inf")))
    if period.since >= period.until:
        from trailhound.errors import UsageError

        raise UsageError(f"--since {since} is not before --until {until}.")
    return period


def _local_time(text: str | None, otherwise: float) -> float:
    from datetime import datetime

    from trailhound.errors import UsageError

    if text is None:
        return otherwise
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"'{text}' is no date. Write it as 2026-03-01, or 2026-03-01T18:30 with a time."
        ) from error


def naming(workspace: Path | None, *, keep_addresses: bool) -> Callable[[bytes], str]:
    """How people in logs are called."""
    from trailhound.sessions.importers.logs import plain_address
    from trailhound.topics.importing import pseudonyms
    from trailhound.topics.workspace import workspace_folder

    if keep_addresses:
        return plain_address
    return pseudonyms(workspace_folder(workspace, os.environ))


def run_import(
    job: ImportJob,
    read: Callable[[], Imported],
    fetching: FetchChoice,
    bookmarks: Callable[[], Sequence[Bookmark]] | None = None,
) -> None:
    """The whole of an import."""
    from trailhound.cli.import_report import print_json, show_report
    from trailhound.cli.terminal import patiently
    from trailhound.sessions.importers.choosing import (
        MarkedSessions,
        SessionsInPeriod,
        useful_pages,
    )
    from trailhound.topics.importing import RecalledSessions
    from trailhound.topics.workspace import Workspace, workspace_folder

    folder = Workspace(workspace_folder(job.workspace, os.environ)).folder_for(job.topic)
    useful = useful_pages(job.useful or (), bookmarks)
    with patiently("Reading"):
        imported = read()
    in_time = SessionsInPeriod(imported.sessions, job.period, imported.tally)
    sessions: Iterable[Session] = RecalledSessions(folder, MarkedSessions(in_time, useful))
    kept = Kept()
    fetched = None
    if fetching.wanted:
        sessions, fetched = _completed(sessions, folder, fetching, kept)
    with patiently("Writing"):
        _keep(sessions, folder, kept)
    if fetched is not None:
        fetched.discard()
    _check_something_kept(kept, imported, job)
    if job.as_json:
        print_json(folder, imported.tally, kept, useful.unvisited)
    else:
        show_report(folder, imported.tally, kept, useful.unvisited)


def _keep(sessions: Iterable[Session], folder: TopicFolder, kept: Kept) -> None:
    from trailhound.sessions.events import Mark, Visit
    from trailhound.topics.importing import keep_recording

    pages: set[str] = set()
    with_content: set[str] = set()
    marked: set[str] = set()
    for session in sessions:
        if not kept.sessions:
            folder.prepare()
        keep_recording(folder, session, sync=kept.sessions < SYNCED_SESSIONS)
        kept.sessions += 1
        for event in session.events:
            if isinstance(event, Visit):
                kept.visits += 1
                pages.add(event.url)
                if event.html:
                    with_content.add(event.url)
            elif isinstance(event, Mark):
                marked.add(event.url)
    kept.pages, kept.with_content, kept.marked = len(pages), len(with_content), len(marked)


def _completed(
    sessions: Iterable[Session], folder: TopicFolder, choice: FetchChoice, kept: Kept
) -> tuple[Iterable[Session], FetchedPages]:
    """The sessions with pages from the web."""
    import asyncio

    from trailhound.cli.terminal import import_bar
    from trailhound.config import configure, find_file
    from trailhound.errors import UsageError
    from trailhound.topics.forgetting import FETCHED_NAME
    from trailhound.topics.page_fetching import FetchedPages, FilledSessions, pages_wanted

    flags = {"fetch.user_agent": choice.user_agent}
    file = find_file(choice.config, os.environ, Path.cwd())
    settings = configure(flags, os.environ, file).settings.fetch
    if not settings.user_agent:
        raise UsageError(
            "--fetch must say who is asking. Give a name and a contact: "
            "--user-agent 'bees-bot (+https://example.org/bot)'"
        )
    store = FetchedPages(folder.path / FETCHED_NAME)
    wanted = pages_wanted(sessions)
    urls = wanted[: choice.max_pages]
    with import_bar() as show:

        def progress(done: int, total: int) -> None:
            show(done, total, "fetching pages")

        asyncio.run(_fetch(urls, settings, store, progress))
    kept.fetched = dict(store.outcomes())
    kept.unfetched = len(wanted) - len(urls)
    return FilledSessions(sessions, store.pages), store


async def _fetch(
    urls: Sequence[str], settings: FetchSettings, store: FetchedPages, progress: Progress
) -> None:
    from trailhound.live.parts import make_fetcher
    from trailhound.topics.page_fetching import fetch_pages

    if all(url in store.pages for url in urls):
        return
    fetcher = make_fetcher(settings, None)
    try:
        await fetch_pages(urls, fetcher, store, progress)
    finally:
        await fetcher.close()


def _check_something_kept(kept: Kept, imported: Imported, job: ImportJob) -> None:
    from trailhound.cli.import_report import counts
    from trailhound.errors import SessionError

    if not kept.visits:
        advice = "Check the file's kind, and --since and --until."
        told = "; ".join(counts(imported.tally))
        raise SessionError(f"Nothing to import for the topic '{job.topic}': {told}. {advice}")


def say(message: str) -> None:
    """One line on stderr."""
    from trailhound.cli.terminal import harmless, messages

    messages.print(harmless(message), soft_wrap=True, markup=False, highlight=False)


def echo(message: str) -> None:
    """One line on stdout."""
    typer.echo(message)
