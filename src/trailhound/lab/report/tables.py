"""The report's tables as rows of cells, and the numbers in them as text."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from trailhound.counting import counted
from trailhound.lab.results import Comparison, Estimate, ExperimentResults, RunResult
from trailhound.lab.statistics import (
    COMPARED_METRICS,
    UPPER_BOUND,
    bound_beaten,
    estimate,
    topic_means,
)
from trailhound.records import Outcome


@dataclass(frozen=True)
class Column:
    """A metric as the report shows it."""

    metric: str
    heading: str
    digits: int
    hint: str = ""


@dataclass(frozen=True)
class Cell:
    """Text to show, and the number to sort by."""

    text: str
    value: float | str
    extra: str = ""
    """Shown smaller beside the text: an interval."""
    strong: bool = False
    is_name: bool = False
    """A strategy's name, shown with its line style."""


@dataclass(frozen=True)
class Table:
    """Headings with their explanations, and rows of cells."""

    headings: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Cell, ...], ...]


THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
"""Cosines above which the hidden-Markov papers call a page relevant."""

METRIC_NAMES = {"nauc": "nAUC", "harvest": "harvest", "recall": "recall"}

SUMMARY_COLUMNS = (
    Column("nauc", "nAUC", 3, "area under the curve of finds, 1 = every fetch finds"),
    Column("harvest", "harvest", 3, "relevant pages per fetch"),
    Column("recall", "recall", 3, "share of findable relevant pages found"),
    Column("found", "found", 1, "relevant pages found"),
    Column("hosts", "hosts", 1, "hosts with a relevant page"),
    Column("cpu_ms_per_fetch", "CPU ms per fetch", 2, "of the crawl, without learning"),
)
DETAIL_COLUMNS = (
    Column("auhc", "AUHC", 3, "mean harvest rate over the crawl, weighs early finds more"),
    Column("first_find", "first find", 1, "requests up to it; budget + 1 without it"),
    Column("third_find", "third find", 1, "requests up to it; budget + 1 without it"),
    Column("tenth_find", "tenth find", 1, "requests up to it; budget + 1 without it"),
    Column("mean_max_similarity", "similarity", 3, "mean of the cosine to the nearest target"),
    Column("eq9_similarity", "eq. 9", 3, "largest mean cosine to one target"),
    Column("effective_hosts", "effective hosts", 2, "exp(entropy) of the finds' hosts"),
    Column("max_host_share", "top host's share", 3, "of the relevant pages found"),
    Column("fetches", "fetches", 1, "requests made; below the budget when the queue ran empty"),
    Column("links_outside", "links outside", 0, "links that leave the recorded web"),
    Column("learning_cpu_seconds", "learning CPU s", 2, "before the crawl"),
    Column("learning_queries", "learning queries", 1, "before the crawl; counted as fetches"),
    Column("learning_pages", "learning pages", 1, "pages read for that; counted as fetches"),
    Column("queries", "queries", 1, "during the crawl; counted as fetches"),
    Column("nauc_learning_free", "nAUC, learning free", 3, "if learning had cost no fetch"),
)


def summary_table(results: ExperimentResults) -> Table:
    """One row per strategy, best nAUC first."""
    return _strategy_table(results, SUMMARY_COLUMNS)


def detail_table(results: ExperimentResults) -> Table:
    """The further measures, in the same order."""
    return _strategy_table(results, DETAIL_COLUMNS)


def _strategy_table(results: ExperimentResults, columns: Sequence[Column]) -> Table:
    # Results of an earlier version lack what it did not measure.
    columns = [c for c in columns if all(c.metric in each for each in results.summary.values())]
    rows = tuple(
        (_name(name), *(_estimate(results.summary[name][c.metric], c.digits) for c in columns))
        for name in results.ranked()
    )
    return Table((("strategy", ""), *((c.heading, c.hint) for c in columns)), rows)


def comparison_table(results: ExperimentResults) -> Table:
    """One row per strategy: its differences from the baseline, best nAUC first."""
    found = {(c.strategy, c.metric): c for c in results.comparisons}
    ranked = sorted(
        {c.strategy for c in results.comparisons},
        key=lambda name: -found[name, COMPARED_METRICS[0]].difference.mean,
    )
    headings = [("strategy", "")]
    for metric in COMPARED_METRICS:
        headings.append((METRIC_NAMES[metric], "strategy minus baseline, mean over topics"))
        headings.append(("p", f"of the difference in {METRIC_NAMES[metric]}"))
    rows = (
        (_name(name), *(cell for m in COMPARED_METRICS for cell in _comparison(found[name, m])))
        for name in ranked
    )
    return Table(tuple(headings), tuple(rows))


def _comparison(comparison: Comparison) -> tuple[Cell, Cell]:
    p, is_clear = comparison.p_holm, comparison.p_holm < 0.05
    return (
        _estimate(comparison.difference, 3, sign="+", strong=is_clear),
        Cell(format_p(p), p, extra=format_p(comparison.p), strong=is_clear),
    )


def topic_table(results: ExperimentResults) -> Table:
    """nAUC of every strategy on every topic; the best in bold, the upper bound aside."""
    strategies = results.parameters.strategies
    rivals = _rivals(results)
    means = {name: topic_means(results.runs, name, "nauc") for name in strategies}
    findable = topic_means(results.runs, strategies[0], "relevant_total")
    rows = []
    for topic in results.parameters.topics:
        best = max((means[name][topic] for name in rivals), default=0.0)
        cells = [Cell(topic, topic), Cell(f"{findable[topic]:.0f}", findable[topic])]
        for name in strategies:
            value = means[name][topic]
            is_best = name in rivals and value == best > 0
            cells.append(Cell(f"{value:.3f}", value, strong=is_best))
        rows.append(tuple(cells))
    headings = (
        ("topic", ""),
        ("findable", "relevant pages that can be reached, mean over seed sets"),
        *((name, "nAUC") for name in strategies),
    )
    return Table(headings, tuple(rows))


