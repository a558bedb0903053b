"""``trailhound corpus``: recorded webs to crawl again and again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trailhound.cli.options import JsonOption

if TYPE_CHECKING:
    from trailhound.lab.corpora import CorpusInfo

app = typer.Typer(
    help="Turn data sets and web archives into recorded webs for the lab.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@app.command("import")
def import_(
    kind: Annotated[
        str | None,
        typer.Argument(help="What to read; without it, the kinds are listed."),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Argument(help="Folder or file to read; the demo web needs none."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="CORPUS", help="File to write, e.g. web.thc."),
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
    from trailhound.cli.terminal import import_bar, say, show_pairs
    from trailhound.errors import UsageError
    from trailhound.lab.importers import corpus_kind, corpus_kinds, import_corpus
    from trailhound.lab.topics import brings_topics

    if kind is None:
        show_pairs((name, corpus_kind(name).summary) for name in corpus_kinds())
        return
    corpus_kind(kind)  # a wrong name is a worse mistake than a missing file
    if out is None:
        raise UsageError("Say where the corpus shall go: --out FILE, such as -o web.thc.")
    with import_bar() as progress:
        info = import_corpus(kind, path, out, progress, jobs, seed)
    _show(info)
    if brings_topics(info):
        say(f"Wrote {out}. See its topics with: trailhound lab topics {out}")
    else:
        say(
            f"Wrote {out}. It brings no topics of its own. Name some in a file (docs/lab-topics.md "
            f"says how), then see them with: trailhound lab topics {out} --topics FILE"
        )


@app.command("info")
def info(
    corpus: Annotated[Path, typer.Argument(help="Corpus file.")],
    as_json: JsonOption = False,
) -> None:
    """Say what a corpus holds and where it came from.

    Example:

      trailhound corpus info demo.thc
    """
    from trailhound.cli.terminal import print_json
    from trailhound.lab.corpora import Corpus

    with Corpus.open(corpus) as opened:
        found = opened.info()
    if as_json:
        print_json(found)
    else:
        _show(found)


def _show(info: CorpusInfo) -> None:
    """Name and value of everything that is not empty."""
    import msgspec

    from trailhound.cli.terminal import show_pairs

    held = msgspec.structs.asdict(info).items()
    show_pairs(
        (name.replace("_", " "), _shown(value)) for name, value in held if value or value == 0
    )


def _shown(value: object) -> str:
    if isinstance(value, dict):
        shown = [f"{name or 'unknown'} {_shown(count)}" for name, count in value.items()]
        return ", ".join(shown[:20]) + (f", … ({len(shown)} in all)" if len(shown) > 20 else "")
    if isinstance(value, tuple | list):
        return "\n".join(str(item) for item in value)
    return f"{value:,}" if isinstance(value, int) else str(value)
