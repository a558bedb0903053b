"""``trailhound strategies``, ``judges`` and ``plugins``: what there is to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from trailhound.cli.options import JsonOption
from trailhound.cli.terminal import output, print_json, show_table


def strategies(as_json: JsonOption = False) -> None:
    """List the crawl strategies: which link is fetched next, with options and source paper.

    Options are set as in the example.

    Example:

      trailhound crawl bees --seed URL --strategy shark-search:decay=0.3,anchor_weight=0.7
    """
    from trailhound.strategies.choosing import describe_strategy, strategy_names

    known = [describe_strategy(name) for name in strategy_names()]
    if as_json:
        print_json(known)
        return
    show_table(
        ("strategy", "what it does", "options", "paper"),
        [(info.name, info.summary, _in_words(info.options), info.paper) for info in known],
    )


def judges(as_json: JsonOption = False) -> None:
    """List the judges: is a page on topic, with their options.

    A Python file with a function judge(page) works as well.

    Example:

      trailhound crawl bees --seed URL --judge 'keywords:words=hive "honey bee" varroa,least=2'
    """
    from trailhound.judges.choosing import describe_judge, judge_names

    known = [describe_judge(name) for name in judge_names()]
    if as_json:
        print_json(known)
        return
    show_table(
        ("judge", "a page is on topic by", "options"),
        [(info.name, info.summary, _in_words(info.options)) for info in known],
    )
    output.print(
        "Without --judge a crawl takes 'auto': fields, or cosine where every page that was "
        "visited is marked useful."
    )


def plugins(as_json: JsonOption = False) -> None:
    """List everything that is plugged in, of every kind, with options and origin.

    Strategies, judges, fetchers, sinks, frontiers, importers and corpus kinds of installed packages
    are here; a Python file works wherever one of these names does.

    Example:

      trailhound crawl bees --seed URL --sink jsonl:path=finds.jsonl --sink my_sink.py
    """
    from trailhound.plugins import REQUIRED, registered

    known = list(registered())
    if as_json:
        told = [asdict(plugin) for plugin in known]
        for plugin in told:
            required = [name for name, value in plugin["options"].items() if value is REQUIRED]
            plugin["options"] |= dict.fromkeys(required, "required")
        print_json(told)
        return
    rows = []
    for each in known:
        options = "" if each.kind in ("strategy", "judge") else _in_words(each.options)
        rows.append((each.kind, each.name, each.summary, options, each.provider))
    show_table(("kind", "name", "what it is", "options", "from"), rows)
    output.print("'trailhound strategies' and 'trailhound judges' have the options of those.")


def _in_words(options: Mapping[str, object]) -> str:
    return "\n".join(f"{name}={default}" for name, default in options.items())
