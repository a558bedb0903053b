"""People and departments of a university, and which pages are theirs."""

from __future__ import annotations

from dataclasses import dataclass, field

from trailhound.demo.pages import PageDraft
from trailhound.demo.sites.departments import DepartmentKind


@dataclass
class Person:
    """A member of staff and her pages."""

    name: str
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
    people_page: PageDraft
    research_page: PageDraft
    courses_page: PageDraft
    courses: list[PageDraft] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
