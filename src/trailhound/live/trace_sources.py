"""``--trace``: who visited what, from an access log, the topic's sessions, or an index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from trailhound.config.settings import Settings
from trailhound.counting import counted
from trailhound.crawling.scope import make_scope
from trailhound.errors import UsageError
from trailhound.live.folder import TRACES, CrawlFolder
from trailhound.sessions.events import Session
from trailhound.sessions.files import SESSION_SUFFIX, read_session
from trailhound.traces import (
    TraceIndex,
    TraceSource,
    kept_trace,
    log_accesses,
    session_accesses,
)
from trailhound.urls import canonicalize, registered_domain
from trailhound.workspace.pseudonyms import pseudonyms

SESSIONS = "sessions"
PATIENCE_SECONDS = 2.0
REPORT_SECONDS = 10.0
PROBES = 500
"""Random pages of a trace that are looked at to see whether it is about the same web."""

Notify = Callable[[str], None]


def open_trace(name: str, folder: CrawlFolder, settings: Settings, notify: Notify) -> TraceIndex:
    """The trace that the settings name, indexed now unless it was before."""
    # The word wins over a folder of that name, which demo --write-sessions sessions leaves.
    if name != SESSIONS and _path(name).is_dir():
        index = TraceIndex.open(_path(name))
    else:
        source = _sessions(folder) if name == SESSIONS else _log(name)
        # In the topic's folder: forgetting the topic forgets what people visited, too.
        place = folder.topic.path / TRACES
        index, made = kept_trace(source, place, _user_key(folder), progress=Reports(name, notify))
        if made:
            _tell(index, name, notify)
    _check_coverage(index, name, settings, notify)
    return index


def _log(name: str) -> TraceSource:
    """``FILE``, or ``SITE=FILE`` for a log that does not say which site it is of."""
    site, equals, file = name.rpartition("=")
    if not equals or not site.startswith(("http://", "https://")):
        site, file = "", name
    path = _path(file)
    if not path.is_file():
        raise UsageError(
            f"There is no trace {path}. Name an access log, or write --trace sessions for the "
            "topic's own sessions."
        )
    return TraceSource(
        str(path.absolute()), [path], lambda tally: log_accesses(path, tally, site), detail=site
    )


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
            "log: --trace FILE"
        )
    return TraceSource(
        SESSIONS, paths, lambda tally: session_accesses(_read(paths), tally), unit="visit"
    )


def _read(paths: list[Path]) -> Iterator[tuple[str, Session]]:
    """One at a time: an imported log has left thousands of them."""
    for path in paths:
        yield path.name, read_session(path, strict=False)


def _user_key(folder: CrawlFolder) -> Callable[[bytes], int]:
    """Clients under the workspace's own pseudonyms, as imports have them."""
    name_of = pseudonyms(folder.topic.path.parent.parent)
    return lambda client: int(name_of(client)[1:], 16)


class Reports:
    """Says what takes so long, after two seconds and then every ten."""

    def __init__(self, name: str, notify: Notify) -> None:
        self._name = name
        self._notify = notify
        self._next = time.monotonic() + PATIENCE_SECONDS

    def __call__(self, step: str) -> None:
        """Told by the builder what it does."""
        if time.monotonic() >= self._next:
            self._notify(f"Indexing the trace {self._name}: {step} …")
            self._next = time.monotonic() + REPORT_SECONDS


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


def _check_coverage(index: TraceIndex, name: str, settings: Settings, notify: Notify) -> None:
    """Tell when the crawl may go to nothing of what the trace is about."""
    crawl = settings.crawl
    seeds = [url for seed in crawl.seeds if (url := canonicalize(seed)) is not None]
    in_scope = make_scope(crawl.scope, crawl.exclude, seeds if crawl.same_domain else ())
    if in_scope is None or any(index.page_number(url) is not None for url in seeds):
        return
    rng = np.random.default_rng(0)
    drawn = {index.sample(rng) for _ in range(PROBES)}
    if not any(map(in_scope, drawn)):
        examples = ", ".join(sorted({registered_domain(url) for url in drawn})[:3])
        notify(
            f"The trace {name} covers nothing of where this crawl may go: none of "
            f"{counted(len(drawn), 'page')} looked at (of {examples}) is in scope. The crawl "
            "will learn nothing from it. Give the log of people who visit these sites, a wider "
            "--scope, or another strategy."
        )
