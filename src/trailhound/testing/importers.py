"""What importers of browsing and kinds of corpora promise."""

from __future__ import annotations

import tempfile
from pathlib import Path

from trailhound.errors import TrailhoundError
from trailhound.lab.corpora import Corpus
from trailhound.lab.importers import corpus_kind, import_corpus
from trailhound.plugins import REQUIRED
from trailhound.sessions.events import Session
from trailhound.sessions.importers import options_of
from trailhound.sessions.importers.base import Imported, Importer
from trailhound.testing.promises import expect, never_raising, raising_ours


def check_importer(importer: Importer, recording: Path, **options: object) -> None:
    """``importer`` finds at least one session in ``recording``, with these options."""
    for name in ("name", "summary", "reads"):
        said = getattr(importer, name, "")
        expect(bool(said) and "\n" not in said, f"An importer has a {name} of one line")
    for name, option in options_of(importer).items():
        expect(option.default is not REQUIRED, f"Option {name} has a default")
    with never_raising("A good recording can be read"):
        imported = importer.read(recording, "bees", **options)
        _check_sessions(imported)
    with tempfile.TemporaryDirectory() as folder:
        _check_bad_recordings(importer, Path(folder), options)


def _check_sessions(imported: Imported) -> None:
    expect(isinstance(imported, Imported), "read gives Imported")
    sessions = list(imported.sessions)
    expect(bool(sessions), "There is a session in the recording")
    expect(all(isinstance(each, Session) for each in sessions), "sessions are Sessions")
    expect(all(each.topic == "bees" for each in sessions), "A session has the topic it is for")
    expect(list(imported.sessions) == sessions, "sessions can be gone through several times")
    tally = imported.tally
    expect(tally.read >= tally.kept >= 0, "The tally: read is the sum of kept and skipped")
    expect(tally.kept > 0, "Something was kept")


def _check_bad_recordings(importer: Importer, folder: Path, options: dict[str, object]) -> None:
    with raising_ours("A recording that is not there is told"):
        list(importer.read(folder / "nowhere", "bees", **options).sessions)
    noise = folder / "noise"
    noise.write_bytes(bytes(range(256)) * 8)
    with never_raising("A file of another kind is a SessionError, or holds nothing"):
        try:
            found = list(importer.read(noise, "bees", **options).sessions)
        except TrailhoundError:
            found = []
    expect(not any(each.events for each in found), "Nothing is found in a file of another kind")


def check_corpus_kind(kind: str, source: Path, *, with_jobs: int = 2) -> None:
    """``kind``, a name or the path of a Python file, makes a corpus of ``source``."""
    found = corpus_kind(kind)
    expect(bool(found.name), "A corpus kind has a name")
    expect(bool(found.summary) and "\n" not in found.summary, "It has a summary of one line")
    with tempfile.TemporaryDirectory() as folder:
        _check_corpus(kind, source, Path(folder), with_jobs)
        if found.needs_source:
            with raising_ours("A source that is not there is told"):
                import_corpus(kind, Path(folder) / "nowhere", Path(folder) / "none.thc")
            expect(not (Path(folder) / "none.thc").exists(), "A failed import leaves nothing")


def _check_corpus(kind: str, source: Path, folder: Path, jobs: int) -> None:
    told: list[tuple[int, int | None, str]] = []
    with never_raising("A good source can be imported"):
        first = import_corpus(kind, source, folder / "a.thc", lambda *step: told.append(step))
        again = import_corpus(kind, source, folder / "b.thc", jobs=jobs)
    expect(first.fingerprint == again.fingerprint, "The same source gives the same corpus")
    expect(first.kind == corpus_kind(kind).name, "A corpus knows its kind by name")
    with Corpus.open(folder / "a.thc") as corpus:
        expect(len(corpus) >= 1, "There is a page in it")
        read = all(corpus.page(url) is not None for url in corpus.page_urls)
        expect(read, "Every page can be read")
    done = [step[0] for step in told]
    expect(done == sorted(done), "Progress only grows")
    within = all(total is None or number <= total for number, total, _ in told)
    expect(within, "Progress does not pass its total")
