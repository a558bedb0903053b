"""The links of a page as phrases, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from urllib.parse import unquote

import numpy as np

from trailhound.records import Link, Page
from trailhound.strategies.trail.columns import Ids
from trailhound.strategies.trail.phrases import FIELDS, Phrases

MAX_SAME = 3
"""Links of a page to one URL whose anchors are read."""


@dataclass(frozen=True)
class PageLinks:
    """The distinct URLs that a page links to, in order."""

    urls: list[str]
    groups: Ids
    """By tag path and heading: links of one list are one group. Shape (n,), from 0."""
    phrases: Ids
    """What each link says, in the order of ``FIELDS``. Shape (n, len(FIELDS))."""


def read_links(page: Page, phrases: Phrases) -> PageLinks:
    """All links of a page but those to itself."""
    merged = links_by_url(page)
    texts = link_texts(page, merged)
    found = phrases.find(texts, page.language)
    matrix = np.empty((len(merged), len(FIELDS)), np.int64)
    for column, said in enumerate(found):
        matrix[:, column] = said  # the title is all links' own
    lists = list(zip(texts["heading"], texts["place"], strict=True))
    numbers = dict(zip(dict.fromkeys(lists), count(), strict=False))
    groups = np.array([numbers[each] for each in lists], np.int64)
    return PageLinks(list(merged), groups, matrix)


def links_by_url(page: Page) -> dict[str, list[Link]]:
    """The links of a page but those to itself, in order."""
    merged: dict[str, list[Link]] = {}
    for link in page.links:
        if link.url != page.url:
            merged.setdefault(link.url, []).append(link)
    return merged


def link_texts(page: Page, links: Mapping[str, list[Link]]) -> dict[str, list[str]]:
    """What the links of a page say, those to one URL together, by field; the title once for all."""
    firsts = [each[0] for each in links.values()]
    return {
        "anchor": list(map(_anchor, links.values())),
        "address": list(map(_path, links)),
        "context": [f"{first.before} {first.after}" for first in firsts],
        "heading": [first.heading for first in firsts],
        "title": [page.title] if links else [],
        "place": [first.tag_path for first in firsts],
    }


def _anchor(links: list[Link]) -> str:
    if len(links) == 1:
        return f"{links[0].anchor} {links[0].image_alt}"
    return " ".join(f"{link.anchor} {link.image_alt}" for link in links[:MAX_SAME])


def _path(url: str) -> str:
    """The path of a canonical URL, in readable characters."""
    path = url.partition("://")[2].partition("?")[0].partition("/")[2]
    return unquote(path) if "%" in path else path
