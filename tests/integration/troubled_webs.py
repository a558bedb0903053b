"""Recorded webs of some hundred pages, each with a trouble of its own, and crawls of them.

A host has a home page, sections with a theme each, and articles. One theme is wanted: all articles
about it that the session did not show are to be found. Crawls are those of the lab, one fetch at a
time and without delays, so that nothing but the strategy decides what comes next.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import msgspec

from trailhound.config.settings import Settings
from trailhound.crawling.build import Knowledge, OwnParts, make_guides
from trailhound.crawling.engine import Crawler
from trailhound.frontier.memory import MemoryFrontier
from trailhound.judges.base import RelevanceJudge
from trailhound.judges.choosing import make_judge
from trailhound.lab.corpora import Corpus, CorpusWriter
from trailhound.lab.results import RunTask
from trailhound.lab.runner import TopicBench
from trailhound.lab.topics.base import LabTopic
from trailhound.records import Page, Relevance
from trailhound.sessions.events import Event, Mark, Reached, Session, Visit
from trailhound.sessions.page_graph import build_page_graph
from trailhound.sources import Sources
from trailhound.strategies.base import Briefing
from trailhound.urls import host_key

TOPIC = 0
N_THEMES = 9
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


def _vocabulary(name: str, size: int) -> list[str]:
    rng = random.Random(name)
    return ["".join(rng.choices(_SYLLABLES, k=3)) for _ in range(size)]


COMMON = _vocabulary("common", 150)
THEMES = [_vocabulary(f"theme {number}", 40) for number in range(N_THEMES)]


@dataclass
class Article:
    """A page to be recorded."""

    url: str
    title: str
    text: str
    theme: int | None = None
    links: list[tuple[str, str]] = field(default_factory=list)
    """Addresses and anchors."""

    @property
    def html(self) -> bytes:
        """Its source: a line of text after every few links."""
        lines = "".join(f'<li><a href="{url}">{anchor}</a></li>' for url, anchor in self.links)
        return (
            f"<html lang=en><title>{self.title}</title><h1>{self.title}</h1>"
            f"<p>{self.text}</p><ul>{lines}</ul></html>"
        ).encode()


class TroubledWeb:
    """Grows host by host; everything about it follows from its seed."""

    def __init__(self, seed: int, *, coherence: float = 0.7, anchors: str = "") -> None:
        self.rng = random.Random(seed)
        self.coherence = coherence
        self.anchors = anchors
        """The same words in all links; empty: the title of the page behind."""
        self.pages: dict[str, Article] = {}
        self.homes: list[str] = []
        self.relevant: set[str] = set()
        self._articles: dict[int, list[Article]] = {theme: [] for theme in range(N_THEMES)}

    def words(self, theme: int | None, count: int, share: float = 0.4) -> str:
        """Of a theme, mixed with those that all pages have."""
        rng = self.rng
        own = THEMES[theme] if theme is not None else COMMON
        return " ".join(rng.choice(own if rng.random() < share else COMMON) for _ in range(count))

    def page(self, url: str, theme: int | None, n_words: int = 70, share: float = 0.4) -> Article:
        """A new page; its title is of its theme."""
        title = self.words(theme, 3, share=0.8)
        made = self.pages[url] = Article(url, title, self.words(theme, n_words, share), theme)
        return made

    def link(self, source: Article, target: Article) -> None:
        """From one page to another."""
        source.links.append((target.url, self.anchors or target.title))

    def add_host(self, themes: Sequence[int], articles: int) -> str:
        """A home page, a section for each theme, and so many articles in each."""
        number = len(self.homes)
        base = f"http://h{number}.test/"
        home = self.page(base, None)
        self.homes.append(base)
        for place, theme in enumerate(themes):
            section = self.page(f"{base}{place}/", theme, 30, 0.2)
            self.link(home, section)
            self.link(section, home)
            for each in range(articles):
                # Without coherence a section has articles of all kinds.
                about = theme if self.rng.random() < self.coherence else self._any_theme()
                article = self.page(f"{base}{place}/{each}.html", about)
                self._articles[about].append(article)
                self.link(section, article)
                self.link(article, section)
                self.link(article, home)
                if about == TOPIC:
                    self.relevant.add(article.url)
        return base

    def _any_theme(self) -> int:
        return self.rng.randrange(N_THEMES)

    def join(self, homes_each: int = 3, links_each: int = 3) -> None:
        """Link hosts to others, and articles to articles anywhere, of their theme as a rule."""
        for base in self.homes:
            for other in self.rng.sample(self.homes, min(homes_each, len(self.homes))):
                self.link(self.pages[base], self.pages[other])
        everything = [article for articles in self._articles.values() for article in articles]
        for article in everything:
            for _ in range(links_each):
                near = self.rng.random() < self.coherence
                pool = self._articles[article.theme or 0] if near else everything
                self.link(article, self.rng.choice(pool))

    def record(self, folder: Path) -> Corpus:
        """Write it down, and open what was written."""
        path = folder / "web.thc"
        with CorpusWriter(path, kind="test") as writer:
            for page in self.pages.values():
                writer.add_page(page.url, page.html)
        return Corpus.open(path)


def ordinary(
    seed: int, hosts: int = 12, *, coherence: float = 0.7, anchors: str = ""
) -> TroubledWeb:
    """Five sections a host; every third host, the first among them, has one that is wanted."""
    web = TroubledWeb(seed, coherence=coherence, anchors=anchors)
    for number in range(hosts):
        others = web.rng.sample(range(1, N_THEMES), 5)
        web.add_host(others if number % 3 else [TOPIC, *others[1:]], 9)
    web.join()
    return web


def one_huge_host(seed: int) -> TroubledWeb:
    """Every article anywhere may link to a host that is as large as all others together."""
    web = TroubledWeb(seed)
    for number in range(10):
        others = web.rng.sample(range(1, N_THEMES), 3)
        web.add_host(others if number % 3 else [TOPIC, *others[1:]], 9)
    web.add_host([*range(1, N_THEMES), TOPIC], 30)
    web.join()
    return web


def stuffed_page(seed: int) -> TroubledWeb:
    """All home pages link to a page of topic words whose thousand links promise more of them.

    Half of them lead to its own host, and each of the others to another.
    """
    web = ordinary(seed)
    stuffed = web.page("http://stuffed.test/", TOPIC, 400, share=1.0)
    for base in web.homes:
        web.link(web.pages[base], stuffed)
    for number in range(1000):
        host = f"s{number}" if number % 2 else "stuffed"
        junk = web.page(f"http://{host}.test/{number}.html", TOPIC, 0)
        web.link(stuffed, junk)
        junk.title, junk.text = "", web.words(None, 12)
    return web


def lying_host(seed: int) -> TroubledWeb:
    """All home pages link to a host whose every page is full of topic words and of such links."""
    web = ordinary(seed)
    lies = [web.page(f"http://lies.test/{n}.html", TOPIC, share=0.6) for n in range(250)]
    for lie in lies:
        for other in web.rng.sample(lies, 12):
            web.link(lie, other)
    for base in web.homes:
        web.link(web.pages[base], web.rng.choice(lies))
    return web


def behind_hosts(seed: int, hops: int = 3) -> TroubledWeb:
    """Wanted sections are at the ends of ways that lead through several hosts that have none."""
    web = TroubledWeb(seed, coherence=0.9)
    layers: list[list[str]] = [[web.add_host([TOPIC, 1], 9)]]
    for layer in range(hops + 1):
        wanted = [TOPIC] if layer == hops else []
        themes = [[*wanted, *web.rng.sample(range(1, N_THEMES), 3)] for _ in range(2 + 2 * layer)]
        layers.append([web.add_host(each, 6) for each in themes])
    web.join(homes_each=0, links_each=0)
    for near, far in pairwise(layers[1:]):
        for base in far:
            web.link(web.pages[web.rng.choice(near)], web.pages[base])
    return web


def browse(web: TroubledWeb, urls: Iterable[str], marks: int = 5) -> Session:
    """These pages one after the other; the first wanted ones are marked."""
    events: list[Event] = []
    for number, url in enumerate(urls):
        reached = Reached.LINK if number else Reached.TYPED
        events.append(Visit(float(number), url, reached=reached))
        if url in web.relevant and marks:
            events.append(Mark(number + 0.5, url))
            marks -= 1
    return Session("wanted", tuple(events))


def first_host(web: TroubledWeb) -> list[str]:
    """Home page, the first section and up to five wanted articles, another one with four others."""
    base = web.homes[0]
    wanted = sorted(url for url in web.relevant if url.startswith(base))[:5]
    others = [url for url in web.pages if url.startswith(f"{base}1/") and url not in web.relevant]
    return [base, f"{base}0/", *wanted, *others[:5]]


class FlippingJudge:
    """Says the opposite for a share of all pages, always the same ones."""

    def __init__(self, honest: RelevanceJudge, share: float) -> None:
        self._honest = honest
        self._share = share

    def judge(self, page: Page) -> Relevance:
        """What the honest one says, or 1 minus its score."""
        said = self._honest.judge(page)
        drawn = hashlib.blake2b(page.url.encode(), digest_size=4).digest()
        if int.from_bytes(drawn, "big") / 2**32 >= self._share:
            return said
        return msgspec.structs.replace(said, score=1 - said.score, relevant=not said.relevant)


class TroubledBench(TopicBench):
    """The lab's, with a judge that may be wrong."""

    flipped = 0.0

    @cached_property
    def _judge(self) -> RelevanceJudge:
        return make_judge("fields", Briefing(self.topic.graph), threshold=None, calibrated={})

    async def crawler(self, strategy: str, seed: int, sources: Sources) -> Crawler:
        """With a strategy that has learned."""
        settings = self.settings.changed({"crawl.strategy": strategy})
        guides = await make_guides(
            settings,
            Knowledge(self.topic.graph),
            sources,
            seed=seed,
            own=OwnParts(judge=FlippingJudge(self._judge, self.flipped)),
        )
        return self.assemble(settings, guides, MemoryFrontier())


