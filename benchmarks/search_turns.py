"""Turns with a search engine against one crawl with the same budget, by ground truth.

    python -m benchmarks.search_turns [CORPUS.thc ...] [--topics N] [--rounds R] [--requests N]

The corpus's own text is the search engine; every query is charged as one request. Without a corpus,
the real ones are taken (``TRAILHOUND_CORPORA``). Prints Markdown: first one row for each way to
crawl, then one for each round of the turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.corpora import real_corpus
from trailhound.lab import metrics
from trailhound.lab.corpora import Corpus
from trailhound.lab.results import Estimate, run_seed
from trailhound.lab.search_turns import SearchTurnsBench, TurnsPlan, TurnsResult
from trailhound.lab.statistics import estimate, sign_flip_p
from trailhound.lab.topics import topic_source
from trailhound.topics.runs.turn_planning import TurnLimits

SEED = 7
PLAIN, TURNS = "one crawl", "turns"


def main(arguments: Sequence[str]) -> int:
    """Print the tables of each corpus."""
    asked = _parser().parse_args(arguments)
    given = asked.corpora or [real_corpus(kind) for kind in ("wikispeedia", "webkb")]
    for path in filter(None, given):
        ways = _ways(asked.strategy, asked.rounds, asked.requests)
        results, totals = _measure(path, ways, asked.topics)
        print(f"{path.stem}: {len(totals)} topics, `{asked.strategy}`, {asked.requests} requests\n")
        print("\n".join([*_ways_table(results, totals, asked.requests), ""]))
        print("\n".join([*_rounds_table(results, asked.rounds, asked.requests), ""]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", type=Path)
    parser.add_argument("--topics", type=int, default=12, help="Most topics of a corpus.")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--requests", type=int, default=400, help="Of all rounds together.")
    parser.add_argument("--strategy", default="hidden-markov")
    return parser


def _ways(strategy: str, rounds: int, requests: int) -> dict[str, TurnsPlan]:
    every_cluster = TurnLimits(hops=None)

    def plan(
        rounds: int, *, searches: bool, relearn: bool, limits: TurnLimits | None = None
    ) -> TurnsPlan:
        asked = limits or TurnLimits()
        return TurnsPlan(strategy, rounds, requests, asked, relearn=relearn, searches=searches)

    return {
        PLAIN: plan(1, searches=False, relearn=False),
        "one crawl, learning from itself": plan(rounds, searches=False, relearn=True),
        "one search, one crawl": plan(1, searches=True, relearn=False),
        "turns, never learning again": plan(rounds, searches=True, relearn=False),
        TURNS: plan(rounds, searches=True, relearn=True),
        "turns, asking for every cluster": plan(
            rounds, searches=True, relearn=True, limits=every_cluster
        ),
    }


def _measure(
    path: Path, ways: dict[str, TurnsPlan], most: int
) -> tuple[dict[str, list[TurnsResult]], list[int]]:
    """Results of each way by topic, and how much there was to find."""
    results: dict[str, list[TurnsResult]] = {way: [] for way in ways}
    totals = []
    with Corpus.open(path) as corpus:
        source = topic_source(corpus)
        for name in _spread(source.names(), most):
            bench = SearchTurnsBench(corpus, source.build(name, n_seed_sets=1, seed=SEED))
            try:
                runs = [bench.run(plan, 0, run_seed(SEED, name, 0)) for plan in ways.values()]
            except KeyboardInterrupt:
                break  # what is done is worth a table
            totals.append(bench.relevant_total)
            for way, run in zip(ways, runs, strict=True):
                results[way].append(run)
            counts = "  ".join(str(run.curve[-1] if run.curve else 0) for run in runs)
            print(f"{name}: {counts}", file=sys.stderr, flush=True)
    return results, totals


def _spread(names: Sequence[str], most: int) -> list[str]:
    """At most so many topics, evenly over the list, so that neighbours do not crowd it."""
    places = np.linspace(0, len(names) - 1, min(most, len(names))).round().astype(int)
    return [names[place] for place in dict.fromkeys(places.tolist())]


def _ways_table(
    results: dict[str, list[TurnsResult]], totals: Sequence[int], budget: int
) -> Iterator[str]:
    yield "| way | found | nAUC | nAUC − one crawl | p | of these named by the search |"
    yield "| --- | --- | --- | --- | --- | --- |"
    plain = _naucs(results[PLAIN], totals, budget)
    for way, runs in results.items():
        naucs = _naucs(runs, totals, budget)
        differences = [now - before for now, before in zip(naucs, plain, strict=True)]
        found = estimate([_found(run, budget) for run in runs])
        named = np.mean([sum(turn.found_by_search for turn in run.turns) for run in runs])
        compared = "– | –"
        if way != PLAIN:
            compared = f"{_shown(estimate(differences), '+.3f')} | {sign_flip_p(differences):.3f}"
        nauc = _shown(estimate(naucs), ".3f")
        yield f"| {way} | {_shown(found, '.1f')} | {nauc} | {compared} | {named:.1f} |"


def _rounds_table(results: dict[str, list[TurnsResult]], rounds: int, budget: int) -> Iterator[str]:
    yield (
        "| round | queries | new start pages | found | named by the search | harvest | "
        "one crawl, same requests | finds learned from | of these right |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for number in range(rounds):
        turns = [run.turns[number] for run in results[TURNS]]
        plain = [_part(run.curve, number, rounds, budget) for run in results[PLAIN]]
        found = estimate([turn.found for turn in turns])
        harvest = np.mean([turn.found / max(1, turn.requests) for turn in turns])
        adopted = sum(len(turn.adopted) for turn in turns)
        right = sum(turn.adopted_right for turn in turns)
        yield (
            f"| {number + 1} | {np.mean([len(turn.plan.queries) for turn in turns]):.1f} | "
            f"{np.mean([len(turn.plan.seeds) for turn in turns]):.1f} | {_shown(found, '.1f')} | "
            f"{np.mean([turn.found_by_search for turn in turns]):.1f} | {harvest:.3f} | "
            f"{_shown(estimate(plain), '.1f')} | {adopted / len(turns):.1f} | "
            f"{right / adopted if adopted else 0:.0%} |"
        )


def _part(curve: Sequence[int], number: int, rounds: int, budget: int) -> float:
    """What the plain crawl found with the requests of one round."""
    held = metrics.hold_flat(curve, budget)
    start, end = budget * number // rounds, budget * (number + 1) // rounds
    return float(held[end - 1] - (held[start - 1] if start else 0.0))


def _naucs(runs: Sequence[TurnsResult], totals: Sequence[int], budget: int) -> list[float]:
    pairs = zip(runs, totals, strict=True)
    return [metrics.nauc(run.curve, total, budget) for run, total in pairs]


def _found(run: TurnsResult, budget: int) -> float:
    return float(metrics.hold_flat(run.curve, budget)[-1])


def _shown(figure: Estimate, form: str) -> str:
    return f"{figure.mean:{form}} [{figure.low:{form}}, {figure.high:{form}}]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
