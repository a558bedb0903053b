"""What ``trailhound check --repair`` does: mends what can be mended, and says what was lost.

What is damaged beyond use is moved aside, never deleted, and made anew from the other stores. The
rest is what every start does (:mod:`~trailhound.topics.runs.mending`), here over all pages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from trailhound.config.settings import Settings, with_new_names
from trailhound.counting import counted
from trailhound.crawling.build import OwnParts
from trailhound.errors import UNREADABLE, TrailhoundError
from trailhound.storage.archive_check import repair_whole_archive
from trailhound.storage.event_log import events_named
from trailhound.storage.files import explaining
from trailhound.storage.results import RESULTS
from trailhound.storage.results_reading import Results
from trailhound.storage.sqlite import transaction
from trailhound.storage.text_index import index_texts
from trailhound.text.extract import extract_page
from trailhound.topics.crawls.folder import CrawlFolder, CrawlLock, CrawlRecord
from trailhound.topics.crawls.gathering import Gathering
from trailhound.topics.crawls.marking import archived_sources
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest, knowledge_of
from trailhound.topics.upkeep.checking import Checking, StoreCheck, index_damage
from trailhound.topics.workspace import TopicFolder, read_record


@dataclass
class CheckReport:
    """How the stores of a topic's crawl are."""

    topic: str
    stores: list[StoreCheck]
    repairs: list[str] = field(default_factory=list)
    """What was done, in sentences."""

    @property
    def is_sound(self) -> bool:
        """Whether everything agrees."""
        return not any(store.problems for store in self.stores)


def check_crawl(
    folder: CrawlFolder,
    *,
    repair: bool = False,
    tell: Callable[[str], None] = lambda _: None,
    parts_of: Callable[[CrawlFolder], OwnParts] = lambda _: OwnParts(),
) -> CheckReport:
    """Look through the stores of a crawl, which must not be running; mend them if that is wanted.

    After a repair everything is looked through again: the report tells how it is then. A crawl in
    shards is gathered then, too; ``parts_of`` gives what a shard needs to rank links again.
    """
    shards = [_check_one(each, repair, tell, partial(parts_of, each)) for each in folder.shards()]
    if shards and repair:
        tell("Gathering what the shards have")
        with CrawlLock(folder.topic), Gathering(folder) as gathering:
            gathering.settle()
    report = _check_one(folder, repair, tell, OwnParts)
    report.stores += _folded(shards)
    report.repairs[:0] = [
        f"Shard {shard.path.name}: {told}"
        for shard, each in zip(folder.shards(), shards, strict=True)
        for told in each.repairs
    ]
    return report


def repair_topic(folder: TopicFolder) -> tuple[TopicFolder, list[str]]:
    """Write a ``topic.json`` anew that is damaged or gone; the folder by its name, what was done.

    ModelError when it is there and well, but a newer Trailhound's.
    """
    path = folder.path / "topic.json"
    if not folder.is_damaged():
        return folder, []
    done = []
    with CrawlLock(folder):
        if path.exists():
            try:
                read_record(path)
            except TrailhoundError as error:
                if not isinstance(error.__cause__, UNREADABLE):
                    raise
        folder = folder.renamed_as_told(_topic_of_crawl(folder))
        if path.exists():
            aside = _moved_aside(path)
            done.append(f"{path.name} could not be used; it is now {aside.name}.")
        label = None
        with suppress(TrailhoundError):  # nothing was learned, or that is damaged, too
            label = folder.load().origin.label
        folder.write_record_anew(label)
    done.append(f"{path.name} was written again. A threshold that was chosen is to be chosen anew.")
    return folder, done


def _topic_of_crawl(folder: TopicFolder) -> str:
    with suppress(TrailhoundError):
        return CrawlFolder(folder).read().topic
    return ""


def _folded(shards: Sequence[CheckReport]) -> list[StoreCheck]:
    """One line for each kind of store, however many shards there are."""
    found = []
    for stores in zip(*(report.stores for report in shards), strict=True):
        folded = StoreCheck(f"{stores[0].store} of shards", unit=stores[0].unit)
        folded.checked = sum(store.checked for store in stores)
        folded.problems = [
            msgspec.structs.replace(problem, what=f"in shard {number:03d}: {problem.what}")
            for number, store in enumerate(stores)
            for problem in store.problems
        ]
        folded.notes = list(dict.fromkeys(note for store in stores for note in store.notes))
        found.append(folded)
    return found


def _check_one(
    folder: CrawlFolder, repair: bool, tell: Callable[[str], None], own: Callable[[], OwnParts]
) -> CheckReport:
    # Where nothing can be written, a backup say, nothing is being crawled.
    is_writable = repair or os.access(folder.topic.path, os.W_OK)
    with CrawlLock(folder.topic) if is_writable else nullcontext():
        checking = Checking(folder, tell)
        report = CheckReport(folder.topic.name, checking.run())
        if report.is_sound or not repair:
            return report
        repairing = _Repairing(folder, checking, report.stores, tell, own)
        repairing.files()
    repairing.stores()
    with CrawlLock(folder.topic):
        repairing.search_index()
        return CheckReport(folder.topic.name, Checking(folder, tell).run(), repairing.done)


