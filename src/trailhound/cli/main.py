"""The ``trailhound`` command: its family of sub-commands, and how errors reach the user."""

from __future__ import annotations

import copy
import io
import os
import sys
from functools import cache
from typing import Annotated

import typer

from trailhound import __version__
from trailhound.cli import (
    access,
    catalogue,
    check,
    cluster,
    collect,
    corpus,
    crawl,
    crawls,
    demo,
    explain,
    export,
    forget,
    import_,
    inspect_topic,
    lab,
    learn,
    mark,
    rejudge,
    results,
    schedule,
    serve,
    trace,
    turns,
)
from trailhound.cli.help import PlainCommand, man
from trailhound.cli.terminal import end_next_steps, log_to_stderr, messages, next_steps
from trailhound.errors import TrailhoundError

OLD_OPTIONS = {"max-pages": "max-requests"}
"""What options were called once, without their dashes: still understood, and in no help."""

app = typer.Typer(
    name="trailhound",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda name: OLD_OPTIONS.get(name, name),
    },
)
for function in (
    demo.demo,
    serve.app,
    serve.serve,
    collect.collect,
    learn.learn,
    crawls.topics,
    inspect_topic.inspect,
    trace.trace,
    crawl.crawl,
    crawls.crawls,
    crawls.stop,
    schedule.schedule,
    turns.turns,
    results.results,
    mark.mark,
    rejudge.rejudge,
    export.export,
    explain.explain,
    check.check,
    catalogue.strategies,
    catalogue.judges,
    catalogue.plugins,
    forget.forget,
    man,
):
    app.command(function.__name__)(function)
for name, group, summary in (
    ("import", import_.app, "Turn browsing that was recorded elsewhere into sessions."),
    ("corpus", corpus.app, "Turn data sets and web archives into recorded webs for the lab."),
    ("lab", lab.app, "Compare crawl strategies on a recorded web, with known answers."),
    ("access", access.app, "Cookies and headers with which crawls read hosts as you."),
    ("cluster", cluster.app, "See how crawls on a Ray cluster are."),
    ("config", catalogue.config_app, "Show the settings of crawls, and check them."),
):
    app.add_typer(group, name=name, short_help=summary)
PlainCommand.take_over(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trailhound {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show which version this is, and exit.",
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Tell on stderr what is being done, page by page."),
    ] = False,
) -> None:
    """A focused web crawler that learns from how people browse.

    Try 'trailhound demo' first: it needs no network and takes a few minutes.
    """
    del version
    if verbose:
        log_to_stderr()


def _write_what_can_be_written() -> None:
    """A terminal that lacks some letters, as on Windows, shows others in their place."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@cache
def _with(command: str) -> typer.Typer:
    """That command without all others, whose options take longer to read than it does to start."""
    if command == "man":  # it tells of all
        return app
    alone = copy.copy(app)
    alone.registered_commands = [each for each in app.registered_commands if each.name == command]
    alone.registered_groups = [each for each in app.registered_groups if each.name == command]
    return alone if alone.registered_commands or alone.registered_groups else app


def run() -> None:
    """Entry point: known errors become one message and an exit code, never a traceback."""
    from rich.markup import escape

    _write_what_can_be_written()
    # Its matrices are small, and threads for large ones take a tenth of a second to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        _with("".join(sys.argv[1:2]))()
    except TrailhoundError as error:
        next_steps.hear(str(error))
        messages.print(f"[bold red]Error:[/bold red] {escape(str(error))}", soft_wrap=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        messages.print("Interrupted.")
        sys.exit(130)
    finally:
        end_next_steps()
