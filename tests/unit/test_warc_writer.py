"""What a crawl leaves on the disk, as other tools read it."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from base64 import b32encode
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from archived_exchanges import AT, HTML, exchange, read_folder
from fastwarc.warc import ArchiveIterator

from trailhound.errors import StorageError
from trailhound.lab.corpora import Corpus
from trailhound.lab.importers import import_corpus
from trailhound.records import Exchange, Outcome, Relevance
from trailhound.storage.archive_reading import fetches_after, last_number
from trailhound.storage.cdxj import INDEX_NAME, parse_line
from trailhound.storage.warc import ArchiveWriter, safe_prefix
from trailhound.storage.warc_records import CaptureNotes
from trailhound.urls import canonicalize

NOTES = CaptureNotes(
    parent="http://bees.test/start",
    depth=2,
    priority=0.125,
    relevance=Relevance(0.75, True),
    outcome=Outcome.FETCHED,
)


def archive(folder: Path, *fetches: tuple[Exchange, ...], **options: Any) -> Path:
    info = {"software": "trailhound/test", "operator": "Ann Bär"}
    with ArchiveWriter(folder, "bees", started_at=AT, info=info, **options) as writer:
        for fetch in fetches:
            writer.write(fetch, NOTES)
    return folder


def index_lines(folder: Path) -> list[bytes]:
    return (folder / INDEX_NAME).read_bytes().splitlines(keepends=True)


def test_each_fetch_leaves_response_request_and_metadata(tmp_path: Path) -> None:
    info, response, request, metadata = read_folder(archive(tmp_path, (exchange(),)))
    assert [info.kind, response.kind, request.kind, metadata.kind] == [
        "warcinfo",
        "response",
        "request",
        "metadata",
    ]
    assert response.headers["WARC-Target-URI"] == "http://bees.test/"
    assert response.headers["WARC-Date"] == "2026-03-01T12:00:00.250000Z"
    assert response.headers["WARC-IP-Address"] == "192.0.2.7"
    assert response.headers["WARC-Warcinfo-ID"] == info.headers["WARC-Record-ID"]
    assert (response.status, response.http_headers) == ("200 OK", list(HTML))
    assert response.body == b"<p>Bees."
    digest = b32encode(hashlib.sha1(b"<p>Bees.").digest()).decode()
    assert response.headers["WARC-Payload-Digest"] == f"sha1:{digest}"
    assert request.status == "/ HTTP/1.1"
    assert ("Host", "bees.test") in request.http_headers
    for other in (request, metadata):
        assert other.headers["WARC-Concurrent-To"] == response.headers["WARC-Record-ID"]


def test_metadata_says_what_the_crawl_thought(tmp_path: Path) -> None:
    metadata = read_folder(archive(tmp_path, (exchange(),)))[-1]
    assert metadata.headers["Content-Type"] == "application/warc-fields"
    assert metadata.body.decode().splitlines() == [
        "via: http://bees.test/start",
        "depth: 2",
        "priority: 0.125",
        "relevance: 0.75",
        "relevant: yes",
        "outcome: fetched",
    ]


def test_every_file_says_what_made_it(tmp_path: Path) -> None:
    info = read_folder(archive(tmp_path, (exchange(),)))[0]
    assert info.headers["WARC-Filename"] == "bees-20260301120000-00001.warc.gz"
    lines = info.body.decode().splitlines()
    assert lines[:3] == [
        "software: trailhound/test",
        "operator: Ann Bär",
        "format: WARC File Format 1.1",
    ]


def test_redirects_and_errors_are_records_too(tmp_path: Path) -> None:
    hop = exchange("http://bees.test/old", b"", status=301, reason="Moved", headers=())
    gone = exchange("http://bees.test/new", b"<h1>Gone", status=410, reason="Gone")
    records = read_folder(archive(tmp_path, (hop, gone)))
    assert [(record.kind, record.status) for record in records[1:]] == [
        ("response", "301 Moved"),
        ("request", "/old HTTP/1.1"),
        ("response", "410 Gone"),
        ("request", "/new HTTP/1.1"),
        ("metadata", ""),
    ]
    assert records[-1].headers["WARC-Target-URI"] == "http://bees.test/new"
    statuses = [parse_line(line)[1].status for line in index_lines(tmp_path)]
    assert sorted(statuses) == ["301", "410"]


def test_a_page_that_has_not_changed_is_a_revisit(tmp_path: Path) -> None:
    unchanged = exchange(status=304, reason="Not Modified", body=b"", headers=())
    revisit = read_folder(archive(tmp_path, (unchanged,)))[1]
    assert revisit.kind == "revisit"
    assert revisit.headers["WARC-Profile"].endswith("/revisit/server-not-modified")
    assert index_lines(tmp_path) == []


def test_a_body_that_was_cut_says_why(tmp_path: Path) -> None:
    record = read_folder(archive(tmp_path, (exchange(truncated="length"),)))[1]
    assert record.headers["WARC-Truncated"] == "length"


def test_coded_bodies_are_kept_as_received(tmp_path: Path) -> None:
    coded = gzip.compress(b"<p>Bees." * 500)
    headers = (*HTML, ("Content-Encoding", "gzip"))
    assert read_folder(archive(tmp_path, (exchange(body=coded, headers=headers),)))[1].body == coded


@pytest.mark.parametrize(
    "made",
    [
        exchange(body=b"", headers=()),
        exchange(body=b"\0\xff" * 100_000),
        exchange(headers=(*HTML, ("X-Huge", "v" * 200_000))),
        exchange(headers=tuple((f"X-{number}", "v" * 50) for number in range(2000))),
        exchange(headers=(*HTML, ("X-Odd", "caf\xe9 \xff\x80"))),
        exchange(reason=""),
        exchange(reason="\xe9\xff"),
        exchange(url="http://bücher.test/straße?q=中文"),
        exchange(url="http://xn--bcher-kva.test/stra%C3%9Fe?q=%E4%B8%AD%E6%96%87"),
        exchange(url="http://bees.test/" + "a/" * 4000),
    ],
    ids=[
        "empty",
        "binary",
        "huge",
        "many",
        "latin",
        "no-reason",
        "odd-reason",
        "raw",
        "url",
        "long",
    ],
)
def test_odd_exchanges_can_be_read_back(tmp_path: Path, made: Exchange) -> None:
    _, response, request, _ = read_folder(archive(tmp_path, (made,)))
    assert response.headers["WARC-Target-URI"] == made.url
    assert response.body == made.body
    assert response.http_headers == [(name, value.strip()) for name, value in made.headers]
    assert request.kind == "request"
    with next(tmp_path.glob("*.warc.gz")).open("rb") as file:
        records = list(ArchiveIterator(file, parse_http=False, func_filter=verified))
    assert len(records) == 4


def verified(record: object) -> bool:
    return bool(record.verify_block_digest())  # type: ignore[attr-defined]


def test_headers_cannot_smuggle_lines_in(tmp_path: Path) -> None:
    sly = exchange(headers=(("X", "a\r\nSet-Cookie: b\r\n\r\n<body>"),))
    notes = CaptureNotes(detail="line\r\nrelevant: yes")
    with ArchiveWriter(tmp_path, "x", started_at=AT) as writer:
        writer.write([sly], notes)
    _, response, _, metadata = read_folder(tmp_path)
    assert response.http_headers == [("X", "a Set-Cookie: b <body>")]
    assert b"detail: line relevant: yes\r\n" in metadata.body


def test_files_whose_numbers_are_not_ours_are_not_counted_on(tmp_path: Path) -> None:
    (tmp_path / "bees-20260301120000-００００７.warc.gz").touch()
    archive(tmp_path, (exchange("http://bees.test/", b"hives", requested_at=AT),))
    assert (tmp_path / "bees-20260301120000-00001.warc.gz").exists()


def test_files_are_rotated_by_size(tmp_path: Path) -> None:
    pages = [
        (exchange(f"http://bees.test/{number}", bytes(range(256)) * 20, requested_at=AT + number),)
        for number in range(30)
    ]
    archive(tmp_path, *pages, max_file_bytes=5_000)
    files = sorted(path.name for path in tmp_path.glob("*.warc.gz"))
    assert files[:2] == ["bees-20260301120000-00001.warc.gz", "bees-20260301120000-00002.warc.gz"]
    assert len(files) > 5
    assert Counter(record.kind for record in read_folder(tmp_path)) == {
        "warcinfo": len(files),
        "response": 30,
        "request": 30,
        "metadata": 30,
    }
    # All but the last have reached the size, and none exceeds it by more than a fetch.
    sizes = [(tmp_path / name).stat().st_size for name in files]
    assert all(5_000 <= size < 8_000 for size in sizes[:-1])
    assert {path.name for path in tmp_path.iterdir()} == {*files, INDEX_NAME, "archive.lock"}


def test_the_index_leads_to_each_response(tmp_path: Path) -> None:
    pages = [(exchange(f"http://bees.test/{number}?é", b"%d" % number),) for number in range(20)]
    archive(tmp_path, *pages, max_file_bytes=4_000)
    lines = index_lines(tmp_path)
    assert lines == sorted(lines)
    assert len(lines) == 20
    for line in lines:
        timestamp, entry = parse_line(line)
        assert timestamp == "20260301120000"
        content = (tmp_path / entry.filename).read_bytes()
        offset, length = int(entry.offset), int(entry.length)
        record = gzip.decompress(content[offset : offset + length])
        assert f"WARC-Target-URI: {entry.url}\r\n".encode() in record
        assert record.endswith(entry.url[17:].partition("?")[0].encode() + b"\r\n\r\n")
        assert f"WARC-Payload-Digest: {entry.digest}\r\n".encode() in record
        assert (entry.mime, entry.status) == ("text/html", "200")


def test_later_crawls_add_to_archive_and_index(tmp_path: Path) -> None:
    archive(tmp_path, (exchange("http://bees.test/b"),))
    archive(tmp_path, (exchange("http://bees.test/a", requested_at=AT + 60),))
    assert [parse_line(line)[1].url for line in index_lines(tmp_path)] == [
        "http://bees.test/a",
        "http://bees.test/b",
    ]
    assert len(list(tmp_path.glob("*-00002.warc.gz"))) == 1


def test_the_last_page_is_found_whatever_the_clock_said_when_its_file_was_begun(
    tmp_path: Path,
) -> None:
    for number, clock in enumerate([0, -86_400, 3_600], start=1):
        with ArchiveWriter(tmp_path, "bees", started_at=AT + clock, info={}) as writer:
            notes = CaptureNotes(outcome=Outcome.FETCHED, number=number)
            writer.write([exchange(f"http://bees.test/{number}")], notes)
        assert last_number(tmp_path) == number
    assert [fetch.number for fetch in fetches_after(tmp_path, 1)] == [2, 3]


@pytest.mark.parametrize(
    ("location", "followed"),
    [
        ("/b?x=1#top", "http://bees.test/b?x=1"),
        ("//BEES.test:80/b", "http://bees.test/b"),
        ("/h\xc3\xbctte", "http://bees.test/h%C3%BCtte"),
        ("/h\xfctte", "http://bees.test/h%FCtte"),
        ("http://b\xc3\xbccher.test/", "http://xn--bcher-kva.test/"),
    ],
)
def test_a_redirect_and_what_it_leads_to_are_one_fetch(
    tmp_path: Path, location: str, followed: str
) -> None:
    moved = exchange("http://bees.test/a", b"", status=302, headers=(("Location", location),))
    archive(tmp_path, (moved, exchange(followed)), (moved, exchange("http://bees.test/other")))
    assert [[answer.url for answer in fetch.answers] for fetch in fetches_after(tmp_path, 0)] == [
        ["http://bees.test/a", followed],
        ["http://bees.test/a"],
        ["http://bees.test/other"],
    ]


def test_a_crawl_without_answers_leaves_no_file(tmp_path: Path) -> None:
    archive(tmp_path, ())
    assert [path.name for path in tmp_path.iterdir()] == ["archive.lock"]


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with (
        ArchiveWriter(tmp_path, "bees", started_at=AT),
        pytest.raises(StorageError, match="in use by another process"),
    ):
        ArchiveWriter(tmp_path, "bees", started_at=AT)
    ArchiveWriter(tmp_path, "bees", started_at=AT).close()


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="Check that"):
        ArchiveWriter(tmp_path / "file" / "archive", "bees", started_at=AT)


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("bees", "bees"),
        ("Bees & böse: Dinge?", "Bees-böse-Dinge"),
        ("../../etc/passwd", "etc-passwd"),
        ("a" * 300, "a" * 60),
        ("???", "crawl"),
        ("snake_case.v2", "snake-case.v2"),
    ],
)
def test_names_are_safe_on_every_system(name: str, prefix: str) -> None:
    assert safe_prefix(name) == prefix


def test_our_own_importer_reads_it(tmp_path: Path) -> None:
    page = b"<title>Bees</title><p>Bees live here. <a href='/old'>More</a>"
    archive(
        tmp_path / "archive",
        (exchange("http://bees.test/", page),),
        (
            exchange("http://bees.test/old", b"", status=302, headers=(("Location", "/new"),)),
            exchange("http://bees.test/new", page.replace(b"here", b"there")),
        ),
        (exchange("http://bees.test/gone", status=404),),
        max_file_bytes=2_000,
    )
    import_corpus("warc", tmp_path / "archive", tmp_path / "bees.thc")
    with Corpus.open(tmp_path / "bees.thc") as corpus:
        assert corpus.page_urls[:2] == ("http://bees.test/", "http://bees.test/new")
        moved = corpus.page("http://bees.test/old")
        assert moved is not None
        assert moved.text.startswith("Bees live there.")
        gone = corpus.lookup("http://bees.test/gone")
        assert gone is not None
        assert gone.status == 404


def test_warcio_finds_nothing_wrong(tmp_path: Path) -> None:
    archive(tmp_path, *[(exchange(f"http://bees.test/{n}"),) for n in range(5)])
    files = [str(path) for path in tmp_path.glob("*.warc.gz")]
    checked = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", *files], capture_output=True, timeout=60
    )
    assert (checked.returncode, checked.stdout) == (0, b"")


@pytest.fixture
def wayback() -> str:
    """pywb's server, which ``make test`` installs beside everything else."""
    found = shutil.which("wayback", path=Path(sys.prefix) / "pywb" / "bin")
    found = found or shutil.which("wayback")
    if found is not None:
        return found
    reason = "pywb is not installed: run 'make pywb'"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def test_pywb_replays_it(tmp_path: Path, wayback: str) -> None:
    collection = tmp_path / "collections" / "crawl"
    url = canonicalize("http://www.bücher.test/Straße/?q=中文&a=[1]")
    assert url is not None
    with ArchiveWriter(collection / "archive", "bees", started_at=AT) as writer:
        writer.write((exchange(url, b"<p>Gr\xfc\xdfe"),), NOTES, "<p>Grüße an alle".encode())
    (collection / "indexes").mkdir()
    shutil.move(collection / "archive" / INDEX_NAME, collection / "indexes" / INDEX_NAME)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with subprocess.Popen(
        [wayback, "-p", str(port), "-b", "127.0.0.1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            replayed = f"http://127.0.0.1:{port}/crawl/20260301120000id_/{url}"
            assert _get(replayed) == b"<p>Gr\xfc\xdfe"
            rendered = f"http://127.0.0.1:{port}/crawl/20260301120000id_/urn:rendered:{url}"
            assert _get(rendered).decode() == "<p>Grüße an alle"
        finally:
            server.terminate()


def _get(url: str) -> bytes:
    for _ in range(60):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return bytes(answer.read())
        except ConnectionError:
            time.sleep(0.5)
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionError):
                raise
            time.sleep(0.5)
    raise TimeoutError(url)
