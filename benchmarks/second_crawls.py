"""Does what one crawl has learned about links help the next? On the demo web, topic by topic.

    python -m benchmarks.second_crawls

A crawl from one seed teaches a second one from another seed; the same second crawl without
(``--fresh``) stands beside it. Counted are pages of the topic among the first pages fetched.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from trailhound.config.layers import configure
from trailhound.demo import DemoWeb
from trailhound.demo.server import serve_in_thread
from trailhound.demo.web import with_sources
from trailhound.topics.learning import LearningRequest, learn_into
from trailhound.topics.runs.opening import open_crawl
from trailhound.topics.runs.plan import CrawlRequest
from trailhound.topics.workspace import TopicFolder, Workspace

EARLY, ALL = 75, 150


class Crawls:
    """Crawls of one topic on a web that is served at a port."""

    def __init__(self, web: DemoWeb, port: int, topic: TopicFolder) -> None:
        self._web = web
        self._port = port
        self.topic = topic

    def finds(self, seed: str, *, fresh: bool) -> tuple[int, int]:
        """Pages of the topic among the first ``EARLY`` pages, and among all of a new crawl."""
        flags = {
            "fetch.user_agent": "benchmark (+http://www.demo.test/)",
            "fetch.resolve": (f"*.demo.test=127.0.0.1:{self._port}",),
            "fetch.allow_addresses": ("*.demo.test",),
            "crawl.seeds": (seed,),
            "crawl.max_requests": ALL,
            "crawl.concurrency": 1,
        }
        request = CrawlRequest(configure(flags).settings, flags, restart=True, fresh=fresh)
        with open_crawl(self.topic, request) as crawl:
            events = list(crawl.run())
        relevant = self._web.topics[self.topic.name]
        found = [event.final_url in relevant or event.url in relevant for event in events]
        return sum(found[:EARLY]), sum(found)


def compare(web: DemoWeb, port: int, name: str, place: Path) -> list[int]:
    """Finds of the second crawl: early and in all without what the first learned, then with it."""
    workspace = Workspace(place)
    learn_into(workspace, LearningRequest(name, [with_sources(web.sessions[name], web)]))
    crawls = Crawls(web, port, workspace.topic(name))
    crawls.finds(web.start_urls[0], fresh=True)
    without = crawls.finds(web.start_urls[-1], fresh=True)
    shutil.rmtree(crawls.topic.path / "crawl")  # so that the first is the newest
    return [*without, *crawls.finds(web.start_urls[-1], fresh=False)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=None, help="only so many of them")
    chosen = parser.parse_args(arguments)
    web, rows = DemoWeb.generate(), []
    heads = [f"{kind}, {count} pages" for kind in ("fresh", "taught") for count in (EARLY, ALL)]
    print(f"{'topic':20}" + "".join(f"{head:>20}" for head in heads))
    with serve_in_thread(web) as port, TemporaryDirectory() as place:
        for name in sorted(web.topics)[: chosen.topics]:
            rows.append(compare(web, port, name, Path(place)))
            print(f"{name:20}" + "".join(f"{count:20}" for count in rows[-1]), flush=True)
    sums = [sum(column) for column in zip(*rows, strict=True)]
    print(f"{'sum':20}" + "".join(f"{count:20}" for count in sums))


if __name__ == "__main__":
    main()
