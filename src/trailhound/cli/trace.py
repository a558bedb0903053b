"""``trailhound trace``: the index of a log, made before a crawl needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import (
    ClusterOption,
    JsonOption,
    TopicArgument,
    WorkspaceOption,
    open_workspace,
)

if TYPE_CHECKING:
    from trailhound.sources.traces import ReadParts


def trace(
    topic: TopicArgument,
    source: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Who visited what: a log, SITE=FILE, or 'sessions'."),
    ],
    cluster: ClusterOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Index who visited what, for crawls with --trace FILE.

    Such a crawl does so by itself when it begins; for a large log, a cluster is quicker. What is
    indexed already is only told of. With the default strategy, trail, what people opened near
    wanted pages counts beside links; --strategy collaborative goes by people's visits alone.

    Examples:

      trailhound trace bees access.log.gz

      trailhound trace bees access.log.gz --cluster 10.0.0.7:6379
    """
    from trailhound.cli.terminal import print_json, say, show_pairs
    from trailhound.topics.crawls.folder import CrawlFolder
    from trailhound.topics.runs.traces import indexed_trace

    folder = CrawlFolder(open_workspace(workspace).topic(topic))
    read = None if cluster is None else _on_cluster(cluster)
    header = indexed_trace(source, folder, say, read).header
    told = {"visits": header.accesses, "people": header.users, "pages": header.pages}
    if as_json:
        print_json(told | {"read": header.read, "skipped": header.skipped, "notes": header.notes})
    else:
        show_pairs([(name, f"{count:,}") for name, count in told.items()])


def _on_cluster(address: str) -> ReadParts:
    """Lines read by processes of a Ray cluster; the index is sorted and written here."""
    from trailhound.cluster.connecting import fan_out
    from trailhound.sources.traces import part_reader

    return lambda form, parts: fan_out(address, part_reader, form, parts, in_order=True)
