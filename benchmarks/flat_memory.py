"""Does a crawl stay as light as it began? Small pages from very many hosts, tenth by tenth.

    python -m benchmarks.flat_memory [--pages 200_000] [--hosts 100_000] [--strategy NAME]

Ours is what ``trailhound crawl`` runs when told nothing else but a judge of words: its default
strategy unless you name another, SQLite, results, log and WARC, over HTTP, under a soft limit of
1,024 descriptors. Pages are made up by a server in another process; all hosts (``….flat.test``) are
at its address. For each tenth of the pages the table has CPU time per page and the largest resident
memory. Exits with 1 when the last tenth is above 1.25 times the second, or pages are missing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from trailhound.config.settings import Settings
from trailhound.records import Outcome
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import Workspace

PAGES = 200_000
HOSTS = 100_000
DESCRIPTORS = 1024
MAX_RATIO = 1.25
TENTHS = 10
SAMPLES = 20
"""Looks at the memory in each tenth."""

RELEVANT_EVERY = 25
WORDS_PER_PAGE = 60
ROBOTS = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 0\n"
_SITE = ".flat.test"


class ManyHosts:
    """A web of numbered pages: each leads to the three after its triple, and to earlier ones."""

    def __init__(self, pages: int, hosts: int) -> None:
        self._pages = pages
        self._hosts = hosts
        dice = random.Random(7)
        letters = "aeioubcdfglmnprst"
        self._words = ["".join(dice.choices(letters, k=dice.randint(3, 10))) for _ in range(20_000)]

    def url(self, number: int) -> str:
        """The address of a page; those of one host are far apart."""
        host, page = number % self._hosts, number // self._hosts
        return f"http://h{host}{_SITE}/{f'page-{page}.html' if page else ''}"

    def body(self, host: str, path: str) -> bytes | None:
        """What is there; ``None`` for nothing."""
        page = int(path[6:-5]) if path.startswith("/page-") else 0
        number = page * self._hosts + int(host.removesuffix(_SITE)[1:])
        if path == "/robots.txt":
            return ROBOTS
        return self._page(number).encode() if number < self._pages else None

    def _page(self, number: int) -> str:
        dice = random.Random(number)
        ranks = (int(len(self._words) ** dice.random()) - 1 for _ in range(WORDS_PER_PAGE))
        text = " ".join(self._words[rank] for rank in ranks)
        if number % RELEVANT_EVERY == 0:
            text += " honey bee swarm"
        children = (n for n in range(3 * number + 1, 3 * number + 4) if n < self._pages)
        others = (dice.randrange(number + 1) for _ in range(4))
        links = "".join(
            f'<li><a href="{self.url(n)}">{self._words[n % 5000]} {n}</a>'
            for n in (*children, *others)
        )
        title = " ".join(text.split()[:4])
        return f"<!DOCTYPE html><html lang=en><title>{title}</title><p>{text}<ul>{links}</ul>"


class _Connection(asyncio.Protocol):
    def __init__(self, web: ManyHosts) -> None:
        self._web = web

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        head = data.decode("latin-1").split("\r\n")
        host = next(line[6:] for line in head if line.lower().startswith("host: "))
        body = self._web.body(host, head[0].split(" ")[1])
        status = "200 OK" if body is not None else "404 Not Found"
        answer = (
            f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
            f"Content-Length: {len(body or b'')}\r\n\r\n"
        )
        assert isinstance(self._transport, asyncio.Transport)
        self._transport.write(answer.encode() + (body or b""))


async def _serve(pages: int, hosts: int) -> None:
    web = ManyHosts(pages, hosts)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(web), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def _running_server(pages: int, hosts: int) -> Iterator[int]:
    """The port of a server in another process."""
    command = [sys.executable, "-m", "benchmarks.flat_memory", "--serve"]
    command += ["--pages", str(pages), "--hosts", str(hosts)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()


class Tenth(msgspec.Struct):
    """What a tenth of the pages cost."""

    pages: int = 0
    cpu_seconds: float = 0.0
    resident_mb: float = 0.0

    @property
    def cpu_ms_per_page(self) -> float:
        """Of the crawling process."""
        return 1000 * self.cpu_seconds / max(1, self.pages)


class Meter:
    """Looks at this process while it crawls, and prints a line for each tenth."""

    def __init__(self, pages: int) -> None:
        self._pages = pages
        self._every = max(1, pages // TENTHS // SAMPLES)
        self._fetched = 0
        self._cpu = time.process_time()
        self.tenths = [Tenth()]
        print(f"{'tenth':>5} {'pages':>8} {'CPU ms/page':>12} {'resident MB':>12}")

    def page_fetched(self) -> None:
        """Count a page; look now and then."""
        self._fetched += 1
        tenth = self.tenths[-1]
        tenth.pages += 1
        is_complete = self._fetched * TENTHS >= self._pages * len(self.tenths)
        if self._fetched % self._every == 0 or is_complete:
            now = time.process_time()
            tenth.cpu_seconds += now - self._cpu
            tenth.resident_mb = max(tenth.resident_mb, _resident_mb())
            self._cpu = now
        if is_complete:
            cpu, memory = tenth.cpu_ms_per_page, tenth.resident_mb
            row = f"{len(self.tenths):5} {tenth.pages:8,} {cpu:12.2f} {memory:12.1f}"
            print(row, flush=True)
            if len(self.tenths) < TENTHS:
                self.tenths.append(Tenth())


def _resident_mb() -> float:
    """Now, where the system tells; elsewhere the most so far."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def crawl(folder: Path, pages: int, hosts: int, strategy: str) -> list[Tenth]:
    """Crawl all pages into a workspace in ``folder``."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
    topic = Workspace(folder).folder_for("flat")
    topic.prepare()
    with _running_server(pages, hosts) as port:
        settings = Settings().changed(
            {
                "crawl.seeds": (ManyHosts(pages, hosts).url(0),),
                "crawl.max_requests": 2 * pages,
                "crawl.strategy": strategy,
                "judge.kind": "keywords:words=honey bee swarm",
                "fetch.user_agent": "trailhound-benchmark (+http://www.flat.test/)",
                "fetch.resolve": (f"*{_SITE}=127.0.0.1:{port}",),
                "fetch.allow_addresses": (f"*{_SITE}",),
            }
        )
        with open_crawl(topic, CrawlRequest(settings)) as live:
            meter = Meter(pages)
            for event in live.run():
                if event.outcome is Outcome.FETCHED:
                    meter.page_fetched()
    return meter.tenths


def verdict(tenths: list[Tenth], pages: int) -> int:
    """Compare; 1 when the last tenth costs too much, or pages are missing."""
    second, last = tenths[1], tenths[-1]
    fetched = sum(tenth.pages for tenth in tenths)
    cpu = last.cpu_ms_per_page / second.cpu_ms_per_page
    memory = last.resident_mb / second.resident_mb
    failed = fetched < pages or cpu > MAX_RATIO or memory > MAX_RATIO
    print(
        f"{fetched:,} of {pages:,} pages. The last tenth to the second: CPU {cpu:.2f}, memory "
        f"{memory:.2f} (limit {MAX_RATIO}){'  EXCEEDED' * failed}"
    )
    return int(failed)


def main(arguments: list[str] | None = None) -> int:
    """Crawl, and compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flat_memory", description=__doc__)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--strategy", default=Settings().crawl.strategy)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve:
        asyncio.run(_serve(options.pages, options.hosts))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        tenths = crawl(Path(folder), options.pages, options.hosts, options.strategy)
    return verdict(tenths, options.pages)


if __name__ == "__main__":
    sys.exit(main())
