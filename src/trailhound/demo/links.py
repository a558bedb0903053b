"""Chooses related pages and words the links to them, as difficult as the parameters say."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from urllib.parse import urlsplit

from trailhound.demo.names import slug
from trailhound.demo.pages import LinkItem, PageDraft, WebPlan
from trailhound.demo.parameters import DemoWebParameters

SHORT_LINK_HOST = "go.shortcut.demo.test"

_EMPTY_ANCHORS = ("click here", "read more", "this page", "more", "here", "link", "details", "PDF")
_EMPTY_NOTES = ("(external)", "– recommended", "(new)", "", "– worth a look", "(updated)")
_DEAD_NAMES = ("old-index", "archive2", "members-list", "report-draft", "gallery", "index-old")

# One redirect in ten is a chain of two.
_CHAIN_SHARE = 0.1


class LinkChooser:
    """Makes link items; one per generated web."""

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
        items = [self._spoil(self.item(other), other) for other in chosen.values()]
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

    def items(self, pages: Sequence[PageDraft]) -> list[LinkItem]:
        """One link to each page."""
        return [self.item(page) for page in pages]

    def titled(self, pages: Sequence[PageDraft]) -> list[LinkItem]:
        """One link to each page, always by its title."""
        return [LinkItem(page.url, page.title) for page in pages]

    def elsewhere(self, count: int) -> list[LinkItem]:
        """Links to pages chosen without a reason."""
        pages = [self._random.choice(self._plan.anywhere) for _ in range(count)]
        return self.titled(list(dict.fromkeys(pages)))

    def _one_related(self, page: PageDraft) -> PageDraft:
        subject = page.subject
        local = self._random.random() < self._parameters.topical_locality
        if subject is not None and local:
            alike = self._plan.by_subject.get(subject.key)
            if alike:
                return self._random.choice(alike)
        return self._random.choice(self._plan.anywhere)

    def _spoil(self, item: LinkItem, page: PageDraft) -> LinkItem:
        """Some links are out of date and work only through a redirect."""
        if self._random.random() >= self._parameters.redirect_rate:
            return item
        return item._replace(url=self._redirect_to(page))

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
