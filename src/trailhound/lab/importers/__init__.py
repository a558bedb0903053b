"""Importers: from data sets, web archives and generated webs to replay corpora.

A kind of corpus is a :class:`CorpusKind`. It registers under the entry-point group
``trailhound.corpora``; one under construction needs no package, the path of its Python file works
wherever its name does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from trailhound.errors import ConfigError, CorpusError, TrailhoundError, UsageError, plugin_faults
from trailhound.fetching.base import REDIRECT_STATUSES
from trailhound.lab.corpora.contents import CorpusInfo
from trailhound.lab.corpora.writer import CorpusWriter
from trailhound.plugins import CORPUS, Catalogue
from trailhound.web_archives import ServerAnswer

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


def corpus_kinds() -> tuple[str, ...]:
    """The names of all kinds that are registered, in alphabetical order."""
    return _catalogue.names()


def corpus_kind(name: str) -> CorpusKind:
    """The kind with this name, or in this Python file."""
    kind = _catalogue.load(name)
    if not isinstance(kind, CorpusKind):
        raise ConfigError(f"The corpus kind '{name}' is no trailhound.lab.importers.CorpusKind.")
    return kind


def import_corpus(
    kind: str,
    source: Path | None,
    destination: Path,
    progress: Progress | None = None,
    jobs: int = 1,
    seed: int = 7,
) -> CorpusInfo:
    """Make the corpus ``destination`` from ``source`` and return its description.

    ``jobs`` processes extract text; their number does not change the result. ``seed`` matters to
    kinds that generate their web. A failure leaves nothing at ``destination`` that was not there.
    """
    chosen = corpus_kind(kind)
    if chosen.needs_source and source is None:
        raise UsageError(f"Importing {kind} needs a file or folder: corpus import {kind} PATH")
    if source is not None and _is_same_file(source, destination):
        raise UsageError(f"{source} is to be read. Name another file to write: --out FILE.")
    request = ImportRequest(source or Path(), seed, progress or no_progress)
    parameters = {"source": source.name} if source is not None else {"seed": str(seed)}
    with CorpusWriter(destination, chosen.name, parameters, jobs) as writer:
        try:
            chosen.record(request, writer)
        except TrailhoundError:
            raise
        except plugin_faults() as error:
            raise CorpusError(
                f"The corpus kind '{chosen.name}' failed: {type(error).__name__}: {error}. Nothing "
                "was written. Check the source, or tell whoever wrote the kind."
            ) from error
    return writer.info


def _is_same_file(some: Path, other: Path) -> bool:
    return some.exists() and other.exists() and some.samefile(other)


# Answers to questions that a crawler never asks: part of a file, or nothing new.
_BESIDE_THE_POINT = frozenset([206, 304])


def record_answer(answer: ServerAnswer, writer: CorpusWriter) -> bool:
    """Record a page, a redirect, an error or a file; ``True`` for a new page."""
    if answer.status < 200 or answer.status in _BESIDE_THE_POINT:
        writer.skip(f"answer with status {answer.status}")
    elif answer.is_page:
        content_type = answer.content_type or "text/html"
        return writer.add_page(answer.url, answer.body, content_type, answer.status)
    elif answer.status in REDIRECT_STATUSES and answer.location:
        writer.add_redirect(answer.url, answer.location, answer.status)
    else:
        writer.add_error(answer.url, answer.status, answer.content_type)
    return False


def _find(module: ModuleType, path: Path) -> CorpusKind:
    """The one kind that a Python file defines."""
    kinds = [each for each in vars(module).values() if isinstance(each, CorpusKind)]
    if len(kinds) != 1:
        raise ConfigError(f"'{path}' should define one CorpusKind; it has {len(kinds)}.")
    return kinds[0]


_catalogue = Catalogue(CORPUS, _find)
