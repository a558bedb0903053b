"""Newspapers: sections, lists of headlines, articles, and print versions of some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trailhound.demo.foreign_words import FOREIGN
from trailhound.demo.names import slug
from trailhound.demo.pages import Chrome, LinkItem, PageDraft, Site
from trailhound.demo.sites.workshop import Workshop
from trailhound.demo.voices import NEWS

_HEADLINES_PER_PAGE = 10

SECTIONS: dict[str, tuple[str, ...]] = {
    "Town": ("town-affairs", "town-affairs", "architecture", "law"),
    "Science": (
        "bee-health",
        "genetics",
        "glacier-hydrology",
        "bird-migration",
        "astronomy",
        "batteries",
        "meteorology",
        "geology",
    ),
    "Business": ("economics", "tidal-energy", "electric-cars", "batteries", "law", "railways"),
    "Sport": ("football", "football", "chess"),
    "Culture": ("theatre", "manuscripts", "violin-making", "photography", "archaeology"),
    "Home and garden": ("cooking", "sourdough", "gardening", "bee-health", "nutrition"),
    "Travel": ("tourism", "railways", "bird-migration", "glacier-hydrology", "tourism"),
}


@dataclass(frozen=True)
class PaperKind:
    """A newspaper as it will be made."""

    host: str
    name: str
    sections: tuple[str, ...]
    language: str = "en"
    print_versions: bool = False


NEWSPAPERS = (
    PaperKind("www.northern-courier.demo.test", "The Northern Courier", tuple(SECTIONS)),
    PaperKind(
        "www.larkhaven-herald.demo.test",
        "Larkhaven Herald",
        ("Town", "Sport", "Culture", "Home and garden", "Travel"),
        print_versions=True,
    ),
    PaperKind(
        "www.lens-weekly.demo.test",
        "Lens Weekly",
        ("Science", "Business", "Culture"),
        print_versions=True,
    ),
    PaperKind("www.rosentaler-bote.demo.test", "Rosentaler Bote", (), language="de"),
)


class Newspaper:
    """One newspaper."""

    def __init__(self, workshop: Workshop, kind: PaperKind) -> None:
        self._shop = workshop
        self._kind = kind
        self._random = workshop.random(f"newspaper {kind.host}")
        self.site = Site(kind.host, kind.name, kind.language, tagline="Independent and punctual")
        self.articles: dict[str, list[PageDraft]] = {}
        self.lists: dict[str, list[PageDraft]] = {}

    def plan(self) -> None:
        """Register front page, section lists and articles."""
        self._shop.plan.add_site(self.site)
        self.home = self._shop.page(self.site, "/", self._kind.name, "news front", linkable=True)
        self.contact = self._shop.page(
            self.site, "/contact.html", self._shop.label(self.site, "Contact")
        )
        if self._kind.sections:
            for section in self._kind.sections:
                self._plan_section(section)
        else:
            self._plan_foreign()
        self._set_chrome()

    def _plan_section(self, section: str) -> None:
        count = self._shop.parameters.articles_per_newspaper // len(self._kind.sections)
        subjects = SECTIONS[section]
        first = self._random.randrange(len(subjects))
        articles = []
        for number in range(count):
            subject = subjects[(first + number) % len(subjects)]
            title = self._shop.title(NEWS, subject)
            path = f"/{slug(section)}/{slug(title)[:50].strip('-')}.html"
            articles.append(self._shop.article(self.site, path, title, "article", subject))
        self._random.shuffle(articles)
        self._plan_lists(section, articles)

    def _plan_foreign(self) -> None:
        articles = [
            self._shop.page(self.site, f"/artikel/{number}.html", title, linkable=True)
            for number, title in enumerate(FOREIGN[self._kind.language].titles * 3, start=1)
        ]
        self._plan_lists("Aktuelles", articles)

    def _plan_lists(self, section: str, articles: list[PageDraft]) -> None:
        self.articles[section] = articles
        n_pages = max(1, -(-len(articles) // _HEADLINES_PER_PAGE))
        base = f"/{slug(section)}/"
        self.lists[section] = [
            self._shop.page(
                self.site,
                base if number == 0 else f"{base}?page={number + 1}",
                section if number == 0 else f"{section}, page {number + 1}",
                "listing",
            )
            for number in range(n_pages)
        ]

    def _set_chrome(self) -> None:
        header = [LinkItem(self.home.url, self._shop.label(self.site, "Home"))]
        header += [LinkItem(pages[0].url, section) for section, pages in self.lists.items()]
        side = self._shop.links.titled(self._off_topic_articles()[:10])
        footer = [LinkItem(self.contact.url, self._shop.label(self.site, "Contact"))]
        footer += [LinkItem(f"http://{paper.host}/", paper.name) for paper in NEWSPAPERS]
        self.site.chrome[""] = Chrome(header, side, footer)

    def _off_topic_articles(self) -> list[PageDraft]:
        """What the front page shows: readers look for topics in the sections."""
        pages = [page for articles in self.articles.values() for page in articles]
        return [page for page in pages[::3] if not page.member]

    def write(self) -> None:
        """Fill all pages."""
        self._shop.write_general(self.home, 2, NEWS)
        self.home.link_list(self._shop.links.titled(self._off_topic_articles()[10:25]))
        self._shop.write_general(self.contact, 2, NEWS)
        for section, articles in self.articles.items():
            self._write_lists(self.lists[section], articles)
            for number, article in enumerate(articles):
                self._write_article(article, number)

    def _write_lists(self, pages: Sequence[PageDraft], articles: Sequence[PageDraft]) -> None:
        for number, page in enumerate(pages):
            start = number * _HEADLINES_PER_PAGE
            self._shop.write_general(page, 1, NEWS)
            page.link_list(self._shop.links.items(articles[start : start + _HEADLINES_PER_PAGE]))
            page.link_list(
                [LinkItem(other.url, str(k + 1)) for k, other in enumerate(pages)], "pages"
            )

    def _write_article(self, article: PageDraft, number: int) -> None:
        if article.subject is None:
            self._shop.write_general(article, 5)
            article.link_list(self._shop.links.elsewhere(3))
            return
        self._shop.write_article(article, NEWS, self._random.randint(4, 10))
        if self._kind.print_versions and number % 3 == 0:
            self._add_print_version(article)
        article.heading("Related articles")
        article.link_list(self._shop.links.related(article, self._random.randint(3, 6)))

    def _add_print_version(self, article: PageDraft) -> None:
        printed = PageDraft(f"{article.url}?print=1", article.title, self.site, "print")
        printed.subject, printed.blocks = article.subject, list(article.blocks)
        self._shop.plan.add(printed, linkable=False)
        self._shop.plan.duplicates[printed.url] = article.url
        printed.sentence_link("This text in the", LinkItem(article.url, "usual layout"))
        article.sentence_link("This text as a", LinkItem(printed.url, "print version"))
