"""What every site is made with: random generators, pages, prose, and links to related pages."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from urllib.parse import urlsplit

from trailhound.demo.pages import LinkItem, PageDraft, Site, WebPlan
from trailhound.demo.parameters import DemoWebParameters
from trailhound.demo.prose import Prose
from trailhound.demo.words import LANGUAGES, SUBJECTS, VOICES, slug

SHORT_LINK_HOST = "go.shortcut.demo.test"

_EMPTY_ANCHORS = ("click here", "read more", "this page", "more", "here", "link", "details", "PDF")
_EMPTY_NOTES = ("(external)", "– recommended", "(new)", "", "– worth a look", "(updated)")
_DEAD_NAMES = ("old-index", "archive2", "members-list", "report-draft", "gallery", "index-old")

# One redirect in ten is a chain of two.
_CHAIN_SHARE = 0.1


class Workshop:
    """The plan, the parameters, and the random generators of one web."""

    def __init__(self, seed: int, parameters: DemoWebParameters) -> None:
        self.seed = seed
        self.parameters = parameters
        self.plan = WebPlan()
        self.links = LinkChooser(self.random("links"), self.plan, parameters)
        self.planning = Prose(self.random("planning prose"), parameters)
        """For titles: they must not change with what is written later."""
        self.writing = Prose(self.random("writing prose"), parameters)

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
