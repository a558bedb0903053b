"""Every kind of corpus keeps what kinds of corpora promise."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from trailhound.errors import CorpusError
from trailhound.lab.importers import import_corpus
from trailhound.testing import check_corpus_kind

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "html_folder.py")
HTML = '<title>Hive</title><p>honey</p><a href="two.html">on</a>'


def _lines(*records: dict[str, str]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def _webkb(folder: Path) -> Path:
    line = {"url": "http://h.test/one.html", "html": HTML, "label": "course", "univ": "u"}
    (folder / "pages.jsonl").write_text(_lines(line, line | {"url": "http://h.test/two.html"}))
    return folder


def _wikispeedia(folder: Path) -> Path:
    line = {"url": "http://h.test/one.html", "html": HTML, "article": "One"}
    other = {"url": "http://h.test/two.html", "html": HTML, "article": "Two"}
    (folder / "pages.jsonl").write_text(_lines(line, other))
    (folder / "categories.tsv").write_text("One\tinsects\n")
    (folder / "paths_finished.tsv").write_text("u1\t1300000000\t60\tOne;Two\t3\n")
    return folder


def _warc(folder: Path) -> Path:
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{HTML}"
    record = (
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"
        "WARC-Target-URI: http://h.test/one.html\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(answer)}\r\n\r\n{answer}\r\n\r\n"
    )
    (folder / "small.warc").write_text(record, newline="")
    return folder / "small.warc"


def _html_folder(folder: Path) -> Path:
    (folder / "one.html").write_text(HTML)
    (folder / "two.html").write_text(HTML)
    return folder


SOURCES: dict[str, Callable[[Path], Path]] = {
    "webkb": _webkb,
    "wikispeedia": _wikispeedia,
    "warc": _warc,
    EXAMPLE: _html_folder,
}

kinds = pytest.mark.parametrize("kind", SOURCES, ids=lambda kind: Path(kind).stem)


@kinds
def test_it_keeps_what_every_kind_promises(kind: str, tmp_path: Path) -> None:
    check_corpus_kind(kind, SOURCES[kind](tmp_path))


def test_a_kind_that_breaks_down_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    kind = tmp_path / "broken.py"
    kind.write_text(
        "from trailhound.lab.importers import CorpusKind\n"
        "BROKEN = CorpusKind(name='broken', summary='breaks', record=lambda *_: 1 / 0)\n"
    )
    with pytest.raises(CorpusError, match="'broken' failed: ZeroDivisionError"):
        import_corpus(str(kind), tmp_path, tmp_path / "web.thc")
    assert not (tmp_path / "web.thc").exists()
