"""What a URL costs in the SQLite frontier as it grows from 100 thousand to 10 or 100 million.

    python -m benchmarks.frontier_scale [--urls 10_000_000] [--folder DIR] [--strict]

The frontier is filled through its own interface, page by page. At each size, windows of realistic
pages are timed: lease one URL, delay its host, add 50 links (40 of them seen before, 40 of them on
the page's own host), finish, with everything committed at every page. Windows alternate with
windows on a fresh frontier of 100 thousand URLs; costs are CPU time of this process, costs and
ratios are medians. ``--strict`` exits with 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
from array import array
from pathlib import Path

import msgspec

from trailhound.frontier.sqlite import SqliteFrontier
from trailhound.records import Candidate, Outcome
from trailhound.urls import host_key

SIZES = (100_000, 1_000_000, 10_000_000)
MAX_RATIO = 1.5
MAX_BYTES_PER_URL = 150
MAX_RESIDENT_MB = 600

HOSTS = 100_000
LINKS = 50
"""Links of a page, of which 40 have been seen before and 40 stay on its host."""
NAVIGATION = 30
"""The first pages of each host, which all of its pages link to."""
RECENT = 50
WINDOWS = 7
PAGES_PER_WINDOW = 400
MEMORY_BYTES = 16
"""A belief over four hidden states as single-precision numbers, say."""

WORDS = ("bees", "honey", "meadow", "archive", "notes", "guide", "winter", "market", "review")
_PREFIX = "https://www.site-"


class Window(msgspec.Struct, frozen=True):
    """CPU microseconds per call, mean over one window of pages."""

    add: float
    """Per link: ``add``, and the ``finish`` that commits it, divided by the links."""
    lease: float
    delay: float
    risen: float
    """Links of a page that re-keyed a waiting URL."""


class Size(msgspec.Struct, frozen=True):
    """What was measured at one size: medians over windows."""

    urls: int
    cost: Window
    ratio: Window
    """To the cost at the smallest size, measured in turns with this one."""
    bytes_per_url: float
    resident_mb: float


class SyntheticWeb:
    """URLs of about 70 characters on hosts whose sizes follow Zipf's law."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.known = 0
        """URLs that have been linked to."""
        self._pages = array("I", [0]) * (HOSTS + 1)
        """The same, by host."""

    @staticmethod
    def url(host: int, page: int) -> str:
        """The URL of one page of a host, always the same."""
        first, second = WORDS[(host + page) % 9], WORDS[page % 7]
        return f"{_PREFIX}{host:05}.example/{first}/{second}-and-{first}-{page:07}.html"

    def any_host(self) -> int:
        """A host, with a probability that falls with its rank."""
        return int(HOSTS ** self.rng.random())

    def new(self, host: int) -> str:
        """A URL of this host that was not seen before."""
        self.known += 1
        self._pages[host] += 1
        return self.url(host, self._pages[host])

    def seen_elsewhere(self) -> str:
        """A URL of any host, one of its first pages more likely than one of its last."""
        while not self._pages[host := self.any_host()]:
            pass
        return self.url(host, int(self._pages[host] ** self.rng.random()))

    def links(self, parent: str) -> tuple[list[str], list[str]]:
        """The seen and the new links of a realistic page."""
        chance = self.rng.random
        host = int(parent[len(_PREFIX) : len(_PREFIX) + 5])
        pages = self._pages[host]
        numbers = [1 + int(min(pages, NAVIGATION) * chance()) for _ in range(16)]
        numbers += [pages - int(min(pages, RECENT) * chance()) for _ in range(8)]
        numbers += [1 + int(pages * chance()) for _ in range(8)]
        seen = [self.url(host, number) for number in numbers]
        seen += [self.seen_elsewhere() for _ in range(8)]
        new = [self.new(host) for _ in range(8)]
        return seen, [*new, *(self.new(self.any_host()) for _ in range(2))]

    def page(self, parent: Candidate) -> list[Candidate]:
        """The links of a realistic page, with priorities.

        Four of five links that were seen before come with a low one: pages are fetched best first,
        so that later pages rarely have more to say for a link than earlier ones.
        """
        seen, new = self.links(parent.url)
        chance = self.rng.random
        scored = [(url, chance() if chance() < 0.2 else 0.1 * chance()) for url in seen]
        scored += [(url, chance()) for url in new]
        self.rng.shuffle(scored)
        return self._candidates(scored, parent)

    def big_page(self, parent: Candidate, size: int) -> list[Candidate]:
        """A page whose links are all new."""
        links = [(self.new(self.any_host()), self.rng.random()) for _ in range(size)]
        return self._candidates(links, parent)

    def _candidates(self, links: list[tuple[str, float]], parent: Candidate) -> list[Candidate]:
        """All links of a page share its memory."""
        memory, depth = self.rng.randbytes(MEMORY_BYTES), parent.depth + 1
        return [Candidate(url, priority, memory, parent.url, depth) for url, priority in links]


