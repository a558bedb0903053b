"""What every site is made with: a register of all pages, prose, and links to related pages.

Prose is sentences, paragraphs and titles from a subject's words and a voice's patterns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import NamedTuple
from urllib.parse import urlsplit

from trailhound.demo.pages import LinkItem, PageDraft, Site
from trailhound.demo.words import (
    FIRST_NAMES,
    LANGUAGES,
    SUBJECTS,
    SURNAMES,
    TOWNS,
    VOICES,
    DemoWebParameters,
    Subject,
    Voice,
    slug,
)

_SLOT = re.compile(r"<([A-Z])>")
_NUMBERS = tuple(str(number) for number in (3, 4, 5, 6, 7, 8, 9, 12, 15, 20, 24, 30))
_YEARS = tuple(str(year) for year in range(1994, 2024))

Pools = Mapping[str, Sequence[str]]
"""Slot letter to the words that may fill it."""


class Focus(NamedTuple):
    """The words that one page uses."""

    own: Pools
    neighbour: Pools


@cache
def _pieces(pattern: str) -> tuple[str, ...]:
    """Text and slot letters in turn, text first."""
    return tuple(_SLOT.split(pattern))


class _Prose:
    """Writes English about subjects, drawing from its own random generator."""

    def __init__(self, random: Random, parameters: DemoWebParameters) -> None:
        self._random = random.random
        self._sample = random.sample
        self._parameters = parameters
        self._names: Pools = {
            "N": _NUMBERS,
            "Y": _YEARS,
            "L": TOWNS,
            "H": [f"{first} {last}" for first, last in zip(FIRST_NAMES, SURNAMES, strict=False)],
        }

    def pick(self, items: Sequence[str]) -> str:
        """One of ``items``."""
        return items[int(self._random() * len(items))]

    def fill(self, pattern: str, pools: Pools) -> str:
        """The pattern with its slots filled; a word is not used twice in one sentence."""
        pieces = list(_pieces(pattern))
        used = set()
        for place in range(1, len(pieces), 2):
            pool = pools.get(pieces[place]) or self._names[pieces[place]]
            word = self.pick(pool)
            if word in used:
                word = self.pick(pool)
            used.add(word)
            pieces[place] = word
        filled = "".join(pieces)
        return filled[:1].upper() + filled[1:]

    def focus(self, subject: Subject) -> Focus:
        """The words one page uses: some of its subject's, and some of a neighbour's."""
        neighbour = SUBJECTS[self.pick(subject.near)]
        return Focus(self._some_words(subject), self._some_words(neighbour))

    def _some_words(self, subject: Subject) -> Pools:
        share = self._parameters.page_vocabulary
        return {
            slot: self._sample(words, max(3, int(len(words) * share)))
            for slot, words in subject.pools.items()
        }

    def paragraph(
        self, voice: Voice, focus: Focus | None, n_sentences: int, topical: float | None = None
    ) -> str:
        """Sentences of which the share ``topical`` is about the subject, the rest small talk.

        Without a focus, all is small talk. No pattern occurs twice.
        """
        share = self._parameters.topical_text if topical is None else topical
        sentences: dict[str, str] = {}
        for _ in range(n_sentences):
            about = focus is not None and self._random() < share
            pattern = self.pick(voice.topical if about else voice.small_talk)
            if pattern not in sentences:
                pools: Pools = {}
                if focus is not None:
                    borrowed = self._random() < self._parameters.vocabulary_overlap
                    pools = focus.neighbour if borrowed else focus.own
                sentences[pattern] = self.fill(pattern, pools)
        return " ".join(sentences.values())

    def paragraphs(
        self, voice: Voice, focus: Focus | None, n_paragraphs: int, topical: float | None = None
    ) -> list[str]:
        """Several paragraphs of up to nine sentences."""
        return [
            self.paragraph(voice, focus, 4 + int(self._random() * 6), topical)
            for _ in range(n_paragraphs)
        ]

    def title(self, voice: Voice, subject: Subject, vague: float) -> str:
        """A title that names the subject, or with probability ``vague`` does not."""
        patterns = voice.vague_titles if self._random() < vague else voice.titles
        return self.fill(self.pick(patterns), subject.pools)


SHORT_LINK_HOST = "go.shortcut.demo.test"

_EMPTY_ANCHORS = ("click here", "read more", "this page", "more", "here", "link", "details", "PDF")
_EMPTY_NOTES = ("(external)", "– recommended", "(new)", "", "– worth a look", "(updated)")
_DEAD_NAMES = ("old-index", "archive2", "members-list", "report-draft", "gallery", "index-old")

# One redirect in ten is a chain of two.
_CHAIN_SHARE = 0.1


@dataclass
class WebPlan:
    """All pages and other answers of the web being made."""

    pages: dict[str, PageDraft] = field(default_factory=dict)
    sites: dict[str, Site] = field(default_factory=dict)
    by_subject: dict[str, list[PageDraft]] = field(default_factory=dict)
    """Pages that related links may lead to, by what they are about."""
    anywhere: list[PageDraft] = field(default_factory=list)
    """Pages that a link chosen without a reason may lead to."""
    redirects: dict[str, tuple[int, str]] = field(default_factory=dict)
    """URL to (status, destination)."""
    dead: dict[str, None] = field(default_factory=dict)
    """Addresses that are linked to and answer 404, in order of first use."""
    failing: dict[str, None] = field(default_factory=dict)
    """Addresses that answer 500."""
    documents: dict[str, str] = field(default_factory=dict)
    """PDF documents: URL to title."""
    duplicates: dict[str, str] = field(default_factory=dict)
    """Duplicate URL to the original's."""
    session_ids: dict[str, str] = field(default_factory=dict)
    """URL with a session id to the plain URL."""

    def add_site(self, site: Site) -> Site:
        """Register a host."""
        self.sites[site.host] = site
        return site

    def add(self, page: PageDraft, *, linkable: bool = True) -> PageDraft:
        """Register a page; ``linkable`` pages may be chosen by related links."""
        page.url = self._free_url(page.url)
        page.language = page.language or page.site.language
        self.pages[page.url] = page
        if linkable and not page.hidden:
            self.anywhere.append(page)
            if page.subject is not None:
                self.by_subject.setdefault(page.subject.key, []).append(page)
        return page

    def _free_url(self, url: str) -> str:
        """Two papers of one title get different addresses."""
        number, free = 1, url
        while free in self.pages:
            number += 1
            stem, dot, extension = url.rpartition(".html")
            free = f"{stem}-{number}{dot}{extension}" if dot else f"{url}-{number}"
        return free

    def members(self, topic: str) -> list[PageDraft]:
        """Pages whose text is about ``topic``."""
        return [
            page
            for page in self.pages.values()
            if page.member and page.subject is not None and page.subject.key == topic
        ]


