"""``trailhound mark``: tell which results are useful, so that the topic learns from them."""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.learn import RejudgeOption, tell_learned
from trailhound.cli.options import (
    JsonOption,
    TopicArgument,
    WorkspaceOption,
    listed_urls,
    open_workspace,
)
from trailhound.cli.results import crawl_folder
from trailhound.cli.terminal import patiently, print_json, say
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.topics.crawls.marking import Marked

_MOST_SHOWN = 3
"""Pages that stay marked and are named."""


def mark(
    topic: TopicArgument,
    url: Annotated[
        list[str] | None, typer.Argument(metavar="[URL]...", help="Results to mark.")
    ] = None,
    useful: Annotated[
        bool, typer.Option("--useful/--not-useful", help="What they are. Default: useful.")
    ] = True,
    clear: Annotated[
        bool, typer.Option("--clear", help="Take earlier marks of this command back instead.")
    ] = False,
    from_file: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="File of URLs, one in a line; - is stdin."),
    ] = None,
    learn: Annotated[bool, typer.Option("--learn", help="Learn from the marks at once.")] = False,
    rejudge: RejudgeOption = True,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Mark results of a crawl as useful or not; the topic's next learning takes them along.

    What is useful is in the results at once, and what is not leaves them. The pages' content comes
    from the crawl's archive, together with the path that led there.

    Examples:

      trailhound mark bees https://example.org/hives https://example.org/honey --learn

      trailhound mark bees --not-useful https://example.org/bee-movie

      trailhound export bees -f urls | trailhound mark bees --from -
    """
    from trailhound.errors import UsageError
    from trailhound.topics.crawls.marking import mark_results

    addresses = listed_urls(url or (), from_file, "list")
    if not addresses:
        raise UsageError("Name the pages to mark: one or more URLs, or --from FILE.")
    folder = crawl_folder(topic, workspace)
    verdict = None if clear else useful
    with patiently("Reading the archive"):
        marked = mark_results(folder, addresses, verdict, time.time())
    if as_json and not learn:
        urls = [page.address for page in marked.pages]
        told = {"marked": urls, "useful": verdict, "pages_along": marked.visits}
        still = {page.address: page.marked for page in marked.still}
        print_json({**told, "still_marked": still} if clear else told)
    elif not as_json:
        _tell(marked, verdict, topic, learn=learn)
    if learn:
        _learn(topic, workspace, rejudge=rejudge, as_json=as_json)


def _learn(topic: str, workspace: Path | None, *, rejudge: bool, as_json: bool) -> None:
    """As ``trailhound learn TOPIC`` would, with the parameters of an earlier learning, if any."""
    from trailhound.topics.learning import LearningRequest, learn_into, same_request

    place = open_workspace(workspace)
    folder = place.topic(topic)
    with patiently("Learning") as report:
        known = folder.load() if folder.is_learned() else None
        request = same_request(folder, known) if known else LearningRequest(folder.name)
        learned = learn_into(place, request, report)
    tell_learned([learned], place, rejudge=rejudge, as_json=as_json)


def _tell(marked: Marked, verdict: bool | None, topic: str, *, learn: bool) -> None:
    from trailhound.topics.crawls.marking import mark_in_words

    what = {True: "marked useful", False: "marked not useful", None: "no longer marked"}[verdict]
    still = {page.address: page for page in marked.still}
    changed = sum(page.address not in still for page in marked.pages)
    along = f", with {marked.visits:,} on the paths to them" if marked.visits else ""
    if changed:
        say(f"{counted(changed, 'page')} {what}{along}.")
    elif not still:
        say("None of them was marked.")
    for page in islice(still.values(), _MOST_SHOWN):
        say(
            f"{page.address} stays marked {mark_in_words(page.marked)}: it was marked so while "
            "browsing, or in a topic that was merged into this one."
        )
    if len(still) > _MOST_SHOWN:
        say(f"The same goes for {counted(len(still) - _MOST_SHOWN, 'more page')}.")
    if marked.pages and not learn:
        them = "them" if verdict is not None else "what is left"
        say(f"Learn from {them} with: trailhound learn {quote(topic)}")
