"""``trailhound results``: what a crawl has found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.learn import TopicArgument, WorkspaceOption

if TYPE_CHECKING:
    from trailhound.archive.result_reading import Results, StoredPage
    from trailhound.live.folder import CrawlFolder

MinScoreOption = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="All pages from this score on, relevant or not."),
]
NewOption = Annotated[
    bool, typer.Option("--new", help="Leave out pages of the sessions it learned from.")
]
AllOption = Annotated[
    bool,
    typer.Option("--all", help="Also irrelevant pages, copies, and pages asking not to be listed."),
]


def results(
    topic: TopicArgument,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 20,
    min_score: MinScoreOption = None,
    search: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Only relevant pages with all these words.")
    ] = None,
    new: NewOption = False,
    everything: AllOption = False,
    workspace: WorkspaceOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """List what was found, best first, each with the path that led there.

    Works while the crawl is running, too.

    Examples:

      trailhound results bees --limit 50

      trailhound results bees --search "varroa treatment"
    """
    from trailhound.archive.result_reading import Results

    folder = crawl_folder(topic, workspace)
    marks = _marks(folder)
    with Results(folder.results) as stored:
        if search is not None:
            pages = stored.search(search, limit, min_score=min_score)
        else:
            pages = stored.ranked(limit, min_score=min_score, everything=everything, only_new=new)
        if as_json:
            _print_json(stored, pages, marks)
        else:
            _show(stored, pages, topic, marks)


def crawl_folder(topic: str, workspace: Path | None) -> CrawlFolder:
    """The crawl of a topic; UsageError when there is none."""
    from trailhound.live.folder import CrawlFolder
    from trailhound.workspace import Workspace, workspace_folder

    place = Workspace(workspace_folder(workspace, os.environ))
    return CrawlFolder(place.topic(topic)).require()


def _marks(folder: CrawlFolder) -> Mapping[str, str]:
    """What ``trailhound mark`` was told, in words, by address."""
    from trailhound.live.marking import marks_of

    marks = marks_of(folder.topic)
    return {url: "useful" if useful else "not useful" for url, useful in marks.items()}


def _print_json(stored: Results, pages: list[StoredPage], marks: Mapping[str, str]) -> None:
    import msgspec

    rows = []
    for page in pages:
        row = msgspec.structs.asdict(page)
        del row["memory"]
        rows.append({**row, "path": stored.path_to(page), "marked": marks.get(page.address)})
    typer.echo(msgspec.json.encode(rows).decode())


def _show(stored: Results, pages: list[StoredPage], topic: str, marks: Mapping[str, str]) -> None:
    from rich.text import Text

    from trailhound.cli.console import messages, output
    from trailhound.cli.shown import harmless

    for rank, page in enumerate(pages, start=1):
        score = f"{page.score:.2f}" if page.score is not None else " –  "
        title = harmless(page.title) or page.address
        output.print(Text.assemble(f"{rank:>3}  {score}  ", (title, "bold")), soft_wrap=True)
        known = "  (in your sessions)" if page.known else ""
        marked = f"  (marked {marks[page.address]})" if page.address in marks else ""
        address = f"           {page.address}{known}{marked}"
        output.print(Text(address, style="cyan"), soft_wrap=True)
        if page.snippet:
            output.print(Text(f"           {harmless(page.snippet)}", style="dim"), soft_wrap=True)
        output.print(Text(f"           {_path(stored, page)}", style="dim"), soft_wrap=True)
    messages.print(_count(stored, pages, topic), soft_wrap=True, markup=False)


def _path(stored: Results, page: StoredPage) -> str:
    steps = stored.path_to(page)
    if len(steps) > 6:
        steps = [*steps[:2], "…", *steps[-3:]]
    return "via " + " → ".join(steps[:-1]) if len(steps) > 1 else "a seed"


def _count(stored: Results, pages: list[StoredPage], topic: str) -> str:
    total = stored.summary()
    if not pages and not total.relevant:
        return (
            f"Nothing relevant among {total.pages:,} pages. Look at the best ones with "
            f"--min-score 0, or at what was learned with: trailhound inspect {topic}"
        )
    known = f", {total.known:,} of them in your sessions" if total.known else ""
    hidden = []
    if total.duplicates:
        hidden.append(f"{total.duplicates:,} copies")
    if total.unlisted:
        hidden.append(f"{total.unlisted:,} that ask not to be listed")
    beside = f" (besides {' and '.join(hidden)}: --all)" if hidden else ""
    return f"{len(pages):,} of {total.relevant:,} relevant pages{known}{beside}"
