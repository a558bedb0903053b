"""``trailhound forget``: remove what was recorded and learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import JsonOption, WorkspaceOption, open_workspace
from trailhound.cli.terminal import patiently, print_json, say

if TYPE_CHECKING:
    from trailhound.topics.upkeep.forgetting import ForgetReport

NOT_COVERED = (
    "Not covered: other topics, files outside the workspace (exports, copies, the files you "
    "imported), and pages of others that mention an address. To keep crawls away from it, use "
    "--exclude."
)


def forget(
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="Topic to forget in.", show_default=False)
    ] = None,
    url: Annotated[
        list[str] | None, typer.Option("--url", metavar="URL", help="Forget this page; repeatable.")
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(
            "--host", metavar="HOST", help="Forget this host and those below it; repeatable."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Forget the whole topic: sessions, model, crawls.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
    old_topic: Annotated[str | None, typer.Option("--topic", "-t", hidden=True)] = None,
) -> None:
    """Remove pages, hosts or everything from what a topic has recorded.

    Sessions, the model (it is learned again from what is left), results, queues, logs and web
    archives of its crawls are all included. There is no way back.

    Examples:

      trailhound forget bees --url https://example.org/private --dry-run

      trailhound forget bees --host mail.example.org

      trailhound forget bees --all
    """
    from dataclasses import asdict

    from trailhound.errors import UsageError

    name = topic or old_topic
    if name is None or (topic and old_topic):
        raise UsageError("Say in which topic to forget: trailhound forget TOPIC --url URL")
    if everything and (url or host):
        raise UsageError("--all forgets the whole topic. Leave out either it, or --url and --host.")
    if not (everything or url or host):
        raise UsageError("Say what to forget: --url URL, --host HOST, or --all.")
    place = open_workspace(workspace)
    with patiently("Forgetting"):
        from trailhound.topics.upkeep.forgetting import (
            forget_everything,
            forget_pages,
            one_host,
            one_url,
        )

        rules = [*map(one_url, url or ()), *map(one_host, host or ())]
        if everything:
            report = forget_everything(place, name, dry_run=dry_run)
        else:
            report = forget_pages(
                place, name, lambda each: any(rule(each) for rule in rules), dry_run=dry_run
            )
    if as_json:
        print_json({"dry_run": dry_run, **asdict(report)})
    else:
        _show(report, name, dry_run=dry_run)


def _show(report: ForgetReport, topic: str, *, dry_run: bool) -> None:
    verb = "Would remove" if dry_run else "Removed"
    for what, count in report.removed.items():
        typer.echo(f"{verb} {what}: {count:,}")
    if not report.removed:
        typer.echo(f"Nothing of that is in the topic '{topic}'.")
    if report.model:
        typer.echo(report.model[0].upper() + report.model[1:].rstrip(".") + ".")
    if report.also_in:
        say(f"Also in the sessions of: {', '.join(report.also_in)}. Repeat it there.")
    say(NOT_COVERED)
