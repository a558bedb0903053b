"""A focused crawl from a program of your own.

    python examples/focused_crawl.py SESSIONS SEED

SESSIONS is a folder of recorded browsing sessions. Finds are printed as they come and kept in the
current folder; started again, it goes on where it stopped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import trailhound as th


def crawl(
    sessions: Path, seeds: list[str], fetcher: th.HttpFetcher, folder: Path, max_pages: int
) -> Iterator[th.PageEvent]:
    """Learn from ``sessions``, crawl from ``seeds``, keep everything in ``folder``."""
    graph = th.build_page_graph(th.load_sessions(sessions))
    model = th.learn_topic(graph, th.TopicParameters(n_states=4, random_state=7))
    frontier = th.SqliteFrontier(folder / "frontier.db")
    results = th.ResultsStore(folder / "results.db")
    with closing(frontier), closing(results):
        crawler = th.Crawler(
            strategy=th.HiddenMarkovStrategy(model),
            frontier=frontier,
            fetcher=fetcher,
            judge=th.CosineJudge.from_graph(graph),
            known_texts=th.DuplicateFinder(results.fingerprints()),
            sinks=[results],
            concurrency=8,
        )
        earlier = results.progress()
        crawler.pages, crawler.requests = earlier.pages, earlier.requests
        yield from crawler.run(seeds, max_requests=max_pages)  # in an event loop of its own


def main() -> None:
    """Crawl as the command line says."""
    fetcher = th.HttpFetcher("bees-bot (+https://example.org/bot)", delay_seconds=2.0)
    for event in crawl(Path(sys.argv[1]), sys.argv[2:], fetcher, Path(), max_pages=1000):
        if event.relevance is not None and event.relevance.relevant:
            print(f"{event.relevance.score:.2f}  {event.final_url}  {event.title}")


if __name__ == "__main__":
    main()
