"""Web directories: hubs that list sites by subject, and universities by discipline."""

from __future__ import annotations

from collections.abc import Sequence

from trailhound.demo.names import slug
from trailhound.demo.pages import Chrome, LinkItem, PageDraft, Site
from trailhound.demo.prose import SUBJECTS
from trailhound.demo.sites.departments import DEPARTMENT_KINDS
from trailhound.demo.sites.faculty import Department
from trailhound.demo.sites.universities import University
from trailhound.demo.sites.workshop import Workshop
from trailhound.demo.voices import CAMPUS, NEWS

PATHFINDER_HOST = "www.pathfinder.demo.test"

_CATEGORIES: dict[str, tuple[str, ...]] = {
    "Nature and environment": (
        "bee-health",
        "bird-migration",
        "botany",
        "genetics",
        "gardening",
        "meteorology",
        "glacier-hydrology",
        "geology",
    ),
    "Technology and energy": (
        "batteries",
        "tidal-energy",
        "electric-cars",
        "railways",
        "software",
        "statistics",
        "astronomy",
        "acoustics",
    ),
    "Arts and history": (
        "manuscripts",
        "archaeology",
        "violin-making",
        "theatre",
        "photography",
        "architecture",
        "linguistics",
    ),
    "Home and health": ("sourdough", "cooking", "nutrition", "pharmacy"),
    "Society and leisure": ("economics", "law", "town-affairs", "football", "chess", "tourism"),
}


class Pathfinder:
    """The general web directory: categories, and a page for each subject."""

    def __init__(self, workshop: Workshop, universities: Sequence[University]) -> None:
        self._shop = workshop
        self._universities = universities
        self._random = workshop.random("pathfinder")
        self.site = Site(PATHFINDER_HOST, "Pathfinder", tagline="The friendly web directory")

    def plan(self) -> None:
        """Register front page, categories and subject pages."""
        self._shop.plan.add_site(self.site)
        page = self._shop.page
        self.home = page(self.site, "/", "Pathfinder web directory", "directory", linkable=True)
        self.about = page(self.site, "/about.html", "About this directory")
        self.submit = page(self.site, "/private/submit.html", "Suggest a site")
        self.regional = page(self.site, "/regional/", "Towns, newspapers and clubs", "listing")
        self.education = page(self.site, "/education/", "Universities", "listing")
        self.categories: dict[str, PageDraft] = {}
        self.subjects: dict[str, PageDraft] = {}
        for category, subjects in _CATEGORIES.items():
            base = f"/{slug(category)}/"
            self.categories[category] = page(self.site, base, category, "listing")
            for subject in subjects:
                path, label = f"{base}{subject}.html", SUBJECTS[subject].label
                self.subjects[subject] = page(self.site, path, label, "hub", section=category)
        self._set_chrome()

    def _set_chrome(self) -> None:
        header = [LinkItem(self.home.url, "Pathfinder")]
        header += [LinkItem(page.url, category) for category, page in self.categories.items()]
        general = [self.education, self.regional]
        side = self._shop.links.titled(general)
        footer = self._shop.links.titled([self.about, self.submit])
        self.site.chrome[""] = Chrome(header, side, footer)
        for category, subjects in _CATEGORIES.items():
            own = [LinkItem(self.subjects[key].url, SUBJECTS[key].label) for key in subjects]
            self.site.chrome[category] = Chrome(header, side + own, footer)

    def write(self) -> None:
        """Fill all pages."""
        for page in (self.home, self.about, self.submit, self.regional, self.education):
            self._shop.write_general(page, 1, NEWS)
        self.home.link_list(self._shop.links.titled(list(self.categories.values())))
        self.home.link_list(self._shop.links.titled([self.education, self.regional]))
        self.education.link_list([LinkItem(u.site.url(), u.name) for u in self._universities])
        fronts = [page for page in self._shop.plan.pages.values() if page.url.endswith(".test/")]
        self.regional.link_list(self._shop.links.titled(fronts))
        for category, subjects in _CATEGORIES.items():
            self._shop.write_general(self.categories[category], 1, NEWS)
            pages = [self.subjects[subject] for subject in subjects]
            self.categories[category].link_list(self._shop.links.titled(pages))
        for subject, page in self.subjects.items():
            self._write_hub(subject, page)

    def _write_hub(self, subject: str, page: PageDraft) -> None:
        focus = self._shop.writing.focus(SUBJECTS[subject])
        page.paragraph(self._shop.writing.paragraph(CAMPUS, focus, 8))
        page.heading("Sites")
        about_it = self._shop.plan.by_subject.get(subject, [])
        page.link_list(
            self._shop.links.titled([site for site in about_it if site.kind in ("club", "shop")])
        )
        page.heading("Research and teaching")
        page.link_list(self._departments(subject))
        page.heading("Reading")
        coverage = self._shop.parameters.hub_coverage
        texts = [text for text in about_it if text.kind != "club" and text.kind != "product"]
        page.link_list(
            self._shop.links.items([t for t in texts if self._random.random() < coverage])
        )

    def _departments(self, subject: str) -> list[LinkItem]:
        return [
            LinkItem(department.home.url, department.name, university.name)
            for university in self._universities
            for department in university.departments
            if subject in department.kind.subjects and self._random.random() < 0.6
        ]


class CampusLinks:
    """A directory of universities: by name and by discipline. Some of its links are old."""

    def __init__(self, workshop: Workshop, universities: Sequence[University]) -> None:
        self._shop = workshop
        self._universities = universities
        self._random = workshop.random("campus links")
        self.site = Site(
            "www.campuslinks.demo.test", "Campus Links", tagline="Find your university"
        )

    def plan(self) -> None:
        """Register a page per university and per discipline."""
        self._shop.plan.add_site(self.site)
        page = self._shop.page
        self.home = page(self.site, "/", "Campus Links", "directory", linkable=True)
        self.by_name = [
            page(self.site, f"/university/{item.short}.html", item.name, "listing")
            for item in self._universities
        ]
        self.by_discipline = [
            page(self.site, f"/discipline/{kind.path}.html", kind.names[0], "listing")
            for kind in DEPARTMENT_KINDS
        ]
        header = [LinkItem(self.home.url, "Campus Links")]
        header += [LinkItem(item.url, item.title) for item in self.by_discipline]
        side = [LinkItem(item.url, item.title) for item in self.by_name]
        self.site.chrome[""] = Chrome(header, side, [LinkItem(self.home.url, "About us")])

    def write(self) -> None:
        """Fill all pages."""
        self._shop.write_general(self.home, 2, CAMPUS)
        for page, university in zip(self.by_name, self._universities, strict=True):
            self._shop.write_general(page, 1, CAMPUS)
            page.link_list([self._entry(department) for department in university.departments])
        for page, kind in zip(self.by_discipline, DEPARTMENT_KINDS, strict=True):
            self._shop.write_general(page, 1, CAMPUS)
            page.link_list(
                [
                    self._entry(department)._replace(note=university.name)
                    for university in self._universities
                    for department in university.departments
                    if department.kind is kind
                ]
            )

    def _entry(self, department: Department) -> LinkItem:
        url = department.home.url
        if self._random.random() < 0.2:
            # The address without its slash is the old one; the server sends readers on.
            old = url.rstrip("/")
            self._shop.plan.redirects[old] = (301, url)
            url = old
        return LinkItem(url, department.name)
