"""What each part of ``trail`` is worth: crawls without it beside crawls with all of them.

    python -m benchmarks.trail_ablation CORPUS [--seed-sets 3] [--every 1] [--without PREFIX]
        [--part NAME …]

One fetch at a time, 400 requests. An option leaves a part out where there is one; otherwise what
the part hangs on is set to nothing while its crawls run. Differences are means over topics, with
95 % bootstrap intervals over topics.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from trailhound.errors import TrailhoundError
from trailhound.lab.experiment import plan_experiment
from trailhound.lab.results import ExperimentPlan
from trailhound.lab.runner import TopicRunner
from trailhound.lab.statistics import estimate
from trailhound.strategies.trail import entrances, features, host_shares, link_model, strategy
from trailhound.strategies.trail.columns import Ids, Matrix
from trailhound.strategies.trail.link_table import LinkTable

NEVER = 10**9
_Describe = Callable[[LinkTable, Ids], tuple[Matrix, Matrix]]


@dataclass(frozen=True)
class Part:
    """How to crawl without something."""

    options: str = ""
    """Of the strategy."""
    instead: tuple[tuple[Any, str, Any], ...] = ()
    """Objects, names of what they have, and what they have instead."""


def _describing(describe: _Describe) -> Part:
    modules = (strategy, link_model, entrances)
    return Part(instead=tuple((module, "describe", describe) for module in modules))


def _blind(*words: str) -> Part:
    """Features with one of these words in their names are all 0."""
    named = [any(word in name for word in words) for name in features.NAMES]
    blank = np.flatnonzero(named)

    def describe(table: LinkTable, nodes: Ids) -> tuple[Matrix, Matrix]:
        rows, said = features.describe(table, nodes)
        rows[:, blank] = 0.0
        return rows, said

    return _describing(describe)


def _blind_to_meaning(table: LinkTable, nodes: Ids) -> tuple[Matrix, Matrix]:
    """No features of what words mean."""
    rows, said = features.describe(table, nodes)
    rows[:, len(features.NAMES) :] = 0.0
    return rows, said


def _no_words(numbers: Ids) -> tuple[Ids, Ids]:
    """No word is common enough to be learned."""
    return np.zeros(0, np.int64), np.full(len(numbers), -1)


ALL = "all parts"
PARTS: dict[str, Part] = {
    ALL: Part(),
    "ways in from the beginning": Part("enter=false"),
    "pages of the session at all": Part("gate=0"),
    "links that the session has shown": Part(instead=((entrances, "MOST_SHOWN", 0),)),
    "what a link leads to beyond its page": Part("hub=0"),
    "learning on the way": Part(instead=((strategy, "REFIT_EVERY", NEVER),)),
    "ranking anew": Part(instead=((strategy.TrailStrategy, "rescore", lambda *_: None),)),
    "words of links, one by one": Part(instead=((link_model, "_common", _no_words),)),
    "what words mean": _describing(_blind_to_meaning),
    "words like the targets'": _blind("like the targets", "unlike other pages"),
    "relevance of linking pages": _blind("linking page"),
    "success of siblings, lists, neighbours": _blind("siblings", "page's links", "list", "neigh"),
    "success of host and folder": _blind("success of the host", "folder"),
    "a page's chance by its links, too": Part(instead=((link_model, "TRUST_IN_LINKS", 0.0),)),
    "a host's share": Part(instead=((host_shares, "SHARE", 2.0),)),
    "new hosts before the first find": Part(instead=((host_shares, "CURIOSITY", 0.0),)),
}


def crawl_without(part: Part, plan: ExperimentPlan, every: int) -> list[float]:
    """Mean nAUC of each topic."""
    chosen, found = set(plan.parameters.topics[::every]), defaultdict[str, list[float]](list)
    with ExitStack() as stack:
        for owner, name, other in part.instead:
            stack.enter_context(patch.object(owner, name, other))
        runs = TopicRunner(plan)
        for task in plan.tasks():
            if task.topic in chosen:
                found[task.topic].append(runs.run(task).nauc)
    return [statistics.fmean(found[topic]) for topic in sorted(found)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table, a line as soon as its crawls are done."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trail_ablation", description=__doc__
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--seed-sets", type=int, default=3)
    parser.add_argument("--every", type=int, default=1, help="take every so many topics")
    parser.add_argument("--without", action="append", default=[], help="close addresses below it")
    parser.add_argument("--part", action="append", choices=PARTS, help="repeatable; default: all")
    options = parser.parse_args(arguments)
    print("| without | nAUC | difference | better and worse on |\n|---|---|---|---|")
    whole: list[float] = []
    try:
        for name in dict.fromkeys([ALL, *(options.part or PARTS)]):
            spec = ":".join(filter(None, ("trail", PARTS[name].options)))
            plan = plan_experiment(
                options.corpus,
                [spec],
                seed_sets=options.seed_sets,
                without=options.without,
                settings={"crawl.concurrency": 1},
            )
            found = crawl_without(PARTS[name], plan, options.every)
            whole = whole or found
            print(_line(name, found, whole), flush=True)
    except TrailhoundError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _line(name: str, found: list[float], whole: list[float]) -> str:
    mean = statistics.fmean(found)
    if name == ALL:
        return f"| nothing | {mean:.3f} | – | – |"
    moved = [without - with_all for without, with_all in zip(found, whole, strict=True)]
    said = estimate(moved)
    counts = f"{sum(each > 0 for each in moved)} and {sum(each < 0 for each in moved)}"
    return (
        f"| {name} | {mean:.3f} | {said.mean:+.3f} [{said.low:+.3f}, {said.high:+.3f}] | {counts} |"
    )


if __name__ == "__main__":
    sys.exit(main())
