"""``--help`` in plain text that fits narrow terminals, and ``trailhound man``, a page made from it.

Options are in groups, flags without values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand

from trailhound import __version__
from trailhound.cli.terminal import harmless, log_to_stderr

_TYPES = {"int range": "N", "int": "N", "float range": "N", "float": "N", "str": "TEXT"}
"""What a kind of value is called, instead of the name of a Python type."""
_TYPE = re.compile(r"<([^>]+)>$")
_OBVIOUS = re.compile(r"; x>=[01](?=\])|\s*\[x>=[01]\]")
"""That a count is not negative goes without saying."""


_WRONG = {
    "int_parsing": "'{input}' is no whole number.",
    "int_from_float": "'{input}' is no whole number.",
    "float_parsing": "'{input}' is no number.",
    "greater_than": "{input} is too small: give more than {gt}.",
    "greater_than_equal": "{input} is too small: give {ge} or more.",
    "less_than": "{input} is too large: give less than {lt}.",
    "less_than_equal": "{input} is too large: give {le} or less.",
    "value_error": "{error}",
}
"""What is wrong with a value, by pydantic's name for it."""


def _told_plainly(error: typer.BadParameter) -> str:
    """What was given, and what may be: Typer passes on what pydantic says."""
    found: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    if not found or found[0]["type"] not in _WRONG:
        return str(error.message)
    wrong = found[0]
    given = harmless(str(wrong["input"]))
    return _WRONG[wrong["type"]].format(input=given, **wrong.get("ctx", {}))


class PlainCommand(TyperCommand):
    """A command whose help says what there is to say, and no more.

    ``rich_help_panel`` of an option is the heading of its group.
    """

    @classmethod
    def take_over(cls, app: typer.Typer) -> None:
        """Let all commands of ``app``, and of the groups in it, be of this class."""
        for command in app.registered_commands:
            command.cls = cls
        for group in app.registered_groups:
            if group.typer_instance is not None:
                cls.take_over(group.typer_instance)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """``--verbose`` is an option of ``trailhound``; people write it behind the command, too."""
        for index, word in enumerate(args):
            if word == "--":
                break
            if word in ("-v", "--verbose"):
                log_to_stderr()
                args = args[:index] + args[index + 1 :]
                break
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = _told_plainly(error)
            raise

    def get_short_help_str(self, limit: int = 0) -> str:
        """The whole first sentence, for the list of commands."""
        del limit
        return " ".join((self.help or "").split("\n\n")[0].split())

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """``TOPIC`` for what is required; Typer would write ``{TOPIC}``."""
        return [re.sub(r"^\{(.*)\}", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Each group under its heading."""
        for heading, records in self.told_options(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def told_options(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Arguments, then the groups of options as they come, then what belongs to none.

        By heading, each as it is written and what is told of it.
        """
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                name, told = record
                usual = "Options"
                if param.param_type_name == "argument":
                    name, usual = _TYPE.sub("", name).rstrip(), "Arguments"
                heading = getattr(param, "rich_help_panel", None) or usual
                groups.setdefault(heading, []).append(_plain(name, told))
        groups["Options"] = groups.pop("Options")
        return groups


def _plain(name: str, told: str) -> tuple[str, str]:
    def named(found: re.Match[str]) -> str:
        return _TYPES.get(found[1], found[1].upper() if found[1].isalpha() else found[1])

    return _TYPE.sub(named, name), _OBVIOUS.sub("", told)


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
    yield from (".SH NAME", f"trailhound \\- {_in_roff(summary)}")
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
    yield f".SS {_in_roff(usage)}"
    yield from _paragraphs(command.help or "")
    for heading, records in command.told_options(context).items():
        yield from (".PP", f".I {_in_roff(heading)}")
        for name, told in records:
            yield from _item(name, told)


def _paragraphs(text: str) -> Iterator[str]:
    """What is indented, such as examples, stays as it is."""
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("  "):
            yield from (".PP", ".RS 4", ".nf", *map(_in_roff, paragraph.split("\n")), ".fi", ".RE")
        elif paragraph.strip():
            yield from (".PP", _in_roff(" ".join(paragraph.split())))


def _item(name: str, told: str) -> Iterator[str]:
    if name:
        yield from (".TP", f".B {_in_roff(name)}", _in_roff(" ".join(told.split())))


def _in_roff(text: str) -> str:
    """Text in which nothing is an instruction: no escapes, and no request at its beginning."""
    text = text.strip().replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text
