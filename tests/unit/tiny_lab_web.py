"""A recorded web small enough to know by heart, with two topics, for tests of the lab.

The portal links to four sections; each section to three shelves; each shelf to eight leaves, and
each leaf to the next two of its shelf. The leaves of *bees* and *rocks* are labelled.
"""

from __future__ import annotations

from pathlib import Path

from trailhound.lab.corpora import CorpusWriter
from trailhound.sessions.events import Mark, Reached, Session, Submit, Visit

PORTAL = "http://portal.test/"
SECTIONS = {
    "bees": "honey hive beekeeper pollen nectar swarm queen wax",
    "rocks": "granite basalt mineral quartz geology lava crystal fossil",
    "sport": "football goal referee stadium league player match coach",
    "food": "recipe oven butter flour kitchen dinner sauce chef",
}
TOPICS = ("bees", "rocks")
N_SHELVES = 3
N_LEAVES = 8


def leaf_url(section: str, shelf: int, leaf: int) -> str:
    return f"http://{section}.test/{shelf}/{leaf}"


def shelf_url(section: str, shelf: int) -> str:
    return f"http://{section}.test/{shelf}/"


def _html(title: str, words: str, links: list[str]) -> bytes:
    anchors = "".join(
        f'<li><a href="{url}">{url.rsplit("/", 2)[-2]} page</a></li>' for url in links
    )
    return f"<title>{title}</title><p>{words}. {title}.</p><ul>{anchors}</ul>".encode()


def write_tiny_web(path: Path) -> Path:
    """Write the corpus file and return its path."""
    with CorpusWriter(path, kind="tiny") as writer:
        fronts = [f"http://{section}.test/" for section in SECTIONS]
        # The portal's neighbours keep it two hops from every leaf, and give seeds to choose from.
        offices = [f"http://portal.test/office/{n}" for n in range(4)]
        for url in (PORTAL, *offices):
            writer.add_page(url, _html("Portal", "welcome to many sites", [*fronts, *offices]))
        for section, words in SECTIONS.items():
            _write_section(writer, section, words)
        writer.add_redirect("http://bees.test/old", leaf_url("bees", 2, 5))
        writer.add_error("http://bees.test/gone", 404)
        writer.add_page("http://bees.test/copy", _html("bees 2 6", SECTIONS["bees"], []))
        writer.add_duplicate("http://bees.test/copy", leaf_url("bees", 2, 6))
        for topic in TOPICS:
            writer.add_session(_session(topic))
    return path


def _write_section(writer: CorpusWriter, section: str, words: str) -> None:
    shelves = [shelf_url(section, shelf) for shelf in range(N_SHELVES)]
    extra = ["http://bees.test/old", "http://bees.test/gone", "http://bees.test/copy"]
    outside = ["http://elsewhere.test/"]
    front = [*shelves, *outside, *(extra if section == "bees" else [])]
    writer.add_page(f"http://{section}.test/", _html(section, f"all about {section}", front))
    for shelf, url in enumerate(shelves):
        leaves = [leaf_url(section, shelf, leaf) for leaf in range(N_LEAVES)]
        writer.add_page(url, _html(f"{section} shelf {shelf}", f"{words} list", leaves))
        for leaf, leaf_address in enumerate(leaves):
            links = [leaves[(leaf + step) % N_LEAVES] for step in (1, 2)]
            title = f"{section} {shelf} {leaf}"
            writer.add_page(leaf_address, _html(title, f"{words} {section}leaf", links))
            writer.add_label(leaf_address, section)


def _session(topic: str) -> Session:
    path = [PORTAL, f"http://{topic}.test/", shelf_url(topic, 0)]
    targets = [leaf_url(topic, 0, leaf) for leaf in range(4)]
    visits = [
        Visit(time=float(time), url=url, from_url=before, reached=Reached.LINK)
        for time, (url, before) in enumerate(zip(path, [None, *path], strict=False))
    ]
    events: list[Visit | Mark | Submit] = [*visits]
    for number, url in enumerate(targets):
        events.append(Visit(time=10.0 + 2 * number, url=url, from_url=path[-1]))
        events.append(Mark(time=11.0 + 2 * number, url=url))
    return Session(topic=topic, events=(*events, Submit(time=99.0)))


ONE_BY_ONE = {"crawl.concurrency": 1, "fetch.delay_seconds": 0.0}
"""Settings of an experiment on a web so small that sixteen fetches at once reach all of it."""
