"""Which URLs of a session lead to the same page: duplicates, redirects and framesets.

A page is known under its own URL, the URLs of its copies, those that redirect to it, the one it
declares by ``rel=canonical``, and the URL of a frameset that shows it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trailhound.records import Link, LinkKind, Page
from trailhound.sessions.shown_pages import ShownPages
from trailhound.urls import canonicalize, registered_domain

MIN_COMMON_COSINE = 0.7
"""Sites that name their home page as ``rel=canonical`` of everything must not become one page: a
declared copy has to look like one. Term counts of real copies reach 0.9 and more."""

MIN_WORDS_OF_COPY = 20
"""Shorter texts ("Page moved", "Untitled") are alike by chance."""


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

    def linked_from(self, url: str) -> set[int]:
        """The pages that a reader who follows a link to ``url`` comes to."""
        return self._find(url, set())

    def shown_under(self, url: str) -> set[int]:
        """The pages that the browser's address bar may have called ``url``."""
        found = self.linked_from(url)
        if url in self._framesets:
            for inner in self._shown.framed.get(url, ()):
                found |= self.linked_from(inner)
        return found

    def _find(self, url: str, seen: set[str]) -> set[int]:
        if url in self._numbers:
            return {self._numbers[url]}
        if url in seen:  # redirects and frames may run in a circle
            return set()
        seen.add(url)
        if url in self._framesets:
            return self._inside(url, seen)
        if url in self._declared:
            return {self._declared[url]}
        return self._union(self._shown.redirects.get(url, set()), seen)

    def _inside(self, frameset: str, seen: set[str]) -> set[int]:
        """The pages a frameset opens with; if none of them is known, those it has shown."""
        frames = {link.url for link in _frame_links(self._shown.pages[frameset])}
        return self._union(frames, seen) or self._union(
            self._shown.framed.get(frameset, set()), seen
        )

    def _union(self, urls: set[str], seen: set[str]) -> set[int]:
        return {number for url in sorted(urls) for number in self._find(url, seen)}

    def _is_shell(self, page: Page) -> bool:
        """Whether the page is a frameset with an inner page to stand for it."""
        if not page.is_frameset:
            return False
        inner = {link.url for link in _frame_links(page)} | self._shown.framed.get(page.url, set())
        return any(url in self._shown.pages or url in self._shown.redirects for url in inner)

    def _best(self, group: list[str]) -> str:
        """The copy with content that the others name as the original, else the first visited."""
        named = {declared_url(self._shown.pages[url]) for url in group}
        return min(group, key=lambda url: (url not in self._shown.with_content, url not in named))


def _frame_links(page: Page) -> list[Link]:
    return [link for link in page.links if link.kind is LinkKind.FRAME]


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
    first_by_fingerprint: dict[Any, str] = {}
    first_by_declaration: dict[str, str] = {}
    for url, page in pages.items():
        fingerprint = _fingerprint(page)
        if fingerprint is not None:
            _join(leaders, url, first_by_fingerprint.setdefault(fingerprint, url))
        declared = declared_url(page)
        if declared is not None:
            first = (
                declared if declared in pages else first_by_declaration.setdefault(declared, url)
            )
            if _look_alike(page, pages[first]):
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


def _look_alike(one: Page, other: Page) -> bool:
    """Whether the term counts point the same way; nothing contradicts a page without terms."""
    if not one.terms or not other.terms:
        return True
    product = sum(count * other.terms.get(term, 0) for term, count in one.terms.items())
    return product >= MIN_COMMON_COSINE * _length(one) * _length(other)


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
