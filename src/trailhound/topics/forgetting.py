"""What ``trailhound forget`` does: a page, a host or a whole topic leaves everything we keep."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from trailhound.crawling.gate import without_hosts
from trailhound.errors import ModelError, TrailhoundError, UsageError
from trailhound.frontier.forgetting import forget_urls
from trailhound.sessions.events import Event, Session, Submit, Visit
from trailhound.sessions.files import read_session, write_session
from trailhound.sources.crawled_links import forget_linked
from trailhound.sources.kept_answers import forget_answers
from trailhound.storage.files import cannot_write, explaining, write_whole
from trailhound.storage.forgetting import forget_lines, forget_records, forget_results
from trailhound.topics.crawl_folder import (
    CRAWL_LINKS,
    EDGE_INDICES,
    KEPT_BACKLINKS,
    TRACES,
    CrawlLock,
)
from trailhound.topics.learning import learn_into, same_request
from trailhound.topics.workspace import TopicFolder, Workspace, session_file_name
from trailhound.urls import canonicalize, host_key

Forgotten = Callable[[str], bool]
"""Whether a URL is to be forgotten."""

FETCHED_NAME = "fetched.part.jsonl"
"""Pages of an interrupted import."""


@dataclass
class ForgetReport:
    """What was removed, or would be."""

    removed: dict[str, int] = field(default_factory=dict)
    """By kind, in words."""
    model: str = ""
    """What became of the model; empty when nothing did."""

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
    address = canonicalize(f"http://{host.strip()}/")
    if not host.strip() or address is None or host_key(address) != address[7:-1]:
        raise UsageError(f"'{host}' is not the name of a host. Write it as: example.org")
    wanted = _bare_host(address)

    def is_there(url: str) -> bool:
        found = canonicalize(url)
        name = _bare_host(found) if found is not None else ""
        return name == wanted or name.endswith(f".{wanted}")

    return is_there


def _bare_host(url: str) -> str:
    key = host_key(url)
    return key[: key.index("]") + 1] if key.startswith("[") else key.partition(":")[0]


def forget_pages(
    workspace: Workspace, topic: str, forgotten: Forgotten, *, dry_run: bool = False
) -> ForgetReport:
    """Remove pages from a topic's sessions, model, crawls and archives."""
    folder = workspace.topic(topic)
    report = ForgetReport()
    with nullcontext() if dry_run else CrawlLock(folder):
        events = forget_events(folder, forgotten, dry_run=dry_run)
        report.add("visits and marks in sessions", events)
        looked_up = forget_content(folder, forgotten, dry_run=dry_run)
        report.add("pages looked up elsewhere", looked_up)
        fetched = forget_lines(folder.path / FETCHED_NAME, forgotten, dry_run=dry_run)
        report.add("pages fetched for an import", fetched)
        _forget_backlinks(folder.path, forgotten, report, dry_run=dry_run)
        _forget_traces(folder.path, report, dry_run=dry_run)
        starts = _forget_settings(folder.path / "turns.json", forgotten, dry_run)
        report.add("start pages of search turns", starts)
        for crawl in _crawls(folder):
            _forget_in_crawl(crawl, forgotten, report, dry_run=dry_run)
        if report.removed and not dry_run:
            _forget_experience(folder)
        changed = bool(events or looked_up) and folder.model_path.exists()
        if changed or model_knows(folder, forgotten):
            plan = "the model would be learned again from what is left, or removed"
            report.model = plan if dry_run else renew_model(workspace, folder)
    return report


def _crawls(folder: TopicFolder) -> Iterator[Path]:
    """The crawl, and those that were set aside."""
    for path in sorted(folder.path.glob("crawl*")):
        if path.is_dir():
            yield path


def _forget_backlinks(
    topic: Path, forgotten: Forgotten, report: ForgetReport, *, dry_run: bool
) -> None:
    asked = forget_answers(topic / KEPT_BACKLINKS, forgotten, dry_run=dry_run)
    report.add("backlinks asked for, and their pages", asked)
    linked = forget_linked(topic / CRAWL_LINKS, forgotten, dry_run=dry_run)
    report.add("pages and links collected from archives", linked)
    if not dry_run:
        # Sorted copies of a file that the user keeps elsewhere: they are made again.
        for index in topic.glob(EDGE_INDICES):
            index.unlink(missing_ok=True)


def _forget_traces(topic: Path, report: ForgetReport, *, dry_run: bool) -> None:
    """Indices of logs that the user keeps elsewhere, and of sessions: they are made again."""
    traces = topic / TRACES
    if traces.is_dir():
        report.add("indices of access traces", len(list(traces.iterdir())))
        if not dry_run:
            with explaining(traces):
                shutil.rmtree(traces)


def _forget_in_crawl(
    crawl: Path, forgotten: Forgotten, report: ForgetReport, *, dry_run: bool
) -> None:
    results = forget_results(
        crawl / "results.db",
        forgotten,
        clean_state=lambda data: without_hosts(data, lambda host: forgotten(f"http://{host}/")),
        dry_run=dry_run,
    )
    report.add("results of crawls", results)
    queued = forget_urls(crawl / "frontier.db", forgotten, dry_run=dry_run)
    report.add("addresses in crawls' queues", queued)
    told = forget_lines(crawl / "log.jsonl", forgotten, dry_run=dry_run)
    report.add("lines of crawls' logs", told)
    archived = forget_records(crawl / "archive", forgotten, dry_run=dry_run)
    report.add("records in archives", archived)
    report.add("settings of crawls", _forget_settings(crawl / "crawl.json", forgotten, dry_run))


