"""Pages of a recorded web for sessions that came without page sources."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trailhound.lab.corpora import Corpus
from trailhound.lab.importers import Progress, import_corpus
from trailhound.sessions.shown_pages import Content

_ARCHIVE_ENDINGS = (".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".wacz")


@contextmanager
def open_content(path: Path, progress: Progress | None = None) -> Iterator[Content]:
    """Look pages up in a corpus, a WARC or WACZ file, or a folder of these.

    An archive is read once from beginning to end, into a corpus that goes away afterwards.
    """
    if path.is_dir() or path.name.lower().endswith(_ARCHIVE_ENDINGS):
        with tempfile.TemporaryDirectory(prefix="trailhound-") as folder:
            corpus = Path(folder) / "content.thc"
            import_corpus("warc", path, corpus, progress)
            with Corpus.open(corpus) as opened:
                yield opened.page
    else:
        with Corpus.open(path) as opened:
            yield opened.page
