"""Takes pages out of a topic's sessions, contents and model."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from trailhound.errors import ModelError, TrailhoundError
from trailhound.sessions.events import Event, Session, Submit, Visit
from trailhound.sessions.files import read_session, write_session
from trailhound.storage.files import cannot_write
from trailhound.workspace.learning import learn_into, same_request
from trailhound.workspace.topics import TopicFolder, Workspace, session_file_name

Forgotten = Callable[[str], bool]
"""Whether a URL is to be forgotten."""


def forget_events(folder: TopicFolder, forgotten: Forgotten, *, dry_run: bool = False) -> int:
    """Remove visits and marks of forgotten pages from all sessions; how many there are."""
    removed = 0
    for name in sorted(folder.session_names()):
        path = folder.sessions_path / name
        session = read_session(path, strict=False)
        kept = tuple(_without(session, forgotten))
        removed += len(session.events) - len(kept)
        if kept != session.events and not dry_run:
            _replace(path, msgspec.structs.replace(session, events=kept))
    return removed


def _without(session: Session, forgotten: Forgotten) -> Iterator[Event]:
    """The other events; pages that were reached from a forgotten one begin a way of their own."""
    for event in session.events:
        if isinstance(event, Submit):
            yield event
        elif isinstance(event, Visit):
            urls = (event.url, event.requested_url, event.frame_of)
            if not any(forgotten(url) for url in urls if url):
                came_from = event.from_url is not None and forgotten(event.from_url)
                yield msgspec.structs.replace(event, from_url=None) if came_from else event
        elif not forgotten(event.url):
            yield event


def _replace(path: Path, session: Session) -> None:
    """Under a new name: whoever still has the old file open must notice that it is gone."""
    if any(isinstance(event, Visit) for event in session.events):
        write_session(session, path.with_name(session_file_name(session)))
    try:
        path.unlink()
    except OSError as error:
        raise cannot_write(path, error) from error


def forget_content(folder: TopicFolder, forgotten: Forgotten, *, dry_run: bool = False) -> int:
    """Remove forgotten pages from what was looked up outside the sessions; how many there are."""
    known = folder.known_content()
    kept = known.without(forgotten)
    if len(kept) < len(known) and not dry_run:
        kept.write(folder.path / "content.json")
    return len(known) - len(kept)


def model_knows(folder: TopicFolder, forgotten: Forgotten) -> bool:
    """Whether a forgotten page is in the model, or a model that cannot be read may hold it."""
    if not folder.model_path.exists():
        return False
    try:
        pages = folder.load().model.graph.pages
    except ModelError:
        return True
    return any(forgotten(page.url) for page in pages)


def renew_model(workspace: Workspace, folder: TopicFolder) -> str:
    """Learn again from what is left, as before; the model goes when nothing can be learned."""
    try:
        learn_into(workspace, same_request(folder, folder.load()))
    except TrailhoundError as error:
        _remove(folder.model_path)
        return f"the model was removed, and nothing could be learned from what is left: {error}"
    return "the model was learned again from what is left"


def forget_topic(folder: TopicFolder) -> None:
    """Remove a topic with everything in it."""
    _remove(folder.path)


def _remove(path: Path) -> None:
    """At once to other programs, even if deleting takes long or is interrupted."""
    if not path.exists():
        return
    doomed = path.with_name(f".{path.name}.{os.getpid()}.forgotten")
    try:
        path.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise cannot_write(path, error) from error
