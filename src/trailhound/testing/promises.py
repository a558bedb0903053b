"""What the checks have in common: how they fail, and the pages they show to plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trailhound.errors import TrailhoundError, plugin_faults
from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.sessions.page_graph import PageGraph

HOST = "http://hives.test/"


class BrokenPromiseError(AssertionError):
    """A plug-in does not do what plug-ins of its kind promise."""


def expect(kept: bool, promise: str) -> None:
    """BrokenPromiseError unless it is kept; an ``assert`` that no option of Python turns off."""
    if not kept:
        raise BrokenPromiseError(promise)


@contextmanager
def never_raising(promise: str) -> Iterator[None]:
    """Inside, nothing may be raised."""
    try:
        yield
    except BrokenPromiseError:
        raise
    except plugin_faults() as error:
        raise BrokenPromiseError(
            f"{promise}, but it raised {type(error).__name__}: {error}"
        ) from error


@contextmanager
def raising_ours(promise: str) -> Iterator[None]:
    """Inside, an error for people must be raised."""
    try:
        yield
    except TrailhoundError:
        return
    except plugin_faults() as error:
        raise BrokenPromiseError(
            f"{promise}: a TrailhoundError is needed, not {type(error).__name__}: {error}"
        ) from error
    raise BrokenPromiseError(f"{promise}: nothing was raised")


def pages() -> tuple[Page, ...]:
    """A page on topic, one off it, one without words or links, and one in another language."""
    links = (Link(HOST + "queen", "the queen", heading="In the hive"), Link(HOST + "about"))
    return (
        Page(
            HOST + "bees",
            "Bees",
            text="bees in a hive make honey",
            language="en",
            terms={"bee": 3, "hive": 2, "honey": 1},
            links=(*links, links[0], Link(HOST + "drones?utm_source=hive", "the drones")),
        ),
        Page(HOST + "cars", "Cars", text="cars on a road", terms={"car": 4, "road": 1}),
        Page(HOST + "empty"),
        Page(
            HOST + "bienen",
            "Bienen",
            text="Bienen im Stock",
            language="de",
            terms={"bien": 1, "stock": 1},
            links=links[:1],
        ),
    )


def page_graph() -> PageGraph:
    """Somebody read of cars, went on to bees, and found those useful."""
    bees, cars, *_ = pages()
    return PageGraph((bees, cars), ((1, 0),), frozenset({0}))


def crawled(page: Page, memory: bytes = b"", depth: int = 0) -> CrawledPage:
    """The page as a crawl shows it to a strategy."""
    relevant = "bee" in page.terms
    return CrawledPage(
        page,
        Relevance(0.9 if relevant else 0.1, relevant),
        Candidate(page.url, 0.5, memory, HOST if depth else None, depth),
    )
