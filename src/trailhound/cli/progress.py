"""Progress on stderr, for anything that takes longer than a moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from trailhound.lab.experiment import Progress as RunsProgress
    from trailhound.lab.importers import Progress as ImportProgress


@contextmanager
def import_bar() -> Iterator[ImportProgress]:
    """A bar that says what is being read and how much of it is done."""
    with _bar() as bar:
        line = bar.add_task("reading", total=None)

        def show(done: int, total: int | None, what: str) -> None:
            bar.update(line, completed=done, total=total, description=what)

        yield show


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


def _bar() -> Progress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from trailhound.cli.console import messages

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=messages, transient=True)
