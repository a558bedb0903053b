"""What may be asked besides the web itself: who links to a page, what people visited, a search."""

from trailhound.sources.base import (
    AccessTrace,
    BacklinkSource,
    Charged,
    FetchingAhead,
    PageSource,
    SearchHit,
    SearchSource,
    Sources,
)

__all__ = [
    "AccessTrace",
    "BacklinkSource",
    "Charged",
    "FetchingAhead",
    "PageSource",
    "SearchHit",
    "SearchSource",
    "Sources",
]
