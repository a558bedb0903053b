"""How general a page is: many links from and to it, short address.

Nobody starts browsing on a detail. Pages where a walk or a crawl begins are therefore chosen among
the general ones, by what every web has: links and URLs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np

from trailhound.lab.corpora import LinkGraph
from trailhound.lab.topics.reach import AnswerReach
from trailhound.urls import host_key

# A start page may reach this share of what the best one reaches, if its address is shorter.
_NEARLY_ALL = 0.9

# Reach is compared by a sample of the goals: memory grows with goals times pages.
_GOALS_LOOKED_AT = 1000


def url_depth(url: str) -> int:
    """Steps of the path below the host; a query counts as one more, an index page as none."""
    parts = urlsplit(url)
    segments = [segment for segment in parts.path.split("/") if segment]
    if segments and segments[-1].partition(".")[0].lower() in ("index", "default", "welcome"):
        segments.pop()
    return len(segments) + bool(parts.query)


def generality(graph: LinkGraph, urls: Sequence[str]) -> list[float]:
    """A figure per page to compare pages of one corpus by.

    log2(1 + links from it) + log2(1 + links to it) − depth of the URL. Links to it count up to the
    number of links from it: a page that everything points to may still lead nowhere.
    """
    links_from = np.diff(graph.indptr)
    links_to = np.minimum(np.bincount(graph.indices, minlength=graph.n_pages), links_from)
    depth = np.array([url_depth(url) for url in urls], dtype=np.float64)
    figures: list[float] = (np.log2(1.0 + links_from) + np.log2(1.0 + links_to) - depth).tolist()
    return figures


def front_page(
    graph: LinkGraph, urls: Sequence[str], pages: Sequence[int], goals: Sequence[int]
) -> int | None:
    """Which of ``pages`` somebody begins on who wants to get to ``goals``.

    The shortest address on the host with most pages wins among the pages from which nearly as many
    goals can be reached as from the best; ``None`` when no page leads to any other.
    """
    answers = [[goal] for goal in goals[:: 1 + len(goals) // _GOALS_LOOKED_AT]]
    sizes = [mask.bit_count() for mask in AnswerReach(graph).masks(answers)]
    linking = [page for page in pages if graph.indptr[page] < graph.indptr[page + 1]]
    best = max((sizes[page] for page in linking), default=0)
    if best == 0:
        return None
    hosts = Counter(host_key(urls[page]) for page in pages)

    def rank(page: int) -> tuple[int, int, int, str]:
        url = urls[page]
        return url_depth(url), -hosts[host_key(url)], len(url), url

    return min((page for page in linking if sizes[page] >= _NEARLY_ALL * best), key=rank)
