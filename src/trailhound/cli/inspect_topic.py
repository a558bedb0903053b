"""``trailhound inspect``: what was learned."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.learn import TopicArgument, WorkspaceOption

if TYPE_CHECKING:
    from trailhound.topics.learned import LearnedTopic


def inspect(
    topic: TopicArgument,
    workspace: WorkspaceOption = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with pictures instead."),
    ] = None,
    words: Annotated[
        int, typer.Option(min=1, max=30, help="Words shown of each cluster, by each measure.")
    ] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show what was learned about a topic: distances, clusters and their words, A, B, the judge.

    Examples:

      trailhound inspect bees

      trailhound inspect bees --html bees.html
    """
    from trailhound.cli.waiting import patiently
    from trailhound.topics.workspace import Workspace, workspace_folder

    with patiently("Reading the model") as report:
        place = Workspace(workspace_folder(workspace, os.environ))
        learned = place.topic(topic).load()
        report("Measuring")
        _ = learned.diagnosis
        if html is not None:
            report("Drawing")
            _write_page(learned, html)
    if html is not None:
        # To stderr beside JSON, which a program reads.
        typer.echo(str(html), err=as_json)
    if as_json:
        _print_json(learned)
    elif html is None:
        from trailhound.cli.inspect_tables import show_model

        show_model(learned, words)


def _write_page(learned: LearnedTopic, path: Path) -> None:
    from trailhound.cli.output_files import make_folder_of
    from trailhound.reports.inspection import render_inspection
    from trailhound.storage.files import write_whole

    make_folder_of(path)
    write_whole(path, render_inspection(learned).encode())


def _print_json(learned: LearnedTopic) -> None:
    import msgspec

    shown = {
        "origin": learned.origin,
        **msgspec.structs.asdict(learned.diagnosis),
        "judge_name": learned.judge_name,
        "judges": learned.figures_by_judge,
    }
    typer.echo(msgspec.json.encode(shown).decode())
