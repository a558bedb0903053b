"""Sites that try a crawler's patience: a mirror, foreign alphabets."""

from __future__ import annotations

from urllib.parse import urlsplit

from trailhound.demo.foreign_words import (
    FOREIGN,
    JAPANESE_NEWS,
    JAPANESE_NEWS_TITLE,
    JAPANESE_PARAGRAPHS,
    JAPANESE_TITLE,
)
from trailhound.demo.links import SHORT_LINK_HOST
from trailhound.demo.names import slug
from trailhound.demo.pages import Chrome, LinkItem, PageDraft, Site
from trailhound.demo.sites.news import NEWSPAPERS
from trailhound.demo.sites.workshop import Workshop
from trailhound.demo.voices import RESEARCH

JAPANESE_HOST = "www.sanroku.demo.test"
_MIRRORED = 60
_MIRRORED_PER_PAGE = 20


class Mirror:
    """Copies of papers under another host. Must be written after the papers."""

    def __init__(self, workshop: Workshop) -> None:
        self._shop = workshop
        self._random = workshop.random("mirror")
        self.site = Site("mirror.paperstore.demo.test", "Paper Store", tagline="Copies of papers")
        self._copies: list[tuple[PageDraft, PageDraft]] = []

    def plan(self) -> None:
        """Choose what to copy; the universities must have planned their papers."""
        self._shop.plan.add_site(self.site)
        self.home = self._shop.page(self.site, "/", "Paper Store, a mirror", linkable=True)
        papers = [page for page in self._shop.plan.anywhere if page.kind == "paper"]
        for paper in self._random.sample(papers, min(_MIRRORED, len(papers))):
            self._copies.append((paper, self._plan_copy(paper)))
        n_lists = -(-len(self._copies) // _MIRRORED_PER_PAGE)
        self.lists = [
            self._shop.page(self.site, f"/list/{number + 1}.html", f"Papers, part {number + 1}")
            for number in range(n_lists)
        ]
        header = [LinkItem(self.home.url, "Paper Store")]
        header += [LinkItem(page.url, page.title) for page in self.lists]
        self.site.chrome[""] = Chrome(header)

    def _plan_copy(self, paper: PageDraft) -> PageDraft:
        parts = urlsplit(paper.url)
        path = f"/{parts.netloc}/{slug(parts.path + '-' + parts.query)}.html"
        copy = PageDraft(self.site.url(path), paper.title, self.site, "mirror", paper.subject)
        self._shop.plan.add(copy, linkable=False)
        self._shop.plan.duplicates[copy.url] = paper.url
        return copy

    def write(self) -> None:
        """Copy text and links of the originals."""
        self._shop.write_general(self.home, 2, RESEARCH)
        self.home.link_list(self._shop.links.titled(self.lists))
        for number, page in enumerate(self.lists):
            start = number * _MIRRORED_PER_PAGE
            copies = [copy for _, copy in self._copies[start : start + _MIRRORED_PER_PAGE]]
            self._shop.write_general(page, 1, RESEARCH)
            page.link_list(self._shop.links.items(copies))
        for original, copy in self._copies:
            copy.blocks = list(original.blocks)
            copy.links = list(original.links)
            copy.sentence_link("Copied from", LinkItem(original.url, "the original"))


class ForeignSites:
    """A German web guide and a Japanese society; and the host that only redirects."""

    def __init__(self, workshop: Workshop) -> None:
        self._shop = workshop
        self.guide = Site("www.wegweiser.demo.test", "Wegweiser", "de", tagline="Alles im Netz")
        self.society = Site(JAPANESE_HOST, "山麓市民協会", "ja", charset="shift_jis")

    def plan(self) -> None:
        """Register their pages."""
        plan = self._shop.plan
        plan.add_site(Site(SHORT_LINK_HOST, "Short links"))
        plan.add_site(self.guide)
        plan.add_site(self.society)
        self.home = self._shop.page(self.guide, "/", "Wegweiser durch das Netz", linkable=True)
        self.chapters = [
            self._shop.page(self.guide, f"/{slug(name)}.html", name)
            for name in ("Behörden", "Bildung", "Zeitungen", "Vereine", "Verkehr", "Bücher")
        ]
        header = self._shop.links.titled([self.home, *self.chapters])
        self.guide.chrome[""] = Chrome(header)
        self.welcome = self._shop.page(self.society, "/", JAPANESE_TITLE, linkable=True)
        self.news = self._shop.page(self.society, "/news.html", JAPANESE_NEWS_TITLE)
        pages = self._shop.links.titled([self.welcome, self.news])
        self.society.chrome[""] = Chrome(pages, [], pages)

    def write(self) -> None:
        """Fill their pages."""
        german = [
            LinkItem(site.url(), site.name)
            for site in self._shop.plan.sites.values()
            if site.language in FOREIGN and "" in site.chrome
        ]
        papers = [LinkItem(f"http://{paper.host}/", paper.name) for paper in NEWSPAPERS]
        for page in (self.home, *self.chapters):
            self._shop.write_general(page, 3)
            page.link_list(german + papers + self._shop.links.elsewhere(4))
        self.welcome.paragraphs(JAPANESE_PARAGRAPHS)
        self.welcome.link_list(self._shop.links.elsewhere(5))
        self.news.paragraphs(JAPANESE_NEWS)