def cautions(results: ExperimentResults) -> list[str]:
    """A sentence for everything that makes a figure doubtful."""
    return [*_broken_strategies(results), *_beaten_bounds(results)]


def _broken_strategies(results: ExperimentResults) -> Iterator[str]:
    """Strategies, and judges they ask, that raised on some pages: those led nowhere."""
    for name, outcomes in _outcomes(results).items():
        if broken := outcomes[str(Outcome.BROKEN)]:
            yield (
                f"{name} broke on {broken:,} of {counted(outcomes.total(), 'page')}; no link of "
                "them was followed. What went wrong was said when the crawls were made."
            )


def _beaten_bounds(results: ExperimentResults) -> Iterator[str]:
    for beaten in bound_beaten(results.runs):
        yield (
            f"{beaten.strategy} beats the {UPPER_BOUND} on {beaten.topic}, seed set "
            f"{beaten.seed_set + 1}: nAUC {beaten.nauc:.3f} against {beaten.bound:.3f}. "
            "The upper bound should not be beaten by following links."
        )


def outcome_table(results: ExperimentResults) -> Table:
    """How the fetches of each strategy ended, over all runs."""
    counts = _outcomes(results)
    kinds = sorted(set().union(*counts.values()))
    rows = tuple(
        (_name(name), *(Cell(f"{of[kind]:,}", of[kind]) for kind in kinds))
        for name, of in counts.items()
    )
    return Table((("strategy", ""), *((kind, "") for kind in kinds)), rows)


def _outcomes(results: ExperimentResults) -> dict[str, Counter[str]]:
    """Pages by outcome, per strategy."""
    counts = {name: Counter[str]() for name in results.parameters.strategies}
    for run in results.runs:
        counts[run.strategy].update(run.outcomes)
    return counts


def command_line(results: ExperimentResults) -> str:
    """The command that repeats the experiment."""
    asked = results.parameters
    options = {
        "--strategy": asked.strategies,
        "--topic": asked.topics,
        "--topics": [] if asked.topics_file is None else [asked.topics_file],
        "--without": asked.without,
        "--judge": [] if asked.judge == "auto" else [asked.judge],
        "--set": [
            f"{key}={','.join(value) if isinstance(value, list) else value}"
            for key, value in asked.settings.items()
        ],
        "--max-requests": [str(asked.max_requests)],
        "--seed-sets": [str(asked.seed_sets)],
        "--seed": [str(asked.seed)],
        "-o": ["OUT"],
    }
    given = [(option, value) for option, values in options.items() for value in values]
    return shlex.join(["trailhound", "lab", "run", results.corpus.name, *chain(*given)])


def format_p(p: float) -> str:
    """A p value with as many digits as it deserves."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _name(strategy: str) -> Cell:
    return Cell(strategy, strategy, is_name=True)


def _estimate(estimate: Estimate, digits: int, *, sign: str = "", strong: bool = False) -> Cell:
    """Mean and interval, with thousands separators and a real minus."""
    mean, low, high = (
        f"{value:{sign},.{digits}f}".replace("-", "−")
        for value in (estimate.mean, estimate.low, estimate.high)
    )
    return Cell(mean, estimate.mean, extra=f"{low} to {high}", strong=strong)


def union_recall_table(results: ExperimentResults) -> Table:
    """Share of what all strategies found together that each of them found.

    The recall of Liu, Janssen and Milios (2006), who had no ground truth: R_c = |Rel_c| / |U Rel|.
    The upper bound takes no part.
    """
    unions: dict[tuple[str, int], set[int]] = defaultdict(set)
    for run in results.runs:
        if run.strategy != UPPER_BOUND:
            unions[run.topic, run.seed_set].update(run.found_pages)
    headings = (("strategy", ""), ("union recall", "of all relevant pages that any strategy found"))

    def share(run: RunResult) -> float:
        union = unions[run.topic, run.seed_set]
        return len(union.intersection(run.found_pages)) / len(union) if union else 0.0

    rows = [
        (_name(strategy), _mean_cell(results, strategy, share, digits=3))
        for strategy in _rivals(results)
    ]
    return Table(headings, tuple(rows) if any(unions.values()) else ())


def threshold_table(results: ExperimentResults) -> Table:
    """How many fetched pages are at least so similar to a training target."""
    if not any(run.similarities for run in results.runs):
        return Table((), ())

    def at_least(threshold: float) -> Callable[[RunResult], float]:
        return lambda run: float(sum(each >= threshold for each in run.similarities))

    rows = tuple(
        (_name(name), *(_mean_cell(results, name, at_least(t), digits=1) for t in THRESHOLDS))
        for name in results.parameters.strategies
    )
    return Table((("strategy", ""), *((f"≥ {t}", "") for t in THRESHOLDS)), rows)


def _rivals(results: ExperimentResults) -> list[str]:
    return [name for name in results.parameters.strategies if name != UPPER_BOUND]


def _mean_cell(
    results: ExperimentResults, strategy: str, quantity: Callable[[RunResult], float], digits: int
) -> Cell:
    """The mean over topics, the runs of each averaged first, with its interval."""
    means = topic_means(results.runs, strategy, quantity)
    return _estimate(estimate(list(means.values())), digits)
