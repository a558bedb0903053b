"""What may be asked besides the web, answered from a recorded one: links, words, visits, pages."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from weakref import WeakKeyDictionary

from trailhound.errors import SourceError
from trailhound.lab.corpora import Corpus, Trail
from trailhound.lab.corpora.contents import access_log
from trailhound.lab.importers import import_corpus
from trailhound.lab.topics.base import LabTopic, generator_for
from trailhound.records import Page
from trailhound.sessions.events import Reached, Session, Visit
from trailhound.sessions.shown_pages import Content
from trailhound.sources import SearchHit
from trailhound.sources.page_search import IndexedPage, PageIndex
from trailhound.sources.traces.building import PageAccess, trace_in_memory
from trailhound.sources.traces.index import TraceIndex

_ARCHIVE_ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".wacz")
# Topics and strategies take turns on one corpus; indexing it takes seconds, and nothing changes it.
_indexes: WeakKeyDictionary[Corpus, PageIndex] = WeakKeyDictionary()


class _RecordedSource:
    """Counts what is asked, so each run needs its own; knows nothing of pages ``off_limits``."""

    def __init__(self, corpus: Corpus, off_limits: Collection[str] = frozenset()) -> None:
        self._corpus = corpus
        self._off_limits = frozenset(off_limits)
        self.queries = 0
        """What a search engine would charge."""
        self.pages_read = 0
        """Pages that a live crawl would have fetched."""

    async def page(self, url: str) -> Page | None:
        """The recorded page, unless it is off limits."""
        self.pages_read += 1
        page = self._corpus.page(url)
        return None if page is None or page.url in self._off_limits else page


class RecordedBacklinks(_RecordedSource):
    """A backlink source over a corpus."""

    async def linking_to(self, url: str) -> Sequence[str]:
        """Recorded pages with a link to ``url``, by number."""
        self.queries += 1
        number = self._corpus.page_id(url)
        if number is None or self._corpus.page_urls[number] in self._off_limits:
            return ()
        sources = self._corpus.graph.reversed.links_of(number).tolist()
        urls = (self._corpus.page_urls[source] for source in sources)
        return [url for url in urls if url not in self._off_limits]


class RecordedSearch(_RecordedSource):
    """A search over a corpus, indexed by the first query."""

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """Recorded pages with any of the words, best first; equals in the order of recording."""
        self.queries += 1
        hits = _index_of(self._corpus).ranked(query)
        allowed = (hit for hit in hits if hit.url not in self._off_limits)
        return list(islice(allowed, max(0, limit)))


def _index_of(corpus: Corpus) -> PageIndex:
    index = _indexes.get(corpus)
    if index is None:
        pages = map(corpus.page_by_id, range(len(corpus)))
        index = PageIndex(IndexedPage(page.url, page.title, page.text) for page in pages)
        _indexes[corpus] = index
    return index


def recorded_trace(corpus: Corpus, topic: LabTopic, noise: float = 0.0) -> TraceIndex | None:
    """The trails of other people than those of the session; ``None`` when the corpus has none.

    ``noise`` is the share of accesses that are replaced by random pages of the corpus: what the
    trace is worth when people, or the log, are not to the point. SourceError when the rules of
    :func:`open_trails` leave no trail.
    """
    if not corpus.info().trails:
        return None
    trails = list(open_trails(corpus.trails(), topic))
    if not trails:
        raise SourceError(
            f"No trail is left for the topic '{topic.name}' when those of its session, those to "
            "relevant pages and later ones are left out. Choose another topic."
        )
    return trace_in_memory(
        _accesses(corpus, topic, trails, noise),
        lambda user: int.from_bytes(hashlib.blake2b(user, digest_size=8).digest(), "little"),
    )


def _accesses(
    corpus: Corpus, topic: LabTopic, trails: Sequence[Trail], noise: float
) -> Iterator[PageAccess]:
    rng = generator_for(0, topic.name, "trace noise")
    pages = [url for url in corpus.page_urls if url not in topic.closed]
    for access in access_log(trails):
        url = access.url
        if url in topic.closed:
            continue
        if noise and rng.random() < noise:
            url = pages[int(rng.integers(len(pages)))]
        yield access.user.encode(), access.time, url.encode()


def open_trails(trails: Iterator[Trail], topic: LabTopic) -> Iterator[Trail]:
    """The trace must not contain the answer. Of the trails, it holds only those

    * of people who have no part in the topic's session: a trail that goes exactly as one of the
      session excludes all trails of its user;
    * that nobody had sent to an answer: a trail whose goal, or last page, is a relevant page is
      left out, because there the data set itself named the page that is to be found;
    * from before the session's end: a log knows no future.

    Visits to pages that the topic closes are in no trace. What remains are people on their way to
    something else. That some of them passed through relevant pages is what a trace is for.
    """
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
        if isinstance(event, Visit):
            if not ways or event.reached is Reached.TYPED:
                ways.append([])
            ways[-1].append(event.url)
    return frozenset(map(tuple, ways))


@contextmanager
def open_content(path: Path) -> Iterator[Content]:
    """Look pages up in a corpus, a WARC or WACZ file, or a folder of these.

    An archive is read once from beginning to end, into a corpus that goes away afterwards.
    """
    with ExitStack() as opened:
        if path.is_dir() or path.name.lower().endswith(_ARCHIVE_ENDINGS):
            folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="trailhound-"))
            archive, path = path, Path(folder) / "content.thc"
            import_corpus("warc", archive, path)
        yield opened.enter_context(Corpus.open(path)).page
