"""What an importer is: something that reads foreign data into a corpus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trailhound.lab.corpora.writer import CorpusWriter

Progress = Callable[[int, int | None, str], None]
"""Called with what is done, how much there is (``None``: unknown), and what is being read."""


def no_progress(done: int, total: int | None, what: str) -> None:
    """For callers who do not want to know."""


@dataclass(frozen=True)
class ImportRequest:
    """What to read."""

    source: Path
    """File or folder; meaningless for kinds that need none."""
    seed: int = 0
    """For kinds that generate their web."""
    progress: Progress = no_progress


@dataclass(frozen=True)
class CorpusKind:
    """One way to make a corpus."""

    name: str
    summary: str
    """One line for the help text."""
    record: Callable[[ImportRequest, CorpusWriter], None]
    """Reads the source into the writer. CorpusError says what is wrong with a source."""
    needs_source: bool = True
