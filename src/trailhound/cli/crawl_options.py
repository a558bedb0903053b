"""Options of the commands that crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

INTERRUPTED_EXIT_CODE = 130

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="Settings. Default: trailhound.toml in this folder."
    ),
]
StrategyOption = Annotated[
    str | None, typer.Option(help="Which link next; see 'trailhound strategies'.")
]
ScopeOption = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST", help="Stay on this host (*.example.org) or URL; repeatable."),
]
ExcludeOption = Annotated[
    list[str] | None, typer.Option(metavar="HOST", help="Never go there; repeatable.")
]
UserAgentOption = Annotated[
    str | None, typer.Option(help="Who you are, with a contact: 'bees-bot (+https://…)'.")
]
DelayOption = Annotated[
    float | None, typer.Option(min=0, metavar="SECONDS", help="Between requests to a host.")
]
AllowAddressOption = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST", help="Host, address or network that may be private; repeatable."),
]
AllowImpoliteOption = Annotated[
    bool | None, typer.Option("--allow-impolite", help="Accept rude settings.")
]
ResolveOption = Annotated[
    list[str] | None,
    typer.Option(metavar="HOST=ADDRESS[:PORT]", help="Where a host is; repeatable."),
]