class Workshop:
    """The plan, the parameters, and the random generators of one web."""

    def __init__(self, seed: int, parameters: DemoWebParameters) -> None:
        self.seed = seed
        self.parameters = parameters
        self.plan = WebPlan()
        self.links = LinkChooser(self.random("links"), self.plan, parameters)
        self.planning = _Prose(self.random("planning prose"), parameters)
        """For titles: they must not change with what is written later."""
        self.writing = _Prose(self.random("writing prose"), parameters)

    def random(self, purpose: str) -> Random:
        """A generator of its own for ``purpose``, so that one part does not disturb another."""
        return Random(f"trailhound demo web/{self.seed}/{purpose}")

    def title(self, voice: str, subject: str) -> str:
        """A title about ``subject``, vague as often as the parameters say."""
        return self.planning.title(VOICES[voice], SUBJECTS[subject], self.parameters.vague_titles)

    def page(
        self,
        site: Site,
        path: str,
        title: str,
        kind: str = "general",
        *,
        subject: str | None = None,
        member: bool = False,
        linkable: bool = False,
        hidden: bool = False,
        section: str = "",
        language: str = "",
    ) -> PageDraft:
        """Plan a page; a ``member`` belongs to its subject's topic, where that is one."""
        about = SUBJECTS[subject] if subject else None
        page = PageDraft(site.url(path), title, site, kind, about)
        page.member = member and about is not None and about.topic
        page.hidden, page.section, page.language = hidden, section, language
        return self.plan.add(page, linkable=linkable)

    def write_article(
        self, page: PageDraft, voice: str, n_paragraphs: int, topical: float | None = None
    ) -> None:
        """Fill a page with text about its subject."""
        focus = self.writing.focus(page.subject) if page.subject else None
        page.paragraphs(self.writing.paragraphs(VOICES[voice], focus, n_paragraphs, topical))

    def write_general(self, page: PageDraft, n_paragraphs: int, voice: str = "campus") -> None:
        """Fill a page with small talk in the page's language."""
        if page.language not in LANGUAGES:
            page.paragraphs(self.writing.paragraphs(VOICES[voice], None, n_paragraphs))
            return
        pick, words = self.writing.pick, LANGUAGES[page.language]
        for _ in range(n_paragraphs):
            chosen = dict.fromkeys(pick(words.sentences) for _ in range(6))
            filled = (each.format(pick(words.phrases), pick(words.phrases)) for each in chosen)
            page.paragraph(" ".join(filled))

    def label(self, site: Site, english: str) -> str:
        """A navigation label in the site's language."""
        foreign = LANGUAGES.get(site.language)
        return foreign.labels.get(english, english) if foreign else english


