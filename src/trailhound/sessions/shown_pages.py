"""From sessions to distinct pages: which were shown, and which URLs lead to the same one.

The page graph (:mod:`trailhound.sessions.page_graph`) is built on both. A page is known under its
own URL, the URLs of its copies, those that redirect to it, the one it declares by
``rel=canonical``, and the URL of a frameset that shows it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache

import msgspec

from trailhound.records import LinkKind, Page
from trailhound.sessions.events import Mark, Session, Submit, Visit
from trailhound.text.extract import extract_page
from trailhound.urls import canonicalize, registered_domain

MIN_COMMON_COSINE = 0.7
"""Sites that name their home page as ``rel=canonical`` of everything must not become one page: a
declared copy has to look like one. Term counts of real copies reach 0.9 and more."""

MAX_HOPS = 50
"""Redirects and frames from an address to the page that stands for it."""

MIN_WORDS_OF_COPY = 20
"""Shorter texts ("Page moved", "Untitled") are alike by chance."""

Content = Callable[[str], Page | None]
"""Looks a canonical URL up where the session came from; ``None`` when it is not known there."""


@dataclass
class ShownPages:
    """What came up in the browser. All URLs are canonical."""

    pages: dict[str, Page] = field(default_factory=dict)
    """By URL, in order of first visit; framesets included."""
    with_content: set[str] = field(default_factory=set)
    """URLs whose page is more than the title that the browser reported."""
    redirects: dict[str, set[str]] = field(default_factory=dict)
    """From a URL that was asked for to the URLs that were shown instead."""
    framed: dict[str, set[str]] = field(default_factory=dict)
    """From a page to the pages that its frames showed."""


def events_in_order(sessions: Iterable[Session]) -> list[Visit | Mark]:
    """Visits and marks of all sessions by time, their URLs canonical.

    What has no address on the web (``about:blank``, ``file:``) is left out.
    """
    told = (each for one in sessions for each in one.events if not isinstance(each, Submit))
    events: list[Visit | Mark] = []
    for event in sorted(told, key=lambda event: event.time):
        url = canonicalize(event.url)
        if url is None:
            continue
        changed: dict[str, str | None] = {"url": url}
        if isinstance(event, Visit):
            changed["requested_url"] = canonicalize(event.requested_url or "")
            changed["frame_of"] = canonicalize(event.frame_of or "")
        events.append(msgspec.structs.replace(event, **changed))
    return events


def collect_pages(events: Sequence[Visit | Mark], content: Content) -> ShownPages:
    """Gather the shown pages of events that :func:`events_in_order` gave.

    The source of a page is its last recorded ``html``, else ``content(url)``; a page that nobody
    kept is left with the words of its title. A marked page was shown, even if no visit says so.
    """
    visits = [event for event in events if isinstance(event, Visit)]
    shown = ShownPages(
        redirects=_grouped((visit.requested_url, visit.url) for visit in visits),
        framed=_grouped((visit.frame_of, visit.url) for visit in visits),
    )
    sources = {visit.url: visit.html for visit in visits if visit.html}
    titles = {visit.url: visit.title for visit in visits if visit.title}
    marked = [mark.url for mark in events if isinstance(mark, Mark) and mark.useful is not None]
    implied = [url for url in marked if url not in shown.redirects]
    for url in dict.fromkeys([visit.url for visit in visits] + implied):
        source = sources.get(url)
        page = page_from_source(source, url) if source else content(url)
        _add(shown, url, page, titles.get(url, ""))
    _open_framesets(shown, content)
    for requested, ends in shown.redirects.items():  # an address that only redirects is no page
        if requested not in shown.with_content and any(end in shown.pages for end in ends):
            shown.pages.pop(requested, None)
    return shown


def _grouped(pairs: Iterable[tuple[str | None, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for outer, url in pairs:
        if outer is not None and outer != url:
            found.setdefault(outer, set()).add(url)
    return found


def _add(shown: ShownPages, url: str, page: Page | None, title: str) -> None:
    if page is None:
        told = f"<title>{html.escape(title)}</title>"
        shown.pages.setdefault(url, page_from_source(told, url) if title else Page(url))
        return
    if page.url != url:  # the place that the session came from has followed a redirect
        shown.redirects.setdefault(url, set()).add(page.url)
    if page.url not in shown.with_content:
        shown.pages[page.url] = page
        shown.with_content.add(page.url)


def page_from_source(source: str, url: str) -> Page:
    """The page that a recorded source is."""
    return extract_page(source.encode("utf-8", "replace"), url, "text/html; charset=utf-8")


def _open_framesets(shown: ShownPages, content: Content) -> None:
    """Add the inner pages that came up with a frameset though the recorder missed them."""
    waiting = [page for page in shown.pages.values() if page.is_frameset]
    for frameset in waiting:  # grows while nested framesets are found
        for link in frameset.links:
            if link.kind is LinkKind.FRAME and link.url not in shown.pages:
                inner = content(link.url)
                if inner is not None:
                    _add(shown, link.url, inner, "")
                    waiting.extend([inner] if inner.is_frameset else [])


class AddressBook:
    """The distinct pages of a session by number, and the numbers that any URL leads to."""

    def __init__(self, shown: ShownPages) -> None:
        self._shown = shown
        self._framesets = {url for url, page in shown.pages.items() if self._is_shell(page)}
        kept = {url: page for url, page in shown.pages.items() if url not in self._framesets}
        groups = group_copies(kept)
        self.pages = [kept[self._best(group)] for group in groups]
        """One page for each number, in order of first visit."""
        self.copies = [[kept[url] for url in group] for group in groups]
        """For each number, all pages that were found to be the same."""
        self._numbers = {url: number for number, group in enumerate(groups) for url in group}
        self._declared = _undisputed_canonical_urls(kept, self._numbers)
        self._known: dict[str, frozenset[int]] = {}

    def linked_from(self, url: str) -> Set[int]:
        """The pages that a reader who follows a link to ``url`` comes to."""
        if url not in self._known:
            self._known[url] = frozenset(self._find(url, set()))
        return self._known[url]

    def shown_under(self, url: str) -> set[int]:
        """The pages that the browser's address bar may have called ``url``."""
        found = set(self.linked_from(url))
        if url in self._framesets:
            for inner in self._shown.framed.get(url, ()):
                found |= self.linked_from(inner)
        return found

    def has_content(self, number: int) -> bool:
        """Whether more is known of a page than the title that the browser reported."""
        return any(page.url in self._shown.with_content for page in self.copies[number])

    def _find(self, url: str, seen: set[str], hops: int = 0) -> set[int]:
        if url in self._numbers:
            return {self._numbers[url]}
        if url in seen or hops > MAX_HOPS:  # redirects and frames may run in a circle
            return set()
        seen.add(url)
        if url in self._framesets:  # what it opens with; if none of that is known, what it showed
            opened = self._union(_frames(self._shown.pages[url]), seen, hops)
            return opened or self._union(self._shown.framed.get(url, set()), seen, hops)
        if url in self._declared:
            return {self._declared[url]}
        return self._union(self._shown.redirects.get(url, set()), seen, hops)

    def _union(self, urls: set[str], seen: set[str], hops: int) -> set[int]:
        return {number for url in sorted(urls) for number in self._find(url, seen, hops + 1)}

    def _is_shell(self, page: Page) -> bool:
        """Whether the page is a frameset with an inner page to stand for it."""
        if not page.is_frameset:
            return False
        inner = _frames(page) | self._shown.framed.get(page.url, set())
        return any(url in self._shown.pages or url in self._shown.redirects for url in inner)

    def _best(self, group: list[str]) -> str:
        """The copy with content that the others name as the original, else the first visited."""
        named = {declared_url(self._shown.pages[url]) for url in group}
        return min(group, key=lambda url: (url not in self._shown.with_content, url not in named))


