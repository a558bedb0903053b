"""The portal as files that open from a disk or any web server, with search in the browser.

::

    index.html  about.html  feed.xml  atom.xml  portal.css  icon.svg  search.js
    pages/N.html    all pages in lists, for readers without JavaScript
    data/           the search index: see site_index.py
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from trailhound.portal.languages import language_name
from trailhound.portal.listing import Listing
from trailhound.portal.pages import Links, Portal, render
from trailhound.portal.searching import Hit, hit_of
from trailhound.portal.site_index import SiteIndex
from trailhound.storage.export_folder import ExportFolder
from trailhound.storage.listed_pages import ListedPages

PAGES_PER_LIST = 100
SHOWN_FIRST = 20
OWNED = ("data", "pages")

SITE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
"""In every page: whatever a stranger's words might do, no script but ours runs."""

_LINKS = Links("index.html", "about.html", "feed.xml", "atom.xml")
_LINKS_FROM_LISTS = Links(*(f"../{name}" for name in _LINKS))


class SitePage(NamedTuple):
    """One page, and the words by which it is found."""

    hit: Hit
    snippet: str
    text: str


def write_site(
    portal: Portal,
    folder: Path,
    *,
    limit: int | None = None,
    site_url: str = "",
    passing: Callable[[Iterator[SitePage]], Iterator[SitePage]] = iter,
) -> int:
    """Write all files; how many pages are in them, at most ``limit``, the best.

    ``site_url`` is where the site will be, for readers of its feeds. Pages go through ``passing``.
    """
    with ExportFolder(folder, "site", OWNED) as files:
        listing = portal.listing.best(limit)
        index, lists = SiteIndex(), _Lists(portal, len(listing))
        first: list[Hit] = []
        for page in passing(_pages(portal, listing)):
            first += [page.hit] if len(first) < SHOWN_FIRST else []
            for name, content in (*index.add(*page), *lists.add(page.hit)):
                files.write(name, content)
        stamp = hashlib.sha256()
        languages = listing.facets["language"].values
        names = {code: language_name(code) for code in languages if code}
        for name, content in (*index.files(names), *lists.rest()):
            files.write(name, content)
            stamp.update(content)
        for name, content in _about(portal, listing, site_url or "index.html"):
            files.write(name, content)
        for name, content in _fixed_files(portal, len(index), first, stamp.hexdigest()):
            files.write(name, content)
    return len(index)


def _pages(portal: Portal, listing: Listing) -> Iterator[SitePage]:
    """Best first."""
    best = np.argsort(-listing.scores, kind="stable")
    with ListedPages(portal.folder.results) as stored:
        for start in range(0, len(best), PAGES_PER_LIST):
            ids = listing.ids[best[start : start + PAGES_PER_LIST]].tolist()
            pages = stored.pages(ids)
            for each, text in zip(ids, stored.texts(ids), strict=True):
                if each in pages:
                    yield SitePage(hit_of(pages[each]), pages[each].snippet, text)


def _about(portal: Portal, listing: Listing, site_url: str) -> Iterator[tuple[str, bytes]]:
    """What tells of all pages of the site, and of no others."""
    yield "feed.xml", portal.feed("rss", site_url, listing)
    yield "atom.xml", portal.feed("atom", site_url, listing)
    yield "about.html", portal.about_page(listing, **_shared()).encode()


def _fixed_files(
    portal: Portal, total: int, first: list[Hit], stamp: str
) -> Iterator[tuple[str, bytes]]:
    for name in ("portal.css", "icon.svg", "search.js"):
        asset = portal.asset(name)
        if asset is not None:
            yield name, asset.content
    home = _rendered(portal, "site.html.j2", total=total, hits=first, stamp=stamp[:12])
    yield "index.html", home.encode()


class _Lists:
    """``pages/1.html`` and so on."""

    def __init__(self, portal: Portal, total: int) -> None:
        self._portal = portal
        self._n_lists = max(1, -(-total // PAGES_PER_LIST))
        self._number = 0
        self._hits: list[Hit] = []

    def add(self, hit: Hit) -> Iterator[tuple[str, bytes]]:
        """The list that is full now, if one is."""
        self._hits.append(hit)
        if len(self._hits) == PAGES_PER_LIST:
            yield self._written()

    def rest(self) -> Iterator[tuple[str, bytes]]:
        """The last list; the only one may be empty."""
        if self._hits or not self._number:
            yield self._written()

    def _written(self) -> tuple[str, bytes]:
        self._number += 1
        html = _rendered(
            self._portal,
            "list.html.j2",
            root="../",
            links=_LINKS_FROM_LISTS,
            number=self._number,
            last=self._n_lists,
            first=(self._number - 1) * PAGES_PER_LIST + 1,
            hits=self._hits,
        )
        self._hits = []
        return f"pages/{self._number}.html", html.encode("utf-8", "replace")


def _rendered(portal: Portal, template: str, **values: object) -> str:
    shared = {"title": portal.title, "description": portal.description, **_shared()}
    return render(template, **(shared | values))


def _shared() -> dict[str, object]:
    return {"links": _LINKS, "is_static": True, "policy": SITE_POLICY}
