"""All kinds of misbehaviour. A new one is one more row in one of these tables."""

from __future__ import annotations

from benchmarks.chaos.kind import Kind
from benchmarks.chaos.kinds.answers import ANSWERS
from benchmarks.chaos.kinds.codings import CODINGS
from benchmarks.chaos.kinds.connections import CONNECTIONS
from benchmarks.chaos.kinds.links import LINKS
from benchmarks.chaos.kinds.markup import MARKUP
from benchmarks.chaos.kinds.redirects import REDIRECTS
from benchmarks.chaos.kinds.robots import ROBOTS
from benchmarks.chaos.kinds.sitemaps import SITEMAPS

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        *CONNECTIONS,
        *ROBOTS,
        *CODINGS,
        *REDIRECTS,
        *ANSWERS,
        *MARKUP,
        *LINKS,
        *SITEMAPS,
    )
}
"""By name."""
