"""Web archives as browsing: plain WARC files, and WACZ packages with their lists of pages."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_warc_importer import ArchiveBuilder

from trailhound.errors import UsageError
from trailhound.sessions.events import Reached, Visit
from trailhound.sessions.importers.archives import ArchiveImporter
from trailhound.sessions.importers.base import Imported

HIVE = "http://hive.test/"
LIST = "pages/pages.jsonl"
HEADER = {"format": "json-pages-1.0", "id": "pages", "title": "All pages"}


def visits(found: Imported) -> list[Visit]:
    (session,) = found.sessions
    return [event for event in session.events if isinstance(event, Visit)]


def recorded() -> ArchiveBuilder:
    archive = ArchiveBuilder()
    archive.page(HIVE, b"<title>Hive</title><a href=/queen>queen</a>")
    archive.response(HIVE + "old", b"", "301 Moved", Location="/queen")
    archive.page(HIVE + "queen", b"<title>Queen</title>")
    archive.page(HIVE + "advertisement", b"<title>Buy</title>")
    archive.response(HIVE + "x.png", b"png", Content_Type="image/png")
    return archive


def package(path: Path, lines: Sequence[object], content: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as wacz:
        wacz.writestr("archive/data.warc.gz", content)
        wacz.writestr("datapackage.json", "{}")
        wacz.writestr(LIST, "\n".join(map(json.dumps, lines)))
    return path


def test_a_wacz_gives_the_listed_pages_in_order_with_titles(tmp_path: Path) -> None:
    lines = [
        HEADER,
        {"id": "2", "url": HIVE + "old", "ts": "2024-01-01T00:01:00Z", "title": "The queen"},
        {"id": "1", "url": HIVE, "ts": "2024-01-01T00:00:00.500Z", "title": "The hive"},
    ]
    found = ArchiveImporter().read(
        package(tmp_path / "r.wacz", lines, recorded().content()), "bees"
    )
    home, queen = visits(found)
    assert (home.url, home.title, home.reached) == (HIVE, "The hive", Reached.TYPED)
    assert home.html is not None
    assert (queen.url, queen.requested_url) == (HIVE + "queen", HIVE + "old")
    assert (queen.from_url, queen.html) == (HIVE, "<title>Queen</title>")
    assert found.tally.read == 5
    assert found.tally.skipped["HTML that is not in the list of visited pages"] == 1
    assert found.tally.kept == 2


def test_the_lists_of_all_packages_in_a_folder_count(tmp_path: Path) -> None:
    listed = {"id": "1", "url": HIVE, "ts": "2024-01-01T00:00:00Z", "title": None}
    package(tmp_path / "a.wacz", [HEADER, listed], recorded().content())
    assert [visit.url for visit in visits(ArchiveImporter().read(tmp_path, "bees"))] == [HIVE]
    package(tmp_path / "b.wacz", [HEADER], recorded().content())
    assert len(visits(ArchiveImporter().read(tmp_path, "bees"))) > 2, "one says nothing of it"


def test_listed_pages_that_are_not_archived_keep_their_titles(tmp_path: Path) -> None:
    lines: list[object] = [
        HEADER,
        {"url": HIVE + "lost", "ts": "20240101000000", "title": "Lost"},
        {"url": HIVE, "ts": 1704067300000, "title": "Hive"},
        {"url": "about:blank", "ts": "2024-01-01T00:00:00Z"},
        {"no": "page"},
    ]
    found = ArchiveImporter().read(
        package(tmp_path / "r.wacz", lines, recorded().content()), "bees"
    )
    assert [(each.title, each.html is None) for each in visits(found)] == [
        ("Lost", True),
        ("Hive", False),
    ]
    assert any("titles only" in note for note in found.tally.notes)
    assert any("damaged" in note for note in found.tally.notes)


def test_in_a_plain_warc_every_page_is_a_visit(tmp_path: Path) -> None:
    path = tmp_path / "r.warc.gz"
    archive = recorded()
    path.write_bytes(archive.content())
    found = ArchiveImporter().read(path, "bees")
    assert [each.url for each in visits(found)] == [HIVE, HIVE + "queen", HIVE + "advertisement"]
    assert visits(found)[1].requested_url == HIVE + "old"
    assert visits(found)[0].title == "Hive"


def test_a_cut_archive_is_read_up_to_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "r.warc.gz"
    path.write_bytes(recorded().content()[:-20])
    found = ArchiveImporter().read(path, "bees")
    assert len(visits(found)) == 3
    assert "could not be read to its end" in found.tally.notes[0]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn zip", b"\x00\xff" * 500, b"\x1f\x8b"])
def test_what_is_no_archive_gives_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.wacz"
    path.write_bytes(content)
    assert visits(ArchiveImporter().read(path, "bees")) == []


def test_a_missing_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no file or folder"):
        ArchiveImporter().read(tmp_path / "none.warc", "bees")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.wacz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wacz,
        wacz.open("archive/data.warc", "w", force_zip64=True) as member,
    ):
        for _ in range(60):
            member.write(bytes(1_000_000))
    found = ArchiveImporter().read(path, "bees")
    assert visits(found) == []
    assert "unpack to far more" in found.tally.notes[0]


def test_a_body_that_unpacks_to_gigabytes_is_cut(tmp_path: Path) -> None:
    archive = ArchiveBuilder()
    bomb = gzip.compress(b"<title>Bomb</title>" + bytes(100_000_000), 9)
    archive.response(HIVE, bomb, content_type="text/html", Content_Encoding="gzip")
    path = tmp_path / "bomb.warc.gz"
    path.write_bytes(archive.content())
    (visit,) = visits(ArchiveImporter().read(path, "bees"))
    assert visit.html is not None
    assert len(visit.html) <= 32 * 1024 * 1024


def test_a_list_of_pages_that_is_a_bomb_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trailhound.sessions.importers.archives.MAX_LIST_BYTES", 1000)
    lines: list[object] = [
        {"url": f"{HIVE}{number}", "ts": "2024-01-01T00:00:00Z"} for number in range(100)
    ]
    found = ArchiveImporter().read(
        package(tmp_path / "r.wacz", lines, recorded().content()), "bees"
    )
    assert 5 < len(visits(found)) < 30
    assert any("is cut after" in note for note in found.tally.notes)
