"""The demo web as its users see it: answers by URL, topics, and what people did in it.

The last is also written as files: ``trailhound learn`` reads the recorded sessions like anybody's
own recordings, ``--trace`` the access log like any proxy's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urldefrag, urlsplit

import msgspec

from trailhound.demo.access_log import Reading, record_readings
from trailhound.demo.browsing import record_sessions
from trailhound.demo.pages import Layout, encode, robots_txt
from trailhound.demo.site_plans import KINDS, SitePlanner, host_of
from trailhound.demo.site_texts import SiteWriter
from trailhound.demo.trap import TRAP_HOST, first_trap_url, trap_page
from trailhound.demo.universities import University
from trailhound.demo.words import TOPIC_KEYS, DemoWebParameters
from trailhound.demo.workshop import WebPlan, Workshop
from trailhound.sessions.events import Event, Session, Visit
from trailhound.sessions.files import SESSION_SUFFIX, write_session
from trailhound.storage.files import cannot_write, write_whole
from trailhound.text.encoding import decode

# The server ignores session ids at the end of an address.
_SESSION_ID = re.compile(r"[?&](?:sid|PHPSESSID)=[0-9a-f]+\Z", re.ASCII)
_HTML = MappingProxyType({"Content-Type": "text/html; charset=utf-8"})
_TEXT = MappingProxyType({"Content-Type": "text/plain; charset=utf-8"})
_PDF = MappingProxyType({"Content-Type": "application/pdf"})


@dataclass(frozen=True)
class DemoResponse:
    """What the server answers to one URL."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class DemoWeb:
    """A synthetic web: the same seed and parameters give the same bytes."""

    seed: int
    parameters: DemoWebParameters
    hosts: tuple[str, ...]
    responses: Mapping[str, DemoResponse]
    """Every recorded URL, in a fixed order: pages first, then redirects (301, 302), dead links
    (404), a failing script (500), PDF documents, addresses with session ids, robots.txt."""
    topics: Mapping[str, frozenset[str]]
    """Topic to the URLs of all pages that are about it; duplicates are not among them."""
    duplicates: Mapping[str, str]
    """URL of a mirrored, printed or session-id copy to the original's URL."""
    sessions: Mapping[str, Session]
    """Topic to the recorded browsing of a person who looked for it in a part of the web."""
    start_urls: tuple[str, ...]
    """General pages, at least two links from any member of a topic."""
    readings: tuple[Reading, ...]
    """What many people read before the sessions were recorded, in order of time: an access log."""

    @classmethod
    def generate(cls, seed: int = 7, parameters: DemoWebParameters | None = None) -> DemoWeb:
        """Make a web of some 4,600 pages by default; takes one to two seconds."""
        parameters = parameters or DemoWebParameters()
        plan = _build_plan(seed, parameters)
        responses = _responses(plan)
        # The web directory, a newspaper and a town: where crawls may begin.
        kinds = ("pathfinder", "newspaper", "city")
        starts = tuple(f"http://{host_of(KINDS[kind]['sites'][0])}/" for kind in kinds)
        return cls(
            seed=seed,
            parameters=parameters,
            hosts=tuple(plan.sites),
            responses=MappingProxyType(responses),
            topics=MappingProxyType(
                {key: frozenset(page.url for page in plan.members(key)) for key in TOPIC_KEYS}
            ),
            duplicates=MappingProxyType({**plan.duplicates, **plan.session_ids}),
            sessions=MappingProxyType(record_sessions(plan, starts, seed, parameters)),
            start_urls=starts,
            readings=record_readings(plan, seed, parameters),
        )

    def respond(self, url: str) -> DemoResponse:
        """The answer to any URL: recorded, from the endless calendar, or 404."""
        url = urldefrag(url).url
        known = self.responses.get(url) or self.responses.get(_SESSION_ID.sub("", url))
        if known is not None:
            return known
        calendar = trap_page(url)
        return _not_found(url) if calendar is None else DemoResponse(200, _HTML, calendar.encode())


def _build_plan(seed: int, parameters: DemoWebParameters) -> WebPlan:
    """All pages, written but not yet rendered."""
    workshop = Workshop(seed, parameters)
    universities = [University(workshop, number) for number in range(parameters.universities)]
    for university in universities:
        university.plan()
    writers = []
    for kind, declared in KINDS.items():
        for entry in declared["sites"]:
            planned = SitePlanner(workshop, kind, entry, universities).planned_site()
            writers.append(SiteWriter(workshop, planned, universities))
            writers[-1].surround()
    for university in universities:
        university.write()
    for writer in writers:
        writer.write()
    return workshop.plan


def _not_found(url: str) -> DemoResponse:
    """The answer to an address that does not exist."""
    path = escape(urlsplit(url).path)
    html = (
        "<!DOCTYPE html>\n<html><head><title>Not found</title></head>\n"
        f"<body><h1>Not found</h1><p>There is no page {path} on this server.</p></body></html>\n"
    )
    return DemoResponse(404, _HTML, html.encode())


def _responses(plan: WebPlan) -> dict[str, DemoResponse]:
    responses = _page_responses(plan)
    for url, (status, destination) in plan.redirects.items():
        headers = {**_HTML, "Location": destination}
        body = f'<p>Moved <a href="{escape(destination)}">here</a>.</p>\n'
        responses[url] = DemoResponse(status, MappingProxyType(headers), body.encode())
    for url in plan.dead:
        responses[url] = _not_found(url)
    for url in plan.failing:
        responses[url] = DemoResponse(500, _HTML, b"<h1>Internal server error</h1>\n")
    for url, title in plan.documents.items():
        # As little as makes a PDF: crawlers must see that it is none of their business.
        pdf = f"%PDF-1.4\n1 0 obj << /Title ({title}) >> endobj\ntrailer << /Info 1 0 R >>\n%%EOF\n"
        responses[url] = DemoResponse(200, _PDF, pdf.encode())
    for url, plain in plan.session_ids.items():
        responses[url] = responses[plain]
    for site in plan.sites.values():
        responses[site.url("/robots.txt")] = DemoResponse(200, _TEXT, robots_txt(site).encode())
    location = MappingProxyType({**_HTML, "Location": first_trap_url()})
    responses[f"http://{TRAP_HOST}/"] = DemoResponse(302, location, b"")
    return responses


def _page_responses(plan: WebPlan) -> dict[str, DemoResponse]:
    layout = Layout()
    headers: dict[str, Mapping[str, str]] = {}
    responses: dict[str, DemoResponse] = {}
    for number, page in enumerate(plan.pages.values()):
        body, content_type = encode(page, layout.render(page), number)
        header = headers.setdefault(content_type, MappingProxyType({"Content-Type": content_type}))
        responses[page.url] = DemoResponse(200, header, body)
    return responses


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
