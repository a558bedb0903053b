"""A crawl of the demo web that is killed again and again, and what must hold each time.

    python -m benchmarks.kill_resume [--kills 20] [--seed 1]

The web is served by this process, which writes down every request. The crawl is a process of its
own; at a random moment it gets SIGKILL, and ``--resume`` follows. After each kill:

* every URL that a finished page links to is in the frontier, or was refused for a kept reason;
* what had been seen and finished before is so still;
* every page that counts as fetched is in the results;
* no page that was finished is asked for again (what was in flight may be);
* every request is counted, robots.txt files apart;
* no host is asked sooner than its robots.txt allows, restarts included;
* every WARC file validates.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, fields
from pathlib import Path

from warcio.checker import Checker

from trailhound.demo import DemoResponse, DemoWeb
from trailhound.demo.server import serve_in_thread
from trailhound.demo.web import with_sources
from trailhound.frontier.reading import all_urls
from trailhound.records import Outcome
from trailhound.storage.results import ResultsStore
from trailhound.storage.results_reading import Results
from trailhound.storage.warc_repair import repair_archive
from trailhound.text.extract import extract_page
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.workspace import Workspace
from trailhound.urls import canonicalize, host_key, strip_tracking

COMMAND = [sys.executable, "-c", "from trailhound.cli.main import run; run()"]
CRAWL_DELAY_SECONDS = 1.0
"""What the demo web's slow hosts ask for."""
TOLERANCE_SECONDS = 0.05
"""Between what crawler and server take for the time of a request."""
MAX_WARM_UP_SECONDS = 60.0
SLOW_HOSTS = ("forum.", "mirror.", "www.heimatverein")
"""Their names begin with one of these."""


@dataclass(frozen=True)
class RecordingWeb(DemoWeb):
    """The demo web, with a list of all requests: when, and for which URL."""

    requests: list[tuple[float, str]] = field(default_factory=list)

    @classmethod
    def of(cls, web: DemoWeb) -> RecordingWeb:
        """The same web."""
        return cls(**{each.name: getattr(web, each.name) for each in fields(web)})

    def respond(self, url: str) -> DemoResponse:
        """Answer, and write it down."""
        self.requests.append((time.time(), canonicalize(url) or url))
        return super().respond(url)


@dataclass
class State:
    """What a crawl's files say."""

    seen: set[str]
    finished: dict[str, Outcome]
    refused: set[str]
    in_results: set[str]


