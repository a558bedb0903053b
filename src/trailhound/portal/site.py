"""The portal as files that open from a disk or any web server, with search in the browser.

::

    index.html  about.html  feed.xml  atom.xml  portal.css  icon.svg  search.js
    pages/N.html    all pages in lists, for readers without JavaScript
    data/           the search index

A browser reads the index without a server. Every file of it is a script that sets a part of the
variable ``TRAILHOUND``: browsers read scripts from a disk, and nothing else. A search loads the few
files that its words need.

``data/site.js``
    What all pages are counted, filtered and ordered by, and where each file of terms begins.
``data/terms-N.js``
    ``[terms, postings]``: terms in order (of UTF-16), and for each the pages that hold it. A page
    is the distance to the one before, in base 36 and left out where it is 1, and a letter: how much
    of the page the term is, A to H, or I to P if it is in the title as well.
``data/pages-N.js``
    ``[address, title, snippet, text]`` of each page; the text is the beginning of its prose, the
    snippet is empty where that is the same.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from trailhound.portal.listing import Listing, language_name
from trailhound.portal.pages import Links, Portal, render
from trailhound.portal.searching import Hit, hit_of
from trailhound.storage.exporting import ExportFolder
from trailhound.storage.listed_pages import ListedPages
from trailhound.storage.page_rows import tidied

PAGES_PER_FILE = 100
TERM_BYTES_PER_FILE = 120_000
MAX_INDEXED_CHARS = 20_000
SHOWN_CHARS = 1_000
MAX_TERM_CHARS = 40

LEVELS = 8
_TYPICAL_TERMS = 400
_SATURATION = 1.2
_LETTERS = "ABCDEFGHIJKLMNOP"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

_WORD = re.compile(r"[^\W_]+")
_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Signs of Chinese and Japanese: the same as in ``search.js``, which searches what is made here."""
_RUN = re.compile(f"[{_SPACELESS}]+|[^{_SPACELESS}]+")
_IS_SPACELESS = re.compile(f"[{_SPACELESS}]")


def terms_of(text: str) -> Iterator[str]:
    """The words of a text as ``search.js`` reads them: small letters without accents.

    Chinese and Japanese put no blanks between words: there, each two characters are a term.
    """
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(sign for sign in decomposed if unicodedata.category(sign)[0] != "M")
    for word in _WORD.findall(text.lower()):
        if word.isascii():
            yield word[:MAX_TERM_CHARS]
            continue
        for run in _RUN.findall(word):
            if _IS_SPACELESS.match(run):
                yield from (run[at : at + 2] for at in range(len(run)))
            else:
                yield run[:MAX_TERM_CHARS]


class _SiteIndex:
    """Gathers pages, best first, and gives the files of their index."""

    def __init__(self) -> None:
        self._postings: dict[str, bytearray] = {}
        self._last: dict[str, int] = {}
        self._rows: list[tuple[str, str, str, str]] = []
        self._hosts: dict[str, int] = {}
        self._languages: dict[str, int] = {}
        self._facts: dict[str, list[int]] = {name: [] for name in ("host", "language", "found")}
        self._files_of_pages = 0

    def __len__(self) -> int:
        return len(self._facts["host"])

    def add(self, hit: Hit, snippet: str, text: str) -> Iterator[tuple[str, bytes]]:
        """Take in one page; files that are complete now, with their names."""
        title = "".join(segment.text for segment in hit.title)
        self._index(title, text)
        facts = self._facts
        facts["host"].append(self._hosts.setdefault(hit.host, len(self._hosts)))
        facts["language"].append(self._languages.setdefault(hit.language, len(self._languages)))
        facts["found"].append(int(hit.found_at // 86_400))
        prose = _prose(text, snippet)
        own = "" if prose.startswith(snippet.rstrip("…")) else snippet
        self._rows.append((hit.link or "", title, own, prose))
        if len(self._rows) == PAGES_PER_FILE:
            yield self._page_file()

    def _index(self, title: str, text: str) -> None:
        number = len(self) + 1
        counts = Counter(terms_of(text[:MAX_INDEXED_CHARS]))
        in_title = set(terms_of(title))
        length = sum(counts.values())
        for term in counts.keys() | in_title:
            letter = _letter(counts[term], length, term in in_title)
            gap = number - self._last.get(term, 0)
            self._last[term] = number
            written = letter if gap == 1 else _base36(gap) + letter
            self._postings.setdefault(term, bytearray()).extend(written.encode())

    def _page_file(self) -> tuple[str, bytes]:
        number = self._files_of_pages
        written = f"data/pages-{number}.js", _script(f"TRAILHOUND.pages[{number}]", self._rows)
        self._files_of_pages += 1
        self._rows = []
        return written

    def files(self, language_names: dict[str, str]) -> Iterator[tuple[str, bytes]]:
        """All other files, when every page was added; ``site.js`` is the last."""
        if self._rows:
            yield self._page_file()
        bounds: list[str] = []
        for number, terms in enumerate(self._shards()):
            bounds.append(terms[0])
            postings = " ".join(self._postings[term].decode() for term in terms)
            content = _script(f"TRAILHOUND.terms[{number}]", [" ".join(terms), postings])
            yield f"data/terms-{number}.js", content
        site = {
            "size": len(self),
            "pagesPerFile": PAGES_PER_FILE,
            "bounds": bounds,
            "hosts": list(self._hosts),
            "languages": [[code, language_names.get(code, code)] for code in self._languages],
            **self._facts,
            "terms": [],
            "pages": [],
        }
        yield "data/site.js", _script("var TRAILHOUND", site)

    def _shards(self) -> Iterator[list[str]]:
        """Terms in the order in which JavaScript compares them, a file's worth at a time."""
        shard: list[str] = []
        size = 0
        for term in sorted(self._postings, key=lambda term: term.encode("utf-16-be", "replace")):
            shard.append(term)
            size += len(term) + len(self._postings[term]) + 2
            if size > TERM_BYTES_PER_FILE:
                yield shard
                shard, size = [], 0
        if shard:
            yield shard


def _letter(count: int, length: int, is_titled: bool) -> str:
    """How much a page is about a term, as BM25 has it, in eight steps."""
    long = 0.25 + 0.75 * length / _TYPICAL_TERMS
    level = round((LEVELS - 1) * count / (count + _SATURATION * long))
    return _LETTERS[level + LEVELS * is_titled]


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


def _prose(text: str, snippet: str) -> str:
    """From where the page begins to speak, behind its menus, if the snippet shows that."""
    start = text.find(snippet[:40]) if snippet else -1
    return tidied(text[max(0, start) :][:SHOWN_CHARS])


def _script(variable: str, value: object) -> bytes:
    return f"{variable}=".encode() + msgspec.json.encode(value) + b";\n"


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
        index, lists = _SiteIndex(), _Lists(portal, len(listing))
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
