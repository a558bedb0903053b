"""``trailhound results``: what a crawl has found, all of it or what is new since the last time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from trailhound.cli.options import JsonOption, TopicArgument, WorkspaceOption, open_workspace
from trailhound.cli.terminal import harmless, output, patiently, print_json, say
from trailhound.counting import counted
from trailhound.records import Outcome

if TYPE_CHECKING:
    from trailhound.storage.results_reading import Results, StoredPage
    from trailhound.storage.visit_reading import NewsPage
    from trailhound.topics.control.overview import News
    from trailhound.topics.crawls.folder import CrawlFolder

MAX_STEPS_SHOWN = 3
_INDENT = " " * 11
_ABOUT_SOURCES = {
    "whole": "No main content was found: this is all that the page shows.",
    "costly": "Finding the main content took too much: this is all that the page shows.",
    "none": "The crawl has not kept the text of this page.",
}
"""Said of a text that is not the main content."""

MinScoreOption = Annotated[
    float | None,
    typer.Option(min=0.0, max=1.0, help="All pages from this score on, relevant or not."),
]
CrawlOption = Annotated[
    str | None,
    typer.Option(
        "--crawl", metavar="NAME", help="An earlier crawl that --restart set aside: crawl-1, …"
    ),
]
AllOption = Annotated[
    bool,
    typer.Option(
        "--all", help="Everything: known and irrelevant pages, copies, those not to be listed."
    ),
]


def results(
    topic: TopicArgument,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 20,
    min_score: MinScoreOption = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="Only relevant pages with all these words; those first that are most about them, "
            "words of the title above all, then by score.",
        ),
    ] = None,
    new: Annotated[
        bool,
        typer.Option(
            "--new/--known", help="Only what you have neither visited nor marked, or that as well."
        ),
    ] = True,
    everything: AllOption = False,
    text: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Print the main text of this page instead."),
    ] = None,
    since_last: Annotated[
        bool,
        typer.Option("--since-last", help="What is new or has changed since you last asked so."),
    ] = False,
    crawl: CrawlOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what was found and is new to you, best first, each with the path that led there.

    Works while the crawl is running, too.

    Examples:

      trailhound results bees --limit 50

      trailhound results bees --search "varroa treatment"

      trailhound results bees --since-last

      trailhound results bees --text https://example.org/varroa
    """
    import msgspec

    from trailhound.topics.crawls.marking import mark_in_words, open_results
    from trailhound.topics.finds.explaining import shown_path

    folder = crawl_folder(topic, workspace, crawl)
    chosen = {
        "--search": search is not None,
        "--min-score": min_score is not None,
        "--all": everything,
        "--known": not new,
    }
    _refuse_what_is_not_heard(chosen, text, since_last=since_last, is_earlier=crawl is not None)
    if since_last:
        _tell_news(folder, limit, as_json=as_json)
        return
    if text is not None:
        _show_text(folder, text, as_json)
        return
    if search is not None and not search.strip():
        from trailhound.errors import UsageError

        raise UsageError("--search needs words to look for. Leave it out to list the best finds.")
    with open_results(folder) as stored:
        matches: list[StoredPage] = []
        if search is not None:
            with patiently("Searching; what was found since the last time is indexed first"):
                matches = stored.search(search, min_score=min_score)
            found = iter(matches)
        else:
            found = stored.iterate(min_score=min_score, everything=everything)
        if new and not everything:
            found = (page for page in found if not page.known and page.marked is None)
        pages = list(islice(found, limit))
        hidden = len(matches) - len(pages) - sum(1 for _ in found) if matches else 0
        if as_json:
            rows = [
                msgspec.structs.asdict(page)
                | {"path": shown_path(stored, page), "marked": mark_in_words(page.marked)}
                for page in pages
            ]
            for row in rows:
                del row["memory"]
            print_json(rows)
        else:
            _show(stored, pages)
            if search is not None and stored.summary().relevant:
                say(_count_matches(search, len(pages), len(matches), hidden, topic))
            else:
                is_wide = everything or min_score is not None
                say(_count(stored, pages, topic, is_wide=is_wide))
                _name_an_earlier(folder, pages)