class KilledCrawl:
    """One crawl in ``folder``, to be killed and resumed."""

    def __init__(self, folder: Path, web: RecordingWeb, port: int, topic: str) -> None:
        self.web = web
        self.topic = topic
        self.workspace = folder / "workspace"
        self._scratch = folder / "scratch"
        self._output = folder / "output.txt"
        self._options = [
            *("--user-agent", "kill-test (+http://www.demo.test/about)"),
            *("--resolve", f"*.demo.test=127.0.0.1:{port}"),
            *("--allow-address", "*.demo.test", "--scope", "*.demo.test"),
            *("--strategy", "best-first", "--max-requests", "100000"),
            *(option for seed in web.start_urls for option in ("--seed", seed)),
        ]
        session = with_sources(web.sessions[topic], web)
        learn_into(Workspace(self.workspace), LearningRequest(topic, [session]))
        self.path = Workspace(self.workspace).topic(topic).path / "crawl"
        self.started = False
        web.requests.clear()

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """Start or resume; returns once pages are being fetched."""
        options = ["--resume"] if self.started else self._options
        before = len(self.web.requests)
        command = [*COMMAND, "crawl", self.topic, "--workspace", str(self.workspace)]
        with self._output.open("ab") as output:
            process = subprocess.Popen([*command, *options, *more], stdout=output, stderr=output)
        patience = time.time() + MAX_WARM_UP_SECONDS
        while len(self.web.requests) == before and process.poll() is None:
            assert time.time() < patience, "the crawl asks for nothing"
            time.sleep(0.01)
        self.started = True
        return process

    def run_and_kill(self, seconds: float) -> None:
        """Let it fetch for so long, then kill it with all it has."""
        process = self.start()
        time.sleep(seconds)
        assert process.poll() is None, f"it ended by itself:\n{self.output()}"
        process.send_signal(signal.SIGKILL)
        process.wait()

    def finish(self, requests: int) -> None:
        """Let it make so many requests more and end in peace."""
        with Results(self.path / "results.db") as results:
            total = results.summary().requests + requests
        assert self.start("--max-requests", str(total)).wait(120) == 0, self.output()

    def output(self) -> str:
        """All that it has said."""
        return self._output.read_text("utf-8", "replace")

    def copy_of(self, name: str) -> Path:
        """A file of the crawl, copied: looking must not mend anything."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        shutil.copytree(self.path, self._scratch)
        return self._scratch / name

    def state(self) -> State:
        """What a copy says."""
        urls = dict(all_urls(self.copy_of("frontier.db")))
        with closing(sqlite3.connect(self._scratch / "results.db")) as results:
            asked = results.execute("SELECT url FROM event UNION SELECT address FROM event")
            in_results = {url for (url,) in asked}
            refused = {url for (url,) in results.execute("SELECT url FROM refusal")}
        finished = {url: outcome for url, outcome in urls.items() if outcome is not None}
        return State(set(urls), finished, refused, in_results)

    def check_archive(self) -> int:
        """Mend a copy of the archive as the next start would, and validate it; records checked."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        shutil.copytree(self.path / "archive", self._scratch)
        repair_archive(self._scratch)
        files = sorted(map(str, self._scratch.glob("*.warc.gz")))
        checker = Checker(_CheckerOptions(files))
        checker.process_all()
        assert checker.exit_value == 0, "a WARC file is damaged"
        return len(files)


class _CheckerOptions:
    def __init__(self, files: list[str]) -> None:
        self.inputs = files
        self.verbose = False


@dataclass
class Findings:
    """What has been measured."""

    kills: int = 0
    urls: int = 0
    pages: int = 0
    links: int = 0
    """Links of fetched pages that were looked for in the frontier."""
    slow_requests: int = 0
    """To hosts that ask for a delay."""
    fetched_twice: int = 0
    warc_files: int = 0


class Inspector:
    """Holds the crawl to its promises, kill by kill."""

    def __init__(self, crawl: KilledCrawl) -> None:
        self._crawl = crawl
        self._before: State | None = None
        self._requests_checked = 0
        self._links: dict[str, set[str]] = {}
        self._redirect_ends = set(_redirect_ends(crawl.web))
        self.findings = Findings()

    def check(self) -> None:
        """After a kill, or at the end."""
        state = self._crawl.state()
        self._check_nothing_is_lost(state)
        self._check_nothing_is_asked_again()
        self._check_all_is_counted()
        self.findings.slow_requests = check_delays(self._crawl.web.requests)
        self.findings.kills += 1
        self.findings.urls, self.findings.pages = len(state.seen), len(state.finished)
        self.findings.warc_files = self._crawl.check_archive()
        self._before = state

    def _check_nothing_is_lost(self, state: State) -> None:
        for url, outcome in state.finished.items():
            assert url in state.in_results or outcome is Outcome.SKIPPED, f"{url} has no result"
            if outcome is Outcome.FETCHED:
                links = self._links_of(url)
                self.findings.links += len(links)
                lost = links - state.seen - state.refused
                assert not lost, f"links of {url} are lost: {sorted(lost)[:5]}"
        if self._before is not None:
            assert self._before.seen <= state.seen, "URLs are gone from the frontier"
            gone = self._before.finished.keys() - state.finished.keys()
            assert not gone, f"finished pages wait again: {sorted(gone)[:5]}"

    def _check_all_is_counted(self) -> None:
        asked = [url for _, url in self._crawl.web.requests]
        robots = sum(url.endswith("/robots.txt") for url in asked)
        with closing(ResultsStore(self._crawl.copy_of("results.db"))) as results:
            pages_counted, robots_counted = results.promised
        assert len(asked) - robots <= pages_counted, "requests were not counted"
        assert robots <= robots_counted, "requests for robots.txt were not counted"

    def _links_of(self, url: str) -> set[str]:
        if url not in self._links:
            self._links[url] = set(_links(self._crawl.web, url))
        return self._links[url]

    def _check_nothing_is_asked_again(self) -> None:
        """Pages behind redirects are left out: a redirect is followed before its end is known."""
        requests = self._crawl.web.requests
        new = [url for _, url in requests[self._requests_checked :]]
        self._requests_checked = len(requests)
        pages = [url for url in new if not url.endswith("/robots.txt")]
        if self._before is not None:
            again = set(pages) & self._before.finished.keys() - self._redirect_ends
            assert not again, f"finished pages were asked for again: {sorted(again)[:5]}"
        times = Counter(url for _, url in requests if not url.endswith("/robots.txt"))
        self.findings.fetched_twice = sum(
            count - 1 for url, count in times.items() if url not in self._redirect_ends
        )


