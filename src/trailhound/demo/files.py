"""What people did in the demo web, as files: recorded sessions and a proxy's access log.

``trailhound learn`` reads the sessions like anybody's own recordings, ``--trace`` the log like any
proxy's.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from trailhound.demo.web import DemoWeb
from trailhound.sessions.events import Event, Session, Visit
from trailhound.sessions.files import SESSION_SUFFIX, write_session
from trailhound.storage.files import cannot_write, write_whole
from trailhound.text.encoding import decode

ACCESS_LOG = "access.log"


def write_demo_sessions(web: DemoWeb, folder: Path) -> list[Path]:
    """Write one file per topic, ``TOPIC.jsonl``, and return their paths in order of topic."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    paths = []
    for topic in sorted(web.sessions):
        path = folder / f"{topic}{SESSION_SUFFIX}"
        write_session(with_sources(web.sessions[topic], web), path)
        paths.append(path)
    return paths


def write_access_log(web: DemoWeb, folder: Path) -> Path:
    """Write who read what, in Squid's native format, as ``access.log``; return its path."""
    path = folder / ACCESS_LOG
    accesses = sorted(
        (time, reading.user, url) for reading in web.readings for time, url in reading.accesses()
    )
    lines = (
        f"{time:.3f} 90 {user} TCP_MISS/200 {len(web.respond(url).body)} GET {url} - "
        "HIER_DIRECT/192.0.2.1 text/html\n"
        for time, user, url in accesses
    )
    write_whole(path, "".join(lines).encode("ascii"))
    return path


def with_sources(session: Session, web: DemoWeb) -> Session:
    """The session with each page's source in its first visit, as a browser would record it."""
    seen: set[str] = set()
    events: list[Event] = []
    for event in session.events:
        if isinstance(event, Visit) and event.url not in seen:
            seen.add(event.url)
            response = web.respond(event.url)
            if response.status == 200:
                source = decode(response.body, response.headers.get("Content-Type", "")).text
                event = msgspec.structs.replace(event, html=source)
        events.append(event)
    return msgspec.structs.replace(session, events=tuple(events))
