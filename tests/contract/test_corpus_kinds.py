"""What every kind of corpus promises. For one of your own, add its name or path to ``SOURCES``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from trailhound.errors import CorpusError, TrailhoundError
from trailhound.lab.corpora import Corpus
from trailhound.lab.importers import corpus_kind, import_corpus

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


@pytest.fixture
def source(kind: str, tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    return SOURCES[kind](tmp_path / "source")


@kinds
def test_it_has_a_name_and_says_in_a_line_what_it_reads(kind: str) -> None:
    found = corpus_kind(kind)
    assert found.name
    assert found.summary
    assert "\n" not in found.summary


@kinds
def test_the_same_source_gives_the_same_corpus_with_any_number_of_jobs(
    kind: str, source: Path, tmp_path: Path
) -> None:
    first = import_corpus(kind, source, tmp_path / "first.thc")
    again = import_corpus(kind, source, tmp_path / "again.thc", jobs=2)
    assert first.fingerprint == again.fingerprint
    assert first.kind == corpus_kind(kind).name
    with Corpus.open(tmp_path / "first.thc") as corpus:
        assert len(corpus) >= 1
        assert all(corpus.page(url) is not None for url in corpus.page_urls)


@kinds
def test_progress_only_grows(kind: str, source: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int | None, str]] = []
    import_corpus(kind, source, tmp_path / "web.thc", progress=lambda *step: told.append(step))
    done = [step[0] for step in told]
    assert done == sorted(done)
    assert all(total is None or number <= total for number, total, _ in told)


@kinds
def test_a_source_that_is_not_there_is_an_error_for_people_and_leaves_nothing(
    kind: str, tmp_path: Path
) -> None:
    with pytest.raises(TrailhoundError):
        import_corpus(kind, tmp_path / "nowhere", tmp_path / "web.thc")
    assert list(tmp_path.iterdir()) == []


def test_a_kind_that_breaks_down_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    kind = tmp_path / "broken.py"
    kind.write_text(
        "from trailhound.lab.importers import CorpusKind\n"
        "BROKEN = CorpusKind(name='broken', summary='breaks', record=lambda *_: 1 / 0)\n"
    )
    with pytest.raises(CorpusError, match="'broken' failed: ZeroDivisionError"):
        import_corpus(str(kind), tmp_path, tmp_path / "web.thc")
    assert not (tmp_path / "web.thc").exists()
