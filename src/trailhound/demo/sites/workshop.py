"""What every kind of site needs to make its pages."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Protocol

from trailhound.demo.foreign_words import FOREIGN
from trailhound.demo.links import LinkChooser
from trailhound.demo.pages import TOPIC_KEYS, LinkItem, PageDraft, Site, WebPlan
from trailhound.demo.parameters import DemoWebParameters
from trailhound.demo.prose import SUBJECTS, Prose
from trailhound.demo.voices import CAMPUS, Voice


class SiteBuilder(Protocol):
    """Makes the pages of one or more hosts."""

    def plan(self) -> None:
        """Register sites and pages."""
        ...

    def write(self) -> None:
        """Fill the pages; every page of the web is registered by now."""
        ...


class Workshop:
    """The plan, the parameters, and the random generators of one web."""

    def __init__(self, seed: int, parameters: DemoWebParameters, plan: WebPlan) -> None:
        self.seed = seed
        self.parameters = parameters
        self.plan = plan
        self.links = LinkChooser(self.random("links"), plan, parameters)
        self.planning = Prose(self.random("planning prose"), parameters)
        """For titles: they must not change with what is written later."""
        self.writing = Prose(self.random("writing prose"), parameters)

    def random(self, purpose: str) -> Random:
        """A generator of its own for ``purpose``, so that one part does not disturb another."""
        return Random(f"trailhound demo web/{self.seed}/{purpose}")

    def title(self, voice: Voice, subject: str) -> str:
        """A title about ``subject``, vague as often as the parameters say."""
        return self.planning.title(voice, SUBJECTS[subject], self.parameters.vague_titles)

    def article(
        self, site: Site, path: str, title: str, kind: str, subject: str, **options: object
    ) -> PageDraft:
        """Plan a page whose text is about ``subject``: a member if that is a topic."""
        page = PageDraft(
            site.url(path), title, site, kind, SUBJECTS[subject], subject in TOPIC_KEYS
        )
        page.section = str(options.get("section", ""))
        page.language = str(options.get("language", ""))
        page.hidden = bool(options.get("hidden", False))
        return self.plan.add(page)

    def page(
        self,
        site: Site,
        path: str,
        title: str,
        kind: str = "general",
        *,
        section: str = "",
        subject: str | None = None,
        linkable: bool = False,
    ) -> PageDraft:
        """Plan a page that is no member of any topic."""
        about = SUBJECTS[subject] if subject else None
        page = PageDraft(site.url(path), title, site, kind, about, section=section)
        return self.plan.add(page, linkable=linkable)

    def write_article(
        self, page: PageDraft, voice: Voice, n_paragraphs: int, topical: float | None = None
    ) -> None:
        """Fill a page with text about its subject."""
        focus = self.writing.focus(page.subject) if page.subject else None
        page.paragraphs(self.writing.paragraphs(voice, focus, n_paragraphs, topical))

    def write_general(self, page: PageDraft, n_paragraphs: int, voice: Voice = CAMPUS) -> None:
        """Fill a page with small talk in the page's language."""
        foreign = FOREIGN.get(page.language)
        if foreign is None:
            page.paragraphs(self.writing.paragraphs(voice, None, n_paragraphs))
            return
        for _ in range(n_paragraphs):
            page.paragraph(self._foreign_paragraph(foreign.sentences, foreign.phrases))

    def _foreign_paragraph(self, sentences: Sequence[str], phrases: Sequence[str]) -> str:
        pick = self.writing.pick
        chosen = dict.fromkeys(pick(sentences) for _ in range(6))
        return " ".join(sentence.format(pick(phrases), pick(phrases)) for sentence in chosen)

    def label(self, site: Site, english: str) -> str:
        """A navigation label in the site's language."""
        foreign = FOREIGN.get(site.language)
        return foreign.label(english) if foreign else english

    def menu(self, site: Site, entries: Sequence[tuple[str, str]]) -> list[LinkItem]:
        """Links to pages of ``site`` from (English label, path) pairs."""
        return [LinkItem(site.url(path), self.label(site, label)) for label, path in entries]
