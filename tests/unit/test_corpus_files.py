"""Corpus files that cannot be read or written are named, with the reason and what to do."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from pathlib import Path

import pytest

from trailhound.errors import CorpusError, UsageError
from trailhound.lab.corpora import Corpus, CorpusWriter
from trailhound.lab.corpora.file_format import FORMAT_VERSION

HOME = "http://a.test/"


def write(path: Path, pages: int = 1) -> Path:
    with CorpusWriter(path, "made-up") as writer:
        for number in range(pages):
            body = f"<title>{number}</title>" + random.Random(number).randbytes(2000).hex()
            writer.add_page(f"{HOME}{number}", body.encode())
    return path


def set_header(path: Path, offset: int, value: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(value.to_bytes(4, "big"))


def test_a_missing_corpus_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no corpus at .*nothing\.thc.*corpus import"):
        Corpus.open(tmp_path / "nothing.thc")


def test_a_folder_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="Cannot read the corpus"):
        Corpus.open(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (random.Random(1).randbytes(5000), "it starts with"),
        (b"WARC/1.1\r\n", "it starts with b'WARC"),
        (b"SQLite format 3\0", "it is some other SQLite database"),
    ],
)
def test_foreign_files_are_no_corpora(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "foreign.thc"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=rf"foreign\.thc is not a Trailhound corpus: {reason}"):
        Corpus.open(path)


def test_another_database_is_no_corpus(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE pages (x)")
    connection.close()
    with pytest.raises(CorpusError, match="some other SQLite database"):
        Corpus.open(path)


def test_a_corpus_of_a_newer_version_asks_for_an_upgrade(tmp_path: Path) -> None:
    path = write(tmp_path / "new.thc")
    set_header(path, 60, FORMAT_VERSION + 1)
    with pytest.raises(CorpusError, match=rf"new\.thc has format {FORMAT_VERSION + 1}.*Upgrade"):
        Corpus.open(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_corpus_is_incomplete(tmp_path: Path, share: float) -> None:
    path = write(tmp_path / "cut.thc", pages=20)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(CorpusError, match=r"cut\.thc is incomplete: [\d,]+ of [\d,]+ bytes"):
        Corpus.open(path)


def test_damage_inside_a_page_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "flipped.thc", pages=20)
    with Corpus.open(path) as corpus:
        urls = list(corpus.page_urls)
    content = bytearray(path.read_bytes())
    # One flipped bit in each stretch of 500 bytes, the first page of the database spared.
    for position in range(8192, len(content), 500):
        content[position] ^= 1
    path.write_bytes(content)

    def read_all() -> None:
        with Corpus.open(path) as corpus:
            for url in urls:
                corpus.page(url)
                corpus.html(url)

    with pytest.raises(CorpusError, match=r"flipped\.thc is damaged"):
        read_all()


def test_random_damage_never_escapes_as_another_exception(tmp_path: Path) -> None:
    path = write(tmp_path / "web.thc", pages=5)
    content = path.read_bytes()
    generator = random.Random(7)
    for _ in range(60):
        damaged = bytearray(content)
        start = generator.randrange(len(damaged))
        damaged[start : start + 300] = generator.randbytes(len(damaged[start : start + 300]))
        path.write_bytes(damaged)
        with contextlib.suppress(CorpusError), Corpus.open(path) as corpus:
            _ = [corpus.page(url) for url in corpus.page_urls]
            _ = (corpus.graph, corpus.labels(), list(corpus.trails()), corpus.sessions())


def test_a_corpus_without_pages_is_not_written(tmp_path: Path) -> None:
    with (
        pytest.raises(CorpusError, match=r"No page was recorded.*empty\.thc"),
        CorpusWriter(tmp_path / "empty.thc", "made-up"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_corpus_and_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path / "web.thc")
    before = path.read_bytes()

    def fail() -> None:
        with CorpusWriter(path, "made-up") as writer:
            writer.add_page(HOME, b"<p>new")
            raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        fail()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_success_replaces_the_old_corpus(tmp_path: Path) -> None:
    path = write(tmp_path / "web.thc")
    write(path, pages=3)
    with Corpus.open(path) as corpus:
        assert len(corpus) == 3
    assert list(tmp_path.iterdir()) == [path]


def test_missing_folders_are_made_and_any_name_will_do(tmp_path: Path) -> None:
    path = write(tmp_path / "Новая папка" / "пчёлы & 蜂 %20 #1?.thc")
    with Corpus.open(path) as corpus:
        assert len(corpus) == 1


def test_a_folder_cannot_be_overwritten(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="it is a folder"):
        CorpusWriter(tmp_path, "made-up")


def test_what_is_no_corpus_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "thesis.odt"
    path.write_text("years of work")
    with pytest.raises(CorpusError, match=r"Cannot write .*thesis\.odt: .* no corpus"):
        CorpusWriter(path, "made-up")
    assert path.read_text() == "years of work"
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_file_and_a_damaged_corpus_may_be_written_anew(tmp_path: Path) -> None:
    (tmp_path / "empty.thc").touch()
    write(tmp_path / "empty.thc")
    path = write(tmp_path / "web.thc")
    path.write_bytes(path.read_bytes()[:5000])
    write(path)
    with Corpus.open(path) as corpus:
        assert len(corpus) == 1


def test_an_unwritable_destination_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CorpusError, match=r"Cannot write .*web\.thc.*another destination"):
        CorpusWriter(tmp_path / "file" / "web.thc", "made-up")


def test_a_full_disk_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "web.thc"

    def fill() -> None:
        with CorpusWriter(path, "made-up") as writer:
            # The database may not grow, as if the disk had no room left.
            writer._file._connection.execute("PRAGMA max_page_count = 30")
            for number in range(200):
                writer.add_page(f"{HOME}{number}", random.Random(number).randbytes(5000))

    with pytest.raises(CorpusError, match=r"Cannot write .*web\.thc: database or disk is full"):
        fill()
    assert list(tmp_path.iterdir()) == []


def test_opening_reads_a_few_kilobytes_whatever_the_size(tmp_path: Path) -> None:
    """The description is all that is loaded; addresses, links and pages wait until asked for."""
    with Corpus.open(write(tmp_path / "web.thc", pages=5)) as corpus:
        assert len(corpus) == 5
        loaded = set(vars(corpus))
    assert loaded == {"path", "_connection", "_decompress", "_info"}
