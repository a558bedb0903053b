"""``trailhound forget``: remove what was recorded and learned."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import WorkspaceOption

if TYPE_CHECKING:
    from trailhound.topics.forgetting import ForgetReport
    from trailhound.topics.workspace import Workspace

NOT_COVERED = (
    "Not covered: files outside the workspace (exports, copies, the files you imported), and pages "
    "of others that mention an address. To keep crawls away from it, use --exclude."
)


def forget(
    topic: Annotated[
        str, typer.Option("--topic", "-t", metavar="TOPIC", help="Topic to forget in.")
    ],
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Remove pages, hosts or everything from what a topic has recorded.

    Sessions, the model (it is learned again from what is left), results, queues, logs and web
    archives of its crawls are all included. There is no way back.

    Examples:

      trailhound forget --topic bees --url https://example.org/private --dry-run

      trailhound forget --topic bees --host mail.example.org

      trailhound forget --topic bees --all
    """
    from trailhound.cli.terminal import patiently
    from trailhound.errors import UsageError
    from trailhound.topics.workspace import Workspace, workspace_folder

    chosen = [bool(url or host), everything]
    if sum(chosen) != 1:
        raise UsageError("Say what to forget: --url URL, --host HOST, or --all.")
    place = Workspace(workspace_folder(workspace, os.environ))
    with patiently("Forgetting"):
        report = _forget(place, topic, url or [], host or [], dry_run=dry_run)
    if as_json:
        _print_json(report, dry_run=dry_run)
    else:
        _show(report, topic, dry_run=dry_run)


def _forget(
    place: Workspace, topic: str, urls: list[str], hosts: list[str], *, dry_run: bool
) -> ForgetReport:
    from trailhound.topics.forgetting import forget_everything, forget_pages, one_host, one_url

    if not urls and not hosts:
        return forget_everything(place, topic, dry_run=dry_run)
    rules = [*map(one_url, urls), *map(one_host, hosts)]
    return forget_pages(
        place, topic, lambda each: any(rule(each) for rule in rules), dry_run=dry_run
    )


def _show(report: ForgetReport, topic: str, *, dry_run: bool) -> None:
    from trailhound.cli.import_report import say

    verb = "Would remove" if dry_run else "Removed"
    for what, count in report.removed.items():
        typer.echo(f"{verb} {what}: {count:,}")
    if not report.removed:
        typer.echo(f"Nothing of that is in the topic '{topic}'.")
    if report.model:
        typer.echo(report.model[0].upper() + report.model[1:].rstrip(".") + ".")
    say(NOT_COVERED)


def _print_json(report: ForgetReport, *, dry_run: bool) -> None:
    import msgspec

    told = {"dry_run": dry_run, "removed": report.removed, "model": report.model}
    typer.echo(msgspec.json.encode(told).decode())
