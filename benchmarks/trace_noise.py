"""What a trace is worth when part of it is noise: nAUC of the collaborative crawler in the lab.

::

    python -m benchmarks.trace_noise wikispeedia.thc [--every 3] [--without URL] [--topic T …]

By default every third topic. A share of all accesses is replaced by random pages of the recorded
web.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from trailhound.lab.corpora import Corpus
from trailhound.lab.results import RunTask, run_seed
from trailhound.lab.runner import TopicBench
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.base import LabTopic

SHARES = (0.0, 0.25, 0.5, 0.75)
STRATEGIES = ("collaborative", "collaborative:links=true")
SEED = 7


def nauc(corpus: Corpus, topic: LabTopic, strategy: str, noise: float, max_requests: int) -> float:
    """Of one run."""
    bench = TopicBench(corpus, topic, trace_noise=noise)
    task, seed = (
        RunTask(topic=topic.name, strategy=strategy, seed_set=0),
        run_seed(SEED, topic.name, 0),
    )
    return bench.measure(task, seed, bench.crawl(task, seed, max_requests), max_requests).nauc


def main() -> None:
    """One line for each strategy and share of noise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--topic", action="append")
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--strategy", action="append")
    parser.add_argument("--max-requests", type=int, default=400)
    given = parser.parse_args()
    with Corpus.open(given.corpus) as corpus:
        source = topic_source(corpus, None, without=given.without)
        names = given.topic or source.names()[:: given.every]
        topics = [source.build(name, 1, SEED) for name in names]
        for strategy in given.strategy or STRATEGIES:
            for noise in SHARES:
                found = [
                    nauc(corpus, topic, strategy, noise, given.max_requests) for topic in topics
                ]
                print(f"{strategy:32} {noise:4.0%} noise: nAUC {np.mean(found):.3f}", flush=True)


if __name__ == "__main__":
    main()
