"""Importing anybody's web archives."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import random
import uuid
import zipfile
from pathlib import Path

import pytest
import zstandard

from trailhound.errors import CorpusError
from trailhound.lab.corpora import Corpus, CorpusInfo
from trailhound.lab.importers import import_corpus
from trailhound.web_archives import Archive, ArchiveDamageError, read_captures

SITE = "http://site.test/"
HTTP_RESPONSE = "application/http; msgtype=response"


class ArchiveBuilder:
    """Writes WARC records, letter by letter as the standard has them."""

    def __init__(self, gzipped: bool = True) -> None:
        self._records: list[bytes] = []
        self._gzipped = gzipped

    def response(self, url: str, body: bytes, status: str = "200 OK", **headers: str) -> None:
        lines = [
            f"HTTP/1.1 {status}",
            *(f"{key.replace('_', '-')}: {value}" for key, value in headers.items()),
        ]
        block = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        digest = "sha256:" + hashlib.sha256(body).hexdigest()
        self._add("response", url, block, HTTP_RESPONSE, WARC_Payload_Digest=digest)

    def page(self, url: str, body: bytes) -> None:
        self.response(url, body, content_type="text/html")

    def resource(self, url: str, body: bytes, content_type: str) -> None:
        self._add("resource", url, body, content_type)

    def metadata(self, url: str, block: bytes) -> None:
        self._add("metadata", url, block, "application/warc-fields")

    def revisit(self, url: str, **headers: str) -> None:
        self._add("revisit", url, b"HTTP/1.1 200 OK\r\n\r\n", HTTP_RESPONSE, **headers)

    def content(self) -> bytes:
        return b"".join(self._records)

    def _add(self, kind: str, url: str, block: bytes, content_type: str, **extra: str) -> None:
        headers = {
            "WARC-Type": kind,
            "WARC-Record-ID": f"<urn:uuid:{uuid.UUID(int=len(self._records))}>",
            "WARC-Date": "2024-01-01T00:00:00Z",
            "WARC-Target-URI": url,
            **{key.replace("_", "-"): value for key, value in extra.items()},
            "Content-Type": content_type,
            "Content-Length": str(len(block)),
        }
        head = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
        record = b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"
        self._records.append(gzip.compress(record) if self._gzipped else record)


def do_import(source: Path, destination: Path) -> CorpusInfo:
    return import_corpus("warc", source, destination)


def many_pages(n: int, gzipped: bool = True) -> bytes:
    builder = ArchiveBuilder(gzipped)
    for number in range(n):
        words = random.Random(number).randbytes(3000).hex()
        builder.page(f"{SITE}{number}", f"<title>{number}</title>{words}".encode())
    return builder.content()


def test_pages_redirects_errors_and_files_are_recorded(tmp_path: Path) -> None:
    builder = ArchiveBuilder()
    builder.page(SITE, b'<title>Home</title><a href="/old">x</a><a href="/paper.pdf">p</a>')
    builder.response(SITE + "old", b"", "301 Moved", Location="new#part")
    builder.response(SITE + "new", b"<title>New</title>", Content_Type="Application/XHTML+xml")
    builder.response(SITE + "gone", b"<p>sorry", "404 Not Found", content_type="text/html")
    builder.response(SITE + "paper.pdf", b"%PDF", content_type="application/pdf")
    builder.response(SITE + "untyped", b"  <html><title>Untyped</title>")
    builder.response(SITE + "same", b"", "304 Not Modified")
    builder.response("dns:site.test", b"127.0.0.1")
    builder.resource(SITE + "saved", b"<title>Saved</title>", "text/html")
    path = tmp_path / "site.warc.gz"
    path.write_bytes(builder.content())
    info = do_import(path, tmp_path / "site.thc")
    assert (info.pages, info.redirects, info.errors, info.files) == (4, 1, 1, 1)
    assert "1 × answer with status 304" in info.notes
    with Corpus.open(tmp_path / "site.thc") as corpus:
        assert corpus.page_urls == (SITE, SITE + "new", SITE + "untyped", SITE + "saved")
        assert corpus.page_id(SITE + "old") == 1
        assert corpus.graph.links_of(0).tolist() == [1]
        gone = corpus.lookup(SITE + "gone")
        assert gone is not None
        assert gone.status == 404


def test_encoded_bodies_are_decoded_and_wrongly_declared_ones_kept(tmp_path: Path) -> None:
    builder = ArchiveBuilder(gzipped=False)
    zipped = gzip.compress(b"<title>Packed</title>")
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(zipped), zipped)
    html = {"Content_Type": "text/html"}
    builder.response(
        SITE + "1", chunked, Content_Encoding="gzip", Transfer_Encoding="chunked", **html
    )
    builder.response(SITE + "2", b"<title>Liar</title>", Content_Encoding="gzip", **html)
    builder.response(SITE + "3", b"<title>Odd</title>", Content_Encoding="rot13", **html)
    builder.page(SITE + "4", b"<title>Last</title>")
    (tmp_path / "x.warc").write_bytes(builder.content())
    do_import(tmp_path / "x.warc", tmp_path / "x.thc")
    with Corpus.open(tmp_path / "x.thc") as corpus:
        titles = [corpus.page_by_id(number).title for number in range(len(corpus))]
    assert titles == ["Packed", "Liar", "Odd", "Last"]


def test_revisits_bring_the_page_they_repeat(tmp_path: Path) -> None:
    body = b"<title>Page</title>"
    digest = "sha256:" + hashlib.sha256(body).hexdigest()
    builder = ArchiveBuilder()
    builder.revisit(SITE + "by-digest", WARC_Payload_Digest=digest)
    builder.revisit(SITE + "by-address", WARC_Refers_To_Target_URI=SITE + "page")
    builder.revisit(SITE + "page", WARC_Payload_Digest=digest)
    builder.revisit(SITE + "lost", WARC_Refers_To_Target_URI="http://other.test/")
    builder.page(SITE + "page", body)
    (tmp_path / "x.warc.gz").write_bytes(builder.content())
    info = do_import(tmp_path / "x.warc.gz", tmp_path / "x.thc")
    assert "1 × revisit of a page that is not in the input" in info.notes
    with Corpus.open(tmp_path / "x.thc") as corpus:
        assert corpus.page_urls == (SITE + "page", SITE + "by-digest", SITE + "by-address")
        copy = corpus.page(SITE + "by-digest")
        assert copy is not None
        assert (copy.url, copy.title) == (SITE + "by-digest", "Page")


def test_the_page_is_kept_when_its_url_failed_first(tmp_path: Path) -> None:
    builder = ArchiveBuilder()
    builder.response(SITE, b"", "503 Busy")
    builder.page(SITE, b"<title>One</title>")
    builder.page(SITE, b"<title>Two</title>")
    (tmp_path / "x.warc.gz").write_bytes(builder.content())
    info = do_import(tmp_path / "x.warc.gz", tmp_path / "x.thc")
    assert (info.pages, info.errors) == (1, 0)
    assert "1 × page captured more than once, the first kept" in info.notes


def test_a_folder_is_read_in_order_of_name_with_packages_inside(tmp_path: Path) -> None:
    folder = tmp_path / "архив"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.warc.gz").write_bytes(many_pages(2))
    one = ArchiveBuilder()
    one.page("http://deep.test/", b"<p>deep")
    (folder / "deep" / "a.WARC").write_bytes(many_pages(1, gzipped=False))
    with zipfile.ZipFile(folder / "a.wacz", "w") as package:
        package.writestr("archive/data.warc.gz", one.content())
        package.writestr("datapackage.json", "{}")
    (folder / "notes.txt").write_text("not an archive")
    info = do_import(folder, tmp_path / "x.thc")
    assert info.pages == 3
    assert "1 × page captured more than once, the first kept" in info.notes
    with Corpus.open(tmp_path / "x.thc") as corpus:
        assert corpus.page_urls[0] == "http://deep.test/"


@pytest.mark.parametrize("gzipped", [True, False])
@pytest.mark.parametrize("share", [0.45, 0.5, 0.55, 0.62, 0.7])
def test_a_file_cut_short_is_read_as_far_as_it_goes(
    tmp_path: Path, gzipped: bool, share: float
) -> None:
    content = many_pages(5, gzipped)
    path = tmp_path / "cut.warc"
    path.write_bytes(content[: int(len(content) * share)])
    info = do_import(path, tmp_path / "x.thc")
    assert 2 <= info.pages <= 3
    assert any(note.startswith("Not read to its end: cut.warc") for note in info.notes)


@pytest.mark.parametrize("gzipped", [True, False])
def test_a_cut_is_told_wherever_in_a_record_it_is(gzipped: bool) -> None:
    archive = ArchiveBuilder(gzipped)
    archive.page("http://a.test/", b"<p>a")
    before = len(archive.content())
    archive.metadata("http://a.test/", b"via: http://b.test/")
    content = archive.content()
    blank_lines = 0 if gzipped else len(b"\r\n\r\n")  # nothing is lost with them
    assert pages_and_damage(content) == (1, "")
    assert pages_and_damage(content[:before]) == (1, "")
    for size in range(before + 1, len(content) - blank_lines):
        pages, damage = pages_and_damage(content[:size])
        assert pages == 1
        assert damage, size


def test_archives_may_begin_with_a_dictionary_or_an_empty_line() -> None:
    records = [many_pages(1, gzipped=False) for _ in range(100)]
    dictionary = zstandard.train_dictionary(1_000, [record[:200] for record in records])
    packed = zstandard.ZstdCompressor(dict_data=dictionary).compress(records[0])
    raw = dictionary.as_bytes()
    skipped = b"\x5d\x2a\x4d\x18" + len(raw).to_bytes(4, "little") + raw
    assert pages_and_damage(skipped + packed) == (1, "")
    assert pages_and_damage(b"\n" + records[0]) == (1, "")
    assert pages_and_damage(b"hello world") == (0, "it is no web archive")


def test_a_page_that_was_cut_is_no_page() -> None:
    """However little of it is missing, and whatever it ends with."""
    archive = ArchiveBuilder(gzipped=False)
    archive.page("http://a.test/", b"<p>a<p>W")
    archive.page("http://b.test/", b"<p>b<p>W")
    content = archive.content().rstrip(b"\r\n")
    assert pages_and_damage(content) == (2, "")
    for missing in range(1, 200):
        pages, damage = pages_and_damage(content[:-missing])
        assert (pages, bool(damage)) == (1, True), missing


def pages_and_damage(content: bytes) -> tuple[int, str]:
    pages = 0
    try:
        for _ in read_captures(Archive("a.warc", lambda: io.BytesIO(content))):
            pages += 1
    except ArchiveDamageError as error:
        return pages, str(error)
    return pages, ""


def test_damaged_and_foreign_files_in_a_folder_are_named_and_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "archives"
    folder.mkdir()
    good = many_pages(4)
    flipped = bytearray(good)
    flipped[len(good) // 2 : len(good) // 2 + 500] = bytes(500)
    (folder / "1.warc.gz").write_bytes(random.Random(3).randbytes(4000))
    (folder / "2.warc.gz").write_bytes(flipped)
    (folder / "3.warc.gz").write_bytes(b"")
    (folder / "4.wacz").write_bytes(b"PK not a zip file")
    (folder / "5.warc").write_bytes(b"<html>hello")
    info = do_import(folder, tmp_path / "x.thc")
    assert 1 <= info.pages <= 3
    notes = "\n".join(info.notes)
    assert "1.warc.gz" in notes
    assert "2.warc.gz" in notes
    assert "3.warc.gz: it holds no record" in notes
    assert "5.warc: it is no web archive" in notes
    assert "4.wacz" in notes
    assert "5.warc" in notes


@pytest.mark.parametrize(
    "content",
    [b"", b"hello\n" * 100, random.Random(5).randbytes(3000), gzip.compress(b"text", mtime=0)],
)
def test_a_file_with_nothing_usable_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.warc.gz").write_bytes(content)
    with pytest.raises(CorpusError, match=r"No page could be read from .*x\.warc\.gz"):
        do_import(tmp_path / "x.warc.gz", tmp_path / "x.thc")
    assert not (tmp_path / "x.thc").exists()


def test_an_archive_without_html_is_an_error(tmp_path: Path) -> None:
    builder = ArchiveBuilder()
    builder.response(SITE + "x.png", b"\x89PNG", content_type="image/png")
    (tmp_path / "x.warc.gz").write_bytes(builder.content())
    with pytest.raises(CorpusError, match=r"1 archive.*none with an HTML page"):
        do_import(tmp_path / "x.warc.gz", tmp_path / "x.thc")


def test_a_folder_without_archives_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("x")
    with pytest.raises(CorpusError, match="holds no web archive"):
        do_import(tmp_path, tmp_path / "x.thc")


def test_any_bytes_give_a_corpus_or_a_corpus_error(tmp_path: Path) -> None:
    content = many_pages(3)
    generator = random.Random(11)
    for _ in range(25):
        damaged = bytearray(content)
        start = generator.randrange(len(damaged))
        damaged[start : start + 40] = generator.randbytes(40)
        (tmp_path / "x.warc.gz").write_bytes(damaged)
        with contextlib.suppress(CorpusError):
            assert do_import(tmp_path / "x.warc.gz", tmp_path / "x.thc").pages >= 1
