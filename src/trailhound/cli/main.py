"""The ``trailhound`` command: its family of sub-commands, and how errors reach the user."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from trailhound import __version__
from trailhound.cli import (
    collect,
    config,
    corpus,
    crawl,
    demo,
    explain,
    export,
    forget,
    import_,
    inspect_topic,
    judges,
    lab,
    learn,
    mark,
    results,
    strategies,
    turns,
)
from trailhound.cli.console import messages
from trailhound.errors import TrailhoundError

OLD_OPTIONS = {"max-pages": "max-requests"}
"""What options were called once, without their dashes: still understood, and in no help."""

app = typer.Typer(
    name="trailhound",
    help="A focused web crawler that learns from how people browse.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda name: OLD_OPTIONS.get(name, name),
    },
)
app.command("demo")(demo.demo)
app.command("collect")(collect.collect)
app.command("learn")(learn.learn)
app.command("inspect")(inspect_topic.inspect)
app.command("crawl")(crawl.crawl)
app.command("turns")(turns.turns)
app.command("results")(results.results)
app.command("mark")(mark.mark)
app.command("export")(export.export)
app.command("explain")(explain.explain)
app.command("strategies")(strategies.strategies)
app.command("judges")(judges.judges)
app.add_typer(import_.app, name="import")
app.command("forget")(forget.forget)
app.add_typer(corpus.app, name="corpus")
app.add_typer(lab.app, name="lab")
app.add_typer(config.app, name="config")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trailhound {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """A focused web crawler that learns from how people browse.

    Try [bold]trailhound demo[/bold] first: it needs no network and takes under a minute.
    """
    del version


def run() -> None:
    """Entry point: known errors become one message and an exit code, never a traceback."""
    try:
        app()
    except TrailhoundError as error:
        messages.print(f"[bold red]Error:[/bold red] {_escaped(str(error))}", soft_wrap=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        messages.print("Interrupted.")
        sys.exit(130)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