def _refuse_what_is_not_heard(
    chosen: dict[str, bool], text: str | None, *, since_last: bool, is_earlier: bool
) -> None:
    """UsageError when an option would change nothing. ``chosen`` choose among the finds."""
    from trailhound.errors import UsageError

    given = [name for name, is_given in chosen.items() if is_given]
    if since_last and is_earlier:
        raise UsageError("--since-last is about the latest crawl. Leave --crawl out.")
    if since_last and (given or text is not None):
        given += ["--text"] * (text is not None)
        raise UsageError(
            f"--since-last lists all that is new or has changed. Leave {', '.join(given)} out, or "
            "leave it out itself."
        )
    if text is not None and given:
        raise UsageError(f"--text prints one page. Leave {', '.join(given)} out.")


def _show_text(folder: CrawlFolder, url: str, as_json: bool) -> None:
    from trailhound.storage.results_reading import Results
    from trailhound.topics.finds.exporting import main_text_of

    with Results(folder.results) as stored, patiently("Looking for the main text"):
        page, found = main_text_of(folder, stored, url)
    if as_json:
        print_json({"url": page.address, "title": page.title, **found._asdict()})
        return
    for line in found.text.splitlines():
        output.print(harmless(line), soft_wrap=True, markup=False)
    if found.source != "main":
        say(_ABOUT_SOURCES[found.source])


def crawl_folder(topic: str, workspace: Path | None, crawl: str | None = None) -> CrawlFolder:
    """The crawl of a topic, or one that was set aside; UsageError when there is none."""
    from trailhound.topics.crawls.folder import CrawlFolder
    from trailhound.topics.crawls.gathering import gather_first

    folder = CrawlFolder(open_workspace(workspace).topic(topic))
    folder = (folder if crawl is None else folder.named(crawl)).require()
    with patiently("Gathering what the shards have found"):
        return gather_first(folder)


