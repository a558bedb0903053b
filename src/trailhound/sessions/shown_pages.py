"""First step from sessions to their page graph: which pages were shown, and what they hold."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from trailhound.records import LinkKind, Page
from trailhound.sessions.events import Mark, Session, Submit, Visit
from trailhound.text.extract import extract_page
from trailhound.urls import canonicalize

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
    events = [event for session in sessions for event in session.events]
    events.sort(key=lambda event: event.time)
    return list(_canonical_events(event for event in events if not isinstance(event, Submit)))


def _canonical_events(events: Iterable[Visit | Mark]) -> Iterator[Visit | Mark]:
    for event in events:
        url = canonicalize(event.url)
        if url is None:
            continue
        if isinstance(event, Mark):
            yield msgspec.structs.replace(event, url=url)
        else:
            yield msgspec.structs.replace(
                event,
                url=url,
                requested_url=_canonical_or_none(event.requested_url),
                frame_of=_canonical_or_none(event.frame_of),
            )


def _canonical_or_none(url: str | None) -> str | None:
    return canonicalize(url) if url else None


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
        page = _from_source(source, url) if source else content(url)
        _add(shown, url, page, titles.get(url, ""))
    _open_framesets(shown, content)
    _forget_addresses_that_only_redirect(shown)
    return shown


def _grouped(pairs: Iterable[tuple[str | None, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for outer, url in pairs:
        if outer is not None and outer != url:
            found.setdefault(outer, set()).add(url)
    return found


def _add(shown: ShownPages, url: str, page: Page | None, title: str) -> None:
    if page is None:
        shown.pages.setdefault(url, _title_only(title, url))
        return
    if page.url != url:  # the place that the session came from has followed a redirect
        shown.redirects.setdefault(url, set()).add(page.url)
    if page.url not in shown.with_content:
        shown.pages[page.url] = page
        shown.with_content.add(page.url)


def _from_source(source: str, url: str) -> Page:
    return extract_page(source.encode("utf-8", "replace"), url, "text/html; charset=utf-8")


def _title_only(title: str, url: str) -> Page:
    return _from_source(f"<title>{html.escape(title)}</title>", url) if title else Page(url)


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


def _forget_addresses_that_only_redirect(shown: ShownPages) -> None:
    for requested, ends in shown.redirects.items():
        if requested not in shown.with_content and any(end in shown.pages for end in ends):
            shown.pages.pop(requested, None)
