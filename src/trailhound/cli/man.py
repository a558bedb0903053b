"""``trailhound man``: the manual page, made from what ``--help`` tells of every command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from trailhound import __version__
from trailhound.cli.help import PlainCommand

_ENVIRONMENT = {
    "TRAILHOUND_WORKSPACE": "Where topics are kept, unless --workspace says otherwise.",
    "TRAILHOUND_…": "Every setting of crawls; 'trailhound config show' lists names and values.",
}
_EXIT_CODES = {
    "0": "All went well.",
    "1": "It could not be done; the message says why, and what to do next.",
    "2": "A command, an option or a setting is wrong.",
    "130": "Interrupted by Ctrl-C.",
}


def man(ctx: typer.Context) -> None:
    """Print the manual page of all commands, for man.

    Examples:

      trailhound man > ~/.local/share/man/man1/trailhound.1     (then: man trailhound)

      trailhound man | man -l -
    """
    command = ctx.find_root().command
    typer.echo("\n".join(_page(type(ctx)(command, info_name="trailhound"))))


def _page(root: Any) -> Iterator[str]:
    """Lines of the page, in the language of man(7)."""
    summary, *more = (root.command.help or "").split("\n\n")
    yield f'.TH TRAILHOUND 1 "" "trailhound {__version__}" "User Commands"'
    yield from (".SH NAME", f"trailhound \\- {_plain(summary)}")
    yield from (".SH SYNOPSIS", ".B trailhound", "[OPTIONS] COMMAND [ARGS]...")
    yield from (".SH DESCRIPTION", *_paragraphs("\n\n".join(more)))
    yield ".SH OPTIONS"
    for param in root.command.get_params(root):
        yield from _item(*(param.get_help_record(root) or ("", "")))
    yield ".SH COMMANDS"
    yield from _commands(root)
    for heading, items in (("ENVIRONMENT", _ENVIRONMENT), ("EXIT STATUS", _EXIT_CODES)):
        yield f".SH {heading}"
        for name, told in items.items():
            yield from _item(name, told)


def _commands(context: Any) -> Iterator[str]:
    """All commands below ``context``, those of groups after each other."""
    group = context.command
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        below = type(context)(command, parent=context, info_name=name)
        if isinstance(command, PlainCommand):
            yield from _command(command, below)
        else:
            yield from _commands(below)


def _command(command: PlainCommand, context: Any) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f".SS {_plain(usage)}"
    yield from _paragraphs(command.help or "")
    for heading, records in command.told_options(context).items():
        yield from (".PP", f".I {_plain(heading)}")
        for name, told in records:
            yield from _item(name, told)


def _paragraphs(text: str) -> Iterator[str]:
    """What is indented, such as examples, stays as it is."""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("  "):
            yield from (".PP", ".RS 4", ".nf", *map(_plain, paragraph.split("\n")), ".fi", ".RE")
        elif paragraph.strip():
            yield from (".PP", _plain(" ".join(paragraph.split())))


def _item(name: str, told: str) -> Iterator[str]:
    if name:
        yield from (".TP", f".B {_plain(name)}", _plain(" ".join(told.split())))


def _plain(text: str) -> str:
    """Text in which nothing is an instruction: no escapes, and no request at its beginning."""
    text = text.strip().replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text
