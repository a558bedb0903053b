"""What may be asked besides the web itself: who links to a page, what people visited, a search."""

from trailhound.sources.base import (
    AccessTrace,
    BacklinkSource,
    FetchingAhead,
    SearchHit,
    SearchSource,
    Visit,
)

__all__ = [
    "AccessTrace",
    "BacklinkSource",
    "FetchingAhead",
    "SearchHit",
    "SearchSource",
    "Visit",
]
