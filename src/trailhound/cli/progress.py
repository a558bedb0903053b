"""Progress on stderr, for anything that takes longer than a moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trailhound.lab.experiment import Progress


@contextmanager
def runs_bar() -> Iterator[Progress]:
    """A bar that counts an experiment's runs, with the time left."""
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
    with Progress(*columns, console=messages) as bar:
        line = bar.add_task("runs", total=None)

        def show(done: int, total: int) -> None:
            if bar.tasks[line].total is None:
                # Runs kept from before say nothing about the speed of those to come.
                bar.reset(line, total=total, completed=done)
            else:
                bar.update(line, completed=done)

        yield show
