"""How long learning takes: a session of 700 pages in under ten seconds.

``python -m benchmarks.learn_cost`` records a session over real pages of the webkb corpus, sources
included, runs ``trailhound learn`` and ``trailhound inspect`` on it as a user would, each in a
process of its own, and fails when learning takes too long. Learning runs in one thread, so on a
machine that is not busy with other things its CPU time is the time it takes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpora import real_corpus
from trailhound.errors import TrailhoundError
from trailhound.lab.corpora import Corpus
from trailhound.sessions.events import Event, Mark, Reached, Session, Visit
from trailhound.sessions.files import write_session

N_PAGES = 700
N_TARGETS = 30
LABEL = "course"
LIMIT_SECONDS = 10.0
_TRAILHOUND = [sys.executable, "-c", "from trailhound.cli.main import run; run()"]


class Cost(NamedTuple):
    """Of one command."""

    cpu_seconds: float
    wall_seconds: float


def record(corpus: Corpus, n_pages: int) -> Session:
    """Somebody looks at ``n_pages`` pages, breadth first along links; some are useful."""
    pages = _walk(corpus, n_pages)
    labels = corpus.labels()
    label = LABEL if LABEL in labels else max(labels, key=lambda name: len(labels[name]))
    wanted = [page for page in pages if page in labels[label]][:N_TARGETS]
    events: list[Event] = [
        Visit(
            time=float(number),
            url=corpus.page_urls[page],
            reached=Reached.LINK if number else Reached.TYPED,
            from_url=corpus.page_urls[pages[0]] if number else None,
            html=(corpus.html(corpus.page_urls[page]) or b"").decode("utf-8", "replace"),
        )
        for number, page in enumerate(pages)
    ]
    events += [Mark(float(n_pages), corpus.page_urls[page]) for page in wanted]
    return Session("courses", tuple(events))


def _walk(corpus: Corpus, n_pages: int) -> list[int]:
    """The first pages of a breadth-first walk from the page with most links."""
    graph = corpus.graph
    start = max(range(len(corpus)), key=lambda page: len(graph.links_of(page)))
    seen = dict.fromkeys([start])
    waiting = deque([start])
    others = iter(range(len(corpus)))
    while len(seen) < n_pages:
        # When everything within reach is seen, she types another address.
        page = waiting.popleft() if waiting else next(others)
        for linked in (page, *graph.links_of(page).tolist()):
            if linked not in seen and len(seen) < n_pages:
                seen[linked] = None
                waiting.append(linked)
    return list(seen)


def timed(command: list[str]) -> Cost:
    """What a command takes, its start included."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*_TRAILHOUND, *command], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, time.perf_counter() - started)


def measure(session: Path, folder: Path, repeats: int) -> dict[str, Cost]:
    """The cheapest of several runs of each command: others were disturbed."""
    place = ["--workspace", str(folder / "workspace")]
    commands = {
        "learn": ["learn", "courses", "--session", str(session), "--replace", *place],
        "inspect": ["inspect", "courses", *place],
        "inspect --html": ["inspect", "courses", "--html", str(folder / "page.html"), *place],
    }
    return {name: min(timed(command) for _ in range(repeats)) for name, command in commands.items()}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether the limit holds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learn_cost", description=__doc__)
    parser.add_argument("--corpus", type=Path, help="another corpus file instead of webkb")
    parser.add_argument("--pages", type=int, default=N_PAGES)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    try:
        corpus = options.corpus or real_corpus("webkb")
        if corpus is None:
            return 0
        with tempfile.TemporaryDirectory() as folder, Corpus.open(corpus) as opened:
            session = Path(folder) / "courses.jsonl"
            write_session(record(opened, options.pages), session)
            print(f"{options.pages} pages, {session.stat().st_size / 1e6:.1f} MB")
            taken = measure(session, Path(folder), options.repeats)
    except TrailhoundError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    for name, cost in taken.items():
        print(f"{name:<16} {cost.cpu_seconds:6.2f} s CPU, {cost.wall_seconds:6.2f} s in all")
    if taken["learn"].cpu_seconds > LIMIT_SECONDS:
        print(f"FAILED: learning took more than {LIMIT_SECONDS:.0f} s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
