"""What several commands take: arguments, options, lists of addresses, the workspace, settings."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trailhound.cli.terminal import next_steps

if TYPE_CHECKING:
    from trailhound.config.settings import Settings
    from trailhound.topics.workspace import Workspace

_log = logging.getLogger(__name__)

FAILED_EXIT_CODE = 1
INTERRUPTED_EXIT_CODE = 130

where = partial(typer.Option, rich_help_panel="Where to go")
manners = partial(typer.Option, rich_help_panel="Manners and addresses")
"""Options under a heading of their own in the help."""


def _topics_beginning(incomplete: str) -> list[str]:
    """For the completion of shells, which must never see an error."""
    from trailhound.errors import TrailhoundError

    try:
        return [name for name in open_workspace(None).topics() if name.startswith(incomplete)]
    except TrailhoundError:
        return []


TopicArgument = Annotated[
    str,
    typer.Argument(metavar="TOPIC", help="Name of the topic.", autocompletion=_topics_beginning),
]
WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        metavar="FOLDER",
        help="Where topics are kept. Default: TRAILHOUND_WORKSPACE, else your data folder.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|local",
        help="Work on a Ray cluster: host:port, or 'local' for one of this machine's processes.",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Settings. Default: trailhound.toml in this folder."
    ),
]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Give up results of another experiment in OUT.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any setting of 'trailhound config show', such as crawl.avoid_traps=false; "
        "repeatable.",
    ),
]
StrategyOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Which link next; see 'trailhound strategies'."),
]
ScopeOption = Annotated[
    list[str] | None,
    where(metavar="HOST", help="Stay on this host (*.example.org) or URL; repeatable."),
]
ExcludeOption = Annotated[
    list[str] | None, where(metavar="HOST", help="Never go there; repeatable.")
]
UserAgentOption = Annotated[
    str | None,
    manners(metavar="NAME", help="Who you are, with a contact: 'bees-bot (+https://…)'."),
]
DelayOption = Annotated[
    float | None, manners(min=0, metavar="SECONDS", help="Between requests to a host.")
]
AllowImpoliteOption = Annotated[
    bool | None, manners("--allow-impolite", help="Accept rude settings.")
]
AllowAddressOption = Annotated[
    list[str] | None,
    manners(metavar="HOST", help="Host, address or network that may be private; repeatable."),
]
ResolveOption = Annotated[
    list[str] | None,
    manners(
        metavar="HOST=ADDRESS[:PORT]",
        help="Where a host is, whatever DNS says; *.example.org for a domain, * for every host; "
        "repeatable.",
    ),
]

as_you = partial(typer.Option, rich_help_panel="Reading hosts as you, and proxies")
CookiesOption = Annotated[
    list[Path] | None,
    as_you(
        "--cookies",
        metavar="FILE",
        help="Cookies of yours for the hosts named with --for-host: cookies.txt, or a storage "
        "state of Playwright; repeatable.",
    ),
]
HeaderOption = Annotated[
    list[str] | None,
    as_you(
        "--header",
        metavar="'NAME: VALUE'",
        help="Send this along: to the one host named with --for-host, else to all, and nothing "
        "secret then; @FILE has one in each line; repeatable.",
    ),
]
ForHostOption = Annotated[
    list[str] | None,
    as_you(
        "--for-host",
        metavar="HOST",
        help="Read this host as you, with the cookies and headers given now or kept from before; "
        "repeatable.",
    ),
]
FromOption = Annotated[
    str | None, as_you("--from", metavar="MAIL", help="Your mail address, for the header From.")
]
ProxyOption = Annotated[
    list[str] | None,
    as_you(
        "--proxy",
        metavar="URL",
        help="Ask through a proxy (http, https, socks5): URL, https=URL, host:example.org=URL, or "
        "'env'; repeatable.",
    ),
]


def assigned(texts: Sequence[str] | None) -> dict[str, Any]:
    """What ``--set`` was given, by ``section.name``."""
    from trailhound.config.layers import from_assignments

    return from_assignments(texts or ())


def given(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the flags, by ``section.name``, that were given; lists as settings hold them."""
    told = {key: value for key, value in flags.items() if value is not None and value != []}
    return {key: tuple(each) if isinstance(each, list) else each for key, each in told.items()}


def open_workspace(folder: Path | None) -> Workspace:
    """The one chosen by option, variable or default."""
    from trailhound.errors import UsageError
    from trailhound.topics.workspace import Workspace, workspace_folder

    place = Workspace(workspace_folder(folder, os.environ))
    if place.folder.exists() and not place.folder.is_dir():
        raise UsageError(f"{place.folder} is no folder, and so no workspace. Choose another.")
    next_steps.workspace = folder
    _log.info("Topics are kept in %s", place.folder)
    return place


def settings_from(flags: Mapping[str, Any], file: Path | None) -> Settings:
    """Flags by ``section.name``, then the environment, then ``file`` or trailhound.toml here."""
    from trailhound.config.layers import configure, find_file

    found = find_file(file, os.environ, Path.cwd())
    _log.info("Settings come from flags, the environment and %s", found or "no file")
    return configure(flags, os.environ, found).settings


def listed_urls(given: Sequence[str], file: Path | None, noun: str) -> list[str]:
    """Those given and those in a file; its comments (#) and empty lines do not count."""
    from trailhound.errors import UsageError

    if file is None:
        return list(given)
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8-sig")
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"The {noun} {file} cannot be read: {why}. Check its name.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The {noun} {file} is no text. Write one address a line.") from error
    lines = (line.strip() for line in text.splitlines())
    listed = [line for line in lines if line and not line.startswith("#")]
    if not listed:  # whatever was to fill it has failed
        where = "What came by stdin" if str(file) == "-" else f"The {noun} {file}"
        raise UsageError(f"{where} names no page. Write one address a line, or leave it out.")
    return [*given, *listed]


def make_room_for(file: Path) -> None:
    """Make the folder of a file to be written; UsageError when the file would be a folder."""
    from trailhound.errors import UsageError

    if file.is_dir():
        raise UsageError(f"{file} is a folder. Give the name of a file.")
    make_folder_of(file)


def make_folder_of(path: Path) -> None:
    """Make the folder that ``path`` is to be in, and say so on stderr, unless it is there."""
    from trailhound.cli.terminal import say
    from trailhound.storage.files import explaining

    if path.parent.exists():
        return
    with explaining(path):
        path.parent.mkdir(parents=True)
    say(f"Made the folder {path.parent}")
