"""The demo web's recorded sessions as files, complete with page sources: something to learn from.

``trailhound learn`` reads them like anybody's own recordings.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from trailhound.demo import DemoWeb
from trailhound.errors import StorageError
from trailhound.sessions.events import Event, Session, Visit
from trailhound.sessions.files import SESSION_SUFFIX, write_session
from trailhound.text.encoding import decode


def write_demo_sessions(web: DemoWeb, folder: Path) -> list[Path]:
    """Write one file per topic, ``TOPIC.jsonl``, and return their paths in order of topic."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"Cannot make the folder {folder}: {error.strerror or error}. Choose another one."
        ) from error
    paths = []
    for topic in sorted(web.sessions):
        path = folder / f"{topic}{SESSION_SUFFIX}"
        write_session(with_sources(web.sessions[topic], web), path)
        paths.append(path)
    return paths


def with_sources(session: Session, web: DemoWeb) -> Session:
    """The session with each page's source in its first visit, as a browser would record it."""
    seen: set[str] = set()
    events: list[Event] = []
    for event in session.events:
        if isinstance(event, Visit) and event.url not in seen:
            seen.add(event.url)
            event = msgspec.structs.replace(event, html=_source(web, event.url))
        events.append(event)
    return msgspec.structs.replace(session, events=tuple(events))


def _source(web: DemoWeb, url: str) -> str | None:
    response = web.respond(url)
    if response.status != 200:
        return None
    return decode(response.body, response.headers.get("Content-Type", "")).text
