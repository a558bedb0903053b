"""Recordings that other programs made of browsing join a topic: a file is sent, read and kept."""

from __future__ import annotations

import asyncio
import inspect
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web

from trailhound.counting import counted
from trailhound.errors import SessionError, TrailhoundError, UsageError, unknown_name
from trailhound.sessions.events import Session
from trailhound.storage.files import explaining
from trailhound.topics.importing import ChosenSessions, Kept, keep_import, pseudonyms
from trailhound.topics.page_fetching import FetchedPages, fetch_missing
from trailhound.topics.upkeep.forgetting import FETCHED_NAME
from trailhound.topics.workspace import TopicFolder
from trailhound.web.access import MAX_UPLOAD_BYTES
from trailhound.web.api import Nothing, Routes
from trailhound.web.hub import Happening
from trailhound.web.jobs import Handle, Job
from trailhound.web.state import App, remember_user_agent, remembered_user_agent

if TYPE_CHECKING:
    from trailhound.sessions.importers.base import Importer

OWN_SESSION = "session"
"""A session file of Trailhound itself."""
FOLDER_NAME = ".imports"
"""In the workspace: files while they are read; none outlives its job."""
MAX_FETCHED = 500
"""Pages that the web is asked for, the most visited first."""
_CHUNK_BYTES = 1 << 20
_ENDINGS = re.compile(r"(\.[A-Za-z0-9]{1,8}){0,2}$")

routes = Routes("Sessions")


class ImportKind(msgspec.Struct, frozen=True, kw_only=True):
    """What can be imported."""

    kind: str
    summary: str
    reads: str
    """The file to choose."""
    takes_site: bool = False
    """Whether it can be told whose log it is."""


class ImportChoices(msgspec.Struct, frozen=True, kw_only=True):
    """What the form of an import offers."""

    kinds: list[ImportKind]
    user_agent: str
    """Who asked, the last time."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is sent, as it is, in the body of the request."""

    topic: str
    kind: str
    name: str = ""
    """Of the file."""
    site: str = ""
    """Whose log it is, where a kind can be told that: ``https://www.example.org``."""
    fetch: bool = False
    """Ask the web, politely, for pages without contents: histories and logs have none."""
    user_agent: str = ""
    """Who asks, with a contact; remembered for crawls."""


@routes.get("/api/imports")
def list_imports(app: App, asked: Nothing) -> ImportChoices:
    """The kinds of recordings that can be imported."""
    from trailhound.sessions.importers import importer, importer_names

    del asked
    kinds = [
        ImportKind(
            kind=OWN_SESSION,
            summary="session file that Trailhound recorded",
            reads="A session file (*.jsonl)",
        )
    ]
    for name in importer_names():
        try:
            found = importer(name)
        except TrailhoundError:  # a broken plug-in costs itself
            continue
        kinds.append(
            ImportKind(
                kind=name,
                summary=found.summary,
                reads=found.reads,
                takes_site=_takes_site(found),
            )
        )
    return ImportChoices(kinds=kinds, user_agent=remembered_user_agent(app.workspace.folder))


@routes.upload("/api/topics/{topic}/import")
async def import_recording(app: App, asked: Recording, request: web.Request) -> Job:
    """Turn a recording into sessions of the topic; its pages can be marked then.

    The body is the file itself. What comes of it is told by the job.
    """
    folder = await asyncio.to_thread(app.topic, asked.topic)
    await asyncio.to_thread(_check, app, asked)
    place = await asyncio.to_thread(_new_place, app.workspace.folder)
    file = place / f"recording{_ending(asked.name)}"
    try:
        await _receive(request, file, asked.name or "The file")

        def work(handle: Handle) -> str:
            try:
                return _imported(app, folder, file, asked, handle)
            except TrailhoundError as error:
                told = str(error).replace(str(file), asked.name or "the file")
                raise type(error)(told) from error
            finally:
                shutil.rmtree(place, ignore_errors=True)

        return await asyncio.to_thread(app.jobs.start, "import", folder.name, work)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


def _takes_site(found: Importer) -> bool:
    return "site" in inspect.signature(found.read).parameters


def clear_imports(workspace: Path) -> None:
    """Remove what an app that was killed has left."""
    shutil.rmtree(workspace / FOLDER_NAME, ignore_errors=True)


def _ending(name: str) -> str:
    """Some importers look at it."""
    found = _ENDINGS.search(name)
    return found[0] if found else ""


