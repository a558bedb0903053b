"""Pages from the first draft to the bytes that a server sends, and the sites they belong to.

Most pages are UTF-8 and say so. Some foreign hosts use older encodings, and some are wrong about
their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from trailhound.demo.words import Subject

CLOSED_HOST_PREFIX = "intranet."
_SLOW_HOST_PREFIXES = ("forum.", "mirror.", "www.heimatverein")
_JAPANESE_HOST = "www.sanroku.demo.test"
_UTF8 = "text/html; charset=utf-8"

# Of every so many foreign pages one is sent in another encoding than it declares.
_WRONG_EVERY = 9

_STYLE = """<style>
body { font-family: Georgia, serif; margin: 0; color: #222; }
header, footer { background: #eef1f4; padding: 0.6em 1em; }
nav ul, footer ul { list-style: none; margin: 0; padding: 0; }
header li, footer li { display: inline; margin-right: 1em; }
aside { float: right; width: 15em; padding: 1em; font-size: 90%; }
main { margin: 0 18em 2em 1em; max-width: 44em; line-height: 1.45; }
h1 { font-size: 150%; border-bottom: 1px solid #bbb; }
</style>"""
_SCRIPT = """<script>
var started = new Date();
function remember(name, value) { document.cookie = name + "=" + value + "; path=/"; }
</script>"""


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


def _links(items: Sequence[LinkItem], site: Site) -> str:
    """List entries; links within the site are relative, as people write them."""
    own = site.url("")
    return "".join(
        f'<li><a href="{escape(item.url.removeprefix(own))}">'
        f"{escape(item.anchor, quote=False)}</a></li>\n"
        for item in items
    )


class Layout:
    """Renders pages; remembers the chrome of each section."""

    def __init__(self) -> None:
        self._frames: dict[tuple[str, str], tuple[str, str]] = {}

    def render(self, page: PageDraft) -> str:
        """The page's HTML. Adds the chrome's links to the page's."""
        if page.frames:
            return _frameset(page)
        text = f"<h1>{escape(page.title)}</h1>\n" + "\n".join(page.blocks)
        if page.kind in ("frame", "print"):
            return f"{_head(page)}{text}\n</body>\n</html>\n"
        site, chrome = page.site, page.site.chrome_of(page.section)
        key = (site.host, page.section)
        if key not in self._frames:
            self._frames[key] = _surroundings(site, chrome)
        top, bottom = self._frames[key]
        page.links = [
            *(item.url for item in chrome.header),
            *page.links,
            *(item.url for item in chrome.side),
            *(item.url for item in chrome.footer),
        ]
        return f"{_head(page)}{top}<main>\n{text}\n</main>\n{bottom}"


def _head(page: PageDraft) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="{page.language}">\n<head>\n'
        f'<meta charset="{page.site.charset}">\n'
        f"<title>{escape(page.title)} | {escape(page.site.name)}</title>\n"
        f"{_STYLE}\n{_SCRIPT}\n</head>\n<body>\n"
    )


def _surroundings(site: Site, chrome: Chrome) -> tuple[str, str]:
    """What stands above and below the text."""
    above = (
        f'<header class="banner"><p class="site">{escape(site.name)}</p>\n'
        f'<p class="tagline">{escape(site.tagline)}</p>\n'
        f'<nav class="main-menu"><ul>\n{_links(chrome.header, site)}</ul></nav></header>\n'
    )
    below = (
        f'<aside class="sidebar"><ul>\n{_links(chrome.side, site)}</ul></aside>\n'
        f'<footer class="page-footer"><ul>\n{_links(chrome.footer, site)}</ul>\n'
        f"<p>© {escape(site.name)}</p></footer>\n</body>\n</html>\n"
    )
    return above, below


def _frameset(page: PageDraft) -> str:
    page.links = list(page.frames)
    frames = "\n".join(f'<frame src="{escape(url)}">' for url in page.frames)
    return (
        '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Frameset//EN">\n'
        f'<html lang="{page.language}">\n'
        f"<head><title>{escape(page.title)} | {escape(page.site.name)}</title></head>\n"
        f'<frameset cols="22%,78%">\n{frames}\n'
        "<noframes><body><p>This page needs frames.</p></body></noframes>\n</frameset>\n</html>\n"
    )


def encode(page: PageDraft, html: str, number: int) -> tuple[bytes, str]:
    """Body and ``Content-Type`` of a page; ``number`` is its position in the web."""
    if page.site.host == _JAPANESE_HOST and page.url.endswith("/news.html"):
        silent = html.replace('<meta charset="shift_jis">\n', "")
        return silent.encode("euc_jp", "xmlcharrefreplace"), "text/html"
    if page.site.host == _JAPANESE_HOST:
        return html.encode("shift_jis", "xmlcharrefreplace"), "text/html"
    if page.language in ("en", ""):
        return html.encode("utf-8"), _UTF8
    if page.site.host.startswith("www.heimatverein"):
        declared = html.replace('charset="utf-8"', 'charset="windows-1252"')
        return declared.encode("windows-1252", "xmlcharrefreplace"), "text/html"
    if number % _WRONG_EVERY == 0:
        # Declared as UTF-8 by header and page.
        return html.encode("windows-1252", "xmlcharrefreplace"), _UTF8
    if number % _WRONG_EVERY == 1:
        # The page is right, the header is not.
        return html.encode("utf-8"), "text/html; charset=iso-8859-1"
    return html.encode("utf-8"), _UTF8


def robots_txt(site: Site) -> str:
    """What robots may fetch: everything but ``/private/`` on most hosts, nothing on one."""
    if site.host.startswith(CLOSED_HOST_PREFIX):
        return "User-agent: *\nDisallow: /\n"
    rules = "User-agent: *\nDisallow: /private/\n"
    if site.host.startswith(_SLOW_HOST_PREFIXES):
        rules += "Crawl-delay: 1\n"
    return rules
