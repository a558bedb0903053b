"""The text and links of a university's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trailhound.demo.pages import LinkItem, PageDraft
from trailhound.demo.prose import SUBJECTS
from trailhound.demo.sites.faculty import Department, Person
from trailhound.demo.sites.workshop import Workshop
from trailhound.demo.trap import first_trap_url
from trailhound.demo.voices import BIOGRAPHY, CAMPUS, RESEARCH

_ROLES = ("Professor", "Senior lecturer", "Research fellow", "Doctoral student", "Lecturer")
_LIST_ANCHORS = ("abstract", "full text", "[more]", "click here", "details")


class UniversityWriter:
    """Writes the pages of one university."""

    def __init__(self, workshop: Workshop, university: str) -> None:
        self._shop = workshop
        self._random = workshop.random(f"writing {university}")

    def write_general(
        self,
        general: Mapping[str, PageDraft],
        news: Sequence[PageDraft],
        departments: Sequence[Department],
    ) -> None:
        """Home, about, departments, news, and so on."""
        for page in general.values():
            self._shop.write_general(page, 3)
        for page in news:
            self._shop.write_general(page, 4)
            page.link_list(self._shop.links.elsewhere(3))
        general["Departments"].link_list(
            [LinkItem(department.home.url, department.name) for department in departments]
        )
        general["News"].link_list(self._shop.links.titled(news))
        general["Library"].link_list(self._shop.links.elsewhere(8))
        general["Home"].heading("On campus")
        general["Home"].link_list(self._shop.links.elsewhere(4))
        general["Events"].sentence_link(
            "The full programme is in the",
            LinkItem(first_trap_url(), "regional calendar of events"),
        )

    def write_department(self, department: Department) -> None:
        """Department home, people, research, courses and the course pages."""
        self._shop.write_general(department.home, 3)
        department.home.link_list(
            [
                LinkItem(department.people_page.url, "Members of staff"),
                LinkItem(department.research_page.url, "Research areas"),
                LinkItem(department.courses_page.url, "Courses this year"),
            ]
        )
        self._write_people_page(department)
        self._write_research_page(department)
        self._shop.write_general(department.courses_page, 2)
        department.courses_page.link_list(self._shop.links.titled(department.courses))
        for course in department.courses:
            self._shop.write_article(course, CAMPUS, 4, topical=0.3)
            teacher = self._random.choice(department.people)
            course.sentence_link("The teacher is", LinkItem(teacher.home.url, teacher.name))
            course.link_list(self._shop.links.related(course, 3))

    def _write_people_page(self, department: Department) -> None:
        page = department.people_page
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
        role = self._random.choice(_ROLES)
        if self._random.random() < self._shop.parameters.stepping_stone_leak:
            role += f", {SUBJECTS[person.subject].label.lower()}"
        return f"{role}, room {self._random.randint(100, 420)}"

    def _write_research_page(self, department: Department) -> None:
        page = department.research_page
        self._shop.write_general(page, 2)
        for subject in dict.fromkeys(person.subject for person in department.people):
            page.heading(SUBJECTS[subject].label)
            page.link_list(
                [
                    LinkItem(person.home.url, person.name)
                    for person in department.people
                    if person.subject == subject
                ]
            )

    def write_person(self, person: Person, department: Department) -> None:
        """Home page, publications and papers of one person."""
        home = person.home
        if person.frames:
            menu, home = person.frames
            menu.link_list(
                [
                    LinkItem(home.url, "Welcome"),
                    LinkItem(person.publications.url, "Publications"),
                    LinkItem(department.people_page.url, "Colleagues"),
                    LinkItem(department.home.url, department.name),
                ]
            )
        self._write_home(home, person, department)
        self._write_publications(person)
        for paper in person.papers:
            self._write_paper(paper, person, department)

    def _write_home(self, page: PageDraft, person: Person, department: Department) -> None:
        prose, leak = self._shop.writing, self._shop.parameters.stepping_stone_leak
        focus = prose.focus(SUBJECTS[person.subject])
        page.paragraphs(prose.paragraphs(BIOGRAPHY, focus, 4, leak))
        links = [LinkItem(person.publications.url, "Publications")]
        course = self._random.choice(department.courses)
        links.append(LinkItem(course.url, f"Teaching: {course.title}"))
        colleague = self._random.choice(department.people)
        links.append(LinkItem(colleague.home.url, colleague.name, "– works next door"))
        if self._random.random() < 0.3:
            links.append(self._document(page, "cv.pdf", f"Curriculum vitae of {person.name}", "CV"))
        self._random.shuffle(links)
        page.link_list(links)
        page.heading("Things I like")
        page.link_list(self._shop.links.elsewhere(self._random.randint(2, 5)))

    def _write_publications(self, person: Person) -> None:
        page, prose = person.publications, self._shop.writing
        page.paragraph(prose.paragraph(BIOGRAPHY, None, 5))
        page.paragraph(prose.paragraph(RESEARCH, None, 6))
        page.heading("Publications")
        page.link_list([self._listed(paper) for paper in person.papers], "publications")
        page.paragraph(prose.paragraph(RESEARCH, None, 6))
        page.sentence_link("Back to", LinkItem(person.home.url, person.name))

    def _listed(self, paper: PageDraft) -> LinkItem:
        """An entry of a list of publications: the title is the anchor or stands beside it."""
        parameters = self._shop.parameters
        year = self._random.randint(1995, 2023)
        if self._random.random() >= parameters.anchor_noise:
            return LinkItem(paper.url, paper.title, f"({year})")
        anchor = self._random.choice(_LIST_ANCHORS)
        if self._random.random() < parameters.hidden_context:
            return LinkItem(paper.url, anchor, f"– conference paper, {year}")
        return LinkItem(paper.url, anchor, f"– {paper.title} ({year})")

    def _write_paper(self, paper: PageDraft, person: Person, department: Department) -> None:
        paper.sentence_link("By", LinkItem(person.home.url, person.name), f", {department.name}.")
        paper.heading("Abstract")
        # One paper in ten is here with its full text.
        n_parts = 3 if self._random.random() < 0.1 else 1
        self._shop.write_article(paper, RESEARCH, n_parts * self._random.randint(4, 9))
        paper.heading("References and related work")
        links = self._shop.links.related(paper, self._random.randint(4, 8))
        if self._random.random() < 0.25:
            links.append(self._document(paper, "paper.pdf", paper.title, "Download as PDF"))
        paper.link_list(links)
        paper.sentence_link("More by the same author:", LinkItem(person.publications.url, "list"))

    def _document(self, page: PageDraft, name: str, title: str, anchor: str) -> LinkItem:
        number = len(self._shop.plan.documents)
        url = page.site.url(f"/files/{number}/{name}")
        self._shop.plan.documents[url] = title
        return LinkItem(url, anchor)
