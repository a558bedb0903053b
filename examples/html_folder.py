"""A kind of corpus of your own: a folder of saved HTML files becomes a recorded web.

    trailhound corpus import examples/html_folder.py saved-pages/ -o saved.thc

The folders directly below it are taken for topics: the pages in them get their names as labels.
"""

from __future__ import annotations

from trailhound.errors import CorpusError
from trailhound.lab.corpora import CorpusWriter
from trailhound.lab.importers import CorpusKind, ImportRequest

SITE = "http://saved.example/"


def record(request: ImportRequest, writer: CorpusWriter) -> None:
    """Read every HTML file below ``request.source``."""
    paths = sorted(request.source.rglob("*.html"))
    if not paths:
        raise CorpusError(f"{request.source} holds no HTML file. Name a folder of saved pages.")
    for number, path in enumerate(paths, start=1):
        place = path.relative_to(request.source)
        writer.add_page(SITE + place.as_posix(), path.read_bytes())
        if len(place.parts) > 1:
            writer.add_label(SITE + place.as_posix(), place.parts[0])
        request.progress(number, len(paths), "pages")
    writer.set_start_urls([SITE + "index.html"])


HTML_FOLDER = CorpusKind(name="html-folder", summary="a folder of saved HTML files", record=record)
