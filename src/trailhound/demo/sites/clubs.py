"""Clubs and societies: newsletters with articles, meetings, and a page of links."""

from __future__ import annotations

from dataclasses import dataclass

from trailhound.demo.foreign_words import FOREIGN
from trailhound.demo.names import slug
from trailhound.demo.pages import Chrome, LinkItem, PageDraft, Site
from trailhound.demo.sites.workshop import Workshop
from trailhound.demo.voices import HOBBY

_ARTICLES_PER_ISSUE = 6
_SEASONS = ("Spring", "Summer", "Autumn", "Winter")


@dataclass(frozen=True)
class ClubKind:
    """A club as it will be made. Its articles take the subjects in turn."""

    host: str
    name: str
    subjects: tuple[str, ...] = ()
    language: str = "en"
    framed: bool = False
    """The front page is a frameset."""


CLUBS = (
    ClubKind(
        "www.caldwick-beekeepers.demo.test",
        "Caldwick Beekeepers' Association",
        ("bee-health", "gardening", "bee-health", "botany", "cooking"),
    ),
    ClubKind(
        "www.saltmarsh-birds.demo.test",
        "Friends of Saltmarsh Bird Observatory",
        ("bird-migration", "photography", "bird-migration", "tourism", "meteorology"),
    ),
    ClubKind(
        "www.guildofviols.demo.test",
        "Guild of Amateur Violin Makers",
        ("violin-making", "theatre", "violin-making", "acoustics", "gardening"),
        framed=True,
    ),
    ClubKind(
        "www.ryecircle.demo.test",
        "The Rye Circle, Home Bakers of Harborough",
        ("sourdough", "cooking", "sourdough", "nutrition", "gardening"),
    ),
    ClubKind(
        "www.highice-alpine.demo.test",
        "High Ice Alpine Club",
        ("tourism", "glacier-hydrology", "photography", "glacier-hydrology", "meteorology"),
    ),
    ClubKind(
        "www.oldleaves.demo.test",
        "Old Leaves, Society of Book Lovers",
        ("manuscripts", "linguistics", "manuscripts", "archaeology", "theatre"),
    ),
    ClubKind(
        "www.coastpower.demo.test",
        "Coast Power Citizens' Group",
        ("tidal-energy", "electric-cars", "tidal-energy", "batteries", "town-affairs"),
    ),
    ClubKind("www.wyndale-rovers.demo.test", "Wyndale Rovers Football Club", ("football",)),
    ClubKind("www.kingsmoor-chess.demo.test", "Kingsmoor Chess Circle", ("chess", "statistics")),
    ClubKind(
        "www.greenthumbs.demo.test",
        "Greenthumbs Allotment Society",
        ("gardening", "botany", "cooking"),
    ),
    ClubKind("www.silverframe.demo.test", "Silver Frame Camera Club", ("photography", "tourism")),
    ClubKind("www.heimatverein-rosental.demo.test", "Heimatverein Rosental", language="de"),
    ClubKind("www.amigosdelpuerto.demo.test", "Amigos del Puerto", language="es"),
)


