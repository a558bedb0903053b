"""``trailhound results``: what a crawl has found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import JsonOption, TopicArgument, WorkspaceOption, open_workspace
from trailhound.cli.terminal import harmless, output, print_json, say
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.storage.results_reading import Results, StoredPage
    from trailhound.topics.crawl_folder import CrawlFolder

MAX_STEPS_SHOWN = 3

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
    as_json: JsonOption = False,
) -> None:
    """List what was found, best first, each with the path that led there.

    Works while the crawl is running, too.

    Examples:

      trailhound results bees --limit 50

      trailhound results bees --search "varroa treatment"
    """
    from trailhound.storage.results_reading import Results

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
    from trailhound.topics.crawl_folder import CrawlFolder

    return CrawlFolder(open_workspace(workspace).topic(topic)).require()


def _marks(folder: CrawlFolder) -> Mapping[str, str]:
    """What ``trailhound mark`` was told, in words, by address."""
    from trailhound.topics.marking import marks_of

    marks = marks_of(folder.topic)
    return {url: "useful" if useful else "not useful" for url, useful in marks.items()}


def _print_json(stored: Results, pages: list[StoredPage], marks: Mapping[str, str]) -> None:
    import msgspec

    from trailhound.topics.explaining import shown_path

    rows = []
    for page in pages:
        row = msgspec.structs.asdict(page)
        del row["memory"]
        rows.append({**row, "path": shown_path(stored, page), "marked": marks.get(page.address)})
    print_json(rows)


def _show(stored: Results, pages: list[StoredPage], topic: str, marks: Mapping[str, str]) -> None:
    from rich.text import Text

    from trailhound.topics.explaining import shown_path

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
        output.print(
            Text(f"           {path_line(shown_path(stored, page))}", style="dim"), soft_wrap=True
        )
    say(_count(stored, pages, topic))


def path_line(path: Sequence[str]) -> str:
    """How the crawl came to the last page of ``path``; of a long way only both ends."""
    way = list(path[:-1])
    if len(way) > MAX_STEPS_SHOWN:
        way = [way[0], f"({counted(len(way) - 2, 'page')})", way[-1]]
    return "via " + " → ".join(way) if way else "a seed"


def _count(stored: Results, pages: list[StoredPage], topic: str) -> str:
    total = stored.summary()
    if not pages and not total.relevant:
        return (
            f"Nothing relevant among {counted(total.pages, 'page')}. Look at the best ones with "
            f"--min-score 0, or at what was learned with: trailhound inspect {topic}"
        )
    known = f", {total.known:,} of them in your sessions" if total.known else ""
    hidden = []
    if total.duplicates:
        hidden.append(counted(total.duplicates, "copy"))
    if total.unlisted:
        hidden.append(f"{total.unlisted:,} that ask not to be listed")
    beside = f" (besides {' and '.join(hidden)}: --all)" if hidden else ""
    return f"{len(pages):,} of {counted(total.relevant, 'relevant page')}{known}{beside}"
