"""Universities, as ``data/universities.toml`` declares them: departments, people, papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trailhound.demo.pages import Chrome, LinkItem, PageDraft, Site
from trailhound.demo.trap import first_trap_url
from trailhound.demo.words import (
    LANGUAGES,
    SUBJECTS,
    VOICES,
    PeopleNames,
    comma_separated,
    read_data,
    slug,
)
from trailhound.demo.workshop import Workshop, titled

_DECLARED = read_data("universities")
_ROLES = comma_separated(_DECLARED["roles"])
_LIST_ANCHORS = comma_separated(_DECLARED["list_anchors"])


@dataclass(frozen=True)
class DepartmentKind:
    """A department as it exists, under different names, at several universities."""

    path: str
    names: tuple[str, ...]
    foreign_names: Mapping[str, str]
    """Language to name."""
    subjects: tuple[str, ...]
    """People take these in turn."""


DEPARTMENTS = {
    path: DepartmentKind(
        path, comma_separated(kind["names"]), kind, comma_separated(kind["subjects"])
    )
    for path, kind in _DECLARED["departments"].items()
}


@dataclass
class Person:
    """A member of staff and her pages."""

    name: str
    user: str
    subject: str
    home: PageDraft
    publications: PageDraft
    papers: list[PageDraft] = field(default_factory=list)
    frames: tuple[PageDraft, ...] = ()
    """Menu and text, where the home page is a frameset."""


@dataclass
class Department:
    """A department and its pages."""

    kind: DepartmentKind
    name: str
    home: PageDraft
    lists: dict[str, PageDraft]
    """People, Research, Courses."""
    courses: list[PageDraft] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)


def named(items: Sequence[Person] | Sequence[Department]) -> list[LinkItem]:
    """One link to the home page of each, by name."""
    return [LinkItem(item.home.url, item.name) for item in items]


class University:
    """One university, on one or two hosts: its pages are planned, then written."""

    def __init__(self, workshop: Workshop, number: int) -> None:
        self._shop = workshop
        self._number = number
        declared = _DECLARED["universities"][number]
        self.short: str = declared["short"]
        self.name: str = declared["name"]
        self.site = Site(f"www.{self.short}.demo.test", self.name, declared.get("language", "en"))
        self.site.tagline = _DECLARED["tagline"]
        self.departments: list[Department] = []
        self._general: dict[str, PageDraft] = {}
        self._news: list[PageDraft] = []
        styles: Sequence[Mapping[str, str]] = _DECLARED["addresses"]
        self._addresses = styles[number % len(styles)]
        self._random = workshop.random(f"university {self.short}")
        self._writing = workshop.random(f"writing {self.short}")
        self._names = PeopleNames(self._random)
        self._papers_planned = 1000 * (number + 1)

    def plan(self) -> None:
        """Register all pages."""
        self._people_site = self._shop.plan.add_site(self.site)
        if "prefix" in self._addresses:
            host = f"{self._addresses['prefix']}.{self.short}.demo.test"
            own = Site(host, self.name, self.site.language, tagline=self.site.tagline)
            self._people_site = self._shop.plan.add_site(own)
        for label, path in _DECLARED["general"].items():
            title = f"{self._shop.label(self.site, label)} – {self.name}"
            title = self.name if path == "/" else title
            linkable = path in ("/", "/library.html")
            self._general[label] = self._shop.page(self.site, path, title, linkable=linkable)
        self._general["Staff"] = self._shop.page(self.site, "/private/staff.html", "Staff pages")
        titles = LANGUAGES[self.site.language].titles if self.site.language in LANGUAGES else ()
        for number in range(3):
            title = titles[number] if titles else self._shop.title("campus", "town-affairs")
            path = f"/news/item{number + 1}.html"
            self._news.append(self._shop.page(self.site, path, title, linkable=True))
        kinds, count = list(DEPARTMENTS.values()), self._shop.parameters.departments_per_university
        for k in range(min(count, len(kinds))):
            # A window that moves on from one university to the next.
            self._plan_department(kinds[(self._number * count + k) % len(kinds)])
        self._set_chrome()

    def _plan_department(self, kind: DepartmentKind) -> None:
        shop, site, base = self._shop, self.site, f"/{kind.path}/"
        name = kind.foreign_names.get(site.language) or self._random.choice(kind.names)
        home = shop.page(site, base, name, "department", section=kind.path, linkable=True)
        department = Department(kind, name, home, {})
        for label in ("People", "Research", "Courses"):
            path, title = f"{base}{label.lower()}.html", f"{shop.label(site, label)} – {name}"
            department.lists[label] = shop.page(site, path, title, "listing", section=kind.path)
        for number in range(_DECLARED["courses"]):
            subject = kind.subjects[number % len(kind.subjects)]
            path = f"{base}courses/{kind.path[:3]}{101 + 10 * number}.html"
            title = shop.title("campus", subject)
            course = shop.page(
                site, path, title, "course", section=kind.path, subject=subject, language="en"
            )
            department.courses.append(course)
        for number in range(shop.parameters.people_per_department):
            department.people.append(self._plan_person(kind, number))
        self.departments.append(department)

    def _plan_person(self, kind: DepartmentKind, number: int) -> Person:
        name, user = self._names.next()

        def page(path: str, title: str, kind_of_page: str) -> PageDraft:
            return self._shop.page(
                self._people_site, path, title, kind_of_page, section=kind.path, language="en"
            )

        def address(page_name: str) -> str:
            return self._addresses[page_name].format(user=user, department=kind.path)

        home = address("home")
        subject, home_page = kind.subjects[number % len(kind.subjects)], page(home, name, "person")
        papers = page(address("publications"), f"Publications – {name}", "publications")
        person = Person(name, user, subject, home_page, papers)
        # An old-fashioned home page here and there: a frameset with a menu and a text.
        if number == 4 and self._number % 3 == 0 and home.endswith("/"):
            menu = page(f"{home}menu.html", f"Menu – {name}", "frame")
            text = page(f"{home}main.html", f"Welcome – {name}", "frame")
            person.frames = (menu, text)
            person.home.frames = (menu.url, text.url)
        mean = self._shop.parameters.papers_per_person
        for _ in range(self._random.randint(max(1, mean - mean // 2), mean + (mean + 1) // 2)):
            person.papers.append(self._plan_paper(kind, person))
        return person

    def _plan_paper(self, kind: DepartmentKind, person: Person) -> PageDraft:
        self._papers_planned += self._random.randint(1, 3)
        subject = person.subject
        if self._random.random() < 0.2:
            subject = self._random.choice(kind.subjects)
        title = self._shop.title("research", subject)
        names = {"slug": slug(title, 60), "number": self._papers_planned}
        path = self._addresses["paper"].format(user=person.user, department=kind.path, **names)
        return self._shop.page(
            self._people_site,
            path,
            title,
            "paper",
            subject=subject,
            member=True,
            linkable=True,
            hidden=self._random.random() < self._shop.parameters.hidden_share,
            section=kind.path,
            language="en",
        )

    def _set_chrome(self) -> None:
        site, label = self.site, self._shop.label
        general = _DECLARED["general"].items()
        header = [LinkItem(site.url(path), label(site, name)) for name, path in general]
        footer = [
            LinkItem(site.url("/contact.html"), label(site, "Contact")),
            LinkItem(site.url("/about.html"), label(site, "Imprint")),
            LinkItem(self._general["Staff"].url, "Staff pages"),
            LinkItem(site.url("/library.html"), "Library catalogue"),
            *self._neighbours(),
        ]
        side = named(self.departments)
        chromes = {"": Chrome(header, side + titled(self._news), footer)}
        for department in self.departments:
            own = [LinkItem(page.url, label(site, name)) for name, page in department.lists.items()]
            whole = [*named([department]), *own, *side]
            chromes[department.kind.path] = Chrome(header, whole, footer)
        self.site.chrome = self._people_site.chrome = chromes

    def _neighbours(self) -> list[LinkItem]:
        """Partner universities in the footer."""
        n_universities = self._shop.parameters.universities
        numbers = dict.fromkeys((self._number + step) % n_universities for step in (1, 2))
        partners = [_DECLARED["universities"][n] for n in numbers if n != self._number]
        return [LinkItem(f"http://www.{p['short']}.demo.test/", p["name"]) for p in partners]

    def write(self) -> None:
        """Fill all pages."""
        self._write_general()
        for department in self.departments:
            self._write_department(department)
            for person in department.people:
                self._write_person(person, department)

    def _write_general(self) -> None:
        general, links = self._general, self._shop.links
        for page in general.values():
            self._shop.write_general(page, 3)
        for page in self._news:
            self._shop.write_general(page, 4)
            page.link_list(links.elsewhere(3))
        general["Departments"].link_list(named(self.departments))
        general["News"].link_list(titled(self._news))
        general["Library"].link_list(links.elsewhere(8))
        general["Home"].heading("On campus")
        general["Home"].link_list(links.elsewhere(4))
        general["Events"].sentence_link(
            "The full programme is in the",
            LinkItem(first_trap_url(), "regional calendar of events"),
        )

    def _write_department(self, department: Department) -> None:
        """Department home, people, research, courses and the course pages."""
        shop, home = self._shop, department.home
        shop.write_general(home, 3)
        anchors = ("Members of staff", "Research areas", "Courses this year")
        lists = zip(department.lists.values(), anchors, strict=True)
        home.link_list([LinkItem(page.url, anchor) for page, anchor in lists])
        self._write_people_page(department)
        self._write_research_page(department)
        shop.write_general(department.lists["Courses"], 2)
        department.lists["Courses"].link_list(titled(department.courses))
        for course in department.courses:
            shop.write_article(course, "campus", 4, topical=0.3)
            teacher = self._writing.choice(department.people)
            course.sentence_link("The teacher is", LinkItem(teacher.home.url, teacher.name))
            course.link_list(shop.links.related(course, 3))

    def _write_people_page(self, department: Department) -> None:
        page = department.lists["People"]
        self._shop.write_general(page, 1)
        page.link_list(
            [
                LinkItem(person.home.url, person.name, f"– {self._role(person)}")
                for person in department.people
            ]
        )
        self._shop.write_general(page, 1)

    def _role(self, person: Person) -> str:
        """What stands behind a name; it seldom gives the subject away."""
        role = self._writing.choice(_ROLES)
        if self._writing.random() < self._shop.parameters.stepping_stone_leak:
            role += f", {SUBJECTS[person.subject].label.lower()}"
        return f"{role}, room {self._writing.randint(100, 420)}"

    def _write_research_page(self, department: Department) -> None:
        page = department.lists["Research"]
        self._shop.write_general(page, 2)
        for subject in dict.fromkeys(person.subject for person in department.people):
            page.heading(SUBJECTS[subject].label)
            page.link_list(named([each for each in department.people if each.subject == subject]))

    def _write_person(self, person: Person, department: Department) -> None:
        """Home page, publications and papers of one person."""
        home = person.home
        if person.frames:
            menu, home = person.frames
            menu.link_list(
                [
                    LinkItem(home.url, "Welcome"),
                    LinkItem(person.publications.url, "Publications"),
                    LinkItem(department.lists["People"].url, "Colleagues"),
                    LinkItem(department.home.url, department.name),
                ]
            )
        self._write_home(home, person, department)
        self._write_publications(person)
        for paper in person.papers:
            self._write_paper(paper, person, department)

    def _write_home(self, page: PageDraft, person: Person, department: Department) -> None:
        prose, random = self._shop.writing, self._writing
        focus = prose.focus(SUBJECTS[person.subject])
        leak = self._shop.parameters.stepping_stone_leak
        page.paragraphs(prose.paragraphs(VOICES["biography"], focus, 4, leak))
        links = [LinkItem(person.publications.url, "Publications")]
        course = random.choice(department.courses)
        links.append(LinkItem(course.url, f"Teaching: {course.title}"))
        colleague = random.choice(department.people)
        links.append(LinkItem(colleague.home.url, colleague.name, "– works next door"))
        if random.random() < 0.3:
            links.append(self._document(page, "cv.pdf", f"Curriculum vitae of {person.name}", "CV"))
        random.shuffle(links)
        page.link_list(links)
        page.heading("Things I like")
        page.link_list(self._shop.links.elsewhere(random.randint(2, 5)))

    def _write_publications(self, person: Person) -> None:
        page, prose = person.publications, self._shop.writing
        page.paragraph(prose.paragraph(VOICES["biography"], None, 5))
        page.paragraph(prose.paragraph(VOICES["research"], None, 6))
        page.heading("Publications")
        page.link_list([self._listed(paper) for paper in person.papers], "publications")
        page.paragraph(prose.paragraph(VOICES["research"], None, 6))
        page.sentence_link("Back to", LinkItem(person.home.url, person.name))

    def _listed(self, paper: PageDraft) -> LinkItem:
        """An entry of a list of publications: the title is the anchor or stands beside it."""
        parameters = self._shop.parameters
        year = self._writing.randint(1995, 2023)
        if self._writing.random() >= parameters.anchor_noise:
            return LinkItem(paper.url, paper.title, f"({year})")
        anchor = self._writing.choice(_LIST_ANCHORS)
        if self._writing.random() < parameters.hidden_context:
            return LinkItem(paper.url, anchor, f"– conference paper, {year}")
        return LinkItem(paper.url, anchor, f"– {paper.title} ({year})")

    def _write_paper(self, paper: PageDraft, person: Person, department: Department) -> None:
        random = self._writing
        paper.sentence_link("By", LinkItem(person.home.url, person.name), f", {department.name}.")
        paper.heading("Abstract")
        # One paper in ten is here with its full text.
        n_parts = 3 if random.random() < 0.1 else 1
        self._shop.write_article(paper, "research", n_parts * random.randint(4, 9))
        paper.heading("References and related work")
        links = self._shop.links.related(paper, random.randint(4, 8))
        if random.random() < 0.25:
            links.append(self._document(paper, "paper.pdf", paper.title, "Download as PDF"))
        paper.link_list(links)
        paper.sentence_link("More by the same author:", LinkItem(person.publications.url, "list"))

    def _document(self, page: PageDraft, name: str, title: str, anchor: str) -> LinkItem:
        number = len(self._shop.plan.documents)
        url = page.site.url(f"/files/{number}/{name}")
        self._shop.plan.documents[url] = title
        return LinkItem(url, anchor)
