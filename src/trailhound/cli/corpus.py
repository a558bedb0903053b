"""``trailhound corpus``: recorded webs to crawl again and again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from trailhound.lab.corpora import CorpusInfo

app = typer.Typer(
    help="Turn data sets and web archives into recorded webs for the lab.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.command("import")
def import_(
    kind: Annotated[str, typer.Argument(help="wikispeedia, webkb, warc or demo.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="CORPUS", help="File to write, e.g. web.thc.")
    ],
    path: Annotated[
        Path | None,
        typer.Argument(help="Folder or file to read; the demo web needs none."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes to use.")] = 1,
    seed: Annotated[int, typer.Option(help="For a generated web: same seed, same web.")] = 7,
) -> None:
    """Make a corpus from a data set, from WARC files, or from the generated demo web.

    Examples:

      trailhound corpus import demo -o demo.thc

      trailhound corpus import warc crawls/ -o mine.thc

      trailhound corpus import wikispeedia downloads/wikispeedia -o wikispeedia.thc -j 2
    """
    from trailhound.cli.terminal import import_bar, messages, output
    from trailhound.lab.importers import import_corpus

    with import_bar() as progress:
        info = import_corpus(kind, path, out, progress, jobs, seed)
    output.print(_info_table(info))
    messages.print(
        f"Wrote {out}. See its topics with: trailhound lab topics {out}",
        soft_wrap=True,
        markup=False,
    )


@app.command("info")
def info(
    corpus: Annotated[Path, typer.Argument(help="Corpus file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Say what a corpus holds and where it came from.

    Example: [bold]trailhound corpus info demo.thc[/bold]
    """
    import msgspec

    from trailhound.cli.terminal import output
    from trailhound.lab.corpora import Corpus

    with Corpus.open(corpus) as opened:
        found = opened.info()
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
    else:
        output.print(_info_table(found))


def _info_table(info: CorpusInfo) -> Table:
    """Name and value of everything that is not empty."""
    import msgspec
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in msgspec.structs.asdict(info).items():
        if value or value == 0:
            table.add_row(name.replace("_", " "), Text(_shown(value)))
    return table


def _shown(value: object) -> str:
    if isinstance(value, dict):
        shown = [f"{name or 'unknown'} {_shown(count)}" for name, count in value.items()]
        return ", ".join(shown[:20]) + (f", … ({len(shown)} in all)" if len(shown) > 20 else "")
    if isinstance(value, tuple | list):
        return "\n".join(str(item) for item in value)
    return f"{value:,}" if isinstance(value, int) else str(value)
