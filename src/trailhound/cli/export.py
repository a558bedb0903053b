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


def export(
    topic: TopicArgument,
    format_: Annotated[
        ExportFormat, typer.Option("--format", "-f", help="What to write.")
    ] = ExportFormat.JSONL,
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
    """Write the results to a file, best first.

    jsonl, csv and parquet have all fields, urls only addresses. warc has the pages as they were
    received, compressed: name the file .warc.gz.

    Examples:

      trailhound export bees --format csv -o bees.csv

      trailhound export bees --format urls | head
    """
    from trailhound.counting import counted
    from trailhound.storage.exporting import WRITERS, write_warc
    from trailhound.storage.results_reading import Results

    folder = crawl_folder(topic, workspace)
    with Results(folder.results) as stored, _opened(out) as file:
        pages = stored.iterate(limit, min_score=min_score, everything=everything, only_new=new)
        if format_ is ExportFormat.WARC:
            number = write_warc(folder.archive, (page.address for page in pages), file)
        else:
            number = WRITERS[format_.value](pages, file)
    if str(out) != "-":
        say(f"{counted(number, 'page')} in {out}")


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
