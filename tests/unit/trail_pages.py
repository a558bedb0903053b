"""A small session about people, and crawls by the strategy trail that begin with it."""

from __future__ import annotations

from msgspec.structs import replace

from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance, ScoredLink
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.base import Briefing
from trailhound.strategies.trail.strategy import TrailStrategy

H = "http://h.test/"


class _All(dict[str, bytes]):
    """Whatever one asks for waits."""

    def __contains__(self, url: object) -> bool:
        return True


ALL = _All()


def page(name: str, words: str, *links: tuple[str, str]) -> Page:
    terms = dict.fromkeys(words.split(), 2)
    linked = tuple(Link(H + target, anchor=anchor) for target, anchor in links)
    return Page(H + name, title=words, terms=terms, links=linked, language="en")


def session() -> PageGraph:
    """From a portal to lists of staff, and from there to people, who were wanted."""
    pages = (
        page("", "portal", ("staff", "staff list"), ("news", "latest news")),
        page("staff", "staff", ("people/ann", "Ann Smith"), ("people/bob", "Bob Jones")),
        page("people/ann", "professor publication research", ("", "home")),
        page("people/bob", "professor publication teaching", ("", "home")),
        page("news", "weather football", ("news/1", "football"), ("news/2", "weather")),
    )
    return PageGraph(pages, (), frozenset({2, 3}))


def taught() -> TrailStrategy:
    return TrailStrategy.from_briefing(Briefing(session()))


def score(strategy: TrailStrategy, shown: CrawledPage) -> dict[str, float]:
    strategy.observe(shown)
    return {each.link.url.removeprefix(H): each.priority for each in told(strategy, shown)}


def told(strategy: TrailStrategy, shown: CrawledPage) -> list[ScoredLink]:
    return list(strategy.score_links(shown))


def hub(name: str, *links: tuple[str, str], relevance: float = 0.0) -> CrawledPage:
    fetched = page(name, "list", *links)
    return CrawledPage(fetched, Relevance(relevance, relevance >= 0.5), Candidate(fetched.url, 0.0))


def anywhere(url: str) -> bool:
    """A scope without bounds."""
    return True


P = "http://people.test/"


def with_pages_of_their_own(shown: Page) -> Page:
    """People have a host for themselves, on which nothing else is: others there are not marked."""
    links = tuple(replace(link, url=link.url.replace(f"{H}people/", P)) for link in shown.links)
    return replace(shown, url=shown.url.replace(f"{H}people/", P), links=links)


def with_more_staff(*more: Page) -> PageGraph:
    """The session, whose list of staff names one more person than were visited."""
    graph = session()
    people = [(f"people/{name}", f"{name} Smith") for name in ("ann", "bob", "cyd")]
    pages = (graph.pages[0], page("staff", "staff", *people), *graph.pages[2:], *more)
    return PageGraph(tuple(map(with_pages_of_their_own, pages)), (), graph.targets)
