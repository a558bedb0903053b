"""The terminal: where commands write, and how words, figures, tables and waiting look there.

Results go to stdout; progress and messages go to stderr.
"""

from __future__ import annotations

import json
import logging
import shlex
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.progress import Progress, Task

    from trailhound.lab.experiment import Progress as RunsProgress
    from trailhound.lab.importers import Progress as ImportProgress

_T = TypeVar("_T")

output = Console(highlight=False)
messages = Console(stderr=True, highlight=False)

PATIENCE_SECONDS = 2.0

_BARS = "▁▂▃▄▅▆▇█"
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Control characters could move the cursor, formatting ones turn the text around."""
_GAP = 2
"""Blanks between the columns of a table."""
_READABLE = 24
"""A column of prose that is narrower is no pleasure to read."""


class _NextSteps:
    """Commands that a person was told name no workspace; one that was chosen belongs to them."""

    workspace: Path | None = None
    were_told = False

    def hear(self, message: str) -> None:
        """Note whether a message tells a command."""
        self.were_told |= "trailhound " in message and "--workspace" not in message


next_steps = _NextSteps()


def end_next_steps() -> None:
    """When all is said: what the commands that were told need here."""
    chosen, next_steps.workspace = next_steps.workspace, None
    if chosen is not None and next_steps.were_told:
        from trailhound.topics.control.running import NEXT_STEPS

        say(f"{NEXT_STEPS}{shlex.quote(str(chosen))} to these commands.)")
    next_steps.were_told = False


def say(message: str) -> None:
    """Tell a person something, on stderr; lines stay as they are."""
    next_steps.hear(message)
    lines = "\n".join(map(harmless, message.split("\n")))
    messages.print(lines, soft_wrap=True, markup=False)


def log_to_stderr() -> None:
    """From now on, tell what is logged (--verbose), a line each above any progress shown there."""
    logger = logging.getLogger("trailhound")
    logger.setLevel(logging.INFO)
    if not any(isinstance(handler, _LogLines) for handler in logger.handlers):
        logger.addHandler(_LogLines())


class _LogLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def print_json(told: Any) -> None:
    """One JSON value on stdout, for programs."""
    import msgspec
    import typer

    text = msgspec.json.encode(told).decode()
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # of a terminal that lacks some letters: they are spelled out
        text = json.dumps(json.loads(text))
    typer.echo(text)


def harmless(text: str) -> str:
    """``text`` without anything that a terminal would act on."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if unicodedata.category(sign) in _HIDDEN else sign for sign in text)


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3 h 20 min``."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def share(part: int, whole: int) -> str:
    """``8.7 %``."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def sparkline(rates: Sequence[float]) -> str:
    """One bar for each rate; the highest is full."""
    top = max(rates, default=0.0)
    if top <= 0:
        return _BARS[0] * len(rates)
    return "".join(_BARS[round(rate / top * (len(_BARS) - 1))] for rate in rates)


def show_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Names and what is to be said of each, side by side on stdout."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(name, Text(value))
    output.print(table)


def show_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], figures: Collection[str] = ()
) -> None:
    """A table on stdout in which no word and no number is broken.

    Where the terminal is too narrow for that, each row is a paragraph instead. ``figures`` are the
    headings of columns that hold numbers.
    """
    from rich.table import Table
    from rich.text import Text

    kept = list(rows)
    widths = _widths(headings, kept, output.width)
    if widths is None:
        _show_paragraphs(headings, kept)
        return
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for heading, width in zip(headings, widths, strict=True):
        justify: JustifyMethod = "right" if heading in figures else "left"
        table.add_column(heading, width=width, justify=justify)
    for row in kept:
        table.add_row(*map(Text, row))
    output.print(table)


def _widths(headings: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Of the columns, with every word whole and prose readable; ``None`` without room for that."""
    columns = [[heading, *cells] for heading, *cells in zip(headings, *rows, strict=True)]
    most = [max(_longest(cell.splitlines()) for cell in column) for column in columns]
    words = [max(_longest(cell.split()) for cell in column) for column in columns]
    least = [max(word, min(line, _READABLE)) for word, line in zip(words, most, strict=True)]
    spare = room - sum(least) - _GAP * (len(columns) - 1)
    if spare < 0:
        return None
    wanted = max(1, sum(most) - sum(least))
    return [
        low + min(high - low, spare * (high - low) // wanted)
        for low, high in zip(least, most, strict=True)
    ]


def _longest(texts: Iterable[str]) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=0)


