"""Writes what stands on and around the pages of declared sites.

A page's ``text`` in ``data/sites.toml`` is a list of blocks: ``talk 2`` (so many paragraphs of
small talk), ``article 4-10`` (about the page's subject), ``heading WORDS``, ``list LINKS`` and
others. Each is the method ``_block_NAME``. LINKS, of which ``header``, ``side`` and ``footer``
consist as well, are one or more of these, joined by a plus sign:

* ``PAGES`` or ``PAGES FROM:TO``: a group of the plan, or a part of it, each page by its title;
* ``PAGE=Label``: one page by another name;
* ``related 3-6``, ``noisy PAGES`` and others that choose pages, each the method ``_links_NAME``.

Of a range as in ``3-6`` a number is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from trailhound.demo.pages import Chrome, LinkItem, PageDraft
from trailhound.demo.site_plans import KINDS, PlannedSite, Section, host_of
from trailhound.demo.trap import first_trap_url
from trailhound.demo.universities import Department, University
from trailhound.demo.words import (
    FIRST_NAMES,
    LANGUAGES,
    SUBJECTS,
    TOPIC_KEYS,
    VOICES,
    Subject,
    comma_separated,
)
from trailhound.demo.workshop import Workshop, titled

_NO_SECTION = Section()


class _Place(NamedTuple):
    """Where on the site the writing is."""

    page: PageDraft
    voice: str = "campus"
    number: int = 0
    """The page's position among its like."""
    section: Section = _NO_SECTION
    """Of a text or a list."""


LinkSource = Callable[[str, _Place], list[LinkItem]]
"""From what stands behind its name, and the place, to links."""