class Club:
    """One club."""

    def __init__(self, workshop: Workshop, kind: ClubKind) -> None:
        self._shop = workshop
        self._kind = kind
        self._random = workshop.random(f"club {kind.host}")
        self.site = Site(kind.host, kind.name, kind.language, tagline="Founded by members in 1924")
        self.articles: list[PageDraft] = []
        self.issues: list[PageDraft] = []

    def plan(self) -> None:
        """Register front page, issues of the newsletter, and articles."""
        self._shop.plan.add_site(self.site)
        self.home = self._shop.page(
            self.site, "/", self._kind.name, "club", subject=self._first_subject(), linkable=True
        )
        label = self._shop.label
        self.about = self._shop.page(self.site, "/about.html", label(self.site, "About"))
        self.meetings = self._shop.page(self.site, "/meetings.html", label(self.site, "Events"))
        self.newsletter = self._shop.page(self.site, "/newsletter/", label(self.site, "News"))
        self.links_page = self._shop.page(self.site, "/links.html", label(self.site, "Links"))
        self.contact = self._shop.page(self.site, "/contact.html", label(self.site, "Contact"))
        if self._kind.framed:
            self._plan_frames()
        self._plan_articles()
        self._plan_issues()
        self._set_chrome()

    def _first_subject(self) -> str | None:
        return self._kind.subjects[0] if self._kind.subjects else None

    def _plan_frames(self) -> None:
        menu = self._shop.page(self.site, "/menu.html", f"Menu – {self._kind.name}", "frame")
        text = self._shop.page(self.site, "/welcome.html", f"Welcome – {self._kind.name}", "frame")
        self.frames = (menu, text)
        self.home.frames = (menu.url, text.url)

    def _plan_articles(self) -> None:
        if not self._kind.subjects:
            self._plan_foreign_articles()
            return
        for number in range(self._shop.parameters.articles_per_club):
            subject = self._kind.subjects[number % len(self._kind.subjects)]
            title = self._shop.title(HOBBY, subject)
            path = f"/newsletter/{slug(title)[:50].strip('-')}.html"
            self.articles.append(self._shop.article(self.site, path, title, "article", subject))
        self._random.shuffle(self.articles)

    def _plan_foreign_articles(self) -> None:
        for title in FOREIGN[self.site.language].titles:
            path = f"/newsletter/{slug(title)}.html"
            self.articles.append(self._shop.page(self.site, path, title, linkable=True))

    def _plan_issues(self) -> None:
        n_issues = -(-len(self.articles) // _ARTICLES_PER_ISSUE)
        for number in range(n_issues):
            name = f"{_SEASONS[number % 4]} {2019 + number // 4}"
            title = f"{self._shop.label(self.site, 'News')} {number + 1}: {name}"
            self.issues.append(
                self._shop.page(self.site, f"/newsletter/issue{number + 1}.html", title)
            )

    def _set_chrome(self) -> None:
        pages = (self.home, self.about, self.meetings, self.newsletter, self.links_page)
        labels = ("Home", "About", "Events", "News", "Links")
        header = [
            LinkItem(page.url, self._shop.label(self.site, label))
            for page, label in zip(pages, labels, strict=True)
        ]
        side = [LinkItem(issue.url, issue.title) for issue in self.issues[-6:]]
        contact = LinkItem(self.contact.url, self._shop.label(self.site, "Contact"))
        footer = [contact, *self._partner_links()]
        self.site.chrome[""] = Chrome(header, side, footer)

    def _partner_links(self) -> list[LinkItem]:
        partners = self._random.sample(CLUBS, 4)
        return [
            LinkItem(f"http://{partner.host}/", partner.name)
            for partner in partners
            if partner.host != self._kind.host
        ]

    def write(self) -> None:
        """Fill all pages."""
        for page in (self.about, self.meetings, self.newsletter, self.contact):
            self._shop.write_general(page, 2, HOBBY)
        self.newsletter.link_list(self._shop.links.titled(self.issues))
        self._write_home()
        self._write_links()
        for number, issue in enumerate(self.issues):
            start = number * _ARTICLES_PER_ISSUE
            issue_articles = self.articles[start : start + _ARTICLES_PER_ISSUE]
            self._shop.write_general(issue, 1, HOBBY)
            issue.link_list(self._shop.links.items(issue_articles))
            self._shop.write_general(issue, 1, HOBBY)
        for article in self.articles:
            self._write_article(article)

    def _write_home(self) -> None:
        text = self.home
        if self._kind.framed:
            menu, text = self.frames
            menu.link_list([*self.site.chrome[""].header[1:], *self.site.chrome[""].side])
        if text.language == "en":
            self._shop.write_article(text, HOBBY, 3, topical=0.25)
        else:
            self._shop.write_general(text, 3)
        text.link_list(self._shop.links.titled(self.issues[-2:]))

    def _write_links(self) -> None:
        self._shop.write_general(self.links_page, 1, HOBBY)
        about_it = PageDraft("", "", self.site, "", self.home.subject)
        self.links_page.link_list(self._shop.links.related(about_it, 14))

    def _write_article(self, article: PageDraft) -> None:
        if article.subject is None:
            self._shop.write_general(article, 5)
            article.link_list(self._shop.links.elsewhere(3))
            return
        self._shop.write_article(article, HOBBY, self._random.randint(4, 10))
        article.heading("See also")
        article.link_list(self._shop.links.related(article, self._random.randint(3, 6)))
