"""The kind of corpus: from a folder of unpacked packages to a web of manuals with topics.

    trailhound corpus import benchmarks/manuals/kind.py UNPACKED -o manuals.thc

Topics are labels, given by the rules of ``topics.toml``, which is an ordinary topics file.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from benchmarks.manuals.catalogue import (
    Manual,
    ManualPage,
    PublicAddresses,
    latest,
    manual_pages,
    read_manuals,
    site,
)
from trailhound.errors import CorpusError
from trailhound.lab.corpora import CorpusWriter
from trailhound.lab.importers import CorpusKind, ImportRequest
from trailhound.lab.topics.topics_file import FileTopic, read_topics_file
from trailhound.text.extract import extract_page

TOPICS_FILE = Path(__file__).with_name("topics.toml")
PORTAL = site("portal")

_BETWEEN_WORDS = rb"(?:\s|&nbsp;|<[^<>]*>)+"


def record(request: ImportRequest, writer: CorpusWriter) -> None:
    """Record every manual that ``request.source`` holds, and the portal that leads to them."""
    manuals = read_manuals()
    if not request.source.is_dir():
        raise CorpusError(f"There is no folder {request.source}. Name one of unpacked packages.")
    found = {
        name: pages
        for name, manual in manuals.items()
        if (pages := manual_pages(name, manual, request.source))
    }
    if not found:
        raise CorpusError(
            f"{request.source} holds none of the packages of manuals.toml. Name the folder in "
            "which 'python -m benchmarks.manuals' unpacked them."
        )
    _record_portal({name: manuals[name] for name in found}, writer)
    recorder = _Recorder(PublicAddresses(manuals), writer)
    total = sum(map(len, found.values()))
    for number, page in enumerate((page for pages in found.values() for page in pages), start=1):
        recorder.add(page)
        request.progress(number, total, "pages")
    for name in found:
        _record_folders(found[name], manuals[name], site(name), writer)
    for missing in sorted(manuals.keys() - found.keys()):
        writer.note(f"Left out: no package of {missing} was unpacked.")
    wanted = [pattern for name in found for pattern in manuals[name].packages]
    for control in _controls(request.source, wanted):
        writer.note(f"Origin: Debian package {control['Package']} {control['Version']}.")
    writer.note("Licences: those of the packages; for measuring on this machine only.")


class _Recorder:
    """Records pages and gives them the labels whose rules they fit."""

    def __init__(self, addresses: PublicAddresses, writer: CorpusWriter) -> None:
        self._addresses = addresses
        self._writer = writer
        topics = read_topics_file(TOPICS_FILE).values()
        self._rules = [(topic, _possible_phrases(topic)) for topic in topics]

    def add(self, page: ManualPage) -> None:
        """Record a page, or the other address of one."""
        if page.alias_of:
            self._writer.add_alias(page.url, page.alias_of)
            return
        body = self._addresses.translated(page.path.read_bytes())
        if not self._writer.add_page(page.url, body):
            return
        lowered = body.lower()

        @cache
        def read() -> str:
            extracted = extract_page(body, page.url, surroundings=False)
            return f"{extracted.title}\n{extracted.text}"

        for topic, phrases in self._rules:
            possible = all(phrase.search(lowered) for phrase in phrases)
            if possible and topic.predicate.fits(page.url, read):
                self._writer.add_label(page.url, topic.name)


def _possible_phrases(topic: FileTopic) -> list[re.Pattern[bytes]]:
    """What the source of a page has in it when its text has the topic's phrases.

    Extracting every page only to find that it has no rare phrase would double the import's time.
    """
    return [
        re.compile(_BETWEEN_WORDS.join(map(re.escape, phrase.lower().encode().split())))
        for phrase in topic.written.words
    ]


def _record_folders(
    pages: list[ManualPage], manual: Manual, site_url: str, writer: CorpusWriter
) -> None:
    """Servers answer for a folder with its index page, and for the host with the start page."""
    for page in pages:
        folder, _, name = page.url.rpartition("/")
        if name in ("index.html", "index.htm"):
            writer.add_alias(folder + "/", page.url)
    writer.add_alias(site_url, site_url + manual.start[0])


def _record_portal(manuals: dict[str, Manual], writer: CorpusWriter) -> None:
    """A page for every subject, with its manuals' start pages, and one that lists the subjects."""
    by_subject: defaultdict[str, list[str]] = defaultdict(list)
    for name, manual in manuals.items():
        by_subject[manual.subject].append(name)
    places = {subject: f"{number}.html" for number, subject in enumerate(by_subject, start=1)}
    items = [_link(PORTAL + place, subject) for subject, place in places.items()]
    writer.add_page(PORTAL, _portal_page("Manuals", items))
    for subject, names in by_subject.items():
        items = [
            _link(site(name) + start, manuals[name].title)
            for name in names
            for start in manuals[name].start
        ]
        writer.add_page(PORTAL + places[subject], _portal_page(subject, items))
    writer.set_start_urls([PORTAL])


def _link(url: str, text: str) -> str:
    return f'<li><a href="{html.escape(url)}">{html.escape(text)}</a></li>'


def _portal_page(title: str, items: list[str]) -> bytes:
    escaped = html.escape(title)
    text = (
        f'<!doctype html><html lang="en"><title>{escaped}</title><h1>{escaped}</h1>\n'
        f'<p><a href="{PORTAL}">All manuals</a></p>\n<ul>\n' + "\n".join(items) + "\n</ul></html>\n"
    )
    return text.encode()


def _controls(unpacked: Path, wanted: Iterable[str]) -> Iterator[dict[str, str]]:
    """The fields of the control file of every package that was read."""
    names = sorted(path.parents[1].name for path in unpacked.glob("*/DEBIAN/control"))
    for name in sorted(filter(None, {latest(pattern, names) for pattern in wanted})):
        path = unpacked / name / "DEBIAN" / "control"
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        fields = (line.partition(": ") for line in lines if not line.startswith(" "))
        yield {name: value for name, _, value in fields}


MANUALS = CorpusKind(
    name="manuals", summary="manuals of unpacked Debian packages, a host each", record=record
)
