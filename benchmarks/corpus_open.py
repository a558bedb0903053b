"""How fast a large recorded web opens: 50,000 pages in under a second.

``python -m benchmarks.corpus_open`` writes such a corpus into a temporary folder (a minute or
two), opens it, and fails when opening, or opening and asking for a first page, takes too long.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from trailhound.lab.corpora import Corpus, CorpusWriter

N_PAGES = 50_000
LINKS_PER_PAGE = 30
LIMIT_SECONDS = 1.0


def page_url(number: int) -> str:
    """Pages are spread over a thousand hosts."""
    return f"http://host{number % 1000}.test/section/{number // 1000}/page.html"


def write_corpus(path: Path, n_pages: int, jobs: int) -> None:
    """Small pages with many links: what must be loaded grows with pages and links."""
    with CorpusWriter(path, "benchmark", jobs=jobs) as writer:
        for number in range(n_pages):
            linked = ((number * 31 + step * 977) % n_pages for step in range(LINKS_PER_PAGE))
            anchors = "".join(f'<a href="{page_url(target)}">{target}</a> ' for target in linked)
            writer.add_page(page_url(number), f"<title>{number}</title>{anchors}".encode())


def seconds(action: Callable[[], object]) -> float:
    """Wall-clock time of ``action``."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def measure(path: Path, n_pages: int) -> dict[str, float]:
    """Seconds for each step of using a corpus for the first time."""
    opened: list[Corpus] = []
    times = {"open": seconds(lambda: opened.append(Corpus.open(path)))}
    with opened[0] as corpus:
        times["first lookup"] = seconds(lambda: corpus.lookup(page_url(n_pages // 2)))
        times["link graph"] = seconds(lambda: corpus.graph)
        times["hops to a page"] = seconds(lambda: corpus.graph.hops_to([0]))
        sample = [page_url(number) for number in range(0, n_pages, max(1, n_pages // 1000))]
        times["later lookups, each"] = seconds(
            lambda: [corpus.lookup(url) for url in sample]
        ) / len(sample)
    return times


def main() -> int:
    """Measure, print, and say by the exit code whether the limit holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=N_PAGES)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.thc"
        writing = seconds(lambda: write_corpus(path, options.pages, options.jobs))
        print(f"{options.pages:,} pages, {path.stat().st_size / 1e6:.0f} MB, {writing:.0f} s")
        times = measure(path, options.pages)
    for step, taken in times.items():
        print(f"{step:22}{1000 * taken:10.2f} ms")
    if times["open"] + times["first lookup"] > LIMIT_SECONDS:
        print(f"FAILED: more than {LIMIT_SECONDS} s until the first page", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