def _show_paragraphs(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    for name, *cells in rows:
        output.print(Text(name, style="bold"))
        for heading, cell in zip(headings[1:], cells, strict=True):
            if cell:
                told = Text(f"{heading}: {', '.join(cell.splitlines())}")
                output.print(Padding(told, (0, 0, 0, _GAP)))


def show_matrix(
    title: str, cells: Sequence[Sequence[str]], rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Figures on stdout with a name for each row and column; columns without room follow below."""
    from rich.table import Table
    from rich.text import Text

    output.print()
    output.print(Text(title, style="bold"))
    widths = [_longest([name, *told]) for name, *told in zip(columns, *cells, strict=True)]
    for chosen in _that_fit(widths, output.width - _longest(rows)):
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="none")
        table.add_column("", no_wrap=True)
        for number in chosen:
            table.add_column(columns[number], justify="right", no_wrap=True)
        for name, row in zip(rows, cells, strict=True):
            table.add_row(name, *(row[number] for number in chosen))
        output.print(table)


def _that_fit(widths: Sequence[int], room: int) -> Iterator[range]:
    """Numbers of columns that stand side by side; always at least one."""
    first = 0
    while first < len(widths):
        last = first + 1
        used = widths[first] + _GAP
        while last < len(widths) and (used := used + widths[last] + _GAP) <= room:
            last += 1
        yield range(first, last)
        first = last


@contextmanager
def patiently(first_step: str) -> Iterator[Callable[[str], None]]:
    """Name each step with the function given; after two seconds it appears on stderr.

    For steps that usually take no time: a sign of life when one does.
    """
    status = messages.status(first_step)
    timer = threading.Timer(PATIENCE_SECONDS, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield status.update
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextmanager
def import_bar() -> Iterator[ImportProgress]:
    """A bar that says what is being read and how much of it is done."""
    with _bar() as bar:
        line = bar.add_task("reading", total=None)
        yield lambda done, total, what: bar.update(
            line, completed=done, total=total, description=what
        )


@contextmanager
def runs_bar() -> Iterator[RunsProgress]:
    """A bar that counts an experiment's runs, with the time left."""
    with _bar() as bar:
        line = bar.add_task("runs", total=None)

        def show(done: int, total: int) -> None:
            if bar.tasks[line].total is None:
                # Runs kept from before say nothing about the speed of those to come.
                bar.reset(line, total=total, completed=done)
            else:
                bar.update(line, completed=done)

        yield show


@contextmanager
def counting_bar(what: str, total: int) -> Iterator[Callable[[Iterable[_T]], Iterator[_T]]]:
    """Counts what passes through the function given; shown after two seconds."""
    with _bar() as bar:
        line = bar.add_task(what, total=total, visible=False)
        appears_at = time.monotonic() + PATIENCE_SECONDS

        def counted(things: Iterable[_T]) -> Iterator[_T]:
            for thing in things:
                yield thing
                bar.update(line, advance=1, visible=time.monotonic() > appears_at)

        yield counted


@contextmanager
def pages_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Counts pages when it is told how many are done, and of how many; shown after two seconds."""
    with _bar() as bar:
        line = bar.add_task(what, total=None, visible=False)
        appears_at = time.monotonic() + PATIENCE_SECONDS

        def show(done: int, total: int) -> None:
            bar.update(line, completed=done, total=total, visible=time.monotonic() > appears_at)

        yield show


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Count(ProgressColumn):
        """What is done, of how many if that is known; nothing before anything is."""

        def render(self, task: Task) -> Text:
            done = f"{task.completed:,.0f}" if task.completed or task.total else ""
            return Text(f"{done}/{task.total:,.0f}" if task.total is not None else done)

    columns = (TextColumn("{task.description}"), BarColumn(), Count(), TimeRemainingColumn())
    # Where there is no terminal, it would write an empty line.
    disable = not messages.is_terminal
    return Progress(*columns, console=messages, transient=True, disable=disable)
