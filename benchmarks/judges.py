"""How well each judge tells relevant pages from others, by ground truth.

    python -m benchmarks.judges

For every topic: all pages to be found (at most 60) against 600 pages that do not belong to the
topic, drawn at random. Prints the means over topics of the area under the ROC curve, the average
precision, and F1 at the judge's own threshold.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from benchmarks.corpora import real_corpus
from trailhound.lab.corpora import Corpus
from trailhound.lab.topics import topic_source
from trailhound.lab.topics.base import LabTopic
from trailhound.models.topic_model import learn_topic
from trailhound.records import Page
from trailhound.relevance.base import RelevanceJudge
from trailhound.relevance.contrast import ContrastJudge
from trailhound.relevance.cosine import CosineJudge
from trailhound.relevance.latent import LatentJudge

MAX_RELEVANT = 60
OTHERS = 600
SEED = 7


def main() -> int:
    """Print one table per corpus."""
    for name in ("wikispeedia", "webkb"):
        path = real_corpus(name)
        if path is None:
            continue
        print(f"{name}\n{'judge':<12}{'AUC':>8}{'AP':>8}{'F1':>8}   (means over topics)")
        for judge, figures in _measure(path).items():
            means = np.mean(figures, axis=0)
            print(f"{judge:<12}" + "".join(f"{mean:8.3f}" for mean in means))
    return 0


def _measure(path: Path) -> dict[str, list[tuple[float, float, float]]]:
    figures: dict[str, list[tuple[float, float, float]]] = {}
    with Corpus.open(path) as corpus:
        source = topic_source(corpus)
        for name in source.names():
            topic = source.build(name, n_seed_sets=1, seed=SEED)
            pages, relevant = _sample(corpus, topic)
            for judge_name, judge in _judges(topic):
                verdicts = [judge.judge(page) for page in pages]
                scores = [verdict.score for verdict in verdicts]
                taken = [verdict.relevant for verdict in verdicts]
                figures.setdefault(judge_name, []).append(
                    (
                        float(roc_auc_score(relevant, scores)),
                        float(average_precision_score(relevant, scores)),
                        float(f1_score(relevant, taken)),
                    )
                )
    return figures


def _judges(topic: LabTopic) -> Iterator[tuple[str, RelevanceJudge]]:
    yield "cosine", CosineJudge.from_graph(topic.graph)
    yield "latent", LatentJudge(learn_topic(topic.graph))
    yield "contrast", ContrastJudge.from_graph(topic.graph)


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