class LinkChooser:
    """Chooses related pages and words the links to them, as difficult as the parameters say."""

    def __init__(self, random: Random, plan: WebPlan, parameters: DemoWebParameters) -> None:
        self._random = random
        self._plan = plan
        self._parameters = parameters

    def related(self, page: PageDraft, count: int) -> list[LinkItem]:
        """Links from ``page`` to pages like it, or unlike it: see ``topical_locality``."""
        chosen: dict[str, PageDraft] = {}
        for _ in range(count):
            other = self._one_related(page)
            if other.url != page.url:
                chosen[other.url] = other
        items = []
        for other in chosen.values():
            item = self.item(other)
            # Some links are out of date and work only through a redirect.
            if self._random.random() < self._parameters.redirect_rate:
                item = item._replace(url=self._redirect_to(other))
            items.append(item)
        if self._random.random() < self._parameters.dead_link_rate * count:
            items.append(self._dead_link(page))
        return items

    def item(self, page: PageDraft) -> LinkItem:
        """A link to ``page`` by its title or, with ``anchor_noise``, by an empty word."""
        if self._random.random() >= self._parameters.anchor_noise:
            return LinkItem(page.url, page.title)
        anchor = self._random.choice(_EMPTY_ANCHORS)
        if self._random.random() < self._parameters.hidden_context:
            return LinkItem(page.url, anchor, self._random.choice(_EMPTY_NOTES))
        return LinkItem(page.url, anchor, f"– {page.title}")

    def elsewhere(self, count: int) -> list[LinkItem]:
        """Links to pages chosen without a reason."""
        pages = [self._random.choice(self._plan.anywhere) for _ in range(count)]
        return titled(list(dict.fromkeys(pages)))

    def _one_related(self, page: PageDraft) -> PageDraft:
        alike: Sequence[PageDraft] = ()
        local = self._random.random() < self._parameters.topical_locality
        if page.subject is not None and local:
            alike = self._plan.by_subject.get(page.subject.key, ())
        return self._random.choice(alike or self._plan.anywhere)

    def _redirect_to(self, page: PageDraft) -> str:
        number = len(self._plan.redirects)
        if self._random.random() < 0.5:
            alias, status = f"http://{SHORT_LINK_HOST}/{number:x}k", 302
        else:
            alias, status = page.site.url(f"/old/{slug(page.title)[:40]}-{number}.html"), 301
        self._plan.redirects[alias] = (status, page.url)
        if self._random.random() < _CHAIN_SHARE:
            first = f"http://{SHORT_LINK_HOST}/{number:x}c"
            self._plan.redirects[first] = (301, alias)
            return first
        return alias

    def _dead_link(self, page: PageDraft) -> LinkItem:
        host = urlsplit(self._random.choice(self._plan.anywhere).url).netloc
        if self._random.random() < 0.5:
            host = page.site.host
        name = self._random.choice(_DEAD_NAMES)
        url = f"http://{host}/{name}{self._random.randrange(9)}.html"
        self._plan.dead[url] = None
        return LinkItem(url, name.replace("-", " ").capitalize())


def titled(pages: Sequence[PageDraft]) -> list[LinkItem]:
    """One link to each page, by its title."""
    return [LinkItem(page.url, page.title) for page in pages]
