"""``trailhound export``: results for other programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from trailhound.cli.options import (
    TopicArgument,
    WorkspaceOption,
    make_folder_of,
    make_room_for,
)
from trailhound.cli.results import AllOption, CrawlOption, MinScoreOption, crawl_folder
from trailhound.cli.terminal import counting_bar, patiently, say
from trailhound.counting import counted

if TYPE_CHECKING:
    from trailhound.portal import Portal
    from trailhound.storage.results_reading import Results, StoredPage
    from trailhound.text.main_content import TextForm
    from trailhound.topics.crawls.folder import CrawlFolder
    from trailhound.topics.finds.exporting import Source


class ExportFormat(StrEnum):
    """What can be written."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    WARC = "warc"
    URLS = "urls"
    MARKDOWN = "markdown"
    TEXT = "text"
    SITE = "site"


_TEXTS = (ExportFormat.MARKDOWN, ExportFormat.TEXT)
_TABLES_WITH_TEXT = (ExportFormat.JSONL, ExportFormat.PARQUET)
_BY_ENDING = {
    ".jsonl": ExportFormat.JSONL,
    ".ndjson": ExportFormat.JSONL,
    ".json": ExportFormat.JSONL,
    ".csv": ExportFormat.CSV,
    ".parquet": ExportFormat.PARQUET,
    ".warc.gz": ExportFormat.WARC,
    ".txt": ExportFormat.URLS,
    ".md": ExportFormat.MARKDOWN,
}
_FOLDERS = (*_TEXTS, ExportFormat.SITE)
_SLASHES = tuple(filter(None, (os.sep, os.altsep)))
_ONE_FILE = (".md", ".markdown", ".txt")
"""Names that end so are files with all texts; other names are folders."""


