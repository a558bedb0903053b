"""What people say of pages: marks that count at once, and sessions made of them.

Marks are in the sessions of a topic: those made while browsing, and those of results, which are
kept in one session file beside the recorded ones (``marks.jsonl``), so that ``learn`` takes them
along. The results keep them beside the pages, fetched or not, so that lists need not look them up;
they are taken over whenever the session files have changed since.

A marked page brings its source from the crawl's archive; a useful one also the pages on the path
that led to it, which show how far from a useful page one is.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from trailhound.counting import counted
from trailhound.errors import StorageError, UsageError
from trailhound.records import Outcome
from trailhound.sessions.events import Event, Mark, Session, Visit
from trailhound.sessions.files import header_of, marks_in, read_session, write_session
from trailhound.sessions.path_sessions import SEARCH_TURNS, PathPage, session_of_paths
from trailhound.storage.exporting import write_warc
from trailhound.storage.locks import Ownership
from trailhound.storage.results_reading import Results, StoredPage
from trailhound.storage.verdicts import Changes, Verdicts, marks_are_from
from trailhound.topics.crawls.archived_pages import ArchivedContent, PageSources
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.crawls.gathering import gather_first
from trailhound.topics.workspace import TopicFolder
from trailhound.urls import canonicalize, crawled_urls, strip_tracking
from trailhound.web_archives import Archive, ArchiveDamageError, read_captures


def heed_marks(folder: CrawlFolder) -> Changes:
    """Let all marks of the topic count in the results of its crawl; what that changed.

    Cheap when no session has changed since the last time. StorageError when the results cannot be
    written.
    """
    if not folder.results.is_file():
        return Changes()
    checksum = _checksum(folder.topic)
    if marks_are_from(folder.results, checksum):
        return Changes()
    marks = marks_by_url(folder.topic)
    with Verdicts(folder.results) as verdicts:
        by_address = {_address(verdicts, url): useful for url, useful in marks.items()}
        words = _words(folder.archive, verdicts.lacking_words(by_address))
        return verdicts.mark(by_address, words, checksum)


def open_results(folder: CrawlFolder) -> Results:
    """The results of a crawl, with all marks heeded as far as the file can be written."""
    gather_first(folder)
    with suppress(StorageError):
        heed_marks(folder)
    return Results(folder.results)


def marks_by_url(topic: TopicFolder) -> dict[str, bool]:
    """Which pages people have marked useful, and which not useful, by canonical URL.

    As in learning: the last mark of each label counts, of a topic with a label that label's alone,
    and a page that is useful by any is useful.
    """
    label = topic.record().label if topic.exists() else None
    marks = [mark for path in _sessions(topic) for mark in marks_in(path)]
    verdicts: dict[tuple[str, str], bool | None] = {}
    for mark in sorted(marks, key=_time):
        if label is None or mark.label == label:
            verdicts[canonicalize(mark.url) or mark.url, mark.label] = mark.useful
    found: dict[str, bool] = {}
    for (url, _), useful in verdicts.items():
        if useful is not None:
            found[url] = useful or found.get(url, False)
    return found


def _marked_as(folder: CrawlFolder, addresses: Collection[str]) -> list[str]:
    """By which URLs people have marked these pages: a redirect may have led on from there."""
    with Verdicts(folder.results) as verdicts:
        return [url for url in marks_by_url(folder.topic) if _address(verdicts, url) in addresses]


def mark_in_words(useful: bool | None) -> str | None:
    """``useful`` or ``not useful``; ``None`` for a page that is not marked."""
    return None if useful is None else "useful" if useful else "not useful"


def _time(mark: Mark) -> float:
    return mark.time


def _sessions(topic: TopicFolder) -> list[Path]:
    """Those that people recorded."""
    paths = [topic.sessions_path / name for name in sorted(topic.session_names())]
    return [path for path in paths if header_of(path).recorder != SEARCH_TURNS]


def _checksum(topic: TopicFolder) -> bytes:
    """Another one when a session came, went or was written to, or the topic has another label."""
    digest = hashlib.sha256()
    for name in sorted(topic.session_names()):
        with suppress(OSError):
            stat = (topic.sessions_path / name).stat()
            digest.update(f"{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    digest.update(repr(topic.record().label if topic.exists() else None).encode())
    return digest.digest()


def _address(verdicts: Verdicts, url: str) -> str:
    """Where the page is that was marked: a redirect may have led on from there."""
    return verdicts.address_of(url) or verdicts.address_of(strip_tracking(url)) or url


def _words(archive: Path, addresses: Collection[str]) -> dict[str, tuple[str, str]]:
    """Title and text of pages, as far as they are archived."""
    if not addresses:
        return {}
    with ArchivedContent(archive, addresses) as content:
        pages = {address: content.page(address) for address in addresses}
    return {address: (page.title, page.text) for address, page in pages.items() if page is not None}


MARKS_FILE = "marks.jsonl"
"""In the topic's folder of sessions."""
RECORDER = "trailhound mark"
_PATIENCE_SECONDS = 30.0


