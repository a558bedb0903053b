from __future__ import annotations

from trailhound.records import Link, Page
from trailhound.sessions.page_graph import PageGraph
from trailhound.strategies.learning import session_as_crawl


def test_a_session_is_a_crawl_of_the_pages_that_were_read() -> None:
    pages = (
        Page("http://h.test/read", terms={"bee": 1}),
        Page("http://h.test/address-only"),
        Page("http://h.test/marked"),
        Page("http://h.test/list", links=(Link("http://h.test/read"),)),
    )
    told = list(session_as_crawl(PageGraph(pages, (), frozenset({2}))))
    assert [each.page.url.rsplit("/", 1)[1] for each in told] == ["read", "marked", "list"]
    assert [each.relevance.relevant for each in told] == [False, True, False]
