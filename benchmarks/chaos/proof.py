"""What must be true of a crawl after all that: nothing lost, nothing rude, nothing damaged."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import warcio
from fastwarc.warc import ArchiveIterator

from benchmarks.chaos.crawl import DELAY_SECONDS, ChaosCrawl
from benchmarks.chaos.server import INSIDE
from benchmarks.chaos.web import ChaosWeb
from trailhound.frontier.reading import all_urls
from trailhound.records import Outcome

MAX_MEMORY_BYTES = 1_000_000_000
TOLERANCE_SECONDS = 0.05
"""Between what crawler and server take for the time of a request."""


@dataclass
class Findings:
    """What was looked at, for the report."""

    pages: int = 0
    """Of healthy hosts."""
    requests: int = 0
    hosts: int = 0
    """That were asked."""
    finished: int = 0
    """URLs that were dealt with, and are in frontier, results and log alike."""
    records: int = 0
    """In the archive."""
    gaps: int = 0
    """Requests to a host that had been asked before."""
    peak_bytes: int = 0
    seconds: float = 0.0
    """From the start of the round to its proof."""
    broken: list[str] = field(default_factory=list)
    """Pages that our own code failed on, and why."""


class Request(msgspec.Struct, frozen=True):
    """A line of the server's log."""

    at: float
    host: str
    path: str


def read_requests(log: Path) -> list[Request]:
    """What the server was asked for."""
    lines = (line.split(" ", 2) for line in log.read_text("utf-8", "replace").splitlines())
    return [Request(float(at), host, path) for at, host, path in lines]


def prove(crawl: ChaosCrawl) -> Findings:
    """AssertionError when a promise is broken."""
    requests = read_requests(crawl.server_log)
    found = Findings(requests=len(requests), peak_bytes=crawl.memory.peak_bytes)
    found.hosts = len({request.host for request in requests})
    _check_places(requests)
    found.gaps = check_delays(requests, crawl.web)
    _check_stores(crawl, found)
    _check_archive(crawl.path / "archive", found)
    checked = crawl.check()
    assert checked.returncode == 0, f"trailhound check finds:\n{checked.stdout[-3000:]}"
    said = crawl.said()
    assert "Traceback" not in said, said[said.index("Traceback") - 500 :][:9000]
    assert found.peak_bytes < MAX_MEMORY_BYTES, f"{found.peak_bytes:,} bytes were in use"
    return found


def _check_places(requests: Iterable[Request]) -> None:
    """Nobody was asked who may not be."""
    for request in requests:
        host = request.host.partition(":")[0].rstrip(".")
        assert request.host != INSIDE, f"an inside address was connected to: {request.path}"
        assert host.endswith((".hostile.test", ".healthy.test")), f"{request} was asked for"


def check_delays(requests: Iterable[Request], web: ChaosWeb) -> int:
    """Each host got its delay, whoever was killed in between; how many times that was measured."""
    by_host: defaultdict[str, list[Request]] = defaultdict(list)
    for request in requests:
        by_host[request.host].append(request)
    for host, asked in by_host.items():
        due = max(DELAY_SECONDS, web.delay_seconds(host)) - TOLERANCE_SECONDS
        for first, second in itertools.pairwise(asked):
            # The file itself is asked for before anybody can know what it wishes for.
            least = DELAY_SECONDS - TOLERANCE_SECONDS if second.path == "/robots.txt" else due
            gap = second.at - first.at
            assert gap >= least, f"{host}: {first.path}, and {second.path} {gap:.3f} s later"
    return sum(len(asked) - 1 for asked in by_host.values())


@dataclass
class Stores:
    """What a crawl's files say of its URLs."""

    frontier: dict[str, Outcome | None]
    results: dict[str, str]
    """The last outcome of each URL."""
    addresses: set[str]
    """Where redirects ended."""
    logged: set[str]
    broken: list[str]


def read_stores(path: Path) -> Stores:
    """All but the archive."""
    with closing(sqlite3.connect(path / "results.db")) as results:
        rows = results.execute(
            "SELECT url, address, outcome, why FROM event ORDER BY id"
        ).fetchall()
    return Stores(
        dict(all_urls(path / "frontier.db")),
        {url: outcome for url, _, outcome, _ in rows},
        {address for _, address, _, _ in rows},
        set(_logged_pages(path / "log.jsonl")),
        [f"{url}: {why}" for url, _, outcome, why in rows if outcome == Outcome.BROKEN],
    )


def _logged_pages(log: Path) -> Iterator[str]:
    for line in log.read_bytes().splitlines():
        if b'"event":"page"' in line:
            try:
                yield msgspec.json.decode(line)["url"]
            except msgspec.DecodeError:
                continue  # torn by a kill; the page came again


def _check_stores(crawl: ChaosCrawl, found: Findings) -> None:
    stores = read_stores(crawl.path)
    missing = {url for url in crawl.web.urls if stores.frontier.get(url) is not Outcome.FETCHED}
    assert not missing, f"{len(missing)} healthy pages were not fetched: {sorted(missing)[:5]}"
    for url, outcome in stores.frontier.items():
        if outcome is None or outcome is Outcome.SKIPPED:
            continue
        found.finished += 1
        assert url in stores.results or url in stores.addresses, f"{url} has no result"
        if url in stores.results:
            assert url in stores.logged, f"{url} is not in the log"
    assert stores.logged <= stores.results.keys(), "the log has pages that the results lack"
    unfetched = {url for url in crawl.web.urls if stores.results[url] != Outcome.FETCHED}
    assert not unfetched, f"the results have no page for {sorted(unfetched)[:5]}"
    found.pages, found.broken = len(crawl.web.urls), stores.broken


def _check_archive(folder: Path, found: Findings) -> None:
    files = sorted(folder.glob("*.warc.gz"))
    assert files, f"{folder} has no WARC file"
    for file in files:
        records = _read_by_warcio(file)
        assert records == _read_by_fastwarc(file), f"two readers find different things in {file}"
        found.records += records


def _read_by_warcio(file: Path) -> int:
    """Its records, each as its digests say."""
    count = 0
    with file.open("rb") as stream:
        # Not what a server's coding hides: some say one and send another.
        for record in warcio.ArchiveIterator(stream, check_digests="log"):
            while record.raw_stream.read(65_536):
                pass
            passed = record.digest_checker.passed
            assert passed is not False, f"{file}: {record.digest_checker.problems}"
            count += 1
    return count


def _read_by_fastwarc(file: Path) -> int:
    """The same by another reader."""
    count = 0
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, parse_http=False):
            assert record.verify_block_digest(), f"{file}: {record.record_id} is damaged"
            count += 1
    return count


def ended_well(code: int, said: str, excuses: Iterable[str]) -> bool:
    """Whether a run that nobody killed may have ended like that: by itself, or by its excuse."""
    if code in (0, 130):
        return True
    last = re.sub(r"\s+", " ", said[-3_000:]).lower()
    return code == 1 and any(excuse in last for excuse in ("nothing was fetched", *excuses))
