"""Plans the pages of the sites that ``data/sites.toml`` declares: addresses, titles, subjects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import urlsplit

from trailhound.demo.pages import PageDraft, Site
from trailhound.demo.universities import DEPARTMENTS, University
from trailhound.demo.words import LANGUAGES, SUBJECTS, PeopleNames, comma_separated, read_data, slug
from trailhound.demo.workshop import Workshop

Declaration = Mapping[str, Any]

KINDS: Mapping[str, Declaration] = read_data("sites")

_SEASONS = ("Spring", "Summer", "Autumn", "Winter")


def host_of(entry: Declaration) -> str:
    """The whole name of a declared host."""
    return f"{entry['host']}.demo.test"


@dataclass
class Section:
    """Texts that belong together, and the pages that list them."""

    name: str = ""
    texts: list[PageDraft] = field(default_factory=list)
    lists: list[PageDraft] = field(default_factory=list)


@dataclass
class PlannedSite:
    """A declared site and the pages planned for it."""

    declared: Declaration
    """Its kind."""
    entry: Declaration
    """What is its own."""
    site: Site
    random: Random
    groups: dict[str, list[PageDraft]] = field(default_factory=dict)
    """Pages by their name in the declaration."""
    sections: list[Section] = field(default_factory=list)
    items: dict[str, str] = field(default_factory=dict)
    """Page to what it was made for: a subject, a university, a department."""


class _Fields(dict[str, object]):
    """What may be named in a path or title; anything else is a label."""

    def __init__(self, workshop: Workshop, site: Site, **values: object) -> None:
        super().__init__(values, name=site.name)
        self._workshop = workshop
        self._site = site

    def __missing__(self, english: str) -> str:
        return self._workshop.label(self._site, english)


class SitePlanner:
    """Interprets one declaration."""

    def __init__(
        self, workshop: Workshop, kind: str, entry: Declaration, universities: Sequence[University]
    ) -> None:
        self._shop = workshop
        self._universities = universities
        self._declared = declared = KINDS[kind]
        self._subjects = comma_separated(entry["subjects"]) if "subjects" in entry else ()
        site = Site(host_of(entry), entry["name"])
        site.language = entry.get("language", "en")
        site.charset = entry.get("charset", "utf-8")
        site.tagline = entry.get("tagline", declared.get("tagline", ""))
        self._site = workshop.plan.add_site(site)
        purpose = declared.get("random", kind).format(host=site.host)
        self._planned = PlannedSite(declared, entry, site, workshop.random(purpose))

    def planned_site(self) -> PlannedSite:
        """The site, registered with all its pages."""
        groups = self._planned.groups
        for name, step in self._declared.get("plan", {}).items():
            if "path" not in step:
                self._plan_categories(step)
            elif ("count" in step and "each" not in step) or "take" in step:
                groups[name] = self._drawn(step)
            else:
                groups[name] = self._named(step)
        if self._planned.entry.get("framed"):
            self._plan_frames(groups["home"][0])
        if "sections" in self._declared:
            self._plan_sections(self._declared["sections"])
        if "broken" in self._declared:
            self._plan_broken(self._declared["broken"])
        return self._planned

    def _page(self, step: Declaration, title: str | None = None, **values: object) -> PageDraft:
        """A page by what ``step`` declares and ``values`` fill in."""
        fields = _Fields(self._shop, self._site, **values)
        subject = values.get("subject")
        return self._shop.page(
            self._site,
            step["path"].format_map(fields),
            step["title"].format_map(fields) if title is None else title,
            step.get("kind", "general"),
            subject=str(subject) if subject else None,
            member=step.get("member", False),
            linkable=step.get("linkable", False) or step.get("member", False),
        )

    def _named(self, step: Declaration) -> list[PageDraft]:
        """One page, or one for each of some names."""
        if "each" not in step:
            first = self._subjects[0] if step.get("subject") == "first" and self._subjects else None
            return [self._page(step, subject=first)]
        pages = []
        for item, label in self._names(step):
            about = item if step["each"] == "subjects" else None
            page = self._page(step, item=item, label=label, slug=slug(item), subject=about)
            self._planned.items[page.url] = item
            pages.append(page)
        return pages

    def _names(self, step: Declaration) -> list[tuple[str, str]]:
        """What ``each`` stands for: short names and names for people."""
        match step["each"]:
            case "subjects":
                return [(key, SUBJECTS[key].label) for key in self._subjects]
            case "universities":
                return [(each.short, each.name) for each in self._universities]
            case "departments":
                return [(path, kind.names[0]) for path, kind in DEPARTMENTS.items()]
            case "people":
                people = PeopleNames(self._planned.random)
                return [people.next()[::-1] for _ in range(step["count"])]
        return [(item, item) for item in comma_separated(step["each"])]

    def _drawn(self, step: Declaration) -> list[PageDraft]:
        """Pages with drawn titles, about the site's subjects in turn."""
        turns: Sequence[int] = step.get("take") or range(self._count(step))
        return [
            self._text(step, number, self._subjects[turn % len(self._subjects)])
            for number, turn in enumerate(turns)
        ]

    def _count(self, step: Declaration) -> int:
        count = step["count"]
        return count if isinstance(count, int) else getattr(self._shop.parameters, count)

    def _text(
        self, step: Declaration, number: int, subject: str, board: int = 1, section: str = ""
    ) -> PageDraft:
        title = self._shop.title(step.get("voice", self._declared["voice"]), subject)
        return self._page(
            step,
            title,
            n=number + 1,
            number=1000 * board + step.get("step", 0) * number,
            slug=slug(title, step.get("longest")),
            section=slug(section),
            subject=subject,
        )

    def _plan_categories(self, categories: Declaration) -> None:
        """A page for each category, followed by one for each of its subjects."""
        groups, items = self._planned.groups, self._planned.items
        groups["categories"], groups["hubs"] = [], []
        for category, subjects in categories.items():
            base = f"/{slug(category)}/"
            groups["categories"].append(self._shop.page(self._site, base, category, "listing"))
            for subject in comma_separated(subjects):
                path, label = f"{base}{subject}.html", SUBJECTS[subject].label
                hub = self._shop.page(self._site, path, label, "hub", section=category)
                items[hub.url] = subject
                groups["hubs"].append(hub)

    def _plan_frames(self, home: PageDraft) -> None:
        """An old-fashioned front page: a frameset with a menu and a text."""
        name, page = self._site.name, self._shop.page
        menu = page(self._site, "/menu.html", f"Menu – {name}", "frame")
        text = page(self._site, "/welcome.html", f"Welcome – {name}", "frame")
        self._planned.groups["frames"] = [menu, text]
        home.frames = (menu.url, text.url)

    def _plan_broken(self, broken: Declaration) -> None:
        first, second = (self._site.url(path) for path in broken["loop"])
        self._shop.plan.redirects[first] = (302, second)
        self._shop.plan.redirects[second] = (302, first)
        self._shop.plan.failing[self._site.url(broken["failing"])] = None

    def _plan_sections(self, declared: Declaration) -> None:
        """Each section's texts, then the pages that list them."""
        subjects_of = self._subjects_of_sections(declared)
        if "copies" in declared:
            self._add_section("", self._copies(declared["copies"]))
        elif not subjects_of:
            foreign = declared["foreign"]
            self._add_section(foreign.get("section", ""), self._foreign_texts(foreign))
        for board, (name, subjects) in enumerate(subjects_of.items(), start=1):
            count = self._count(declared["texts"]) // len(subjects_of)
            self._add_section(name, self._texts(declared["texts"], board, name, subjects, count))

    def _subjects_of_sections(self, declared: Declaration) -> dict[str, tuple[str, ...]]:
        own = self._planned.entry.get("sections")
        if own is None:
            return {"": self._subjects} if self._subjects else {}
        if isinstance(own, str):
            own = {name: declared["subjects"][name] for name in comma_separated(own)}
        return {name: comma_separated(subjects) for name, subjects in own.items()}

    def _texts(
        self, step: Declaration, board: int, name: str, subjects: Sequence[str], count: int
    ) -> list[PageDraft]:
        random = self._planned.random
        first = random.randrange(len(subjects)) if step.get("begin") == "anywhere" else 0
        step = {**step, "member": True}
        texts = [
            self._text(step, number, subjects[(first + number) % len(subjects)], board, name)
            for number in range(count)
        ]
        random.shuffle(texts)
        return texts

    def _foreign_texts(self, step: Declaration) -> list[PageDraft]:
        titles = LANGUAGES[self._site.language].titles * step["times"]
        return [
            self._page({**step, "linkable": True}, title, n=number, slug=slug(title))
            for number, title in enumerate(titles, start=1)
        ]

    def _copies(self, most: int) -> list[PageDraft]:
        """Copies of some papers; the universities must have planned them."""
        papers = [page for page in self._shop.plan.anywhere if page.kind == "paper"]
        copies = []
        for paper in self._planned.random.sample(papers, min(most, len(papers))):
            parts = urlsplit(paper.url)
            path = f"/{parts.netloc}/{slug(parts.path + '-' + parts.query)}.html"
            copy = PageDraft(self._site.url(path), paper.title, self._site, "mirror", paper.subject)
            copies.append(self._shop.plan.add(copy, linkable=False))
            self._shop.plan.duplicates[copy.url] = paper.url
        return copies

    def _add_section(self, name: str, texts: list[PageDraft]) -> None:
        step = self._declared["sections"]["lists"]
        section = Section(name, texts)
        n_pages = max(step.get("least", 0), -(-len(texts) // step["per"]))
        for number in range(n_pages):
            later = f", page {number + 1}" if number else ""
            path = step["path"] + (step.get("more", "") if number else "")
            page = self._page(
                {"title": f"{name}{later}", **step, "path": path},
                n=number + 1,
                board=len(self._planned.sections) + 1,
                section=slug(name),
                start=number * step["per"],
                season=f"{_SEASONS[number % 4]} {2019 + number // 4}",
            )
            section.lists.append(page)
        self._planned.sections.append(section)