@dataclass(frozen=True)
class CrawlCounts:
    """What came of a crawl, by ground truth."""

    requests: int
    finds: list[int]
    """Requests at which each find came."""
    host_pages: Counter[str]
    host_finds: Counter[str]

    def until(self, find: int) -> int:
        """Requests until the n-th find; one more than there were when it never came."""
        return self.finds[find - 1] if len(self.finds) >= find else self.requests + 1


class Trial:
    """One web with one session, crawled by several strategies."""

    def __init__(
        self,
        web: TroubledWeb,
        folder: Path,
        session: Session,
        seeds: Sequence[str],
        *,
        flipped: float = 0.0,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        corpus = web.record(folder)
        graph = build_page_graph([session], corpus.page)
        shown = {page.url for page in graph.pages}
        relevant = frozenset(web.relevant - shown)
        topic = LabTopic("wanted", session, graph, relevant, (tuple(seeds),), (len(relevant),))
        settings = Settings().changed({"crawl.concurrency": 1, "fetch.delay_seconds": 0.0})
        self._bench = TroubledBench(corpus, topic, settings)
        self._bench.flipped = flipped

    def crawl(self, strategy: str, max_requests: int) -> CrawlCounts:
        """What a strategy finds in so many requests."""
        task = RunTask("wanted", 0, strategy)
        events = self._bench.crawl(task, 1, max_requests).events
        found = self._bench.truth.finds(events)
        hosts = [host_key(event.final_url) for event in events]
        at = [place for place, find in enumerate(found) if find is not None]
        return CrawlCounts(
            len(events), [place + 1 for place in at], Counter(hosts), Counter(hosts[p] for p in at)
        )