def _frames(page: Page) -> set[str]:
    return {link.url for link in page.links if link.kind is LinkKind.FRAME}


def declared_url(page: Page) -> str | None:
    """What ``rel=canonical`` names, if that is another URL of the same registered domain."""
    if page.canonical_url is None:
        return None
    url = canonicalize(page.canonical_url, page.url)
    if url is None or url == page.url or registered_domain(url) != registered_domain(page.url):
        return None
    return url


def group_copies(pages: Mapping[str, Page]) -> list[list[str]]:
    """URLs in groups that hold the same page; groups and members in order of ``pages``."""
    leaders = {url: url for url in pages}
    lengths = cache(lambda url: _length(pages[url]))
    first_by_fingerprint: dict[object, str] = {}
    first_by_declaration: dict[str, str] = {}
    for url, page in pages.items():
        fingerprint = _fingerprint(page)
        if fingerprint is not None:
            _join(leaders, url, first_by_fingerprint.setdefault(fingerprint, url))
        declared = declared_url(page)
        if declared is not None:
            claimed_first = first_by_declaration.setdefault(declared, url)
            first = declared if declared in pages else claimed_first
            if _look_alike(page, pages[first], lengths(url) * lengths(first)):
                _join(leaders, url, first)
    groups: dict[str, list[str]] = {}
    for url in pages:
        groups.setdefault(_leader(leaders, url), []).append(url)
    return list(groups.values())


def _fingerprint(page: Page) -> tuple[str, str, tuple[str, ...]] | None:
    """Equal for identical pages; ``None`` for those too short to tell."""
    if page.text.count(" ") + 1 < MIN_WORDS_OF_COPY:
        return None
    return page.title, page.text, tuple(link.anchor for link in page.links)


def _look_alike(one: Page, other: Page, lengths: float) -> bool:
    """Whether the term counts point the same way; nothing contradicts a page without terms.

    ``lengths`` is the product of both vectors' lengths.
    """
    if not one.terms or not other.terms:
        return True
    product = sum(count * other.terms.get(term, 0) for term, count in one.terms.items())
    return product >= MIN_COMMON_COSINE * lengths


def _length(page: Page) -> float:
    return math.sqrt(sum(count * count for count in page.terms.values()))


def _leader(leaders: dict[str, str], url: str) -> str:
    while leaders[url] != url:
        leaders[url] = leaders[leaders[url]]
        url = leaders[url]
    return url


def _join(leaders: dict[str, str], one: str, other: str) -> None:
    leaders[_leader(leaders, one)] = _leader(leaders, other)


def _undisputed_canonical_urls(
    pages: Mapping[str, Page], numbers: Mapping[str, int]
) -> dict[str, int]:
    """Declared URLs that were never shown themselves and that one page only claims."""
    claims: dict[str, set[int]] = {}
    for url, page in pages.items():
        declared = declared_url(page)
        if declared is not None and declared not in numbers:
            claims.setdefault(declared, set()).add(numbers[url])
    return {url: claimants.pop() for url, claimants in claims.items() if len(claimants) == 1}