def _show(stored: Results, pages: list[StoredPage]) -> None:
    """Prose is wrapped between words; addresses are left whole, to be copied."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from trailhound.topics.crawls.marking import mark_in_words
    from trailhound.topics.finds.explaining import shown_path

    for rank, page in enumerate(pages, start=1):
        score = f"{page.score:.2f}" if page.score is not None else " –  "
        head = Table.grid()
        head.add_column(width=len(_INDENT))
        head.add_column(overflow="fold")
        head.add_row(f"{rank:>3}  {score}", Text(harmless(page.title) or page.address, "bold"))
        output.print(head)
        known = "  (in your sessions)" if page.known else ""
        marked = f"  (marked {mark_in_words(page.marked)})" if page.marked is not None else ""
        output.print(Text(f"{_INDENT}{page.address}{known}{marked}", style="cyan"), soft_wrap=True)
        if page.snippet:
            snippet = Text(harmless(page.snippet), style="dim")
            output.print(Padding(snippet, (0, 0, 0, len(_INDENT))))
        for line in path_lines(shown_path(stored, page), output.width - len(_INDENT)):
            output.print(Text(f"{_INDENT}{line}", style="dim"), soft_wrap=True)


def path_lines(path: Sequence[str], width: int) -> list[str]:
    """How the crawl came to the last page of ``path``; of a long way only both ends.

    One line when ``width`` characters are enough, else one for each step.
    """
    way = list(path[:-1])
    if not way:
        return ["where the crawl began"]
    if len(way) > MAX_STEPS_SHOWN:
        way = [way[0], f"({counted(len(way) - 2, 'page')})", way[-1]]
    line = "via " + " → ".join(way)
    return [line] if len(line) <= width else [f"via {way[0]}", *(f"  → {step}" for step in way[1:])]


def _count_matches(words: str, shown: int, matches: int, hidden: int, topic: str) -> str:
    """``hidden`` are those that the person knows, when only new ones are wanted."""
    if not matches:
        return (
            f"Nothing matches: no relevant page holds all of '{words}'. Try fewer words or other "
            f"forms of them, or list everything relevant with: trailhound results {quote(topic)}"
        )
    also = f" ({hidden:,} of them visited or marked by you: --known)" if hidden else ""
    return f"{shown:,} of {counted(matches, 'matching page')}{also}"


def _name_an_earlier(folder: CrawlFolder, pages: list[StoredPage]) -> None:
    """Where else finds may be, when there are none here."""
    others = [path for path in folder.crawls() if path != folder.path]
    if others and not pages:
        latest = max(others, key=lambda path: path.stat().st_mtime)
        say(f"An earlier crawl may have some: --crawl {latest.name}")


def _count(stored: Results, pages: list[StoredPage], topic: str, *, is_wide: bool) -> str:
    """``is_wide``: not only relevant pages were asked for."""
    total = stored.summary()
    if pages and is_wide:
        return f"{counted(len(pages), 'page')} of {total.addresses:,} in all"
    if total.pages and not pages and not total.outcomes.get(Outcome.FETCHED.value):
        became = ", ".join(f"{count:,} {outcome}" for outcome, count in total.outcomes.items())
        return (
            f"None of {counted(total.pages, 'page')} could be fetched: {became}. See why with: "
            f"trailhound explain {quote(topic)} URL"
        )
    if not pages and is_wide and not total.relevant:
        return (
            f"Nothing that has a score among {counted(total.pages, 'page')}. See what became of "
            f"one with: trailhound explain {quote(topic)} URL"
        )
    if not pages and not total.relevant:
        return (
            f"Nothing relevant among {counted(total.pages, 'page')}. Look at the best ones with "
            f"--min-score 0, or at what was learned with: trailhound inspect {quote(topic)}"
        )
    also = []
    if total.known:
        also.append(f"{total.known:,} of them visited or marked by you: --known")
    if total.duplicates:
        also.append(f"besides {counted(total.duplicates, 'copy')}: --all")
    if total.unlisted:
        also.append(f"besides {total.unlisted:,} that ask not to be listed: --all")
    told = f" ({'; '.join(also)})" if also else ""
    return f"{len(pages):,} of {counted(total.relevant, 'relevant page')}{told}"


def _tell_news(folder: CrawlFolder, limit: int, *, as_json: bool) -> None:
    """Show it, best first; next time begins where this one ends, unless some was left out."""
    from trailhound.topics.control.overview import news, note_looked

    now = time.time()
    found = news(folder, limit=limit)
    if as_json:
        print_json(_told(found))
    else:
        for rank, page in enumerate(found.pages, start=1):
            _show_news(rank, page)
        say(_count_news(found))
    if _is_whole(found):
        note_looked(folder.topic, now)


def _told(found: News) -> dict[str, Any]:
    pages = []
    for each in found.pages:
        row = msgspec.structs.asdict(each.page)
        del row["memory"]
        news = {"news": "new" if each.is_new else "changed"}
        pages.append(row | news | each.visits._asdict())
    return {"since": found.since, "new": found.new, "changed": found.changed, "pages": pages}


def _show_news(rank: int, news: NewsPage) -> None:
    from rich.padding import Padding
    from rich.text import Text

    page, visits = news.page, news.visits
    moment = visits.found_at if news.is_new else visits.changed_at or visits.seen_at
    told = f"{'new' if news.is_new else 'changed'} {datetime.fromtimestamp(moment):%Y-%m-%d %H:%M}"
    score = f"{page.score:.2f}" if page.score is not None else " –  "
    head = Text(f"{rank:>3}  {score}  ")
    head.append(harmless(page.title) or page.address, "bold")
    output.print(head)
    output.print(Text(f"{_INDENT}{page.address}  ({told})", style="cyan"), soft_wrap=True)
    if page.snippet:
        output.print(Padding(Text(harmless(page.snippet), style="dim"), (0, 0, 0, len(_INDENT))))


def _count_news(found: News) -> str:
    since = f" since {datetime.fromtimestamp(found.since):%Y-%m-%d %H:%M}" if found.since else ""
    if not found.new and not found.changed:
        return f"Nothing is new{since}."
    changed = f" and {counted(found.changed, 'changed one')}" if found.changed else ""
    told = f"{counted(found.new, 'new page')}{changed}{since}"
    if _is_whole(found):
        return told
    return (
        f"The best {len(found.pages):,} of {told}. They stay new until all are shown: "
        f"-n {found.new + found.changed}"
    )


def _is_whole(found: News) -> bool:
    return len(found.pages) >= found.new + found.changed
