"""Importing the wikispeedia and webkb packs, from made-up packs of the same form."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Sequence
from pathlib import Path

import pytest

from trailhound.errors import ConfigError, CorpusError, UsageError
from trailhound.lab.corpora import BACK, Corpus, CorpusInfo
from trailhound.lab.importers import corpus_kinds, import_corpus

SITE = "http://wiki.test/wp/"
PAGES: list[dict[str, str | None]] = [
    {
        "url": SITE + "b/Bee.htm",
        "article": "Bee",
        "html": "<title>Bee</title><a href=Wax.htm>w</a>",
    },
    {"url": SITE + "b/Wax.htm", "article": "Wax", "html": '<a href="../index.htm">back</a> é'},
    {"url": SITE + "%25/%25C3%2589.htm", "article": "%C3%89", "html": "<p>É"},
    {"url": SITE + "index.htm", "article": None, "html": '<a href="b/Bee.htm">Bee</a>'},
]
BEE, WAX, E_ACUTE, INDEX = (str(page["url"]) for page in PAGES)


def json_lines(records: Sequence[object]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def wikispeedia_pack(folder: Path) -> Path:
    folder.mkdir(parents=True)
    # Two streams in one file, as the real pack has them.
    halves = [lzma.compress(json_lines(PAGES[:2])), lzma.compress(json_lines(PAGES[2:]))]
    (folder / "pages.jsonl.xz").write_bytes(b"".join(halves))
    tables = {
        "categories.tsv.xz": "# FORMAT: article category\n\nBee\tzoo.Insects\nBee\tzoo.Makers\n"
        "Wax\tzoo.Things\nMissing\tzoo.Things\nbroken\n",
        "paths_finished_unique.tsv.xz": "# header\n\n"
        "u1\t1000\t30\tBee;Wax;<;%C3%89\t1\nu1\t2000\t5\tBee;Missing\tNULL\nu1\tx\nu1\t3000\t²\tBee\t1\n",
        "paths_unfinished.tsv.xz": "u2\t3000\t1810\tWax;Bee\t%C3%89\ttimeout\n"
        "u3\t4000\t9\tWax\tUnknown:Target\trestart\nu3\t4000\t9\tWax\n",
    }
    for name, text in tables.items():
        (folder / name).write_bytes(lzma.compress(text.encode()))
    return folder


def do_import(kind: str, source: Path, destination: Path) -> CorpusInfo:
    return import_corpus(kind, source, destination)


def test_wikispeedia_pages_keep_their_links_and_categories(tmp_path: Path) -> None:
    info = do_import("wikispeedia", wikispeedia_pack(tmp_path / "pack"), tmp_path / "w.thc")
    assert (info.kind, info.pages, info.hosts, info.links_inside) == ("wikispeedia", 4, 1, 3)
    assert info.parameters == {"source": "pack"}
    with Corpus.open(tmp_path / "w.thc") as corpus:
        assert corpus.page_urls == (BEE, WAX, E_ACUTE, INDEX)
        assert corpus.labels() == {"zoo.Insects": {0}, "zoo.Makers": {0}, "zoo.Things": {1}}
        assert corpus.groups() == {}
        wax = corpus.page(WAX)
        assert wax is not None
        assert "é" in wax.text


def test_wikispeedia_games_become_trails(tmp_path: Path) -> None:
    do_import("wikispeedia", wikispeedia_pack(tmp_path / "pack"), tmp_path / "w.thc")
    with Corpus.open(tmp_path / "w.thc") as corpus:
        finished, timed_out, restarted = corpus.trails()
    assert finished.steps == (BEE, WAX, BACK, E_ACUTE)
    assert (finished.user, finished.time, finished.duration_seconds) == ("u1", 1000.0, 30.0)
    assert (finished.finished, finished.goal) == (True, E_ACUTE)
    assert (timed_out.steps, timed_out.finished) == ((WAX, BEE), False)
    assert (timed_out.duration_seconds, timed_out.goal) == (10.0, E_ACUTE)
    assert (restarted.duration_seconds, restarted.goal) == (9.0, "")


def test_wikispeedia_says_what_was_left_out(tmp_path: Path) -> None:
    info = do_import("wikispeedia", wikispeedia_pack(tmp_path / "pack"), tmp_path / "w.thc")
    notes = "\n".join(info.notes)
    assert "1 × category of an article without a page" in notes
    assert "1 × incomplete line of the table of categories" in notes
    assert "3 × finished game that is incomplete or visits an article without a page" in notes
    assert "1 × unfinished game" in notes
    assert "Licence" in notes


def test_wikispeedia_tables_may_be_missing(tmp_path: Path) -> None:
    pack = wikispeedia_pack(tmp_path / "pack")
    (pack / "categories.tsv.xz").unlink()
    (pack / "paths_unfinished.tsv.xz").unlink()
    info = do_import("wikispeedia", pack, tmp_path / "w.thc")
    assert (info.labels, info.trails) == ({}, 1)
    assert "Missing in the pack: the table of categories." in info.notes
    assert "Missing in the pack: the table of unfinished games." in info.notes


UNIVERSITY = "http://www.cs.uni.test"
RECORDS = [
    {
        "url": UNIVERSITY + "/~ann",
        "label": "person",
        "univ": "uni",
        "headers": "MIME-Version: 1.0\nContent-type: text/html; charset=iso-8859-1\nServer: x",
        "html": '<title>Zoë</title><a href="/course/index.html">c</a><a href="/~ann/">me</a>',
    },
    {
        "url": UNIVERSITY + "/course/",
        "label": "course",
        "univ": "uni",
        "headers": "",
        "html": '<a href="http://WWW.cs.uni.test/~ann/">Ann</a> <a href="/nowhere/">x</a>',
    },
    {"url": UNIVERSITY + "/~ann", "label": "project", "univ": "uni", "headers": "", "html": "two"},
    {"url": "http://misc.test", "label": "other", "univ": "misc", "headers": "", "html": "<p>ж"},
    {"url": "ftp://ftp.uni.test/", "label": "other", "univ": "uni", "headers": "", "html": "<p>f"},
]


def webkb_pack(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "pages.jsonl.xz").write_bytes(lzma.compress(json_lines(RECORDS)))
    return folder


def test_webkb_classes_become_labels_and_universities_groups(tmp_path: Path) -> None:
    info = do_import("webkb", webkb_pack(tmp_path / "pack"), tmp_path / "k.thc")
    assert (info.pages, info.hosts) == (3, 2)
    assert "1 × answer from something other than http or https" in info.notes
    with Corpus.open(tmp_path / "k.thc") as corpus:
        assert corpus.page_urls[2] == "http://misc.test/"
        assert corpus.labels() == {"person": {0}, "project": {0}, "course": {1}, "other": {2}}
        assert corpus.groups() == {"uni": {0, 1}, "misc": {2}}


def test_webkb_bodies_and_headers_are_restored(tmp_path: Path) -> None:
    do_import("webkb", webkb_pack(tmp_path / "pack"), tmp_path / "k.thc")
    with Corpus.open(tmp_path / "k.thc") as corpus:
        ann = corpus.lookup(UNIVERSITY + "/~ann")
        assert ann is not None
        assert ann.page is not None
        assert (ann.content_type, ann.page.title) == ("text/html; charset=iso-8859-1", "Zoë")
        body = corpus.html(UNIVERSITY + "/~ann")
        assert body is not None
        assert "Zoë".encode("latin-1") in body
        assert corpus.html("http://misc.test/") == "<p>ж".encode()


def test_webkb_links_find_pages_under_their_other_spellings(tmp_path: Path) -> None:
    info = do_import("webkb", webkb_pack(tmp_path / "pack"), tmp_path / "k.thc")
    assert (info.aliases, info.links_inside, info.links_leaving) == (2, 2, 1)
    with Corpus.open(tmp_path / "k.thc") as corpus:
        assert corpus.graph.links_of(0).tolist() == [1]
        assert corpus.graph.links_of(1).tolist() == [0]
        assert corpus.page_id(UNIVERSITY + "/course/index.html") == 1


def test_a_pack_may_be_named_by_its_file_and_compressed_otherwise(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl.gz").write_bytes(gzip.compress(json_lines(RECORDS)))
    info = do_import("webkb", tmp_path / "pages.jsonl.gz", tmp_path / "k.thc")
    assert info.pages == 3


@pytest.mark.parametrize("kind", ["webkb", "wikispeedia", "warc"])
def test_a_missing_source_is_named(tmp_path: Path, kind: str) -> None:
    with pytest.raises(UsageError, match=r"There is no file or folder .*nothing"):
        do_import(kind, tmp_path / "nothing", tmp_path / "x.thc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["webkb", "wikispeedia"])
def test_a_folder_without_the_data_set_says_what_was_expected_and_found(
    tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "holiday"
    folder.mkdir()
    (folder / "beach.jpg").write_bytes(b"x")
    with pytest.raises(CorpusError, match=r"holiday holds no pages\.jsonl\.xz.*found: beach\.jpg"):
        do_import(kind, folder, tmp_path / "x.thc")


@pytest.mark.parametrize("kind", ["webkb", "wikispeedia"])
def test_a_pack_cut_short_is_named_and_nothing_is_written(tmp_path: Path, kind: str) -> None:
    pack = webkb_pack(tmp_path / "pack")
    content = (pack / "pages.jsonl.xz").read_bytes()
    (pack / "pages.jsonl.xz").write_bytes(content[: len(content) // 2])
    with pytest.raises(CorpusError, match=r"Cannot read .*pages\.jsonl\.xz to its end"):
        do_import(kind, pack, tmp_path / "x.thc")
    assert list(tmp_path.iterdir()) == [pack]


@pytest.mark.parametrize("content", [b"no xz at all", lzma.compress(b'{"other": 1}\n')])
def test_foreign_content_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "pages.jsonl.xz").write_bytes(content)
    with pytest.raises(CorpusError, match=r"pages\.jsonl\.xz"):
        do_import("webkb", tmp_path, tmp_path / "x.thc")


def test_an_empty_pack_makes_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl.xz").write_bytes(lzma.compress(b""))
    with pytest.raises(CorpusError, match="No page was recorded"):
        do_import("webkb", tmp_path, tmp_path / "x.thc")


def test_an_unknown_kind_is_a_usage_error_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean webkb"):
        do_import("webbk", tmp_path, tmp_path / "x.thc")
    assert set(corpus_kinds()) == {"demo", "warc", "webkb", "wikispeedia"}


def test_a_kind_that_reads_files_needs_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="corpus import webkb PATH"):
        import_corpus("webkb", None, tmp_path / "x.thc")


def test_a_source_is_never_overwritten(tmp_path: Path) -> None:
    web = tmp_path / "w.thc"
    do_import("wikispeedia", wikispeedia_pack(tmp_path / "pack"), web)
    (tmp_path / "same.thc").symlink_to(web)
    before = web.read_bytes()
    for spelling in (web, tmp_path / "same.thc"):
        with pytest.raises(UsageError, match=r"w\.thc is to be read"):
            import_corpus("webkb", web, spelling)
    assert web.read_bytes() == before
    page = next((tmp_path / "pack").glob("pages.jsonl*"))
    with pytest.raises(CorpusError, match="no corpus"):
        do_import("wikispeedia", tmp_path / "pack", page)
    assert page.stat().st_size


def test_progress_is_reported_and_unicode_paths_work(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None, str]] = []
    pack = webkb_pack(tmp_path / "пакет 包")
    import_corpus(
        "webkb", pack, tmp_path / "корпус.thc", progress=lambda *step: seen.append(step), jobs=2
    )
    assert [done for done, _, _ in seen] == [1, 2, 3, 4, 5]


def test_a_kind_of_ones_own_is_the_path_of_its_file(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "html_folder.py"
    (tmp_path / "saved" / "bees").mkdir(parents=True)
    (tmp_path / "saved" / "index.html").write_text("<a href=bees/hive.html>hive</a>")
    (tmp_path / "saved" / "bees" / "hive.html").write_text("<title>Hive</title>honey")
    info = do_import(str(example), tmp_path / "saved", tmp_path / "saved.thc")
    assert (info.kind, info.pages, info.links_inside) == ("html-folder", 2, 1)
    assert info.labels == {"bees": 1}
    with pytest.raises(CorpusError, match="no HTML file"):
        do_import(str(example), tmp_path / "saved" / "nothing", tmp_path / "other.thc")


def test_a_file_without_a_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(ConfigError, match="should define one CorpusKind"):
        do_import(str(tmp_path / "empty.py"), tmp_path, tmp_path / "x.thc")
