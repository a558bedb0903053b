"""``trailhound inspect``: what was learned."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.learn import TopicArgument, WorkspaceOption

if TYPE_CHECKING:
    from trailhound.workspace import LearnedTopic


def inspect(
    topic: TopicArgument,
    workspace: WorkspaceOption = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with pictures instead."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show what was learned about a topic: distances, clusters and their words, A, B, the judge.

    Examples:

      trailhound inspect bees

      trailhound inspect bees --html bees.html
    """
    from trailhound.cli.waiting import patiently
    from trailhound.workspace import Workspace, workspace_folder

    with patiently("Reading the model") as report:
        place = Workspace(workspace_folder(workspace, os.environ))
        learned = place.topic(topic).load()
        report("Measuring")
        diagnosis = learned.diagnosis
        if html is not None:
            report("Drawing")
            _write_page(learned, html)
    if as_json:
        import msgspec

        shown = {
            "origin": learned.origin,
            **msgspec.structs.asdict(diagnosis),
            "judge_name": learned.judge_name,
            "judges": learned.figures_by_judge,
        }
        typer.echo(msgspec.json.encode(shown).decode())
    elif html is not None:
        typer.echo(str(html))
    else:
        from trailhound.cli.inspect_tables import show_model

        show_model(learned)


def _write_page(learned: LearnedTopic, path: Path) -> None:
    from trailhound.inspection.page import render_inspection
    from trailhound.workspace.whole_files import write_whole

    write_whole(path, render_inspection(learned).encode())