class MarksLock(Ownership):
    """One at a time, of all threads and programs: the file of marks is read and written whole."""

    def __init__(self, topic: TopicFolder) -> None:
        path = topic.path / "marks.lock"
        in_use = StorageError(
            f"Others are marking pages of the topic '{topic.name}' all the time. Try again."
        )
        super().__init__(
            path,
            in_use=in_use,
            patience_seconds=_PATIENCE_SECONDS,
        )


@dataclass(frozen=True)
class Marked:
    """What came of a request to mark."""

    pages: tuple[StoredPage, ...]
    """Those that were marked."""
    visits: int
    """Pages that came along because they lie on the paths."""
    still: tuple[StoredPage, ...] = ()
    """Of those whose marks were to be taken back: marked while browsing, or in a merged topic."""


def mark_results(
    folder: CrawlFolder, addresses: Sequence[str], useful: bool | None, now: float
) -> Marked:
    """Mark pages that the crawl fetched; ``useful=None`` takes back what was marked here before.

    What is useful is in the results from now on, and what is not is in them no longer.
    Marks that a person has set while browsing are hers, and count again then. All or nothing:
    UsageError names an address that the crawl has not fetched, or whose source it did not keep.
    Threads and programs may call it at the same time.
    """
    with MarksLock(folder.topic):
        return _mark_results(gather_first(folder), addresses, useful, now)


def _mark_results(
    folder: CrawlFolder, addresses: Sequence[str], useful: bool | None, now: float
) -> Marked:
    with Results(folder.results) as results:
        pages = tuple({page.address: page for page in _found(results, addresses, folder)}.values())
        paths = [path_of(results, page) for page in pages]
    if not useful:  # how one gets there is of no use then
        paths = [path[-1:] for path in paths]
    before = _read(folder.topic)
    if useful is None:
        cleared = _cleared(folder.topic, before, pages)
        heed_marks(folder)
        with Results(folder.results) as results:
            left = tuple(_found(results, (page.address for page in pages), folder))
        return Marked(cleared, 0, tuple(page for page in left if page.marked is not None))
    visits = _visits(folder, before, pages, paths)
    label = folder.topic.record().label or ""
    marks = [Mark(now, page.address, useful, label) for page in pages]
    _write(folder.topic, before, (*before.events, *visits, *marks))
    heed_marks(folder)
    return Marked(pages, len({visit.url for visit in visits} - {page.address for page in pages}))


def unmark_results(folder: CrawlFolder, addresses: Sequence[str], now: float) -> None:
    """Let pages that the crawl fetched have no mark at all, whoever made one and where.

    Unlike a mark that is taken back, this holds over marks that were set while browsing.
    """
    with MarksLock(folder.topic):
        crawl = gather_first(folder)
        _mark_results(crawl, addresses, None, now)
        with Results(crawl.results) as results:
            pages = {page.address for page in _found(results, addresses, crawl)}
        for url in _marked_as(crawl, pages):
            _mark_visited(crawl.topic, url, None, now)
        heed_marks(crawl)


def mark_visited(topic: TopicFolder, address: str, useful: bool | None, now: float) -> None:
    """Mark a page that the sessions show, over what was marked before; ``None`` takes that back.

    The last mark counts, whatever clock an earlier one was made by. Where the topic takes marks
    of all labels together, the new one is for each of them; ``None`` is written down only over
    marks that other sessions hold.
    """
    with MarksLock(topic):
        _mark_visited(topic, address, useful, now)


def _mark_visited(topic: TopicFolder, address: str, useful: bool | None, now: float) -> None:
    before = _read(topic)
    ours = [event for event in before.events if isinstance(event, Mark)]
    others = topic.session_names() - {MARKS_FILE}
    theirs = [mark for name in others for mark in marks_in(topic.sessions_path / name)]
    marks, chosen = [*ours, *theirs], topic.record().label
    labels = {"", *(mark.label for mark in marks)} if chosen is None else {chosen}
    if useful is None:
        url = canonicalize(address)
        labels &= {mark.label for mark in theirs if canonicalize(mark.url) == url}
    time = max([now, *(mark.time + 1 for mark in marks)])
    kept = [
        event for event in before.events if not (isinstance(event, Mark) and event.url == address)
    ]
    _write(topic, before, [*kept, *(Mark(time, address, useful, each) for each in sorted(labels))])


def _cleared(
    topic: TopicFolder, before: Session, pages: Iterable[StoredPage]
) -> tuple[StoredPage, ...]:
    marked = {event.url for event in before.events if isinstance(event, Mark)}
    cleared = tuple(page for page in pages if page.address in marked)
    gone = {page.address for page in cleared}
    kept = [event for event in before.events if not (isinstance(event, Mark) and event.url in gone)]
    if cleared:
        _write(topic, before, kept)
    return cleared


def _write(topic: TopicFolder, before: Session, events: Iterable[Event]) -> None:
    session = Session(topic.name, tuple(events), before.user, RECORDER)
    if session.events:
        write_session(session, topic.sessions_path / MARKS_FILE)
    else:
        (topic.sessions_path / MARKS_FILE).unlink(missing_ok=True)


