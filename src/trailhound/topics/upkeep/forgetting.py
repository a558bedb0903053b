"""What ``trailhound forget`` does: a page, a host or a whole topic leaves everything we keep."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Container, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from trailhound.crawling.gate import without_hosts
from trailhound.errors import UNREADABLE, ModelError, TrailhoundError, UsageError
from trailhound.frontier.tables import forget_urls
from trailhound.sessions.events import Mark, Session, Visit, events_without
from trailhound.sessions.files import read_session, read_with_problems, write_session
from trailhound.sources.kept_links import forget_answers, forget_linked
from trailhound.storage.files import cannot_write, explaining, write_whole
from trailhound.storage.forgetting import (
    AS_ME,
    any_page_of,
    forget_lines,
    forget_records,
    forget_results,
    leading_to,
)
from trailhound.topics.access import Access
from trailhound.topics.control.schedule import SCHEDULE
from trailhound.topics.crawls.folder import (
    CRAWL_LINKS,
    EDGE_INDICES,
    EXPORTS,
    KEPT_BACKLINKS,
    SHARDS,
    TRACES,
    CrawlFolder,
    CrawlLock,
)
from trailhound.topics.crawls.marking import MARKS_FILE, MarksLock
from trailhound.topics.crawls.status import forget_status
from trailhound.topics.learning import learn_into, same_request
from trailhound.topics.upkeep.moving import finish_removing, left_behind, remove_folder
from trailhound.topics.workspace import (
    SessionsLock,
    TopicFolder,
    Workspace,
    session_file_name,
)
from trailhound.urls import canonicalize, host_key, without_port

Forgotten = Callable[[str], bool]
"""Whether a URL is to be forgotten."""

COOKIES = "hosts with cookies or headers of yours"
DAMAGED_LINES = "damaged lines of sessions"
FETCHED_NAME = "fetched.part.jsonl"
"""Pages of an interrupted import."""


@dataclass
class ForgetReport:
    """What was removed, or would be."""

    removed: dict[str, int] = field(default_factory=dict)
    """By kind, in words."""
    model: str = ""
    """What became of the model; empty when nothing did."""
    also_in: tuple[str, ...] = ()
    """Other topics whose sessions tell of what was named: these keep it."""

    def in_words(self) -> str:
        """``Forgotten: 3 visits and marks in sessions; the model was learned again ….``"""
        parts = [f"{count:,} {what}" for what, count in self.removed.items()]
        kept_by = ", ".join(self.also_in)
        others = f"sessions of other topics keep it: {kept_by}" if kept_by else ""
        told = ", ".join(parts) or "nothing was found"
        told = "; ".join([told, *filter(None, [self.model, others])])
        return f"Forgotten: {told.removesuffix('.')}."  # an error's words end with one of their own

    def add(self, what: str, count: int) -> None:
        """Count something that was removed."""
        if count:
            self.removed[what] = self.removed.get(what, 0) + count


def one_url(url: str) -> Forgotten:
    """Exactly this page, however it is spelled."""
    wanted = canonicalize(url)
    if wanted is None:
        raise UsageError(f"'{url}' is not an address on the web. Write it with https://.")
    return lambda each: canonicalize(each) == wanted


def one_host(host: str) -> Forgotten:
    """All pages of this host and of the hosts below it (``www.``, …), at any port."""
    name = host.strip().removeprefix("*").removeprefix(".")  # as in cookies and --scope
    address = canonicalize(f"http://{name}/")
    if not name or address is None or host_key(address) != address[7:-1]:
        raise UsageError(f"'{host}' is not the name of a host. Write it as: example.org")
    wanted = without_port(host_key(address))

    def is_there(url: str) -> bool:
        found = canonicalize(url)
        name = without_port(host_key(found)) if found is not None else ""
        return name == wanted or name.endswith(f".{wanted}")

    return is_there


def forget_pages(
    workspace: Workspace, topic: str, forgotten: Forgotten, *, dry_run: bool = False
) -> ForgetReport:
    """Remove pages from a topic's sessions, model, crawls and archives."""
    folder = workspace.topic(topic)
    with nullcontext() if dry_run else CrawlLock(folder):
        if not dry_run:
            finish_removing(folder.path)
        knows = _model_knows(folder, forgotten)
        work = _Forgetting(folder, forgotten, dry_run)
        changed = work.in_sessions() + work.in_contents()
        work.in_sources()
        work.in_access(workspace.folder)
        for crawl in _crawls(folder):
            work.in_crawl(crawl)
        if (work.report.removed.keys() - {DAMAGED_LINES} or knows) and not dry_run:
            _forget_experience(folder)
            forget_status(folder.path, forgotten)
            remove_folder(folder.path / EXPORTS)
            folder.picture_path.unlink(missing_ok=True)
        if (changed and folder.model_path.exists()) or knows:
            plan = "the model would be learned again from what is left, or removed"
            work.report.model = plan if dry_run else _renew_model(workspace, folder)
    work.report.also_in = tuple(_other_topics_with(forgotten, workspace, folder))
    return work.report