def export(
    topic: TopicArgument,
    format_: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format",
            "-f",
            metavar="KIND",
            help="jsonl, csv, parquet, warc, urls, markdown, text or site; else the ending of FILE "
            "says it, else jsonl.",
        ),
    ] = None,
    place: Annotated[
        str,  # a path would have lost the slash at its end by now
        typer.Option(
            "--out", "-o", metavar="FILE", help="Where to: a file, or a folder; - is stdout."
        ),
    ] = "-",
    text: Annotated[
        bool,
        typer.Option("--text", help="With the main text of every page, in jsonl and parquet."),
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Only the best.")
    ] = None,
    min_score: MinScoreOption = None,
    new: Annotated[
        bool, typer.Option("--new", help="Leave out pages of the sessions it learned from.")
    ] = False,
    everything: AllOption = False,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="What a site is called. Default: the topic's name.")
    ] = "",
    url: Annotated[
        str, typer.Option(metavar="URL", help="Where a site will be, for readers of its feeds.")
    ] = "",
    crawl: CrawlOption = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Write the results to a file, best first; those that you know already, too, unless --new.

    jsonl, csv and parquet have all fields, urls (.txt) only addresses. warc has the pages as they
    were received, compressed: name the file .warc.gz. markdown and text have the main text of each
    page, without menus and banners: one file a page if FILE is a folder, else (.md, .txt, stdout)
    all in one. site is a folder of web pages with search, to open from disk or to publish.

    Examples:

      trailhound export bees --new -o bees.csv

      trailhound export bees --format markdown -o bees-pages

      trailhound export bees --format site -o bees-site

      trailhound export bees --format urls | head
    """
    from trailhound.errors import UsageError
    from trailhound.portal import Portal
    from trailhound.storage.exporting import write_urls, write_warc
    from trailhound.topics.crawls.marking import open_results
    from trailhound.urls import typed_url

    out = Path(place)
    is_folder = place.endswith(_SLASHES)
    if out.suffix.lower() == ".warc":
        raise UsageError(f"Archives are written compressed. Name the file {out.name}.gz.")
    chosen = format_ or _format_of(out)
    if is_folder and chosen not in _FOLDERS:
        raise UsageError(
            f"{place} is a folder. Give the name of a file, or say what the folder is to hold: "
            f"--format {'|'.join(_FOLDERS)}"
        )
    if text and chosen not in _TABLES_WITH_TEXT:
        _refuse_text(chosen)
    folder = crawl_folder(topic, workspace, crawl)
    if chosen is ExportFormat.SITE:
        _check_site(out, chooses_others=new or everything or min_score is not None)
        _write_site(Portal(folder, title), out, limit, typed_url(url) if url else "")
        return
    if title or url:
        raise UsageError(
            f"--title and --url are for --format site, not for {chosen}. Leave them out."
        )
    with open_results(folder) as stored:

        def pages() -> Iterator[StoredPage]:
            return stored.iterate(limit, min_score=min_score, everything=everything, only_new=new)

        if chosen is ExportFormat.WARC:
            with _opened(out) as file:
                number = write_warc(folder.archive, (page.address for page in pages()), file)
        elif chosen is ExportFormat.URLS:
            with _opened(out) as file:
                number = write_urls(pages(), file)
        else:
            one_file = str(out) == "-" or (out.suffix.lower() in _ONE_FILE and not is_folder)
            number = _write_pages(
                folder, stored, pages, chosen, out, with_text=text, one_file=one_file
            )
    if str(out) != "-":
        lines = ", an object in each line" if out.suffix.lower() == ".json" else ""
        say(f"{counted(number, 'page')} in {out}{lines}")


def _refuse_text(chosen: ExportFormat) -> None:
    from trailhound.errors import UsageError

    advice = (
        "has the texts anyway: leave --text out"
        if chosen in (*_TEXTS, ExportFormat.SITE)
        else "has no room for texts: take --format jsonl, parquet, markdown or text"
    )
    raise UsageError(f"An export as {chosen} {advice}.")


def _check_site(out: Path, *, chooses_others: bool) -> None:
    from trailhound.errors import UsageError

    if str(out) == "-":
        raise UsageError("A site is many files. Name a folder for them with -o FOLDER.")
    if chooses_others:
        raise UsageError(
            "A site has the relevant pages: leave out --new, --all and --min-score. Take pages out "
            "of it with: trailhound mark TOPIC URL --not-useful"
        )


def _write_site(portal: Portal, out: Path, limit: int | None, url: str) -> None:
    from trailhound.portal.site import write_site

    with patiently("Indexing what was found since the last time"):
        total = min(len(portal.listing), limit or len(portal.listing))
    make_folder_of(out)
    with counting_bar("pages", total) as told:
        number = write_site(portal, out, limit=limit, site_url=url, passing=told)
    say(f"{counted(number, 'page')} in {out}: open {out / 'index.html'}")


def _write_pages(
    folder: CrawlFolder,
    stored: Results,
    pages: Callable[[], Iterator[StoredPage]],
    chosen: ExportFormat,
    out: Path,
    *,
    with_text: bool,
    one_file: bool,
) -> int:
    """What more is told of than the address; how many pages there were."""
    from trailhound.storage.exporting import WRITERS
    from trailhound.topics.finds.exporting import Export, write_text_folder, write_text_stream

    form: TextForm = "markdown" if chosen is ExportFormat.MARKDOWN else "text"
    export = Export(folder, stored, pages, form if with_text or chosen in _TEXTS else None)
    with counting_bar("pages", export.total) as told:
        coming = told(export)
        if chosen not in _TEXTS:
            with _opened(out) as file:
                number = WRITERS[chosen.value](coming, file)
        elif one_file:
            with _opened(out) as file:
                number = write_text_stream(coming, file, form)
        else:
            make_folder_of(out)
            number = write_text_folder(coming, out, form)
    _tell_sources(export.sources)
    return number


def _tell_sources(sources: Mapping[Source, int]) -> None:
    """Which texts are not what was asked for."""
    if sources.get("whole"):
        pages = counted(sources["whole"], "page")
        say(f"No main content was found in {pages}: all that is shown there stands for it.")
    if sources.get("costly"):
        pages = counted(sources["costly"], "page")
        say(
            f"Finding it took too much time or memory in {pages}: all that is shown there is taken."
        )
    if sources.get("none"):
        say(f"The text of {counted(sources['none'], 'page')} was not kept, and is missing.")


def _format_of(out: Path) -> ExportFormat:
    """What the ending of a file promises; JSON lines for stdout and names without one."""
    from trailhound.errors import UsageError

    name = out.name.lower()
    for ending, promised in _BY_ENDING.items():
        if name.endswith(ending):
            return promised
    if out.suffix:
        raise UsageError(
            f"What to write into {out} is not clear from its ending. Say it with --format "
            f"{'|'.join(ExportFormat)}, or take one of {', '.join(_BY_ENDING)}."
        )
    return ExportFormat.JSONL


@contextmanager
def _opened(out: Path) -> Iterator[BinaryIO]:
    """Stdout, or a file that appears under its name only when it is complete, or a device."""
    from trailhound.storage.files import explaining, named_file

    if str(out) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    make_room_for(out)
    with explaining(out), named_file(out) as file:
        yield file