def check_delays(requests: list[tuple[float, str]]) -> int:
    """Hosts with a Crawl-delay get it, whoever was killed in between; how many requests."""
    by_host: defaultdict[str, list[float]] = defaultdict(list)
    for moment, url in requests:
        host = host_key(url)
        if host.startswith(SLOW_HOSTS):
            by_host[host].append(moment)
    for host, moments in by_host.items():
        gaps = [later - sooner for sooner, later in itertools.pairwise(moments)]
        short = min(gaps, default=CRAWL_DELAY_SECONDS)
        assert short >= CRAWL_DELAY_SECONDS - TOLERANCE_SECONDS, f"{host} again after {short:.2f} s"
    return sum(map(len, by_host.values()))


def _links(web: DemoWeb, url: str) -> Iterator[str]:
    """The links of a page as the crawl should have queued them."""
    response = DemoWeb.respond(web, url)
    if response.status == 200:
        page = extract_page(response.body, url, response.headers.get("Content-Type", ""))
        for link in page.links:
            if host_key(link.url).endswith(".demo.test"):
                yield strip_tracking(link.url)


def _redirect_ends(web: DemoWeb) -> Iterator[str]:
    for url, response in web.responses.items():
        target = canonicalize(response.headers.get("Location", ""), url)
        if 300 <= response.status < 400 and target:
            yield target


def kill_again_and_again(
    folder: Path, kills: int, seed: int, *, max_seconds: float = 2.0, last_requests: int = 200
) -> Findings:
    """The whole experiment; AssertionError when a promise is broken."""
    chance = random.Random(seed)
    web = RecordingWeb.of(DemoWeb.generate())
    with serve_in_thread(web) as port:
        crawl = KilledCrawl(folder, web, port, min(web.topics))
        inspector = Inspector(crawl)
        for _ in range(kills):
            crawl.run_and_kill(chance.uniform(0.0, max_seconds))
            inspector.check()
        crawl.finish(last_requests)
        inspector.check()
        inspector.findings.kills = kills
        return inspector.findings


def main() -> None:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description="Kill a crawl and resume it, again and again.")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    started = time.time()
    with tempfile.TemporaryDirectory() as folder:
        findings = kill_again_and_again(Path(folder), chosen.kills, chosen.seed)
    print(
        f"{findings.kills} kills in {time.time() - started:.0f} s: {findings.pages:,} pages ended, "
        f"{findings.urls:,} URLs known, none lost; {findings.fetched_twice} pages in flight were "
        f"fetched twice; {findings.links:,} links looked for; delays kept in "
        f"{findings.slow_requests} requests to slow hosts; {findings.warc_files} WARC files valid."
    )


if __name__ == "__main__":
    os.environ.pop("TRAILHOUND_CONFIG", None)
    main()
