"""``trailhound strategies``: what there is to choose from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer


def strategies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """List the crawl strategies, one line each, with options and source paper.

    Use a name with [bold]--strategy[/bold]; set options as
    [bold]--strategy shark-search:decay=0.3,anchor_weight=0.7[/bold].
    """
    from rich.table import Table

    from trailhound.cli.console import output
    from trailhound.strategies.choosing import describe_strategy, strategy_names

    known = [describe_strategy(name) for name in strategy_names()]
    if as_json:
        output.print_json(data=[asdict(info) for info in known])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("strategy", "what it does", "options", "paper"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "options")
    for info in known:
        options = "\n".join(f"{name}={value}" for name, value in info.options.items())
        table.add_row(info.name, info.summary, options, info.paper)
    output.print(table)