class SiteWriter:
    """Writes one declared site."""

    def __init__(
        self, workshop: Workshop, planned: PlannedSite, universities: Sequence[University]
    ) -> None:
        self._shop = workshop
        self._planned = planned
        self._universities = universities
        self._site = planned.site
        self._random = planned.random
        self._declared = planned.declared
        self._voice: str = planned.declared.get("voice", "campus")

    def surround(self) -> None:
        """Set what stands around every page; the pages of all sites before it are planned."""
        if "plan" not in self._declared:
            return
        anywhere, parts = _Place(PageDraft("", "", self._site, "")), ("header", "side", "footer")
        header, side, footer = (
            self._joined(self._declared.get(part, ()), anywhere) for part in parts
        )
        self._site.chrome[""] = Chrome(header, side, footer)
        for category in self._planned.groups.get("categories", ()):
            own = self._links_its_hubs("", _Place(category))
            if own:
                self._site.chrome[category.title] = Chrome(header, side + own, footer)

    def write(self) -> None:
        """Fill all pages; every page of the web is planned by now."""
        for group, blocks in self._declared.get("text", {}).items():
            if group == "lists":
                self._write_sections()
            elif group not in ("texts", "foreign"):
                voice = self._declared["plan"].get(group, {}).get("voice", self._voice)
                for number, page in enumerate(self._planned.groups[group]):
                    self._write(blocks, _Place(self._text_frame(page), voice, number))

    def _write_sections(self) -> None:
        text = self._declared["text"]
        for section in self._planned.sections:
            for number, page in enumerate(section.lists):
                self._write(text["lists"], _Place(page, self._voice, number, section))
            for number, page in enumerate(section.texts):
                blocks = text["texts"] if page.subject else text["foreign"]
                self._write(blocks, _Place(page, self._voice, number, section))

    def _text_frame(self, page: PageDraft) -> PageDraft:
        """The page itself, or where it is a frameset the frame with the text."""
        if not page.frames:
            return page
        menu, text = self._planned.groups["frames"]
        chrome = self._site.chrome[""]
        menu.link_list([*chrome.header[1:], *chrome.side])
        return text

    def _write(self, blocks: Sequence[str], place: _Place) -> None:
        for block in blocks:
            verb, _, rest = block.partition(" ")
            getattr(self, f"_block_{verb}")(rest, place)

    def _draw(self, numbers: str) -> int:
        """``4``, or one of ``4-10``."""
        low, dash, high = numbers.partition("-")
        return self._random.randint(int(low), int(high)) if dash else int(low)

    # Blocks

    def _block_talk(self, count: str, place: _Place) -> None:
        self._shop.write_general(place.page, int(count), place.voice)

    def _block_article(self, options: str, place: _Place) -> None:
        count, _, topical = options.partition(" ")
        n_paragraphs = self._draw(count)
        if place.page.language in LANGUAGES:
            self._shop.write_general(place.page, n_paragraphs)
        else:
            share = float(topical) if topical else None
            self._shop.write_article(place.page, place.voice, n_paragraphs, share)

    def _block_sentences(self, options: str, place: _Place) -> None:
        """One paragraph about what the page was made for."""
        count, voice = options.split()
        focus = self._shop.writing.focus(SUBJECTS[self._planned.items[place.page.url]])
        place.page.paragraph(self._shop.writing.paragraph(VOICES[voice], focus, int(count)))

    def _block_paragraphs(self, name: str, place: _Place) -> None:
        place.page.paragraphs(self._declared["paragraphs"][name].splitlines())

    def _block_heading(self, words: str, place: _Place) -> None:
        place.page.heading(words)

    def _block_list(self, sources: str, place: _Place) -> None:
        place.page.link_list(self._joined(sources.split(" + "), place))

    def _block_pager(self, word: str, place: _Place) -> None:
        pages = enumerate(place.section.lists, start=1)
        items = [LinkItem(page.url, f"{word} {number}".strip()) for number, page in pages]
        place.page.link_list(items, "pages")

    def _block_posts(self, count: str, place: _Place) -> None:
        page, prose = place.page, self._shop.writing
        focus = prose.focus(page.subject) if page.subject else None
        for _ in range(self._draw(count)):
            name = self._random.choice(FIRST_NAMES).lower()
            page.heading(f"{name}{self._random.randint(1, 99)} wrote:")
            n_sentences = self._random.randint(2, 5)
            page.paragraph(prose.paragraph(VOICES[place.voice], focus, n_sentences))

    def _block_print(self, _: str, place: _Place) -> None:
        """A print version of every third text, where the site has them."""
        article, plan = place.page, self._shop.plan
        if not self._planned.entry.get("print_versions") or place.number % 3:
            return
        printed = PageDraft(f"{article.url}?print=1", article.title, self._site, "print")
        printed.subject, printed.blocks = article.subject, list(article.blocks)
        plan.add(printed, linkable=False)
        plan.duplicates[printed.url] = article.url
        printed.sentence_link("This text in the", LinkItem(article.url, "usual layout"))
        article.sentence_link("This text as a", LinkItem(printed.url, "print version"))

    def _block_copy(self, _: str, place: _Place) -> None:
        """Text and links of the original, which must have been written."""
        copy, plan = place.page, self._shop.plan
        original = plan.pages[plan.duplicates[copy.url]]
        copy.blocks, copy.links = list(original.blocks), list(original.links)
        copy.sentence_link("Copied from", LinkItem(original.url, "the original"))

    # Links

    def _joined(self, sources: Sequence[str], place: _Place) -> list[LinkItem]:
        return [item for source in sources for item in self._links(source, place)]

    def _links(self, source: str, place: _Place) -> list[LinkItem]:
        name, equals, label = source.partition("=")
        if equals:
            return [LinkItem(self._address(name), self._shop.label(self._site, label))]
        name, _, rest = source.partition(" ")
        choose: LinkSource | None = getattr(self, f"_links_{name.replace('-', '_')}", None)
        return choose(rest, place) if choose else titled(self._pages(source, place))

    def _address(self, name: str) -> str:
        if name == "calendar":
            return first_trap_url()
        broken = self._declared.get("broken", {})
        if name in broken:
            return self._site.url(broken[name][0] if name == "loop" else broken[name])
        return self._planned.groups[name][0].url

    def _pages(self, source: str, place: _Place) -> list[PageDraft]:
        """A group of pages, or a part of it."""
        name, _, part = source.partition(" ")
        match name:
            case "lists":
                pages = [page for section in self._planned.sections for page in section.lists]
            case "shown":
                per = self._declared["sections"]["lists"]["per"]
                pages = place.section.texts[place.number * per : (place.number + 1) * per]
            case "off-topic":
                texts = [page for section in self._planned.sections for page in section.texts]
                shown = texts[:: self._declared.get("front_every", 1)]
                pages = [page for page in shown if not page.member]
            case _:
                pages = self._planned.groups[name]
        bounds = [int(bound) if bound else None for bound in part.split(":")] if part else [None]
        return pages[slice(*bounds)]

    def _links_noisy(self, pages: str, place: _Place) -> list[LinkItem]:
        return [self._shop.links.item(page) for page in self._pages(pages, place)]

    def _links_spread(self, options: str, place: _Place) -> list[LinkItem]:
        """About so many, at even distances."""
        count, pages = options.split()
        found = self._pages(pages, place)
        return titled(found[:: max(1, len(found) // int(count))])

    def _links_sample(self, options: str, place: _Place) -> list[LinkItem]:
        return titled(self._sample(options, place))

    def _sample(self, options: str, place: _Place) -> list[PageDraft]:
        """So many of a group, or all where there are fewer."""
        count, pages = options.split()
        found = self._pages(pages, place)
        return self._random.sample(found, min(int(count), len(found)))

    def _links_others(self, options: str, place: _Place) -> list[LinkItem]:
        """A sample without the page itself; its first link may carry a session id."""
        others = [page for page in self._sample(options, place) if page is not place.page]
        return self._with_session_id(titled(others))

    def _links_threads(self, _: str, place: _Place) -> list[LinkItem]:
        shown, items = self._pages("shown", place), []
        for thread in shown:
            name = self._random.choice(FIRST_NAMES).lower()
            replies, number = self._random.randint(1, 40), self._random.randint(1, 99)
            last = f"({replies} replies, last by {name}{number})"
            items.append(LinkItem(thread.url, thread.title, last))
        if self._planned.entry.get("session_ids") and items:
            items = self._with_session_id(items)
            items.append(LinkItem(shown[0].url, "permanent link"))
        return items

    def _with_session_id(self, items: list[LinkItem]) -> list[LinkItem]:
        """The first link under another address of the same page, where the site has such."""
        if not self._planned.entry.get("session_ids") or not items:
            return items
        url = items[0].url
        address = f"{url}{self._declared['session_id']}{self._random.getrandbits(64):016x}"
        self._shop.plan.session_ids[address] = url
        return [items[0]._replace(url=address), *items[1:]]

    def _links_related(self, count: str, place: _Place) -> list[LinkItem]:
        return self._shop.links.related(place.page, self._draw(count))

    def _links_like_home(self, count: str, _: _Place) -> list[LinkItem]:
        """Related to what the site is about."""
        return self._like(self._planned.groups["home"][0].subject, count)

    def _links_hobby(self, count: str, place: _Place) -> list[LinkItem]:
        """Related to one of the subjects that people have for a hobby, in turn."""
        hobbies = [*TOPIC_KEYS, *comma_separated(self._declared["hobbies"])]
        return self._like(SUBJECTS[hobbies[place.number % len(hobbies)]], count)

    def _like(self, subject: Subject | None, count: str) -> list[LinkItem]:
        page = PageDraft("", "", self._site, "", subject)
        return self._shop.links.related(page, self._draw(count))

    def _links_like_it(self, pages: str, place: _Place) -> list[LinkItem]:
        subject = place.page.subject
        return titled([page for page in self._pages(pages, place) if page.subject is subject])

    def _links_elsewhere(self, count: str, _: _Place) -> list[LinkItem]:
        return self._shop.links.elsewhere(int(count))

    def _links_sections(self, _: str, __: _Place) -> list[LinkItem]:
        return [LinkItem(section.lists[0].url, section.name) for section in self._planned.sections]

    def _links_sites(self, kind: str, _: _Place) -> list[LinkItem]:
        return [LinkItem(f"http://{host_of(e)}/", e["name"]) for e in KINDS[kind]["sites"]]

    def _links_other_sites(self, kind: str, place: _Place) -> list[LinkItem]:
        return [i for i in self._links_sites(kind, place) if i.url != self._site.url()]

    def _links_partners(self, count: str, place: _Place) -> list[LinkItem]:
        partners = self._random.sample(self._links_sites("club", place), int(count))
        return [item for item in partners if item.url != self._site.url()]

    def _links_foreign_sites(self, _: str, __: _Place) -> list[LinkItem]:
        return [
            LinkItem(site.url(), site.name)
            for site in self._shop.plan.sites.values()
            if site.language in LANGUAGES
        ]

    # Links of directories

    def _links_fronts(self, _: str, __: _Place) -> list[LinkItem]:
        return titled([p for p in self._shop.plan.pages.values() if p.url.endswith(".test/")])

    def _links_universities(self, _: str, __: _Place) -> list[LinkItem]:
        return [LinkItem(each.site.url(), each.name) for each in self._universities]

    def _links_its_hubs(self, _: str, place: _Place) -> list[LinkItem]:
        hubs = self._planned.groups.get("hubs", ())
        return titled([hub for hub in hubs if hub.section == place.page.title])

    def _about_it(self, place: _Place) -> list[PageDraft]:
        return self._shop.plan.by_subject.get(self._planned.items[place.page.url], [])

    def _links_about_it(self, kinds: str, place: _Place) -> list[LinkItem]:
        return titled([page for page in self._about_it(place) if page.kind in kinds.split()])

    def _links_reading(self, _: str, place: _Place) -> list[LinkItem]:
        coverage = self._shop.parameters.hub_coverage
        texts = [page for page in self._about_it(place) if page.kind not in ("club", "product")]
        chosen = [text for text in texts if self._random.random() < coverage]
        return [self._shop.links.item(text) for text in chosen]

    def _links_departments(self, share: str, place: _Place) -> list[LinkItem]:
        subject = self._planned.items[place.page.url]
        return [
            LinkItem(department.home.url, department.name, university.name)
            for university, department in self._departments()
            if subject in department.kind.subjects and self._random.random() < float(share)
        ]

    def _links_departments_there(self, _: str, place: _Place) -> list[LinkItem]:
        short = self._planned.items[place.page.url]
        return [
            self._maybe_old(department)
            for university, department in self._departments()
            if university.short == short
        ]

    def _links_departments_like_it(self, _: str, place: _Place) -> list[LinkItem]:
        path = self._planned.items[place.page.url]
        return [
            self._maybe_old(department)._replace(note=university.name)
            for university, department in self._departments()
            if department.kind.path == path
        ]

    def _departments(self) -> Iterator[tuple[University, Department]]:
        return ((each, its) for each in self._universities for its in each.departments)

    def _maybe_old(self, department: Department) -> LinkItem:
        """One link in five has the old address, without a slash: the server sends readers on."""
        url = department.home.url
        if self._random.random() < 0.2:
            old = url.rstrip("/")
            self._shop.plan.redirects[old] = (301, url)
            url = old
        return LinkItem(url, department.name)
