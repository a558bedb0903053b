"""What may be asked besides the web, answered from a recorded one: links, words, visits, pages."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from trailhound.errors import SourceError
from trailhound.lab.corpora import Corpus, Trail
from trailhound.lab.corpora.contents import access_log
from trailhound.lab.importers import Progress, import_corpus
from trailhound.lab.topics.assembly import LabTopic
from trailhound.lab.topics.base import generator_for
from trailhound.records import Page
from trailhound.sessions.events import Reached, Session
from trailhound.sessions.events import Visit as Shown
from trailhound.sessions.shown_pages import Content
from trailhound.sources import SearchHit, Visit
from trailhound.sources.page_search import IndexedPage, PageIndex
from trailhound.sources.traces import PageAccess, TraceIndex, trace_in_memory

_ARCHIVE_ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".wacz")
# Topics and strategies take turns on one corpus; indexing it takes seconds, and nothing changes it.
_indexes: WeakKeyDictionary[Corpus, PageIndex] = WeakKeyDictionary()


class RecordedBacklinks:
    """A backlink source over a corpus; one for each run, as it counts what is asked.

    ``closed`` are URLs of pages that it knows nothing of.
    """

    def __init__(self, corpus: Corpus, closed: Collection[str] = frozenset()) -> None:
        self._corpus = corpus
        self._closed = frozenset(closed)
        self.queries = 0
        """What a search engine would charge."""
        self.pages_read = 0
        """Pages that a live crawl would have fetched."""

    def linking_to(self, url: str) -> Sequence[str]:
        """Recorded pages with a link to ``url``, by number."""
        self.queries += 1
        number = self._corpus.page_id(url)
        if number is None or self._corpus.page_urls[number] in self._closed:
            return ()
        sources = self._corpus.graph.reversed().links_of(number).tolist()
        urls = (self._corpus.page_urls[source] for source in sources)
        return [url for url in urls if url not in self._closed]

    def page(self, url: str) -> Page | None:
        """The recorded page."""
        self.pages_read += 1
        page = self._corpus.page(url)
        return None if page is None or page.url in self._closed else page


class RecordedSearch:
    """A search over a corpus, indexed by the first query; one for each run, as it counts.

    ``off_limits`` are URLs of pages that it does not name: a topic's closed part of the web.
    """

    def __init__(self, corpus: Corpus, off_limits: Collection[str] = frozenset()) -> None:
        self._corpus = corpus
        self._off_limits = frozenset(off_limits)
        self.queries = 0
        """What a search engine would charge."""
        self.pages_read = 0
        """Pages that a live crawl would have fetched."""

    def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """Recorded pages with any of the words, best first; equals in the order of recording."""
        self.queries += 1
        hits = _index_of(self._corpus).ranked(query)
        allowed = (hit for hit in hits if hit.url not in self._off_limits)
        return list(islice(allowed, max(0, limit)))

    def page(self, url: str) -> Page | None:
        """The recorded page, unless it is off limits."""
        self.pages_read += 1
        page = self._corpus.page(url)
        return None if page is None or page.url in self._off_limits else page


def _index_of(corpus: Corpus) -> PageIndex:
    index = _indexes.get(corpus)
    if index is None:
        pages = map(corpus.page_by_id, range(len(corpus)))
        index = PageIndex(IndexedPage(page.url, page.title, page.text) for page in pages)
        _indexes[corpus] = index
    return index


class RecordedTrace:
    """The trails of other people than those of the session, indexed when first asked for.

    The trace must not contain the answer. Of the trails, it holds only those

    * of people who have no part in the topic's session: a trail that goes exactly as one of the
      session excludes all trails of its user;
    * that nobody had sent to an answer: a trail whose goal, or last page, is a relevant page is
      left out, because there the data set itself named the page that is to be found;
    * from before the session's end: a log knows no future.

    Visits to pages that the topic closes are in no trail. What remains are people on their way to
    something else. That some of them passed through relevant pages is what a trace is for.

    ``noise`` is the share of accesses that are replaced by random pages of the corpus: what the
    trace is worth when people, or the log, are not to the point.
    """

    def __init__(self, corpus: Corpus, topic: LabTopic, noise: float = 0.0, seed: int = 0) -> None:
        self._corpus = corpus
        self._topic = topic
        self._noise = noise
        self._seed = seed

    @cached_property
    def _index(self) -> TraceIndex:
        trails = list(open_trails(self._corpus.trails(), self._topic))
        if not trails:
            raise SourceError(
                f"No trail is left for the topic '{self._topic.name}' when those of its session, "
                "those to relevant pages and later ones are left out. Choose another topic."
            )
        return trace_in_memory(self._accesses(trails), _user_key)

    def _accesses(self, trails: Sequence[Trail]) -> Iterator[PageAccess]:
        rng = generator_for(self._seed, self._topic.name, "trace noise")
        closed = self._topic.closed
        pages = [url for url in self._corpus.page_urls if url not in closed]
        for access in access_log(trails):
            url = access.url
            if url in closed:
                continue
            if self._noise and rng.random() < self._noise:
                url = pages[int(rng.integers(len(pages)))]
            yield access.user.encode(), access.time, url.encode()

    def __len__(self) -> int:
        return len(self._index)

    @property
    def n_users(self) -> int:
        """People in all."""
        return self._index.n_users

    @property
    def n_pages(self) -> int:
        """Pages in all."""
        return self._index.n_pages

    def page_number(self, url: str) -> int | None:
        """The number of a page."""
        return self._index.page_number(url)

    def page_url(self, page: int) -> str:
        """The address of a page."""
        return self._index.page_url(page)

    def visitors(self, page: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Users and times of all visits to a page."""
        return self._index.visitors(page)

    def some_visitors(
        self, pages: NDArray[np.int64], limit: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Users of some visits to each page, and the places of the pages."""
        return self._index.some_visitors(pages, limit)

    def history(self, user: int) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Pages and times of all visits of a user."""
        return self._index.history(user)

    def visits_to(self, url: str) -> Sequence[Visit]:
        """All visits to a page."""
        return self._index.visits_to(url)

    def visits_by(self, user: int) -> Sequence[Visit]:
        """All visits of a user."""
        return self._index.visits_by(user)

    def sample(self, rng: np.random.Generator) -> str:
        """A page of the trace."""
        return self._index.sample(rng)


def recorded_trace(corpus: Corpus, topic: LabTopic, noise: float = 0.0) -> RecordedTrace | None:
    """The trace for a topic; ``None`` when the corpus has no trails."""
    return RecordedTrace(corpus, topic, noise) if corpus.info().trails else None


def open_trails(trails: Iterator[Trail], topic: LabTopic) -> Iterator[Trail]:
    """Trails that do not contain the answer; see :class:`RecordedTrace` for the rules."""
    ways = _ways(topic.session)
    ended = max((event.time for event in topic.session.events), default=float("inf"))
    known = list(trails)
    in_session = {
        trail.user
        for trail in known
        if tuple(visit.url for visit in trail.visits() if visit.url not in topic.closed) in ways
    }
    for trail in known:
        over = trail.time + trail.duration_seconds
        ends = {trail.goal, *trail.steps[-1:]}
        if trail.user not in in_session and over < ended and not ends & topic.relevant:
            yield trail


def _ways(session: Session) -> frozenset[tuple[str, ...]]:
    """The trails of a session: each begins with a typed address."""
    ways: list[list[str]] = []
    for event in session.events:
        if isinstance(event, Shown):
            if not ways or event.reached is Reached.TYPED:
                ways.append([])
            ways[-1].append(event.url)
    return frozenset(map(tuple, ways))


def _user_key(user: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(user, digest_size=8).digest(), "little")


@contextmanager
def open_content(path: Path, progress: Progress | None = None) -> Iterator[Content]:
    """Look pages up in a corpus, a WARC or WACZ file, or a folder of these.

    An archive is read once from beginning to end, into a corpus that goes away afterwards.
    """
    if path.is_dir() or path.name.lower().endswith(_ARCHIVE_ENDINGS):
        with tempfile.TemporaryDirectory(prefix="trailhound-") as folder:
            corpus = Path(folder) / "content.thc"
            import_corpus("warc", path, corpus, progress)
            with Corpus.open(corpus) as opened:
                yield opened.page
    else:
        with Corpus.open(path) as opened:
            yield opened.page
