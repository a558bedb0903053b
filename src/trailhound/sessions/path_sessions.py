"""Paths that a crawl followed to good pages, written down as if a person had browsed them.

Where it sits: the pages along a path from a start page to a find go in; out comes a session that
can be learned from together with those that people recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from trailhound.sessions.events import Event, Mark, Reached, Session, Submit, Visit

SEARCH_TURNS = "search turns"
"""Who recorded a session that no person did."""


class PathPage(msgspec.Struct, frozen=True):
    """One page on the way."""

    url: str
    """Where the page is: the end of redirects."""
    time: float = 0.0
    """When it was fetched, in seconds since 1970."""
    title: str = ""
    requested_url: str | None = None
    """What the link said, when it redirected."""


Path = Sequence[PathPage]
"""From a start page to a find, each page found on the one before."""


def session_of_paths(
    topic: str,
    paths: Iterable[Path],
    *,
    recorder: str,
    label: str = "",
    source: Callable[[str], str | None] = lambda _url: None,
) -> Session:
    """A session in which every path was followed in turn, and its last page marked useful.

    A page on several paths is visited once, where it comes up first. ``source`` gives the HTML of
    a page, where it was kept.
    """
    events: list[Event] = []
    seen: set[str] = set()
    clock = 0.0
    for path in paths:
        before: str | None = None
        for page in path:
            clock = max(clock, page.time)
            if page.url not in seen:
                seen.add(page.url)
                redirected = page.requested_url != page.url
                visit = Visit(
                    time=clock,
                    url=page.url,
                    title=page.title,
                    reached=Reached.TYPED if before is None else Reached.LINK,
                    from_url=before,
                    requested_url=page.requested_url if redirected else None,
                    html=source(page.url),
                )
                events.append(visit)
            before = page.url
        if path:
            events.append(Mark(time=clock, url=path[-1].url, label=label))
    return Session(topic, (*events, Submit(time=clock)), recorder=recorder)
