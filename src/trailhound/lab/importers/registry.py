"""The kinds of corpora that can be made, and making one."""

from __future__ import annotations

from pathlib import Path

from trailhound.errors import UsageError, unknown_name
from trailhound.lab.corpora.information import CorpusInfo
from trailhound.lab.corpora.writer import CorpusWriter
from trailhound.lab.importers.base import CorpusKind, ImportRequest, Progress, no_progress
from trailhound.lab.importers.demo import DEMO
from trailhound.lab.importers.warc import WARC
from trailhound.lab.importers.webkb import WEBKB
from trailhound.lab.importers.wikispeedia import WIKISPEEDIA

CORPUS_KINDS: dict[str, CorpusKind] = {kind.name: kind for kind in (DEMO, WARC, WEBKB, WIKISPEEDIA)}


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
    if kind not in CORPUS_KINDS:
        raise unknown_name("corpus kind", kind, CORPUS_KINDS)
    chosen = CORPUS_KINDS[kind]
    if chosen.needs_source and source is None:
        raise UsageError(f"Importing {kind} needs a file or folder: corpus import {kind} PATH")
    request = ImportRequest(source or Path(), seed, progress or no_progress)
    parameters = {"source": source.name} if source is not None else {"seed": str(seed)}
    with CorpusWriter(destination, kind, parameters, jobs) as writer:
        chosen.record(request, writer)
    return writer.info