@dataclass
class _Repairing:
    folder: CrawlFolder
    found: Checking
    before: list[StoreCheck]
    tell: Callable[[str], None]
    own: Callable[[], OwnParts]
    done: list[str] = field(default_factory=list)

    def files(self) -> None:
        """What cannot be read goes aside, to be made anew."""
        self.tell("Mending files")
        for path in self.found.damaged:
            aside = _moved_aside(path)
            self.done.append(f"{path.name} could not be used; it is now {aside.name}.")
        self._record()
        if any(store.store == "index" and store.problems for store in self.before):
            self.done.append("The index of the archive was written anew.")
        if self.folder.archive.is_dir():
            for repair in repair_whole_archive(self.folder.archive):
                self.done.append(f"Damage was cut out of the archive. {repair}.")

    def stores(self) -> None:
        """Everything that the stores can tell each other."""
        self.tell("Taking from the other stores what one lacks")
        if self.folder.shards():
            with CrawlLock(self.folder.topic), Gathering(self.folder) as gathering:
                gathering.settle()
            return
        request = CrawlRequest(resume=True, may_be_spent=True, mends_all=True)
        with open_crawl(
            self.folder.topic, request, self.done.append, folder=self.folder, own=self.own()
        ) as crawl:
            if crawl.mended:
                self.done.append(crawl.mended)

    def search_index(self) -> None:
        """Every relevant page can be found by its words again."""
        path = self.folder.results
        with Results(path) as results:
            lacking, stray = results.unsearchable(), results.stray_texts()
        if stray or index_damage(path):
            _rebuild_index(path, stray)
            self.done.append("The search index was made anew.")
        if lacking:
            self.tell("Reading pages for the search index")
            texts = _texts(self.folder.archive, {page.address for _, page in lacking})
            index_texts(
                path,
                ((row, page.title, texts.get(page.address, page.snippet)) for row, page in lacking),
            )
            self.done.append(f"{counted(len(lacking), 'page')} can be searched for again.")

    def _record(self) -> None:
        """``crawl.json`` as the log tells it."""
        path = self.folder.record_path
        try:
            self.folder.require().read()
            return
        except TrailhoundError as error:
            starts = events_named(self.folder.log, "start")
            is_lost = not path.exists() or isinstance(error.__cause__, UNREADABLE)
            if not starts or not is_lost:  # a newer Trailhound's, say
                raise
            record = self._record_of(starts, error)
        if path.exists():
            aside = _moved_aside(path)
            self.done.append(f"{path.name} could not be used; it is now {aside.name}.")
        self.folder.write(record)
        self.done.append(f"{path.name} was written again, as the log tells it.")

    def _record_of(self, starts: list[dict[str, Any]], error: TrailhoundError) -> CrawlRecord:
        known = knowledge_of(self.folder.topic)
        try:
            settings = msgspec.convert(with_new_names(starts[-1]["settings"]), Settings)
            return CrawlRecord(
                topic=self.folder.topic.name,
                settings=settings.changed({"crawl.seeds": tuple(starts[-1]["seeds"])}),
                created_at=float(starts[0]["at"]),
                states=known.states,
                model=known.fingerprint,
            )
        except (KeyError, TypeError, ValueError):
            raise error from None


def _rebuild_index(path: Path, stray: list[int]) -> None:
    with (
        RESULTS.explaining(path),
        closing(RESULTS.open(path)) as connection,
        transaction(connection),
    ):
        connection.executemany("DELETE FROM found WHERE rowid = ?", [(row,) for row in stray])
        connection.execute("INSERT INTO found (found) VALUES ('rebuild')")


def _texts(archive: Path, addresses: set[str]) -> dict[str, str]:
    sources = archived_sources(archive, addresses)
    return {address: _text(html, address) for address, html in sources.items()}


def _text(html: str, address: str) -> str:
    body = html.encode("utf-8", "replace")
    return extract_page(body, address, "text/html; charset=utf-8").text


def _moved_aside(path: Path) -> Path:
    """The new name of a file that cannot be used, which other files of its kind do not have."""
    names = (path.with_name(f"{path.stem}-damaged-{number}{path.suffix}") for number in count(1))
    aside = next(name for name in names if not name.exists())
    with explaining(path):
        path.rename(aside)
        for ending in ("-wal", "-shm"):
            beside = path.with_name(path.name + ending)
            if beside.exists():
                beside.rename(aside.with_name(aside.name + ending))
    return aside
