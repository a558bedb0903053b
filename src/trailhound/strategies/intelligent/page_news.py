"""What copies that learn interest ratios tell each other: pages, as children and as parents.

All of them count how a page turned out, by its address and by those of its linking pages that they
know. Those that own one of its links learn its words and links, and so know all pages that link to
what they may fetch. Counts are sums: of pages that none of the links tells of, order says nothing.
"""

from __future__ import annotations

import msgspec

from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance
from trailhound.strategies.base import News
from trailhound.strategies.intelligent.link_interest import LinkInterest, frequent_words
from trailhound.strategies.parts import kept_in

MAX_LINKS_TOLD = 1_000
"""Of one page: the first."""


class _Child(msgspec.Struct, frozen=True, array_like=True):
    asked: str
    url: str
    relevant: bool


class _Parent(msgspec.Struct, frozen=True, array_like=True):
    words: list[str]
    links: list[str]


def make_news(crawled: CrawledPage) -> News:
    """About a page that was fetched here."""
    page, relevant = crawled.page, crawled.relevance.relevant
    links = list(dict.fromkeys([link.url for link in page.links]))[:MAX_LINKS_TOLD]
    parent = _Parent(frequent_words(page.terms), links) if links else None
    return News(
        msgspec.msgpack.encode(_Child(crawled.candidate.url, page.url, relevant)),
        msgspec.msgpack.encode(parent) if parent else b"",
    )


def heed(interest: LinkInterest, news: News) -> bool:
    """Learn from a page of another copy; whether it was new."""
    child = kept_in(news.for_all, _Child, "how a page turned out")
    parent = _Parent([], [])
    if news.for_owners:
        parent = kept_in(news.for_owners, _Parent, "the words and links of a page")
    if child.url in interest.judged or child.asked in interest.judged:
        return False
    links = tuple(map(Link, parent.links))
    page = Page(child.url, terms=dict.fromkeys(parent.words, 1), links=links)
    relevance = Relevance(float(child.relevant), child.relevant)
    interest.observe(
        CrawledPage(page, relevance, Candidate(child.asked, 0.0)), is_parent=bool(links)
    )
    return True