def _visits(
    folder: CrawlFolder,
    before: Session,
    pages: Iterable[StoredPage],
    paths: Sequence[Sequence[PathPage]],
) -> list[Visit]:
    """The ways to the pages, as far as earlier marks have not brought them along."""
    shown = {event.url for event in before.events if isinstance(event, Visit)}
    wanted = {step.url for path in paths for step in path} - shown
    sources = archived_sources(folder.archive, wanted)
    _check_sources(folder, [page for page in pages if page.address in wanted], sources)
    kept = [[step for step in path if step.url in sources] for path in paths]
    session = session_of_paths(folder.topic.name, kept, recorder=RECORDER, source=sources.get)
    return [event for event in session.events if isinstance(event, Visit)]


def marks_of(topic: TopicFolder) -> dict[str, bool]:
    """Which results are marked useful, and which not useful, by canonical URL."""
    marks: dict[str, bool | None] = {}
    for event in _read(topic).events:
        if isinstance(event, Mark):
            marks[canonicalize(event.url) or event.url] = event.useful
    return {url: useful for url, useful in marks.items() if useful is not None}


def _found(results: Results, addresses: Iterable[str], folder: CrawlFolder) -> Iterator[StoredPage]:
    for address in addresses:
        yield fetched_page(results, address, folder.topic.name, "there is nothing to mark")


def fetched_page(results: Results, address: str, topic: str, therefore: str) -> StoredPage:
    """A page, as it was fetched last; UsageError when it was not, and what is ``therefore`` so."""
    url, *others = crawled_urls(address)
    events = [event for each in (*reversed(others), url) for event in results.events_of(each)]
    fetched = [event for event in events if event.outcome is Outcome.FETCHED]
    if not fetched:
        what = "was not fetched by" if events else "is unknown to"
        raise UsageError(
            f"The page {url} {what} the crawl of '{topic}', so {therefore}. See "
            f"'trailhound results {quote(topic)}' for its pages, and "
            f"'trailhound explain {quote(topic)} {url}'."
        )
    return fetched[-1]


def _check_sources(
    folder: CrawlFolder, pages: Iterable[StoredPage], sources: Mapping[str, str]
) -> None:
    missing = [page.address for page in pages if page.address not in sources]
    if not missing:
        return
    if not folder.archive.is_dir():
        raise UsageError(
            f"The crawl of '{folder.topic.name}' has no archive (archive = false), so the content "
            "of its pages is not there to learn from. Crawl again with [output] archive = true."
        )
    raise UsageError(
        f"The archive {folder.archive} does not hold {missing[0]}"
        + (f" and {counted(len(missing) - 1, 'more page')}" if len(missing) > 1 else "")
        + ", so there is nothing to learn from. Leave it out, or fetch it again with "
        f"'trailhound crawl {quote(folder.topic.name)} --refresh'."
    )


def _read(topic: TopicFolder) -> Session:
    path = topic.sessions_path / MARKS_FILE
    return read_session(path) if path.exists() else Session(topic.name, (), recorder=RECORDER)


def archived_sources(archive: Path, addresses: Collection[str]) -> dict[str, str]:
    """The HTML of pages by address, as it was fetched last; what is not archived is left out.

    Documents become HTML that says the same.
    """
    copy = io.BytesIO()
    try:
        write_warc(archive, addresses, copy)
    except StorageError:
        return {}  # the crawl was run without an archive
    found: dict[str, str] = {}
    # What came before a damage is worth having.
    with suppress(ArchiveDamageError), PageSources() as sources:
        for capture in read_captures(Archive("archive", lambda: io.BytesIO(copy.getvalue()))):
            answer = capture.answer
            address = canonicalize(answer.url) or ""
            if address in addresses and answer.body and 200 <= answer.status < 300:
                html = sources.html(answer, address)
                if html is not None:
                    found[address] = html
    return found


def path_of(results: Results, page: StoredPage) -> list[PathPage]:
    """The pages from a seed to ``page``, as the crawl met them."""
    path = []
    for address in results.path_to(page):
        events = [page] if address == page.address else results.events_of(address)
        if events:
            first = events[0]
            path.append(PathPage(first.address, first.at, first.title, first.url))
    return path


def session_of_crawl(
    topic: str,
    results: Results,
    pages: Iterable[StoredPage],
    archive: Path,
    *,
    recorder: str,
    label: str = "",
) -> Session | None:
    """The ways to ``pages`` as a session that marks them useful.

    Pages whose source was not kept teach nothing and are left out; ``None`` when none is left.
    """
    paths = [path_of(results, page) for page in pages]
    sources = archived_sources(archive, {each.url for path in paths for each in path})
    kept = [
        [page for page in path if page.url in sources]
        for path in paths
        if path and path[-1].url in sources
    ]
    if not kept:
        return None
    return session_of_paths(topic, kept, recorder=recorder, label=label, source=sources.get)