class Benchmark:
    """One frontier, grown and timed."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.web = SyntheticWeb(seed=1)
        self.frontier = SqliteFrontier(folder / "frontier.db")
        self.frontier.add([Candidate(self.web.new(1), 1.0)])
        self.now = 0.0

    def fill(self, size: int) -> None:
        """Grow to ``size`` URLs by big pages that have new links only."""
        while self.web.known < size:
            (page,) = self.frontier.lease(1, self.now)
            self.frontier.add(self.web.big_page(page, min(200, size - self.web.known)))
            self.frontier.finish(page.url, Outcome.FETCHED)

    def window(self) -> Window:
        """The cost of some realistic pages."""
        lease = delay = add = 0.0
        risen = 0
        clock = time.process_time
        for _ in range(PAGES_PER_WINDOW):
            self.now += 0.01
            started = clock()
            (page,) = self.frontier.lease(1, self.now)
            leased = clock()
            self.frontier.delay_host(host_key(page.url), self.now + 1.0)
            delayed = clock()
            links = self.web.page(page)
            before = self._arrivals()
            ready = clock()
            new = self.frontier.add(links)
            self.frontier.finish(page.url, Outcome.FETCHED)
            add += clock() - ready
            lease += leased - started
            delay += delayed - leased
            risen += self._arrivals() - before - new
        scale = 1e6 / PAGES_PER_WINDOW
        return Window(add * scale / LINKS, lease * scale, delay * scale, risen / PAGES_PER_WINDOW)

    def _arrivals(self) -> int:
        return self.frontier._index.standings.next_arrival

    def measure(self, folder: Path) -> Size:
        """The present size against the smallest one, window by window in turns."""
        urls = self.web.known
        small = Benchmark(folder)
        small.fill(SIZES[0])
        pairs = [(small.window(), self.window()) for _ in range(WINDOWS)]
        small.frontier.close()
        del small
        ratios = [_divide(here, there) for there, here in pairs]
        return Size(
            urls=urls,
            cost=_median([here for _, here in pairs]),
            ratio=_median(ratios),
            bytes_per_url=bytes_in(self.folder) / self.web.known,
            resident_mb=resident_mb(),
        )

    def reopen(self) -> float:
        """CPU seconds to open the file anew."""
        self.frontier.close()
        del self.frontier
        started = time.process_time()
        self.frontier = SqliteFrontier(self.folder / "frontier.db")
        return time.process_time() - started


def _divide(here: Window, there: Window) -> Window:
    return Window(
        here.add / there.add,
        here.lease / there.lease,
        here.delay / there.delay,
        here.risen / there.risen,
    )


def _median(windows: list[Window]) -> Window:
    columns = zip(*map(msgspec.structs.astuple, windows), strict=True)
    return Window(*map(statistics.median, columns))


def bytes_in(folder: Path) -> int:
    """What the files of a frontier take, its log included."""
    return sum(file.stat().st_size for file in folder.iterdir())


def resident_mb() -> float:
    """Memory this process holds now, in megabytes."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def report(size: Size) -> None:
    """One line of the table."""
    cost, ratio = size.cost, size.ratio
    print(
        f"{size.urls:>11,} {cost.add:>8.1f} {ratio.add:>6.2f} {cost.lease:>9.1f} "
        f"{ratio.lease:>6.2f} {cost.delay:>9.1f} {ratio.delay:>6.2f} {cost.risen:>6.1f} "
        f"{size.bytes_per_url:>10.1f} {size.resident_mb:>7.0f}",
        flush=True,
    )


def peak_resident_mb() -> float:
    """The most memory this process ever held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def verdict(sizes: list[Size]) -> bool:
    """Print the last size's ratios against their limits; whether all are met."""
    checks = (
        ("add ratio", sizes[-1].ratio.add, MAX_RATIO),
        ("lease ratio", sizes[-1].ratio.lease, MAX_RATIO),
        ("most bytes per URL", max(size.bytes_per_url for size in sizes), MAX_BYTES_PER_URL),
        ("peak resident MB", peak_resident_mb(), MAX_RESIDENT_MB),
    )
    for name, value, limit in checks:
        print(
            f"{name:<18} {value:>8.2f}  at most {limit:<6} {'ok' if value <= limit else 'MISSED'}"
        )
    return all(value <= limit for _, value, limit in checks)


def run(urls: int, folder: Path) -> bool:
    """Grow one frontier to ``urls``, timing it at every size on the way."""
    benchmark = Benchmark(folder / "growing")
    print(
        f"{'URLs':>11} {'µs/add':>8} {'ratio':>6} {'µs/lease':>9} {'ratio':>6} "
        f"{'µs/delay':>9} {'ratio':>6} {'risen':>6} {'bytes/URL':>10} {'RSS MB':>7}"
    )
    sizes = []
    for size in [*(size for size in SIZES if size < urls), urls]:
        benchmark.fill(size)
        sizes.append(benchmark.measure(folder / f"small-{size}"))
        report(sizes[-1])
    print(f"opened again in {benchmark.reopen():.1f} s")
    benchmark.frontier.close()
    return verdict(sizes)


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--urls", type=int, default=SIZES[-1], help="final size")
    parser.add_argument("--folder", type=Path, help="where to put the file (temporary)")
    parser.add_argument("--strict", action="store_true", help="fail when a limit is missed")
    arguments = parser.parse_args()
    if arguments.folder is not None:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="frontier-", dir=arguments.folder))
    try:
        met = run(arguments.urls, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if arguments.strict and not met else 0


if __name__ == "__main__":
    sys.exit(main())
