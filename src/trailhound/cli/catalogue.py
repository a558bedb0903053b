"""What there is to choose from, and what is set.

``trailhound strategies``, ``judges`` and ``plugins`` list the parts of a crawl; ``trailhound
config`` shows and checks its settings, and where each was set.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trailhound.cli.options import ConfigOption, JsonOption
from trailhound.cli.terminal import output, print_json, say, show_table

if TYPE_CHECKING:
    from trailhound.config.layers import Configuration
    from trailhound.config.settings import Settings


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
        [(info.name, info.summary, _options_in_words(info.options), info.paper) for info in known],
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
        [(info.name, info.summary, _options_in_words(info.options)) for info in known],
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
        options = "" if each.kind in ("strategy", "judge") else _options_in_words(each.options)
        rows.append((each.kind, each.name, each.summary, options, each.provider))
    show_table(("kind", "name", "what it is", "options", "from"), rows)
    output.print("'trailhound strategies' and 'trailhound judges' have the options of those.")


def _options_in_words(options: Mapping[str, object]) -> str:
    return "\n".join(f"{name}={default}" for name, default in options.items())


config_app = typer.Typer(
    help="Settings of crawls: a flag wins over the environment, that over trailhound.toml, that "
    "over the default.",
    no_args_is_help=True,
)


@config_app.command("show")
def show(config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Show every setting with its value, its origin and its meaning.

    Example:

      trailhound config show --config bees.toml
    """
    from trailhound.config.settings import all_settings

    read = _read(config)
    values = {key: (_shown(read.settings, key), origin) for key, origin in read.origins.items()}
    if as_json:
        print_json({key: {"value": v, "origin": origin} for key, (v, origin) in values.items()})
        return
    rows = [
        (each.key, _value_in_words(values[each.key][0]), values[each.key][1], each.description)
        for each in all_settings()
    ]
    show_table(("setting", "value", "origin", "meaning"), rows)
    say("In the environment, TRAILHOUND_ and the name in capitals: TRAILHOUND_MAX_REQUESTS.")


@config_app.command("check")
def check(config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Check the file and the environment as a crawl would; exit code 2 when something is wrong.

    Example:

      trailhound config check --config bees.toml
    """
    from trailhound.config.layers import find_file
    from trailhound.topics.control.settings_checks import check_settings

    check_settings(_read(config).settings)
    file = find_file(config, os.environ, Path.cwd())
    if as_json:
        print_json({"ok": True, "file": str(file) if file is not None else None})
        return
    where = f"{file} and the environment are" if file is not None else "The environment is"
    output.print(f"{where} in order.", soft_wrap=True, markup=False)


def _read(config: Path | None) -> Configuration:
    from trailhound.config.layers import configure, find_file

    return configure(None, os.environ, find_file(config, os.environ, Path.cwd()))


def _shown(settings: Settings, key: str) -> object:
    """A value, without the logins of proxies."""
    from trailhound.fetching.proxies import without_logins

    value = settings.value(key)
    return without_logins(value)[0] if key == "fetch.proxies" else value


def _value_in_words(value: object) -> str:
    if value is None or value == "" or value == ():
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:,g}" if isinstance(value, float) else str(value)
