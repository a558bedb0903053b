"""Where the benchmarks' recorded webs come from.

The real data sets are not part of the project: ``TRAILHOUND_CORPORA`` names the folder that holds
them, one sub-folder each, and nothing else is looked at. What was imported once is kept in
``.cache/corpora``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from trailhound.errors import CorpusError
from trailhound.lab.corpora import Corpus
from trailhound.lab.corpora.file_format import FORMAT_VERSION
from trailhound.lab.importers import import_corpus
from trailhound.text.extract import EXTRACTION_VERSION

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "corpora"
VARIABLE = "TRAILHOUND_CORPORA"


def data_folder() -> Path | None:
    """The folder of the real data sets, if one is named."""
    configured = os.environ.get(VARIABLE, "").strip()
    return Path(configured) if configured else None


def real_corpus(kind: str, *, jobs: int = 2, fresh: bool = False) -> Path | None:
    """The imported data set, or ``None`` after saying that the folder does not hold it.

    Where no folder is named, the program ends with exit code 2.
    """
    folder = data_folder()
    if folder is None:
        print(
            f"{VARIABLE} is not set. Name the folder that holds the real data sets, a sub-folder "
            f"each: {VARIABLE}=FOLDER make bench",
            file=sys.stderr,
        )
        raise SystemExit(2)
    source = folder / kind
    if not source.is_dir():
        print(f"SKIPPED {kind}: {source} does not exist. Does {VARIABLE} name the right folder?")
        return None
    imported = CACHE / f"{kind}.thc"
    if fresh or not _is_current(imported):
        print(f"Importing {kind} from {source} …", file=sys.stderr)
        CACHE.mkdir(parents=True, exist_ok=True)
        import_corpus(kind, source, imported, jobs=jobs)
    return imported


def _is_current(path: Path) -> bool:
    if not path.exists():
        return False
    try:
        with Corpus.open(path) as corpus:
            info = corpus.info()
    except CorpusError:
        return False
    return (info.format_version, info.extraction_version) == (FORMAT_VERSION, EXTRACTION_VERSION)