def _other_topics_with(
    forgotten: Forgotten, workspace: Workspace, but: TopicFolder
) -> Iterator[str]:
    """``learn --each-label``, for one, gives the same visits to several topics."""
    damaged = (folder for folder, _ in workspace.damaged())
    for folder in (*map(workspace.folder_for, workspace.topics()), *damaged):
        if folder.path != but.path and any(
            _tells_of(forgotten, folder.sessions_path / name) for name in folder.session_names()
        ):
            yield folder.name


def _tells_of(forgotten: Forgotten, path: Path) -> bool:
    try:
        events = read_with_problems(path, strict=False).session.events
    except TrailhoundError:  # it cannot be read, which is told where the topic is used
        return False
    return events_without(events, forgotten) != events


def forget_session(workspace: Workspace, topic: str, name: str) -> ForgetReport:
    """Remove one session, by the name of its file; the model is learned again from the others."""
    folder = workspace.topic(topic)
    if name not in folder.session_names():
        raise UsageError(f"The topic '{folder.name}' has no session '{name}'. It may be gone.")
    path = folder.sessions_path / name
    report = ForgetReport()
    report.add("visits and marks in sessions", len(read_session(path, strict=False).events))
    with explaining(path):
        path.unlink()
        folder.picture_path.unlink(missing_ok=True)
    if folder.model_path.exists():
        report.model = _renew_model(workspace, folder)
    return report


def forget_everything(workspace: Workspace, topic: str, *, dry_run: bool = False) -> ForgetReport:
    """Remove a topic: sessions, model, crawls, archives; also what an interruption left of it."""
    place = workspace.folder_for(topic).path
    left = left_behind(place.parent, place.name)
    report = ForgetReport()
    report.add("files in all", sum(map(_n_files, left)))
    if not dry_run:
        finish_removing(place.parent)
    if left and not place.exists():
        return report
    folder = workspace.topic(topic, even_damaged=True)
    report.add("sessions", len(folder.session_names()))
    report.add("files in all", _n_files(folder.path))
    if folder.model_path.exists():
        report.model = "the model would be removed" if dry_run else "the model was removed"
    if not dry_run:
        CrawlLock(folder).release()  # refuses while a crawl is running
    hosts = set(_hosts_as_me(folder))
    report.add(COOKIES, Access(workspace.folder).forget(hosts.__contains__, dry_run=dry_run))
    if not dry_run:
        remove_folder(folder.path)
    return report


