"""``trailhound topics``: what there is in the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trailhound.cli.options import JsonOption, WorkspaceOption, open_workspace
from trailhound.cli.terminal import print_json, say, show_table

if TYPE_CHECKING:
    from trailhound.topics.control.overview import TopicOverview


def topics(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """List all topics: sessions, useful pages, whether learned, and what crawls found.

    Example:

      trailhound topics
    """
    from trailhound.topics.control.overview import overview

    place = open_workspace(workspace)
    found = list(overview(place))
    if as_json:
        print_json(found)
        return
    if not found:
        say(f"The workspace {place.folder} has no topics yet. Begin with: trailhound collect")
        return
    headings = ("topic", "sessions", "useful", "learned", "fetched", "finds", "crawl")
    show_table(headings, map(_row, found), figures=("sessions", "useful", "fetched", "finds"))
    for each in found:
        if each.problem:
            say(f"Note: {each.topic}: {each.problem}")


def _row(each: TopicOverview) -> tuple[str, ...]:
    crawl = each.crawl
    figures = (f"{crawl.pages:,}", f"{crawl.finds:,}") if crawl is not None else ("", "")
    if crawl is None:
        state = "damaged" if each.problem else "none yet"
    else:
        ended = crawl.ended.partition(":")[0] if crawl.state == "ended" else ""
        state = ended or crawl.state.value.replace("-", " ")
    learned = "yes" if each.learned else "no"
    return (each.topic, f"{each.sessions:,}", f"{each.marked:,}", learned, *figures, state)
