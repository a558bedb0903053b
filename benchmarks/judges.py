"""How well each judge tells relevant pages from others, by ground truth.

    python -m benchmarks.judges

For every topic: all pages to be found (at most 60) against 600 pages that do not belong to the
topic, drawn at random. Prints the area under the ROC curve, the average precision, and precision,
recall and F1 at the threshold that each judge calibrated on the session: means over topics, with
95% bootstrap intervals over topics.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from benchmarks.corpora import CACHE, real_corpus
from trailhound.judges.base import RelevanceJudge
from trailhound.judges.choosing import make_judge
from trailhound.lab.corpora import Corpus
from trailhound.lab.importers import import_corpus
from trailhound.lab.statistics import estimate
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.base import LabTopic
from trailhound.models.topic_model import learn_topic
from trailhound.records import Page, Relevance
from trailhound.strategies.base import Briefing

MAX_RELEVANT = 60
OTHERS = 600
SEED = 7
JUDGES = ("cosine", "latent", "contrast", "fields")
FIGURES = ("AUC", "AP", "precision", "recall", "F1")


def main() -> int:
    """Print one table per corpus."""
    for name in ("demo", "wikispeedia", "webkb"):
        path = _corpus(name)
        if path is None:
            continue
        measured = _measure(path)
        n_topics = len(next(iter(measured.values())))
        print(f"{name}, {n_topics} topics")
        print(f"{'judge':<12}" + "".join(f"{figure:>20}" for figure in FIGURES))
        for judge, figures in measured.items():
            print(f"{judge:<12}" + "".join(map(_shown, np.array(figures).T)))
    return 0


def _corpus(name: str) -> Path | None:
    if name != "demo":
        return real_corpus(name)
    path = CACHE / "demo.thc"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        import_corpus("demo", None, path)
    return path


def _shown(values: NDArray[np.float64]) -> str:
    """The mean over topics with its interval."""
    found = estimate(values)
    return f"{found.mean:>8.3f} [{found.low:.2f}, {found.high:.2f}]"


def _measure(path: Path) -> dict[str, list[list[float]]]:
    figures: dict[str, list[list[float]]] = {}
    with Corpus.open(path) as corpus:
        source = topic_source(corpus)
        for name in source.names():
            topic = source.build(name, n_seed_sets=1, seed=SEED)
            pages, relevant = _sample(corpus, topic)
            for judge_name, judge in _judges(topic):
                verdicts = [judge.judge(page) for page in pages]
                figures.setdefault(judge_name, []).append(_figures(relevant, verdicts))
    return figures


def _figures(relevant: list[bool], verdicts: list[Relevance]) -> list[float]:
    scores = [verdict.score for verdict in verdicts]
    taken = [verdict.relevant for verdict in verdicts]
    return [
        float(roc_auc_score(relevant, scores)),
        float(average_precision_score(relevant, scores)),
        float(precision_score(relevant, taken, zero_division=0.0)),
        float(recall_score(relevant, taken)),
        float(f1_score(relevant, taken)),
    ]


def _judges(topic: LabTopic) -> Iterator[tuple[str, RelevanceJudge]]:
    briefing = Briefing(topic.graph, model=learn_topic(topic.graph))
    for name in JUDGES:
        yield name, make_judge(name, briefing)
    # What a fixed threshold would do.
    yield "contrast .5", make_judge("contrast:threshold=0.5", briefing)


def _sample(corpus: Corpus, topic: LabTopic) -> tuple[list[Page], list[bool]]:
    rng = np.random.default_rng(SEED)
    relevant = _draw(rng, sorted(topic.relevant), MAX_RELEVANT)
    label = topic.name.partition("@")[0]
    members = corpus.labels()[label]
    others = [
        url
        for number, url in enumerate(corpus.page_urls)
        if number not in members and url not in topic.off_limits
    ]
    urls = [*relevant, *_draw(rng, others, OTHERS)]
    pages = [page for url in urls if (page := corpus.page(url)) is not None]
    return pages, [n < len(relevant) for n in range(len(pages))]


def _draw(rng: np.random.Generator, urls: list[str], count: int) -> list[str]:
    chosen = rng.permutation(len(urls))[:count]
    return [urls[i] for i in chosen.tolist()]


if __name__ == "__main__":
    sys.exit(main())
