"""Recording a web: pages, redirects, errors and what is known about them, into one file."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Self

import msgspec

from trailhound.errors import CorpusError
from trailhound.lab.corpora.contents import (
    AddressBook,
    CorpusInfo,
    OtherEntry,
    PlacedSideData,
    SideData,
    Trail,
)
from trailhound.lab.corpora.file_format import FORMAT_VERSION, StagedCorpus
from trailhound.lab.corpora.link_graph import LinkGraph, Outlinks
from trailhound.lab.corpora.preparation import PagePreparation, PreparedPage, SourcePage
from trailhound.sessions.events import Session
from trailhound.text.extract import EXTRACTION_VERSION
from trailhound.urls import canonicalize, host_key

_encoder = msgspec.msgpack.Encoder(order="deterministic")


def _hash_values(content: hashlib._Hash, *values: object) -> None:
    """MessagePack says where each value ends: ("ab", "c") is not ("a", "bc")."""
    content.update(_encoder.encode(values))


class Tally:
    """Running counts for ``corpus info``."""

    def __init__(self) -> None:
        self.languages: Counter[str] = Counter()
        self.html_bytes = 0
        self.trails = 0
        self.trails_finished = 0
        self.users: set[str] = set()
        self.sessions: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()


class CorpusWriter:
    """Writes one corpus; use it in a ``with`` statement.

    The file appears when the block ends without an exception; until then, and after a failure,
    whatever stood under its name stays. URLs may be given in any spelling. The first page recorded
    for a URL wins, and a page wins over a redirect or an error.

    ``jobs`` is the number of processes that extract pages; it does not change the result.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        parameters: Mapping[str, str] | None = None,
        jobs: int = 1,
    ) -> None:
        self._kind = kind
        self._parameters = dict(parameters or {})
        self._addresses = AddressBook()
        self._outlinks = Outlinks()
        self._side = SideData()
        self._tally = Tally()
        self._notes: list[str] = []
        # Apart, because with several jobs pages come in later than trails.
        self._page_hash = hashlib.sha256()
        self._navigation_hash = hashlib.sha256()
        self._info: CorpusInfo | None = None
        self._preparation = PagePreparation(jobs)
        self._file = StagedCorpus(Path(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exception_type: type[BaseException] | None, *_: object) -> None:
        try:
            if exception_type is None:
                self._finish()
        finally:
            self._preparation.close()
            self._file.discard()

    @property
    def info(self) -> CorpusInfo:
        """What was written; after the ``with`` block."""
        if self._info is None:
            raise CorpusError(f"{self._file.destination} is not complete yet.")
        return self._info

    def add_page(
        self, url: str, body: bytes, content_type: str = "text/html", status: int = 200
    ) -> bool:
        """Record a page with its source; ``False`` when it was left out, which a note will tell."""
        address = self._canonical(url)
        if address is None:
            return False
        if address in self._addresses.pages:
            self.skip("page captured more than once, the first kept")
            return False
        self._addresses.pages[address] = len(self._addresses.pages)
        self._store(self._preparation.submit(SourcePage(address, body, content_type, status)))
        return True

    def add_redirect(self, url: str, to: str, status: int = 301) -> None:
        """Record that ``url`` leads to ``to``, which may be relative."""
        address = self._canonical(url)
        target = canonicalize(to, address) if address else None
        if address is None or target is None:
            self.skip("redirect to something that is no web address")
        elif address == target:
            self.skip("redirect to itself")
        else:
            self._addresses.others.setdefault(address, OtherEntry(status, target))

    def add_alias(self, url: str, of: str) -> None:
        """Record another spelling under which a server gives the page ``of`` without a redirect."""
        address, target = canonicalize(url), canonicalize(of)
        if address and target and address != target:
            self._addresses.others.setdefault(address, OtherEntry(200, target))

    def add_error(self, url: str, status: int, content_type: str = "") -> None:
        """Record an answer without a page: an error (0: no answer), or a file that is no HTML."""
        address = self._canonical(url)
        if address is not None:
            entry = OtherEntry(status, content_type=content_type)
            self._addresses.others.setdefault(address, entry)

    def add_label(self, url: str, label: str) -> None:
        """Say that a page is about ``label``. A page may have several."""
        if address := canonicalize(url):
            self._side.labels.add((address, label))

    def set_group(self, url: str, group: str) -> None:
        """Say to which part of the recorded web a page belongs. The first group wins."""
        if address := canonicalize(url):
            self._side.groups.setdefault(address, group)

    def add_trail(self, trail: Trail) -> None:
        """Record one user's walk over pages. Its steps are canonical URLs."""
        self._file.add_trail(trail)
        self._tally.trails += 1
        self._tally.trails_finished += trail.finished
        self._tally.users.add(trail.user)
        _hash_values(self._navigation_hash, trail)

    def add_session(self, session: Session) -> None:
        """Record a browsing session for a topic."""
        self._file.add_session(session)
        self._tally.sessions[session.topic] += 1
        _hash_values(self._navigation_hash, session)

    def add_duplicate(self, url: str, original: str) -> None:
        """Say that a page repeats another, exactly or nearly."""
        address, first = canonicalize(url), canonicalize(original)
        if address and first and address != first:
            self._side.duplicates[address] = first

    def set_start_urls(self, urls: Iterable[str]) -> None:
        """Say where browsing this web would begin."""
        self._side.start_urls = tuple(filter(None, map(canonicalize, urls)))

    def note(self, text: str) -> None:
        """Add a line on origin, licence or reading to ``corpus info``."""
        self._notes.append(text)

    def skip(self, reason: str, count: int = 1) -> None:
        """Count something left out; ``corpus info`` tells how often each reason occurred."""
        if count:
            self._tally.skipped[reason] += count

    def __contains__(self, url: object) -> bool:
        """Whether anything was recorded for a canonical URL."""
        return url in self._addresses

    def unrecorded_links(self) -> Iterator[str]:
        """Every URL that a recorded page links to and of which nothing is recorded so far."""
        self._store(self._preparation.drain())
        return (url for url in self._outlinks.urls if url not in self._addresses)

    def body(self, url: str) -> bytes | None:
        """The source of a page recorded before."""
        self._store(self._preparation.drain())
        number = self._addresses.resolve(canonicalize(url) or "")
        return None if number is None else self._file.source(number)

    def _canonical(self, url: str) -> str | None:
        address = canonicalize(url)
        if address is None:
            self.skip("answer from something other than http or https")
        return address

    def _store(self, prepared: Iterable[PreparedPage]) -> None:
        for page in prepared:
            self._file.add_page(self._outlinks.n_pages, page)
            self._outlinks.add_page(page.links)
            self._tally.languages[page.language] += 1
            self._tally.html_bytes += page.source_length
            _hash_values(self._page_hash, page.url, page.status, page.content_type, page.digest)

    def _finish(self) -> None:
        self._store(self._preparation.drain())
        if not self._addresses.pages:
            raise CorpusError(
                f"No page was recorded, so {self._file.destination} was not written. "
                "Check that the input holds HTML pages."
            )
        for url in self._addresses.pages.keys() & self._addresses.others.keys():
            del self._addresses.others[url]
        side = self._side.placed(self._addresses.resolve)
        self.skip("label or group of a URL without a page", side.unplaced)
        others = sorted(self._addresses.others.items())
        graph = self._outlinks.graph(self._addresses.resolve)
        content = hashlib.sha256()
        _hash_values(content, self._kind, others, side)
        _hash_values(content, self._page_hash.hexdigest(), self._navigation_hash.hexdigest())
        info = self._describe(side, graph, content.hexdigest())
        self._file.add_rest(others, side, graph, info)
        self._info = msgspec.structs.replace(info, bytes=self._file.publish())

    def _describe(self, side: PlacedSideData, graph: LinkGraph, fingerprint: str) -> CorpusInfo:
        others, tally = self._addresses.others.values(), self._tally
        left_out = (f"{count} × {reason}" for reason, count in sorted(tally.skipped.items()))
        return CorpusInfo(
            kind=self._kind,
            parameters=self._parameters,
            fingerprint=fingerprint,
            format_version=FORMAT_VERSION,
            extraction_version=EXTRACTION_VERSION,
            pages=len(self._addresses.pages),
            hosts=len({host_key(url) for url in self._addresses.pages}),
            html_bytes=tally.html_bytes,
            links_inside=graph.n_links,
            links_leaving=self._outlinks.count(lambda url: url not in self._addresses),
            redirects=sum(entry.is_redirect for entry in others),
            aliases=sum(entry.is_alias for entry in others),
            errors=sum(entry.is_error for entry in others),
            files=sum(entry.target is None and not entry.is_error for entry in others),
            languages=dict(tally.languages.most_common()),
            labels=dict(sorted(Counter(label for label, _ in side.labels).items())),
            groups=dict(sorted(Counter(name for _, name in side.groups).items())),
            trails=tally.trails,
            trails_finished=tally.trails_finished,
            users=len(tally.users),
            sessions=dict(tally.sessions),
            duplicates=len(side.duplicates),
            start_urls=side.start_urls,
            notes=(*self._notes, *left_out),
        )
