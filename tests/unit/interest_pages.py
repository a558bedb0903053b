"""Crawled pages for tests of what a crawl learns about links."""

from __future__ import annotations

from collections.abc import Sequence

from trailhound.records import Candidate, CrawledPage, Link, Page, Relevance


def crawled(
    url: str,
    *,
    relevant: bool = False,
    links: Sequence[str | Link] = (),
    words: str = "",
    title: str = "",
    memory: bytes = b"",
    parent: str | None = None,
    asked: str | None = None,
) -> CrawledPage:
    """A fetched page; ``words`` become its terms as they are."""
    terms: dict[str, int] = {}
    for word in words.split():
        terms[word] = terms.get(word, 0) + 1
    page = Page(
        url,
        title=title,
        terms=terms,
        links=tuple(link if isinstance(link, Link) else Link(link) for link in links),
        language="en",
    )
    candidate = Candidate(asked or url, 0.0, memory, parent, 0)
    return CrawledPage(page, Relevance(float(relevant), relevant), candidate)