def _check(app: App, asked: Recording) -> None:
    from trailhound.fetching.client import checked_user_agent
    from trailhound.sessions.importers import importer_names

    kinds = (OWN_SESSION, *importer_names())
    if asked.kind not in kinds:
        raise unknown_name("kind of import", asked.kind, kinds)
    agent = asked.user_agent.strip()
    if agent:
        remember_user_agent(app.workspace.folder, checked_user_agent(agent))
    if asked.fetch and not remembered_user_agent(app.workspace.folder):
        raise UsageError(
            "Sites must be told who asks for their pages. Give a name and a way to reach you: "
            "bees-bot (+https://example.org/bot)"
        )


def _new_place(workspace: Path) -> Path:
    within = workspace / FOLDER_NAME
    with explaining(within):
        within.mkdir(mode=0o700, exist_ok=True)
        return Path(tempfile.mkdtemp(dir=within))


async def _receive(request: web.Request, file: Path, name: str) -> None:
    size = 0
    with explaining(file), file.open("wb") as written:
        async for chunk in request.content.iter_chunked(_CHUNK_BYTES):
            size += len(chunk)
            if size > MAX_UPLOAD_BYTES:  # one that does not say how large it is
                raise UsageError(
                    f"{name} has more than {MAX_UPLOAD_BYTES:,} bytes. Import a part of it, or "
                    "use 'trailhound import'."
                )
            await asyncio.to_thread(written.write, chunk)
    if not size:
        raise UsageError(f"{name} is empty. Choose another.")


def _imported(app: App, folder: TopicFolder, file: Path, asked: Recording, handle: Handle) -> str:
    """The whole of an import: read, name, perhaps fetch, keep; what came of it, in words."""
    handle.report("Reading the file")
    sessions, told = _sessions(app, folder, file, asked)
    fetched, unfetched = _fetched(app, folder, sessions, handle) if asked.fetch else (None, 0)
    _end_if_asked(handle)
    handle.report("Writing sessions")
    kept = keep_import(folder, sessions, fetched, unfetched)
    if not kept.visits:
        raise SessionError(f"Nothing was found to import{told()}. Is it a file of that kind?")
    app.hub.tell(Happening(kind="session", topic=folder.name))
    is_new = kept.known < kept.sessions
    what = "Imported" if is_new else "No session was added, as all was there before:"
    return f"{what} {_in_words(kept)}{told()}."


def _sessions(
    app: App, folder: TopicFolder, file: Path, asked: Recording
) -> tuple[Iterable[Session], Callable[[], str]]:
    """What the file holds, and what was left out, known once they were gone through."""
    from trailhound.sessions.events import problem_summary
    from trailhound.sessions.files import read_with_problems
    from trailhound.sessions.importers import importer, read_recording
    from trailhound.sessions.importers.base import NamesPeople

    if asked.kind == OWN_SESSION:
        reading = read_with_problems(file)
        own = msgspec.structs.replace(reading.session, topic=folder.name)
        problems = problem_summary("the file", reading.problems)
        return [own], lambda: f"; {problems}" if problems else ""
    found = importer(asked.kind)
    options = {"site": asked.site} if asked.site and _takes_site(found) else {}
    imported = read_recording(found, file, folder.name, options)
    people = pseudonyms(app.workspace.folder) if isinstance(found, NamesPeople) else None

    def left_out() -> str:
        return "".join(f"; {each}" for each in (*imported.tally.left_out, *imported.tally.notes))

    return ChosenSessions(imported, folder, name_of=people), left_out


def _fetched(
    app: App, folder: TopicFolder, sessions: Iterable[Session], handle: Handle
) -> tuple[FetchedPages, int]:
    """Pages from the web for those without contents, and how many are beyond the limit."""
    agent = {"fetch.user_agent": remembered_user_agent(app.workspace.folder)}
    settings = app.usual_settings(agent).fetch
    store = FetchedPages(folder.path / FETCHED_NAME)

    def progress(done: int, total: int) -> None:
        _end_if_asked(handle)
        handle.report(f"Asked for {done:,} of {counted(total, 'page')}", done / max(total, 1))

    return store, fetch_missing(sessions, store, settings, MAX_FETCHED, progress)


def _end_if_asked(handle: Handle) -> None:
    if handle.is_stopping():
        raise SessionError("Nothing was imported. Pages that were fetched are kept for next time.")


def _in_words(kept: Kept) -> str:
    told = (
        f"{counted(kept.sessions, 'session')} with {counted(kept.visits, 'visit')} of "
        f"{counted(kept.pages, 'page')}, {kept.with_content:,} of them with content"
    )
    if kept.marked:
        told += f", {kept.marked:,} marked useful"
    if kept.not_useful:
        told += f", {kept.not_useful:,} marked not useful"
    if 0 < kept.known < kept.sessions:
        told += f"; {counted(kept.known, 'session')} of them there before"
    return told