def _forget_experience(folder: TopicFolder) -> None:
    """A strategy may know the page in ways of its own; it learns again on the next run."""
    for crawl in _crawls(folder):
        (crawl / "strategy.bin").unlink(missing_ok=True)


def _forget_settings(path: Path, forgotten: Forgotten, dry_run: bool) -> int:
    """Seeds and the like; they are in lists."""
    if not path.is_file():
        return 0
    with explaining(path):
        content = path.read_bytes()
    try:
        before = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return 0  # damaged: the next crawl says so
    after, removed = _without_items(before, forgotten)
    if removed and not dry_run:
        write_whole(path, msgspec.json.format(msgspec.json.encode(after), indent=1))
    return removed


def _without_items(value: Any, forgotten: Forgotten) -> tuple[Any, int]:
    if isinstance(value, dict):
        pairs = {key: _without_items(each, forgotten) for key, each in value.items()}
        return {key: pair[0] for key, pair in pairs.items()}, sum(n for _, n in pairs.values())
    if isinstance(value, list):
        kept = [each for each in value if not (isinstance(each, str) and forgotten(each))]
        return kept, len(value) - len(kept)
    return value, 0


def forget_everything(workspace: Workspace, topic: str, *, dry_run: bool = False) -> ForgetReport:
    """Remove a topic: sessions, model, crawls, archives."""
    folder = workspace.topic(topic)
    report = ForgetReport()
    files = [path for path in folder.path.rglob("*") if path.is_file()]
    report.add("sessions", len(folder.session_names()))
    report.add("files in all", len(files))
    if folder.model_path.exists():
        report.model = "the model would be removed" if dry_run else "the model was removed"
    if not dry_run:
        CrawlLock(folder).release()  # refuses while a crawl is running
        forget_topic(folder)
    return report


def forget_events(folder: TopicFolder, forgotten: Forgotten, *, dry_run: bool = False) -> int:
    """Remove visits and marks of forgotten pages from all sessions; how many there are."""
    removed = 0
    for name in sorted(folder.session_names()):
        path = folder.sessions_path / name
        session = read_session(path, strict=False)
        kept = tuple(_events_without(session, forgotten))
        removed += len(session.events) - len(kept)
        if kept != session.events and not dry_run:
            _write_anew(path, msgspec.structs.replace(session, events=kept))
    return removed


def _events_without(session: Session, forgotten: Forgotten) -> Iterator[Event]:
    """The other events; pages that were reached from a forgotten one begin a way of their own."""
    for event in session.events:
        if isinstance(event, Submit):
            yield event
        elif isinstance(event, Visit):
            urls = (event.url, event.requested_url, event.frame_of)
            if not any(forgotten(url) for url in urls if url):
                came_from = event.from_url is not None and forgotten(event.from_url)
                yield msgspec.structs.replace(event, from_url=None) if came_from else event
        elif not forgotten(event.url):
            yield event


def _write_anew(path: Path, session: Session) -> None:
    """Under a new name: whoever still has the old file open must notice that it is gone."""
    if any(isinstance(event, Visit) for event in session.events):
        write_session(session, path.with_name(session_file_name(session)))
    try:
        path.unlink()
    except OSError as error:
        raise cannot_write(path, error) from error


def forget_content(folder: TopicFolder, forgotten: Forgotten, *, dry_run: bool = False) -> int:
    """Remove forgotten pages from what was looked up outside the sessions; how many there are."""
    known = folder.known_content()
    kept = known.without(forgotten)
    if len(kept) < len(known) and not dry_run:
        kept.write(folder.path / "content.json")
    return len(known) - len(kept)


def model_knows(folder: TopicFolder, forgotten: Forgotten) -> bool:
    """Whether a forgotten page is in the model, or a model that cannot be read may hold it."""
    if not folder.model_path.exists():
        return False
    try:
        pages = folder.load().model.graph.pages
    except ModelError:
        return True
    return any(forgotten(page.url) for page in pages)


def renew_model(workspace: Workspace, folder: TopicFolder) -> str:
    """Learn again from what is left, as before; the model goes when nothing can be learned."""
    try:
        learn_into(workspace, same_request(folder, folder.load()))
    except TrailhoundError as error:
        _remove(folder.model_path)
        return f"the model was removed, and nothing could be learned from what is left: {error}"
    return "the model was learned again from what is left"


def forget_topic(folder: TopicFolder) -> None:
    """Remove a topic with everything in it."""
    _remove(folder.path)


def _remove(path: Path) -> None:
    """At once to other programs, even if deleting takes long or is interrupted."""
    if not path.exists():
        return
    doomed = path.with_name(f".{path.name}.{os.getpid()}.forgotten")
    try:
        path.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise cannot_write(path, error) from error
