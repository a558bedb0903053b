"""What a corpus holds besides pages: addresses, labels, navigation, and its own description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from trailhound.fetching.replay import MAX_REDIRECTS


class OtherEntry(NamedTuple):
    """A recorded URL that is not a page's own address."""

    status: int
    """HTTP status; 0 when the server could not be reached."""
    target: str | None = None
    """Where it leads: by a redirect (status 3xx), or as another spelling of a page (status 200)."""
    content_type: str = ""

    @property
    def is_redirect(self) -> bool:
        """Asking for it costs a request and leads on."""
        return self.target is not None and 300 <= self.status < 400

    @property
    def is_alias(self) -> bool:
        """Asking for it brings the target's page at once."""
        return self.target is not None and not self.is_redirect

    @property
    def is_error(self) -> bool:
        """Asking for it fails."""
        return self.status == 0 or self.status >= 400


class AddressBook:
    """Pages by number, everything else by URL."""

    def __init__(self) -> None:
        self.pages: dict[str, int] = {}
        """Page numbers by URL, in order of number."""
        self.others: dict[str, OtherEntry] = {}

    def __contains__(self, url: object) -> bool:
        return url in self.pages or url in self.others

    def redirects(self, url: str) -> int:
        """Requests that a visitor of ``url`` is sent on by before she gets an answer."""
        for count in range(MAX_REDIRECTS + 1):
            entry = None if url in self.pages else self.others.get(url)
            if entry is None or entry.target is None or not entry.is_redirect:
                return count
            url = entry.target
        return MAX_REDIRECTS

    def resolve(self, url: str) -> int | None:
        """The page that a visitor of ``url`` ends on; ``None`` for errors, loops, unknown URLs."""
        for _ in range(MAX_REDIRECTS + 1):
            number = self.pages.get(url)
            if number is not None:
                return number
            entry = self.others.get(url)
            if entry is None or entry.target is None:
                return None
            url = entry.target
        return None


class PlacedSideData(NamedTuple):
    """Side data with URLs replaced by page numbers, sorted."""

    labels: tuple[tuple[str, int], ...]
    """(label, page)"""
    groups: tuple[tuple[int, str], ...]
    """(page, group)"""
    duplicates: tuple[tuple[str, str], ...]
    """(URL, original)"""
    start_urls: tuple[str, ...]
    unplaced: int
    """Labels and groups of URLs that lead to no page."""


class SideData:
    """Collects side data by URL while pages may still be missing."""

    def __init__(self) -> None:
        self.labels: set[tuple[str, str]] = set()
        """(URL, label)"""
        self.groups: dict[str, str] = {}
        self.duplicates: dict[str, str] = {}
        self.start_urls: tuple[str, ...] = ()

    def placed(self, resolve: Callable[[str], int | None]) -> PlacedSideData:
        """Everything by page number; ``resolve`` gives the page that a URL leads to."""
        labels = {(label, resolve(url)) for url, label in self.labels}
        # Sorted, so that of two URLs of one page the same one always wins.
        groups = {resolve(url): name for url, name in sorted(self.groups.items(), reverse=True)}
        unplaced = sum(resolve(url) is None for url, _ in self.labels)
        unplaced += sum(resolve(url) is None for url in self.groups)
        return PlacedSideData(
            labels=tuple(sorted((label, page) for label, page in labels if page is not None)),
            groups=tuple(sorted((page, name) for page, name in groups.items() if page is not None)),
            duplicates=tuple(sorted(self.duplicates.items())),
            start_urls=self.start_urls,
            unplaced=unplaced,
        )


class CorpusInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Counts and origin of a corpus. Computed when it is written, so reading it costs nothing."""

    kind: str
    """Which importer made it."""
    parameters: dict[str, str] = {}
    """What the importer was told."""
    fingerprint: str
    """Hash of the content: the same input gives the same one on every machine."""
    format_version: int
    extraction_version: int
    """Version of the text extraction that made the pages."""
    bytes: int = 0
    """Size of the file."""
    pages: int
    hosts: int
    html_bytes: int
    """Size of all pages' sources before compression."""
    links_inside: int
    """Pairs of recorded pages of which one links to the other."""
    links_leaving: int
    """Pairs of a recorded page and a URL it links to of which nothing is recorded."""
    redirects: int = 0
    aliases: int = 0
    """Other spellings under which a page was linked to."""
    errors: int = 0
    """URLs that were recorded with an error status, or without any answer."""
    files: int = 0
    """URLs that brought something other than HTML."""
    languages: dict[str, int] = {}
    """Pages by language, most frequent first; "" when unknown."""
    labels: dict[str, int] = {}
    """Pages by label."""
    groups: dict[str, int] = {}
    """Pages by group."""
    trails: int = 0
    trails_finished: int = 0
    users: int = 0
    """Distinct users of the trails."""
    sessions: dict[str, int] = {}
    """Recorded browsing sessions by topic."""
    duplicates: int = 0
    start_urls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Origin, licence, and what was left out and why."""


BACK = "<"
"""The step of a trail that says: back to the page before."""


class TrailVisit(NamedTuple):
    """One page shown on a trail."""

    time: float
    """Unix time in seconds."""
    url: str
    from_url: str | None
    """The page shown before; ``None`` for the first."""
    back: bool
    """Shown again by a back click."""


class Access(NamedTuple):
    """One line of an access log. Sorts by time."""

    time: float
    """Unix time in seconds."""
    user: str
    url: str


class Trail(msgspec.Struct, frozen=True, omit_defaults=True):
    """One walk of one user through recorded pages."""

    user: str
    time: float
    """Unix time of the first page."""
    duration_seconds: float
    """From the first page to the last."""
    steps: tuple[str, ...]
    """URLs of recorded pages in the order in which they were clicked, and :data:`BACK`."""
    finished: bool = True
    """The user reached what she wanted."""
    goal: str = ""
    """The page she was looking for, when it was recorded and is known."""

    def visits(self) -> Iterator[TrailVisit]:
        """Every page shown, back clicks resolved.

        Trails carry one time and one duration: the clicks between are spaced evenly.
        A back click on the first page shows nothing new and is passed over.
        """
        pause = self.duration_seconds / max(1, len(self.steps) - 1)
        opened: list[str] = []
        for number, step in enumerate(self.steps):
            time = self.time + pause * number
            shown = opened[-1] if opened else None
            if step != BACK:
                opened.append(step)
                yield TrailVisit(time, step, shown, back=False)
            elif len(opened) > 1:
                opened.pop()
                yield TrailVisit(time, opened[-1], shown, back=True)


def access_log(trails: Iterable[Trail]) -> Iterator[Access]:
    """The trails as a server or proxy would have logged them, in order of time.

    Back clicks are left out: the browser shows its own copy and asks nobody.
    """
    return iter(
        sorted(
            Access(visit.time, trail.user, visit.url)
            for trail in trails
            for visit in trail.visits()
            if not visit.back
        )
    )
