"""How large a training session and how large a question may be."""

from __future__ import annotations

FEW_PAGES = 100
"""A walk with fewer distinct pages looks around for more."""
COMFORTABLE_PAGES = 150
"""Distinct pages at which a session has shown enough."""
MAX_PAGES = 200
MAX_TARGETS = 30
MIN_TARGETS = 3
"""Fewer pages marked useful teach nothing general."""
MIN_RELEVANT = 10
"""Fewer pages to find make a curve of steps."""
MIN_FINDABLE = 5
"""At least so many of them must be in reach of some seeds."""


def most_targets(n_pages: int) -> int:
    """How many of a topic's pages a session may show: half of them, at most ``MAX_TARGETS``."""
    return min(MAX_TARGETS, n_pages // 2)
