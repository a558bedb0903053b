"""What a crawl may ask: opened when it is wanted, and charged for what it costs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from trailhound.errors import UsageError
from trailhound.records import Page
from trailhound.sources import BacklinkSource, SearchHit, Sources


class Answering:
    """Backlinks and a search at a price."""

    def __init__(self, queries: int, pages_read: int) -> None:
        self.queries = queries
        self.pages_read = pages_read

    async def linking_to(self, url: str) -> Sequence[str]:
        return [url]

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        return [SearchHit(query)][:limit]

    async def page(self, url: str) -> Page | None:
        return Page(url)


class Free:
    async def linking_to(self, url: str) -> Sequence[str]:
        return [url]

    async def page(self, url: str) -> Page | None:
        return Page(url)


def test_a_source_is_opened_once_and_when_it_is_wanted() -> None:
    opened: list[str] = []

    def open_backlinks() -> BacklinkSource:
        opened.append("backlinks")
        return Free()

    def refuse() -> None:
        raise UsageError("there is no such file")

    sources = Sources(backlinks=open_backlinks, trace=refuse)
    assert not sources.looked_at("backlinks")
    assert sources.backlinks is sources.backlinks
    assert opened == ["backlinks"]
    assert sources.looked_at("backlinks")
    assert sources.search is None
    with pytest.raises(UsageError):
        _ = sources.trace


def test_questions_and_pages_are_charged_and_what_is_free_is_not() -> None:
    assert Sources().asked() == 0
    sources = Sources.of(backlinks=Answering(3, 2), search=Answering(4, 1))
    assert sources.asked() == 0, "nobody has looked at them"
    assert sources.backlinks is not None
    assert sources.asked() == 5
    assert sources.search is not None
    assert sources.asked() == 10
    free = Sources.of(backlinks=Free())
    assert free.backlinks is not None
    assert free.asked() == 0
