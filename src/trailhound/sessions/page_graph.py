"""The page graph of browsing sessions: visited pages and the hyperlinks between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailhound.errors import UsageError
from trailhound.records import Page
from trailhound.sessions.events import Mark, Reached, Session, Visit
from trailhound.sessions.shown_pages import AddressBook, Content, collect_pages, events_in_order
from trailhound.urls import canonicalize


@dataclass(frozen=True)
class PageGraph:
    """Distinct visited pages, all real hyperlinks between them, and what the user wanted.

    Pages are numbered by position in ``pages``.
    """

    pages: tuple[Page, ...]
    edges: tuple[tuple[int, int], ...]
    """(source, destination) of every link between two visited pages, once each, sorted."""
    targets: frozenset[int]
    """Pages marked useful."""
    rejected: frozenset[int] = frozenset()
    """Pages marked not useful."""
    starts: tuple[int, ...] = ()
    """Pages where browsing began: reached other than by a link."""


def build_page_graph(
    sessions: Sequence[Session], content: Content | None = None, label: str | None = None
) -> PageGraph:
    """Turn sessions, of one person or several, into one graph.

    * A node is a page that was shown, in order of first visit. Redirects lead to the page they end
      at; copies (``rel=canonical`` within the registered domain, identical content) are one page.
    * An edge is a hyperlink in a page's source, clicked or not. Of a page whose source nobody kept
      only the links are known that were followed. Going back, forward or reloading adds nothing;
      neither do links of a page to itself.
    * The pages inside a frameset are nodes, the frameset is not: a link to it is a link to the
      pages that it opens with.
    * A page takes its last recorded ``html``, else ``content(canonical_url)``. A page that neither
      holds is a node that only has its title.
    * The last mark on a page wins, for each label; ``label`` selects the marks of one topic, and
      ``None`` takes them all (useful for any of the topics is useful). A mark on a frameset is
      meant for the inner page that came up last.
    """
    events = events_in_order(sessions)
    # Not "content or …": a source that is empty still, and so false, may be filled on the way.
    source = (lambda _: None) if content is None else content
    return graph_of(events, AddressBook(collect_pages(events, source)), label)


def graph_of(
    events: Sequence[Visit | Mark], book: AddressBook, label: str | None = None
) -> PageGraph:
    """The same, where the pages of the events are known already."""
    targets, rejected = verdicts_of(events, book, label)
    return PageGraph(
        tuple(book.pages), _edges(events, book), targets, rejected, _starts(events, book)
    )


def session_labels(sessions: Iterable[Session]) -> tuple[str, ...]:
    """The labels that marks carry, sorted; the unlabelled mark is the empty string."""
    marks = (mark for each in sessions for mark in each.events if isinstance(mark, Mark))
    return tuple(sorted({mark.label for mark in marks}))


def hop_levels(graph: PageGraph, n_states: int) -> NDArray[np.int64]:
    """Links from each page to its nearest target, at most ``n_states - 1``. Shape (n_pages,).

    Breadth-first search against the direction of the links, from all targets at once; pages that
    no path leads from to a target are in the last level.
    """
    if n_states < 2:
        raise UsageError(f"There must be at least 2 hidden states, not {n_states}.")
    levels = np.full(len(graph.pages), n_states - 1, np.int64)
    sources: list[list[int]] = [[] for _ in graph.pages]
    for source, destination in graph.edges:
        sources[destination].append(source)
    reached = set(graph.targets)
    level_pages = sorted(reached)
    for level in range(n_states - 1):
        levels[level_pages] = level
        level_pages = sorted({s for page in level_pages for s in sources[page]} - reached)
        reached.update(level_pages)
    return levels


def _edges(events: Iterable[Visit | Mark], book: AddressBook) -> tuple[tuple[int, int], ...]:
    found = {
        (source, destination)
        for source, copies in enumerate(book.copies)
        for page in copies
        for link in page.links
        for destination in book.linked_from(link.url)
    }
    found.update(_followed(events, book))
    return tuple(sorted(edge for edge in found if edge[0] != edge[1]))


def _followed(events: Iterable[Visit | Mark], book: AddressBook) -> Iterator[tuple[int, int]]:
    """Links of pages without content, as far as somebody followed them."""
    for event in events:
        if isinstance(event, Visit) and event.reached is Reached.LINK and event.from_url:
            for source in book.linked_from(canonicalize(event.from_url) or ""):
                if not book.has_content(source):
                    yield from ((source, end) for end in book.linked_from(event.url))


def verdicts_of(
    events: Iterable[Visit | Mark], book: AddressBook, label: str | None = None
) -> tuple[frozenset[int], frozenset[int]]:
    """(useful, not useful) pages; one that is both for different labels is useful."""
    verdicts: dict[tuple[int, str], bool | None] = {}
    shown_at: dict[int, int] = {}
    for moment, event in enumerate(events):
        if isinstance(event, Visit):
            shown_at.update(dict.fromkeys(book.linked_from(event.url), moment))
        elif label is None or event.label == label:
            for page in _latest(book.shown_under(event.url), shown_at):
                verdicts[page, event.label] = event.useful
    useful = frozenset(page for (page, _), verdict in verdicts.items() if verdict is True)
    useless = frozenset(page for (page, _), verdict in verdicts.items() if verdict is False)
    return useful, useless - useful


def _latest(pages: Set[int], shown_at: dict[int, int]) -> list[int]:
    """Of several pages under one address those that were shown last; all if none was yet."""
    newest = max((shown_at.get(page, -1) for page in pages), default=-1)
    return sorted(page for page in pages if shown_at.get(page, -1) == newest)


def _starts(events: Iterable[Visit | Mark], book: AddressBook) -> tuple[int, ...]:
    pages: dict[int, None] = {}
    for event in events:
        if isinstance(event, Visit) and event.frame_of is None:
            chosen = event.reached in (Reached.TYPED, Reached.BOOKMARK)
            first = event.from_url is None and event.reached in (Reached.LINK, Reached.FORM)
            if chosen or first:
                pages.update(dict.fromkeys(sorted(book.linked_from(event.url))))
    return tuple(pages)