def _n_files(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*"))


def _hosts_as_me(folder: TopicFolder) -> Iterator[str]:
    """Hosts that crawls of the topic have read as the person."""
    for crawl in _crawls(folder):
        with suppress(TrailhoundError):  # damaged, or no crawl
            yield from CrawlFolder(folder, crawl).read().settings.fetch.as_me


class _Forgetting:
    """Goes through what a topic keeps, removes what is to be forgotten, and counts it."""

    def __init__(self, folder: TopicFolder, forgotten: Forgotten, dry_run: bool) -> None:
        self.report = ForgetReport()
        self._folder = folder
        self._forgotten = forgotten
        self._dry_run = dry_run

    def in_sessions(self) -> int:
        """Visits and marks; how many there were."""
        removed = 0
        for name in sorted(self._folder.session_names()):
            lock = MarksLock if name == MARKS_FILE else SessionsLock
            with nullcontext() if self._dry_run else lock(self._folder):
                removed += self._in_session(self._folder.sessions_path / name)
        self.report.add("visits and marks in sessions", removed)
        return removed

    def _in_session(self, path: Path) -> int:
        """Damaged lines go in any case: they cannot be read, and may hold anything."""
        reading = read_with_problems(path, strict=False)
        session = reading.session
        kept = events_without(session.events, self._forgotten)
        self.report.add(DAMAGED_LINES, reading.n_left_out)
        if (kept != session.events or reading.n_left_out) and not self._dry_run:
            _write_anew(path, msgspec.structs.replace(session, events=kept))
        return len(session.events) - len(kept)

    def in_contents(self) -> int:
        """Pages that were looked up or fetched for sessions; how many the model may know."""
        known = self._folder.known_content()
        kept = known.without(self._forgotten)
        looked_up = len(known) - len(kept)
        if looked_up and not self._dry_run:
            kept.write(self._folder.content_path)
        self.report.add("pages looked up elsewhere", looked_up)
        self._count("pages fetched for an import", forget_lines, self._folder.path / FETCHED_NAME)
        return looked_up

    def in_sources(self) -> None:
        """What sources were asked for, and indices of what the user keeps elsewhere."""
        topic = self._folder.path
        self._count("backlinks asked for, and their pages", forget_answers, topic / KEPT_BACKLINKS)
        self._count("pages and links collected from archives", forget_linked, topic / CRAWL_LINKS)
        self._count("start pages of search turns", _forget_settings, topic / "turns.json")
        self._count("start pages of scheduled crawls", _forget_settings, topic / SCHEDULE)
        traces = topic / TRACES
        if traces.is_dir():
            self.report.add("indices of access traces", len(list(traces.iterdir())))
        if not self._dry_run:  # indices are made again
            for index in topic.glob(EDGE_INDICES):
                index.unlink(missing_ok=True)
            with explaining(traces):
                if traces.is_dir():
                    shutil.rmtree(traces)

    def in_access(self, workspace: Path) -> None:
        """Cookies and headers of hosts that were read as the person, in any topic."""
        forgotten = Access(workspace).forget(
            lambda host: self._forgotten(any_page_of(host)), dry_run=self._dry_run
        )
        self.report.add(COOKIES, forgotten)

    def in_crawl(self, crawl: Path) -> None:
        """Results, queue, log, archive and settings of one crawl."""
        results = partial(forget_results, clean_state=self._clean_state)
        leading = leading_to(crawl / "results.db", self._forgotten)
        self._count("results of crawls", results, crawl / "results.db")
        queue = partial(_forget_queued, leading=leading)
        self._count("addresses in crawls' queues", queue, crawl / "frontier.db")
        self._count("lines of crawls' logs", forget_lines, crawl / "log.jsonl")
        self._count("finds in files of sinks", forget_lines, crawl / "finds.jsonl")
        self._count("records in archives", forget_records, crawl / "archive")
        self._count("settings of crawls", _forget_settings, crawl / "crawl.json")
        self._drop_damaged(crawl)

    def _drop_damaged(self, crawl: Path) -> None:
        """What a repair moved aside cannot be read, and may hold anything."""
        aside = [path for path in crawl.glob("*-damaged-*") if path.is_file()]
        self.report.add("damaged files that were moved aside", len(aside))
        for path in aside if not self._dry_run else ():
            path.unlink(missing_ok=True)

    def _count(self, what: str, forget: Callable[..., int], path: Path) -> None:
        self.report.add(what, forget(path, self._forgotten, dry_run=self._dry_run))

    def _clean_state(self, data: bytes) -> bytes | None:
        return without_hosts(data, lambda host: self._forgotten(f"http://{host}/"))


def _forget_queued(
    path: Path, forgotten: Forgotten, *, leading: Container[str], dry_run: bool
) -> int:
    """Also what redirected to forgotten pages: without results it would be fetched again."""
    return forget_urls(path, lambda url: url in leading or forgotten(url), dry_run=dry_run)


def _crawls(folder: TopicFolder) -> Iterator[Path]:
    """The crawl, those that were set aside, and their shards."""
    for names in ("crawl*", f"crawl*/{SHARDS}/*"):
        yield from (path for path in sorted(folder.path.glob(names)) if path.is_dir())


def _forget_experience(folder: TopicFolder) -> None:
    """A strategy may know the page in ways of its own; it learns again on the next run."""
    for crawl in _crawls(folder):
        (crawl / "strategy.bin").unlink(missing_ok=True)


def _forget_settings(path: Path, forgotten: Forgotten, *, dry_run: bool) -> int:
    """Seeds and the like; they are in lists."""
    if not path.is_file():
        return 0
    with explaining(path):
        content = path.read_bytes()
    try:
        after, removed = _without_items(msgspec.json.decode(content), forgotten)
    except UNREADABLE:
        return 0  # damaged: the next crawl says so
    if removed and not dry_run:
        write_whole(path, msgspec.json.format(msgspec.json.encode(after), indent=1))
    return removed


def _without_items(value: Any, forgotten: Forgotten) -> tuple[Any, int]:
    if isinstance(value, dict):
        of_hosts = partial(_is_of_host, forgotten)
        pairs = {
            key: _without_items(each, of_hosts if key.endswith(AS_ME) else forgotten)
            for key, each in value.items()
        }
        return {key: pair[0] for key, pair in pairs.items()}, sum(n for _, n in pairs.values())
    if isinstance(value, list):
        kept = [each for each in value if not (isinstance(each, str) and forgotten(each))]
        return kept, len(value) - len(kept)
    return value, 0


def _is_of_host(forgotten: Forgotten, host: str) -> bool:
    return forgotten(any_page_of(host))


def _write_anew(path: Path, session: Session) -> None:
    """Under a new name: whoever still has the old file open must notice that it is gone.

    The file of marks keeps its own. It is never left open, and looked for by its name.
    """
    if any(isinstance(event, Visit | Mark) for event in session.events):
        name = MARKS_FILE if path.name == MARKS_FILE else session_file_name(session)
        write_session(session, path.with_name(name))
        if name == path.name:  # of an own copy that is again what it was before it was damaged
            return
    try:
        path.unlink()
    except OSError as error:
        raise cannot_write(path, error) from error


def _model_knows(folder: TopicFolder, forgotten: Forgotten) -> bool:
    """Whether a forgotten page is in the model, or a model that cannot be read may hold it."""
    if not folder.model_path.exists():
        return False
    try:
        pages = folder.load().model.graph.pages
    except (ModelError, UsageError):
        return True
    return any(forgotten(page.url) for page in pages)


def _renew_model(workspace: Workspace, folder: TopicFolder) -> str:
    """Learn again from what is left, as before; the model goes when nothing can be learned."""
    try:
        learn_into(workspace, replace(same_request(folder, folder.load()), lenient=True))
    except TrailhoundError as error:
        remove_folder(folder.model_path)
        return f"the model was removed, and nothing could be learned from what is left: {error}"
    return "the model was learned again from what is left"
