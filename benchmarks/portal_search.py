"""How long a portal takes to answer: ``python -m benchmarks.portal_search``.

A crawl with many relevant pages of made-up words, whose frequencies fall as those of a language do,
is written to a folder; then pages of results are asked for, rendered and timed, and the best 2,000
are written as a static site.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import accumulate
from pathlib import Path

from trailhound.config.settings import Settings
from trailhound.counting import in_bytes
from trailhound.portal import Portal
from trailhound.portal.site import write_site
from trailhound.records import (
    Candidate,
    FetchResult,
    FinishedPage,
    Outcome,
    Page,
    PageEvent,
    Relevance,
)
from trailhound.storage.results import ResultsStore
from trailhound.storage.text_index import index_for_search
from trailhound.topics.crawls.folder import CrawlFolder, CrawlRecord
from trailhound.topics.workspace import TopicFolder

N_WORDS = 30_000
WORDS_PER_PAGE = 150
SITE_PAGES = 2_000
_SYLLABLES = ("ba", "ne", "ti", "ro", "su", "la", "ke", "mo", "vi", "da", "pe", "shu", "gra", "ol")
_LANGUAGES = ("en", "en", "en", "de", "fr", "es", "")


class MadeUpPages:
    """Pages of words by Zipf's law; the same for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self.words = sorted({self._word() for _ in range(2 * N_WORDS)})
        self._random.shuffle(self.words)
        self.words = self.words[:N_WORDS]
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self.words) + 1)))

    def _word(self) -> str:
        return "".join(self._random.choices(_SYLLABLES, k=self._random.randint(2, 5)))

    def some(self, number: int) -> str:
        """So many words."""
        return " ".join(self._random.choices(self.words, cum_weights=self._weights, k=number))

    def page(self, number: int) -> FinishedPage:
        """The page with a number."""
        host = f"host{int(self._random.paretovariate(1.0)) % 5000}.test"
        url = f"https://{host}/page/{number}"
        relevance = Relevance(self._random.uniform(0.5, 1.0), True)
        text, title = self.some(WORDS_PER_PAGE), self.some(6).capitalize()
        at = 1_600_000_000 + 800.0 * number
        event = PageEvent(
            number,
            url,
            url,
            Outcome.FETCHED,
            None,
            1,
            0.5,
            1,
            number,
            relevance,
            title=title,
            at=at,
        )
        page = Page(url, title, text=text, language=self._random.choice(_LANGUAGES))
        result = FetchResult(url, Outcome.FETCHED, url, status=200)
        return FinishedPage(event, Candidate(url, 0.5), result, page)


def make_crawl(folder: Path, pages: int, made_up: MadeUpPages) -> CrawlFolder:
    """A topic with so many finds, in an empty folder."""
    crawl = CrawlFolder(TopicFolder(folder / "benchmark", "benchmark"))
    crawl.make()
    crawl.write(
        CrawlRecord(topic="benchmark", settings=Settings(), created_at=0, states=4, model="")
    )
    with closing(ResultsStore(crawl.results)) as store:
        for number in range(1, pages + 1):
            store.keep(made_up.page(number))
    return crawl


def questions(portal: Portal, made_up: MadeUpPages) -> Iterator[tuple[str, Callable[[], object]]]:
    """What readers ask for."""
    frequent, middling, rare = made_up.words[0], made_up.words[200], made_up.words[20_000]
    ask = portal.search_page
    yield "all pages, best first", lambda: ask()
    yield "all pages, newest first", lambda: ask(order="newest")
    yield "page 5,000 of all", lambda: ask(page=5000)
    yield "one host of all", lambda: ask(facets={"host": "host1.test"})
    yield "a word on nearly every page", lambda: ask(frequent)
    yield "the same, one language", lambda: ask(frequent, facets={"language": "de"})
    yield "two frequent words", lambda: ask(f"{frequent} {made_up.words[1]}")
    yield "a middling word", lambda: ask(middling)
    yield "a rare word", lambda: ask(rare)
    yield "the beginning of a word", lambda: ask(f"{rare[:6]}*")
    yield "a beginning on every page", lambda: ask(f"{rare[:3]}*")
    yield "a feed", lambda: portal.feed("atom")
    yield "about", portal.about_page


def main() -> None:
    """Make, index, ask, tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trailhound-portal-") as folder:
        made_up = MadeUpPages()
        crawl = make_crawl(Path(folder), arguments.pages, made_up)
        _timed("indexing all words", lambda: index_for_search(crawl.results), 1)
        portal = Portal(crawl)
        _timed("reading the listing", portal.refresh, 1)
        for name, ask in questions(portal, made_up):
            _timed(name, ask, arguments.repeat)
        site = Path(folder) / "site"
        _timed("a site", lambda: write_site(portal, site, limit=SITE_PAGES), 1)
        sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
        print(f"{in_bytes(sum(sizes))} in {len(sizes)} files, up to {in_bytes(max(sizes))}")


def _timed(name: str, work: Callable[[], object], times: int) -> None:
    """CPU time of the slowest run and of the median one."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append(1000 * (time.process_time() - started))
    taken.sort()
    print(f"{name:<32} {taken[len(taken) // 2]:9.1f} ms  (slowest {taken[-1]:9.1f} ms)")


if __name__ == "__main__":
    main()
