"""Pages under construction, the sites they belong to, and the register of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from trailhound.demo.words import Subject


class LinkItem(NamedTuple):
    """A link as it will stand on a page."""

    url: str
    anchor: str
    note: str = ""
    """Words behind the link."""


@dataclass
class Chrome:
    """What every page of a site, or of a section of it, shows around its text."""

    header: Sequence[LinkItem] = ()
    side: Sequence[LinkItem] = ()
    footer: Sequence[LinkItem] = ()


@dataclass
class Site:
    """One host."""

    host: str
    name: str
    language: str = "en"
    charset: str = "utf-8"
    tagline: str = ""
    chrome: dict[str, Chrome] = field(default_factory=dict)
    """By section; the empty section serves where there is no other."""

    def url(self, path: str = "/") -> str:
        """The address of ``path`` on this host."""
        return f"http://{self.host}{path}"

    def chrome_of(self, section: str) -> Chrome:
        """What surrounds the pages of ``section``."""
        return self.chrome.get(section) or self.chrome[""]


@dataclass(eq=False)
class PageDraft:
    """A page: planned with address, title and subject; written block by block."""

    url: str
    title: str
    site: Site
    kind: str
    subject: Subject | None = None
    member: bool = False
    """The page's text is about its subject, and the subject is a topic."""
    hidden: bool = False
    """Nothing but its author's list may link here."""
    section: str = ""
    language: str = ""
    frames: tuple[str, ...] = ()
    blocks: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    """Addresses in the order of the page; the site's chrome is added when it is rendered."""

    def heading(self, text: str) -> None:
        """Add a heading."""
        self.blocks.append(f"<h2>{escape(text)}</h2>")

    def paragraph(self, text: str) -> None:
        """Add a paragraph of plain text."""
        self.blocks.append(f"<p>{escape(text, quote=False)}</p>")

    def paragraphs(self, texts: Iterable[str]) -> None:
        """Add several paragraphs."""
        for text in texts:
            self.paragraph(text)

    def sentence_link(self, before: str, item: LinkItem, after: str = ".") -> None:
        """Add a paragraph that consists of a sentence with a link in it."""
        self.links.append(item.url)
        self.blocks.append(f"<p>{escape(before)} {_anchor(item)}{escape(after)}</p>")

    def link_list(self, items: Sequence[LinkItem], style: str = "list") -> None:
        """Add a bulleted list of links."""
        if not items:
            return
        self.links.extend(item.url for item in items)
        entries = "\n".join(f"<li>{_anchor(item)}{_note(item)}</li>" for item in items)
        self.blocks.append(f'<ul class="{style}">\n{entries}\n</ul>')


def _anchor(item: LinkItem) -> str:
    return f'<a href="{escape(item.url)}">{escape(item.anchor, quote=False)}</a>'


def _note(item: LinkItem) -> str:
    return f" {escape(item.note, quote=False)}" if item.note else ""


@dataclass
class WebPlan:
    """All pages and other answers of the web being made."""

    pages: dict[str, PageDraft] = field(default_factory=dict)
    sites: dict[str, Site] = field(default_factory=dict)
    by_subject: dict[str, list[PageDraft]] = field(default_factory=dict)
    """Pages that related links may lead to, by what they are about."""
    anywhere: list[PageDraft] = field(default_factory=list)
    """Pages that a link chosen without a reason may lead to."""
    redirects: dict[str, tuple[int, str]] = field(default_factory=dict)
    """URL to (status, destination)."""
    dead: dict[str, None] = field(default_factory=dict)
    """Addresses that are linked to and answer 404, in order of first use."""
    failing: dict[str, None] = field(default_factory=dict)
    """Addresses that answer 500."""
    documents: dict[str, str] = field(default_factory=dict)
    """PDF documents: URL to title."""
    duplicates: dict[str, str] = field(default_factory=dict)
    """Duplicate URL to the original's."""
    session_ids: dict[str, str] = field(default_factory=dict)
    """URL with a session id to the plain URL."""

    def add_site(self, site: Site) -> Site:
        """Register a host."""
        self.sites[site.host] = site
        return site

    def add(self, page: PageDraft, *, linkable: bool = True) -> PageDraft:
        """Register a page; ``linkable`` pages may be chosen by related links."""
        page.url = self._free_url(page.url)
        page.language = page.language or page.site.language
        self.pages[page.url] = page
        if linkable and not page.hidden:
            self.anywhere.append(page)
            if page.subject is not None:
                self.by_subject.setdefault(page.subject.key, []).append(page)
        return page

    def _free_url(self, url: str) -> str:
        """Two papers of one title get different addresses."""
        number, free = 1, url
        while free in self.pages:
            number += 1
            stem, dot, extension = url.rpartition(".html")
            free = f"{stem}-{number}{dot}{extension}" if dot else f"{url}-{number}"
        return free

    def members(self, topic: str) -> list[PageDraft]:
        """Pages whose text is about ``topic``."""
        return [
            page
            for page in self.pages.values()
            if page.member and page.subject is not None and page.subject.key == topic
        ]
