"""``trailhound judges``: who may decide whether a page is on topic."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer


def judges(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """List the judges, one line each, with their options.

    Use a name with [bold]--judge[/bold]; set options as
    [bold]--judge 'keywords:words=hive "honey bee" varroa,least=2'[/bold]. A Python file with a
    function [bold]judge(page)[/bold] works as well.
    """
    from rich.table import Table
    from rich.text import Text

    from trailhound.cli.console import output
    from trailhound.judges.choosing import describe_judge, judge_names

    known = [describe_judge(name) for name in judge_names()]
    if as_json:
        output.print_json(data=[asdict(info) for info in known])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("judge", "a page is on topic by", "options"):
        table.add_column(heading, overflow="fold")
    for info in known:
        options = ", ".join(f"{name}={default}" for name, default in info.options.items())
        table.add_row(info.name, Text(info.summary), Text(options))
    output.print(table)
    output.print(
        "Without --judge a crawl takes 'auto': contrast, or cosine where every page that was "
        "visited is marked useful."
    )
