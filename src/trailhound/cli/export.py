"""``trailhound export``: results for other programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from trailhound.cli.options import TopicArgument, WorkspaceOption, make_folder_of
from trailhound.cli.results import AllOption, MinScoreOption, crawl_folder
from trailhound.cli.terminal import say


class ExportFormat(StrEnum):
    """What can be written."""

    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"
    WARC = "warc"
    URLS = "urls"


_BY_ENDING = {
    ".jsonl": ExportFormat.JSONL,
    ".ndjson": ExportFormat.JSONL,
    ".json": ExportFormat.JSONL,
    ".csv": ExportFormat.CSV,
    ".parquet": ExportFormat.PARQUET,
    ".warc.gz": ExportFormat.WARC,
    ".warc": ExportFormat.WARC,
    ".txt": ExportFormat.URLS,
}


def export(
    topic: TopicArgument,
    format_: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", "-f", help="What to write; else the ending of FILE says it, else jsonl."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Where to; - is stdout.")
    ] = Path("-"),
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Only the best.")
    ] = None,
    min_score: MinScoreOption = None,
    new: Annotated[
        bool, typer.Option("--new", help="Leave out pages of the sessions it learned from.")
    ] = False,
    everything: AllOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Write the results to a file, best first; those that you know already, too, unless --new.

    jsonl, csv and parquet have all fields, urls (.txt) only addresses. warc has the pages as they
    were received, compressed: name the file .warc.gz.

    Examples:

      trailhound export bees --new -o bees.csv

      trailhound export bees --format urls | head
    """
    from trailhound.counting import counted
    from trailhound.storage.exporting import WRITERS, write_warc
    from trailhound.storage.results_reading import Results

    chosen = format_ or _format_of(out)
    folder = crawl_folder(topic, workspace)
    with Results(folder.results) as stored, _opened(out) as file:
        pages = stored.iterate(limit, min_score=min_score, everything=everything, only_new=new)
        if chosen is ExportFormat.WARC:
            number = write_warc(folder.archive, (page.address for page in pages), file)
        else:
            number = WRITERS[chosen.value](pages, file)
    if str(out) != "-":
        say(f"{counted(number, 'page')} in {out}")


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
    """Stdout, or a file that appears under its name only when it is complete."""
    from trailhound.storage.files import explaining, whole_file

    if str(out) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    make_folder_of(out)
    with explaining(out), whole_file(out) as file:
        yield file
