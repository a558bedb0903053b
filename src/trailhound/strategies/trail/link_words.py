"""The links of a page as phrases, field by field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
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
    return read_links_of([page], phrases)[0]


def read_links_of(
    pages: Sequence[Page], phrases: Phrases, said_enough: Callable[[str], bool] | None = None
) -> list[PageLinks]:
    """The same of several; those in one language together, which costs less.

    Around links to addresses of which enough was said nothing is read: these words hardly repeat,
    and cost most.
    """
    merged = list(map(links_by_url, pages))
    texts = [
        link_texts(page, links, said_enough) for page, links in zip(pages, merged, strict=True)
    ]
    matrices = [np.empty((len(links), len(FIELDS)), np.int64) for links in merged]
    places: dict[str, list[int]] = {}
    for place, page in enumerate(pages):
        places.setdefault(page.language, []).append(place)
    for language, some in places.items():
        together = {
            field: list(chain.from_iterable(texts[place][field] for place in some))
            for field in FIELDS
        }
        for column, said in enumerate(map(iter, phrases.find(together, language))):
            for place in some:
                own = list(islice(said, len(texts[place][FIELDS[column]])))
                matrices[place][:, column] = own  # the title is all links' own
    return [
        PageLinks(list(links), _groups(said), matrix)
        for links, said, matrix in zip(merged, texts, matrices, strict=True)
    ]


def _groups(texts: Mapping[str, list[str]]) -> Ids:
    lists = list(zip(texts["heading"], texts["place"], strict=True))
    numbers = dict(zip(dict.fromkeys(lists), count(), strict=False))
    return np.array([numbers[each] for each in lists], np.int64)


def links_by_url(page: Page) -> dict[str, list[Link]]:
    """The links of a page but those to itself, in order."""
    merged: dict[str, list[Link]] = {}
    for link in page.links:
        if link.url != page.url:
            merged.setdefault(link.url, []).append(link)
    return merged


def link_texts(
    page: Page,
    links: Mapping[str, list[Link]],
    said_enough: Callable[[str], bool] | None = None,
) -> dict[str, list[str]]:
    """What the links of a page say, those to one URL together, by field; the title once for all.

    Without the words around links to addresses of which enough was said.
    """
    firsts = [each[0] for each in links.values()]
    return {
        "anchor": list(map(_anchor, links.values())),
        "address": list(map(_path, links)),
        "context": [
            "" if said_enough and said_enough(url) else f"{first.before} {first.after}"
            for url, first in zip(links, firsts, strict=True)
        ],
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
