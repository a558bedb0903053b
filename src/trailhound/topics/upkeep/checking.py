"""What ``trailhound check`` does: all stores of a crawl are held against each other."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from trailhound.config.settings import Settings
from trailhound.counting import counted
from trailhound.errors import FrontierError, StorageError, TrailhoundError
from trailhound.frontier.reading import all_urls, check_places, last_page
from trailhound.frontier.tables import FRONTIER
from trailhound.records import Outcome
from trailhound.storage.archive_check import ArchiveCheck
from trailhound.storage.event_log import logged_pages
from trailhound.storage.results import RESULTS
from trailhound.storage.results_reading import EventKey, Results
from trailhound.storage.sqlite import DatabaseKind
from trailhound.topics.crawls.folder import CrawlFolder
from trailhound.topics.runs.mending import addresses_in
from trailhound.topics.runs.strategy_memory import remembered_until

OWN_FRONTIER = "sqlite"


class Problem(msgspec.Struct, frozen=True):
    """Something that is wrong, or does not agree with another store."""

    what: str
    count: int
    example: str = ""


class StoreCheck(msgspec.Struct):
    """What was looked at in one store, and what is wrong with it."""

    store: str
    checked: int = 0
    unit: str = ""
    """Of what was checked: pages, records, lines."""
    problems: list[Problem] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    """What is worth knowing and not wrong."""

    def blame(self, what: str, cases: Iterable[object]) -> None:
        """Note a problem, if there are any cases of it."""
        found = list(cases)
        if found:
            self.problems.append(Problem(what, len(found), str(found[0])))

    def blame_file(self, error: object) -> None:
        """Note what is wrong with the store as a whole."""
        self.problems.append(Problem(str(error), 1))


@dataclass
class Checking:
    """Looks through all stores of one crawl, and changes nothing."""

    folder: CrawlFolder
    tell: Callable[[str], None] = lambda _: None
    pages: dict[tuple[int, str], EventKey] = field(default_factory=dict)
    """In the results, by number and URL."""
    settings: Settings = field(default_factory=Settings)
    damaged: list[Path] = field(default_factory=list)
    """Databases that cannot be used."""

    def run(self) -> list[StoreCheck]:
        """Everything, store by store."""
        record = self._record()
        results = self._results()
        log, archive, index = self._log(results), *self._archive(results)
        found = [record, results, archive, index, log, self._frontier()]
        return [*found, self._search_index(), self._snapshot()]

    def _record(self) -> StoreCheck:
        check = StoreCheck("settings", 1, "file")
        try:
            self.settings = self.folder.require().read().settings
        except TrailhoundError as error:
            check.blame_file(error)
        return check

    def _is_usable(self, kind: DatabaseKind, path: Path, check: StoreCheck) -> bool:
        """Whether a database is there and sound; else that is the problem."""
        if not path.is_file():
            check.blame_file(f"{path} is missing")
            return False
        try:
            damage = kind.is_beyond_use(path)
        except TrailhoundError as error:
            check.blame_file(error)
            return False
        if damage:
            self._give_up(path, check, damage)
        return not damage

    def _give_up(self, path: Path, check: StoreCheck, damage: str) -> None:
        check.blame_file(f"{path} is damaged ({' '.join(damage.split())})")
        self.damaged.append(path)

    def _results(self) -> StoreCheck:
        self.tell("Reading the results")
        check = StoreCheck("results", unit="pages")
        if self._is_usable(RESULTS, self.folder.results, check):
            with Results(self.folder.results) as results:
                self.pages = {(key.number, key.url): key for key in results.event_keys()}
        check.checked = len(self.pages)
        return check

    def _log(self, results: StoreCheck) -> StoreCheck:
        check = StoreCheck("log", unit="lines about pages")
        if not self.settings.output.log and not self.folder.log.exists():
            check.notes.append("the crawl keeps none")
            return check
        self.tell("Reading the log")
        logged: set[tuple[int, str]] = set()
        unreadable = 0
        for page in logged_pages(self.folder.log):
            if page is None:
                unreadable += 1
            else:
                logged.add((page.event.number, page.event.url))
        check.checked = len(logged)
        if unreadable:
            check.notes.append(f"{counted(unreadable, 'line')} cut short or unreadable")
        unknown = sorted(logged - self.pages.keys())
        results.blame("pages of the log that they lack", [url for _, url in unknown])
        if self.settings.output.log:
            lacking = sorted(self.pages.keys() - logged)
            check.blame("pages of the results that it lacks", [url for _, url in lacking])
        return check

    def _archive(self, results: StoreCheck) -> tuple[StoreCheck, StoreCheck]:
        archive, index = StoreCheck("archive", unit="records"), StoreCheck("index", unit="lines")
        if not self.folder.archive.is_dir():
            self._blame_unarchived(archive, set(), set())
            return archive, index
        check = ArchiveCheck(self.folder.archive, self.tell)
        numbers: set[int] = set()
        others: set[str] = set()
        unknown: list[str] = []
        for fetch in check.fetches():
            if fetch.number is None:
                others |= {fetch.url, fetch.last.url}
            else:
                numbers.add(fetch.number)
                if (fetch.number, fetch.url) not in self.pages:
                    unknown.append(fetch.url)
        archive.checked, index.checked = check.records, check.lines
        archive.blame("files left open by a run that was cut short", check.left_open)
        archive.blame("files with damage", check.damaged)
        archive.blame("records whose digest is wrong", check.wrong_digests)
        index.blame("answers that it lacks", check.not_indexed)
        if check.stray_lines:
            stray = "lines that point at no answer, or are not in order"
            index.problems.append(Problem(stray, check.stray_lines))
        results.blame("archived pages that they lack", unknown)
        self._blame_unarchived(archive, numbers, others)
        return archive, index

    def _blame_unarchived(self, check: StoreCheck, numbers: set[int], others: set[str]) -> None:
        """Pages that were answered and are not archived, unless that is known, or was not meant."""
        over_http = self.settings.fetch.is_over_http
        if not self.settings.output.archive or not over_http:
            check.notes.append("the crawl archives nothing of its own")
            return
        noted: set[int] = set()
        if self.pages:
            with Results(self.folder.results) as results:
                noted = results.unarchived()
        answered = [key for key in self.pages.values() if key.status is not None]
        unnumbered = [key for key in answered if key.number not in numbers]
        # Where a redirect leads to another shard, its address was not asked for in this fetch.
        lost = [key for key in unnumbered if not {key.url, key.address} & others]
        check.blame(
            "pages of the results that it lacks",
            [key.address for key in lost if key.number not in noted],
        )
        if known := sum(key.number in noted for key in lost):
            check.notes.append(f"the content of {counted(known, 'page')} was lost before")

    def _frontier(self) -> StoreCheck:
        check = StoreCheck("frontier", unit="URLs")
        if self.folder.shards():
            check.notes.append("in the shards")
            return check
        if self.settings.crawl.frontier != OWN_FRONTIER:
            check.notes.append(f"kept by '{self.settings.crawl.frontier}', and not looked at")
            return check
        if not self._is_usable(FRONTIER, self.folder.frontier, check):
            return check
        self.tell("Reading the frontier")
        try:
            check_places(self.folder.frontier)
        except FrontierError as error:
            self._give_up(self.folder.frontier, check, str(error))
            return check
        outcomes = dict(all_urls(self.folder.frontier))
        reached = last_page(self.folder.frontier)
        check.checked = len(outcomes)
        check.blame(
            "pages of the results that it does not know as done",
            [
                key.url
                for key in self.pages.values()
                if key.url not in outcomes
                or (reached is not None and key.number > reached and outcomes[key.url] is None)
            ],
        )
        fetched = (url for url, outcome in outcomes.items() if outcome is Outcome.FETCHED)
        known = {url for key in self.pages.values() for url in (key.url, key.address)}
        known |= addresses_in(self.folder.whole_results)
        check.blame(
            "fetched pages that the results lack", [url for url in fetched if url not in known]
        )
        return check

    def _search_index(self) -> StoreCheck:
        check = StoreCheck("search index", unit="relevant pages")
        if not self.pages:
            return check
        self.tell("Reading the search index")
        try:
            with Results(self.folder.results) as results:
                check.checked = results.summary().relevant
                lacking = [page.address for _, page in results.unsearchable()]
                check.blame("pages that it lacks", lacking)
                check.blame("entries for no page", results.stray_texts())
            if os.access(self.folder.results.parent, os.W_OK):
                check.blame("damage within it", index_damage(self.folder.results))
            else:  # SQLite would write to look
                check.notes.append("not looked into, as nothing can be written there")
        except StorageError as error:
            check.blame_file(error)
        return check

    def _snapshot(self) -> StoreCheck:
        check = StoreCheck("strategy", unit="snapshots")
        if not self.folder.strategy.is_file():
            check.notes.append("it remembers nothing of the crawl, or has not written it yet")
            return check
        check.checked = 1
        last = max((number for number, _ in self.pages), default=0)
        until = remembered_until(self.folder.strategy)
        if until is not None and until > last:
            check.blame_file(f"it knows pages up to {until:,}, the results up to {last:,}")
        return check


def index_damage(path: Path) -> list[str]:
    """What SQLite says is wrong with the full-text index of a file of results."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO found (found, rank) VALUES ('integrity-check', 0)")
    except sqlite3.Error as error:
        return [str(error)]
    return []
