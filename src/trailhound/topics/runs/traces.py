"""``--trace``: who visited what, from an access log, the topic's sessions, or an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from trailhound.config.settings import Settings
from trailhound.counting import counted
from trailhound.crawling.scope import make_scope
from trailhound.errors import UsageError
from trailhound.sessions.events import Session
from trailhound.sessions.files import SESSION_SUFFIX, read_session
from trailhound.sessions.importers.base import Tally
from trailhound.sources.traces import (
    ReadParts,
    TraceSource,
    kept_trace,
    log_accesses,
    log_pieces,
    session_accesses,
)
from trailhound.sources.traces.building import Piece, in_pieces
from trailhound.sources.traces.index import TraceIndex
from trailhound.strategies.choosing import declares, parse_spec
from trailhound.strategies.parts import was_read
from trailhound.topics.crawls.folder import TRACES, CrawlFolder
from trailhound.topics.crawls.notices import Notify, Progress
from trailhound.topics.importing import pseudonyms
from trailhound.topics.runs.plan import SESSIONS, knowledge_of, site_and_file
from trailhound.urls import canonicalize, registered_domain

PROBES = 500
"""Random pages of a trace that are looked at to see whether it is about the same web."""
MOSTLY = 0.9
"""Share of a trace's pages that the sessions hold, from which on it says next to nothing new."""


def open_trace(name: str, folder: CrawlFolder, settings: Settings, notify: Notify) -> TraceIndex:
    """The trace that the settings name, indexed now unless it was before."""
    index = indexed_trace(name, folder, notify)
    if not _is_out_of_scope(index, name, settings, notify):
        _check_readers(index, name, folder, settings, notify)
    return index


def indexed_trace(
    name: str, folder: CrawlFolder, notify: Notify, read: ReadParts | None = None
) -> TraceIndex:
    """The index of a trace, made now unless it was before; ``read`` reads the lines of a log."""
    # The word wins over a folder of that name, which demo --write-sessions sessions leaves.
    if name != SESSIONS and _path(name).is_dir():
        return TraceIndex.open(_path(name))
    source = _sessions(folder) if name == SESSIONS else _log(name, read)
    # In the topic's folder: forgetting the topic forgets what people visited, too.
    place = folder.topic.path / TRACES
    slow = Progress(notify)
    index, made = kept_trace(
        source,
        place,
        _user_key(folder),
        progress=lambda step: slow.tell(f"Indexing the trace {name}: {step} …"),
    )
    if made:
        _tell(index, name, notify)
    return index


def _log(name: str, read: ReadParts | None) -> TraceSource:
    """``FILE``, or ``SITE=FILE`` for a log that does not say which site it is of."""
    site, file = site_and_file(name)
    path = _path(file)
    if not path.is_file():
        raise UsageError(
            f"There is no trace {path}. Name an access log, write 'sessions' for the topic's own "
            "sessions, or go on without one: --trace ''."
        )

    def pieces(tally: Tally) -> Iterator[Piece]:
        if read is not None:
            return log_pieces(path, tally, site, read)
        return in_pieces(log_accesses(path, tally, site))

    return TraceSource(str(path.absolute()), [path], pieces, detail=site)


def _path(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise UsageError(f"There is no trace {name}: {error} Check the name.") from error


def _sessions(folder: CrawlFolder) -> TraceSource:
    paths = sorted(folder.topic.sessions_path.glob(f"*{SESSION_SUFFIX}"))
    if not paths:
        raise UsageError(
            f"The topic '{folder.topic.name}' has no sessions to take as a trace. Name an access "
            "log."
        )
    return TraceSource(
        SESSIONS,
        paths,
        lambda tally: in_pieces(session_accesses(_read(paths), tally)),
        unit="visit",
    )


def _read(paths: list[Path]) -> Iterator[tuple[str, Session]]:
    """One at a time: an imported log has left thousands of them."""
    for path in paths:
        yield path.name, read_session(path, strict=False)


def _user_key(folder: CrawlFolder) -> Callable[[bytes], int]:
    """Clients under the workspace's own pseudonyms, as imports have them."""
    name_of = pseudonyms(folder.secrets_home)
    return lambda client: int(name_of(client)[1:], 16)


def _tell(index: TraceIndex, name: str, notify: Notify) -> None:
    header = index.header
    left_out = "; ".join(f"{count:,} {reason}" for reason, count in header.skipped.items())
    notify(
        f"The trace {name}: {counted(header.accesses, 'visit')} by "
        f"{counted(header.users, 'person')} to {counted(header.pages, 'page')}"
        + (f". Left out: {left_out}" if left_out else "")
        + "".join(f". {note[0].upper()}{note[1:]}" for note in header.notes)
        + "."
    )


def _is_out_of_scope(index: TraceIndex, name: str, settings: Settings, notify: Notify) -> bool:
    """Tell when the crawl may go to nothing of what the trace is about."""
    crawl = settings.crawl
    seeds = _canonical_seeds(settings)
    in_scope = make_scope(crawl.scope, crawl.exclude, seeds if crawl.same_domain else ())
    if in_scope is None or any(index.page_number(url) is not None for url in seeds):
        return False
    drawn = _drawn(index)
    if any(map(in_scope, drawn)):
        return False
    notify(
        f"The trace {name} covers nothing of where this crawl may go: none of "
        f"{counted(len(drawn), 'page')} looked at (of {_examples(drawn)}) is in scope. The crawl "
        "will learn nothing from it. Give the log of people who visit these sites, a wider "
        "--scope, or another strategy."
    )
    return True


def _check_readers(
    index: TraceIndex, name: str, folder: CrawlFolder, settings: Settings, notify: Notify
) -> None:
    """Tell when the people of the trace opened nothing that the topic knows, or nothing else."""
    pages = knowledge_of(folder.topic).graph.pages
    known = {*(page.url for page in pages), *_canonical_seeds(settings)}
    goes_by_it = declares(settings.crawl.strategy, "needs_trace")
    read = sum(was_read(page) and index.page_number(page.url) is not None for page in pages)
    if not any(index.page_number(url) is not None for url in known):
        notify(
            f"Nobody in the trace {name} (of {_examples(_drawn(index))}) has opened a page of the "
            f"topic's sessions, or a seed. {_what_then(goes_by_it)} Better give the log of people "
            "who visit such pages."
        )
    elif goes_by_it and read > MOSTLY * index.n_pages and _takes_sessions_for_crawled(settings):
        notify(
            f"{read:,} of the {counted(index.n_pages, 'page')} in the trace {name} are pages of "
            "the topic's sessions, which were read and are not visited again, so that it leads to "
            "hardly anything new. Give the log of other people, or visit them all the same with "
            "--strategy collaborative:session=false."
        )


def _what_then(goes_by_it: bool) -> str:
    if goes_by_it:
        return "The crawl begins with random pages of it, and may learn nothing from them."
    return "The crawl may learn nothing from it."


def _takes_sessions_for_crawled(settings: Settings) -> bool:
    options = parse_spec(settings.crawl.strategy)[1]
    return options.get("session") != "false" and options.get("literal") != "true"


def _canonical_seeds(settings: Settings) -> list[str]:
    return [url for seed in settings.crawl.seeds if (url := canonicalize(seed)) is not None]


def _drawn(index: TraceIndex) -> set[str]:
    rng = np.random.default_rng(0)
    return {index.sample(rng) for _ in range(PROBES)}


def _examples(urls: Iterable[str]) -> str:
    return ", ".join(sorted({registered_domain(url) for url in urls})[:3])
