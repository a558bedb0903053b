"""``trailhound config``: what is set, and where it was set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trailhound.cli.options import ConfigOption, JsonOption
from trailhound.cli.terminal import output, print_json, say, show_table

if TYPE_CHECKING:
    from trailhound.config import Configuration, Settings

app = typer.Typer(
    help="Settings of crawls: a flag wins over the environment, that over trailhound.toml, that "
    "over the default.",
    no_args_is_help=True,
)


@app.command("show")
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
        (each.key, _in_words(values[each.key][0]), values[each.key][1], each.description)
        for each in all_settings()
    ]
    show_table(("setting", "value", "origin", "meaning"), rows)
    say("In the environment, TRAILHOUND_ and the name in capitals: TRAILHOUND_MAX_REQUESTS.")


@app.command("check")
def check(config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Check the file and the environment as a crawl would; exit code 2 when something is wrong.

    Example:

      trailhound config check --config bees.toml
    """
    from trailhound.config import find_file
    from trailhound.topics.control.settings_checks import check_settings

    check_settings(_read(config).settings)
    file = find_file(config, os.environ, Path.cwd())
    if as_json:
        print_json({"ok": True, "file": str(file) if file is not None else None})
        return
    where = f"{file} and the environment are" if file is not None else "The environment is"
    output.print(f"{where} in order.", soft_wrap=True, markup=False)


def _read(config: Path | None) -> Configuration:
    from trailhound.config import configure, find_file

    return configure(None, os.environ, find_file(config, os.environ, Path.cwd()))


def _shown(settings: Settings, key: str) -> object:
    """A value, without the logins of proxies."""
    from trailhound.fetching.proxies import without_logins

    value = settings.value(key)
    return without_logins(value)[0] if key == "fetch.proxies" else value


def _in_words(value: object) -> str:
    if value is None or value == "" or value == ():
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:,g}" if isinstance(value, float) else str(value)
