"""Universities: departments, people, their publications, and the papers themselves.

The way to a paper leads over pages that are not about it: home, departments, department, people,
a person's home page, her publications.
"""

from __future__ import annotations

from trailhound.demo.foreign_words import FOREIGN
from trailhound.demo.names import UNIVERSITIES, PeopleNames, slug
from trailhound.demo.pages import Chrome, LinkItem, PageDraft, Site
from trailhound.demo.sites.addresses import person_addresses
from trailhound.demo.sites.departments import DepartmentKind, departments_of
from trailhound.demo.sites.faculty import Department, Person
from trailhound.demo.sites.university_pages import UniversityWriter
from trailhound.demo.sites.workshop import Workshop
from trailhound.demo.voices import CAMPUS, RESEARCH

COURSES_PER_DEPARTMENT = 4
_GENERAL = (
    ("Home", "/"),
    ("About", "/about.html"),
    ("Departments", "/departments.html"),
    ("Admissions", "/admissions.html"),
    ("Library", "/library.html"),
    ("News", "/news/"),
    ("Events", "/events.html"),
    ("Contact", "/contact.html"),
)


class University:
    """One university, on one or two hosts."""

    def __init__(self, workshop: Workshop, number: int) -> None:
        self._shop = workshop
        self._number = number
        short, self.name, language = UNIVERSITIES[number]
        self.short = short
        self.site = Site(f"www.{short}.demo.test", self.name, language)
        self.people_site = self.site
        self.general: dict[str, PageDraft] = {}
        self.news: list[PageDraft] = []
        self.departments: list[Department] = []
        self._random = workshop.random(f"university {short}")
        self._names = PeopleNames(self._random)
        self._papers_planned = 1000 * (number + 1)

    def plan(self) -> None:
        """Register all pages."""
        self.site.tagline = "Teaching and research since 1871"
        self._shop.plan.add_site(self.site)
        if person_addresses(self._number, "", "").host_prefix != "www":
            host = f"people.{self.short}.demo.test"
            site = Site(host, self.name, self.site.language, tagline=self.site.tagline)
            self.people_site = self._shop.plan.add_site(site)
        for label, path in _GENERAL:
            self.general[label] = self._general_page(label, path)
        self.general["Staff"] = self._shop.page(self.site, "/private/staff.html", "Staff pages")
        self._plan_news()
        count = self._shop.parameters.departments_per_university
        for kind in departments_of(self._number, count):
            self._plan_department(kind)
        self._set_chrome()

    def write(self) -> None:
        """Fill all pages."""
        writer = UniversityWriter(self._shop, self.short)
        writer.write_general(self.general, self.news, self.departments)
        for department in self.departments:
            writer.write_department(department)
            for person in department.people:
                writer.write_person(person, department)

    def _general_page(self, label: str, path: str) -> PageDraft:
        title = self.name if path == "/" else f"{self._shop.label(self.site, label)} – {self.name}"
        return self._shop.page(self.site, path, title, linkable=path in ("/", "/library.html"))

    def _plan_news(self) -> None:
        foreign = FOREIGN.get(self.site.language)
        for number in range(3):
            title = foreign.titles[number] if foreign else self._shop.title(CAMPUS, "town-affairs")
            page = self._shop.page(self.site, f"/news/item{number + 1}.html", title, linkable=True)
            self.news.append(page)

    def _plan_department(self, kind: DepartmentKind) -> None:
        shop, base = self._shop, f"/{kind.path}/"
        name = kind.foreign_names.get(self.site.language) or self._random.choice(kind.names)

        def page(label: str, path: str) -> PageDraft:
            title = f"{shop.label(self.site, label)} – {name}"
            return shop.page(self.site, base + path, title, "listing", section=kind.path)

        department = Department(
            kind,
            name,
            shop.page(self.site, base, name, "department", section=kind.path, linkable=True),
            page("People", "people.html"),
            page("Research", "research.html"),
            page("Courses", "courses.html"),
        )
        for number in range(COURSES_PER_DEPARTMENT):
            self._plan_course(department, number)
        for number in range(shop.parameters.people_per_department):
            department.people.append(self._plan_person(department, number))
        self.departments.append(department)

    def _plan_course(self, department: Department, number: int) -> None:
        kind = department.kind
        subject = kind.subjects[number % len(kind.subjects)]
        course = self._shop.page(
            self.site,
            f"/{kind.path}/courses/{kind.path[:3]}{101 + 10 * number}.html",
            self._shop.title(CAMPUS, subject),
            "course",
            section=kind.path,
            subject=subject,
        )
        course.language = "en"
        department.courses.append(course)

    def _plan_person(self, department: Department, number: int) -> Person:
        kind, (name, user) = department.kind, self._names.next()
        subject = kind.subjects[number % len(kind.subjects)]
        addresses = person_addresses(self._number, kind.path, user)

        def page(path: str, title: str, kind_of_page: str) -> PageDraft:
            draft = self._shop.page(self.people_site, path, title, kind_of_page, section=kind.path)
            draft.language = "en"
            return draft

        person = Person(
            name,
            subject,
            page(addresses.home, name, "person"),
            page(addresses.publications, f"Publications – {name}", "publications"),
        )
        # An old-fashioned home page here and there: a frameset with a menu and a text.
        if number == 4 and self._number % 3 == 0 and addresses.home.endswith("/"):
            menu = page(f"{addresses.home}menu.html", f"Menu – {name}", "frame")
            text = page(f"{addresses.home}main.html", f"Welcome – {name}", "frame")
            person.frames = (menu, text)
            person.home.frames = (menu.url, text.url)
        for _ in range(self._n_papers()):
            person.papers.append(self._plan_paper(department, person, user))
        return person

    def _n_papers(self) -> int:
        mean = self._shop.parameters.papers_per_person
        return self._random.randint(max(1, mean - mean // 2), mean + (mean + 1) // 2)

    def _plan_paper(self, department: Department, person: Person, user: str) -> PageDraft:
        self._papers_planned += self._random.randint(1, 3)
        kind, subject = department.kind, person.subject
        if self._random.random() < 0.2:
            subject = self._random.choice(kind.subjects)
        title = self._shop.title(RESEARCH, subject)
        path = person_addresses(self._number, kind.path, user).paper_path(
            slug(title)[:60].strip("-"), self._papers_planned
        )
        return self._shop.article(
            self.people_site,
            path,
            title,
            "paper",
            subject,
            section=kind.path,
            language="en",
            hidden=self._random.random() < self._shop.parameters.hidden_share,
        )

    def _set_chrome(self) -> None:
        header = self._shop.menu(self.site, _GENERAL)
        footer = [
            *self._shop.menu(self.site, (("Contact", "/contact.html"), ("Imprint", "/about.html"))),
            LinkItem(self.general["Staff"].url, "Staff pages"),
            LinkItem(self.site.url("/library.html"), "Library catalogue"),
            *self._neighbours(),
        ]
        side = [LinkItem(item.home.url, item.name) for item in self.departments]
        news = [LinkItem(page.url, page.title) for page in self.news]
        chromes = {"": Chrome(header, side + news, footer)}
        for department in self.departments:
            own = self._department_menu(department)
            chromes[department.kind.path] = Chrome(header, own + side, footer)
        self.site.chrome = self.people_site.chrome = chromes

    def _neighbours(self) -> list[LinkItem]:
        """Partner universities in the footer."""
        n_universities = self._shop.parameters.universities
        partners = dict.fromkeys((self._number + step) % n_universities for step in (1, 2))
        return [
            LinkItem(f"http://www.{UNIVERSITIES[partner][0]}.demo.test/", UNIVERSITIES[partner][1])
            for partner in partners
            if partner != self._number
        ]

    def _department_menu(self, department: Department) -> list[LinkItem]:
        label = self._shop.label
        return [
            LinkItem(department.home.url, department.name),
            LinkItem(department.people_page.url, label(self.site, "People")),
            LinkItem(department.research_page.url, label(self.site, "Research")),
            LinkItem(department.courses_page.url, label(self.site, "Courses")),
        ]
