"""Town portal, personal home pages, and other small sites of general interest."""

from __future__ import annotations

from trailhound.demo.names import PeopleNames, slug
from trailhound.demo.pages import TOPIC_KEYS, Chrome, LinkItem, PageDraft, Site
from trailhound.demo.prose import SUBJECTS
from trailhound.demo.sites.clubs import CLUBS
from trailhound.demo.sites.news import NEWSPAPERS
from trailhound.demo.sites.workshop import Workshop
from trailhound.demo.trap import TRAP_HOST, first_trap_url
from trailhound.demo.voices import BIOGRAPHY, CAMPUS, NEWS

CITY_HOST = "www.larkhaven-city.demo.test"
_SERVICES = ("Town hall", "Schools", "Buses and trams", "Parks", "Museums", "Housing", "Markets")
_HOME_PAGES = 24
_CITY_NOTICES = 12


class CityPortal:
    """The portal of a town; the endless calendar hangs on it."""

    def __init__(self, workshop: Workshop) -> None:
        self._shop = workshop
        self._random = workshop.random("city")
        self.site = Site(CITY_HOST, "City of Larkhaven", tagline="Welcome to the bay")

    def plan(self) -> None:
        """Register the portal's pages and the calendar's host."""
        self._shop.plan.add_site(self.site)
        self._shop.plan.add_site(Site(TRAP_HOST, "Larkhaven events"))
        page = self._shop.page
        self.home = page(self.site, "/", "City of Larkhaven", "portal", linkable=True)
        self.services = [
            page(self.site, f"/services/{slug(name)}.html", name, linkable=True)
            for name in _SERVICES
        ]
        self.notices = [
            self._shop.article(
                self.site,
                f"/notices/{number + 1}.html",
                self._shop.title(NEWS, "town-affairs"),
                "article",
                "town-affairs",
            )
            for number in range(_CITY_NOTICES)
        ]
        self._plan_broken_pages()
        header = [LinkItem(self.home.url, "Larkhaven"), LinkItem(first_trap_url(), "Calendar")]
        side = [LinkItem(item.url, item.title) for item in self.services]
        footer = [LinkItem(f"http://{paper.host}/", paper.name) for paper in NEWSPAPERS]
        self.site.chrome[""] = Chrome(header, side, footer)

    def _plan_broken_pages(self) -> None:
        """A redirect that leads back to itself, and a script that fails."""
        first, second = self.site.url("/map/old"), self.site.url("/map/older")
        self._shop.plan.redirects[first] = (302, second)
        self._shop.plan.redirects[second] = (302, first)
        self._timetable = self.site.url("/cgi-bin/timetable?line=7")
        self._shop.plan.failing[self._timetable] = None
        self._broken = [LinkItem(first, "Town map"), LinkItem(self._timetable, "Timetable")]

    def write(self) -> None:
        """Fill all pages."""
        self._shop.write_general(self.home, 2, NEWS)
        self.home.link_list(self._shop.links.titled(self.notices[:6]))
        self.home.heading("Clubs and societies")
        self.home.link_list([LinkItem(f"http://{club.host}/", club.name) for club in CLUBS])
        for service in self.services:
            self._shop.write_general(service, 4, NEWS)
            service.link_list(self._broken + self._shop.links.titled(self.notices[6:]))
        for notice in self.notices:
            self._shop.write_article(notice, NEWS, 4)
            notice.link_list(self._shop.links.related(notice, 4))


class HomePages:
    """Private home pages: small talk, and favourite links that may be about a topic."""

    def __init__(self, workshop: Workshop) -> None:
        self._shop = workshop
        self._random = workshop.random("home pages")
        self.site = Site("members.homepages.demo.test", "Home Pages", tagline="A page for everyone")
        self.pages: list[PageDraft] = []

    def plan(self) -> None:
        """Register an index and the home pages."""
        self._shop.plan.add_site(self.site)
        self.index = self._shop.page(self.site, "/", "Home Pages, all members", linkable=True)
        names = PeopleNames(self._random)
        for _ in range(_HOME_PAGES):
            name, user = names.next()
            page = self._shop.page(self.site, f"/~{user}/", f"{name}'s home page", "person")
            self._shop.plan.anywhere.append(page)
            self.pages.append(page)
        header = [LinkItem(self.index.url, "All members")]
        side = [LinkItem(page.url, page.title) for page in self.pages[::2]]
        self.site.chrome[""] = Chrome(header, side, [])

    def write(self) -> None:
        """Fill all pages."""
        self._shop.write_general(self.index, 2, BIOGRAPHY)
        self.index.link_list(self._shop.links.titled(self.pages))
        hobbies = [*TOPIC_KEYS, "cooking", "football", "photography", "gardening"]
        for number, page in enumerate(self.pages):
            self._shop.write_general(page, 3, BIOGRAPHY)
            hobby = SUBJECTS[hobbies[number % len(hobbies)]]
            about_it = PageDraft("", "", self.site, "", hobby)
            page.heading("My bookmarks")
            page.link_list(self._shop.links.related(about_it, self._random.randint(6, 10)))


class Intranet:
    """A host whose robots.txt forbids everything."""

    def __init__(self, workshop: Workshop) -> None:
        self._shop = workshop
        self.site = Site("intranet.wyndale.demo.test", "Wyndale intranet", tagline="For staff only")

    def plan(self) -> None:
        """Register a few pages."""
        self._shop.plan.add_site(self.site)
        names = ("Welcome", "Forms", "Canteen", "Rooms", "Minutes", "Phone list")
        self.pages = [
            self._shop.page(
                self.site,
                "/" if number == 0 else f"/{slug(name)}.html",
                f"{name} – Wyndale intranet",
                linkable=number == 0,
            )
            for number, name in enumerate(names)
        ]
        links = [LinkItem(page.url, page.title) for page in self.pages]
        self.site.chrome[""] = Chrome(links, links, links)

    def write(self) -> None:
        """Fill all pages."""
        for page in self.pages:
            self._shop.write_general(page, 3, CAMPUS)
