"""An archive after the worst: killed writers, torn files, holes, full disks."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from archived_exchanges import AT, exchange, read_folder
from live_webs import wait_until

from trailhound.errors import StorageError
from trailhound.storage.cdxj import INDEX_NAME, parse_line
from trailhound.storage.warc import ArchiveWriter
from trailhound.storage.warc_records import CaptureNotes
from trailhound.storage.warc_repair import Repair, repair_archive

WRITER = Path(__file__).with_name("archive_to_be_killed.py")
NAME = "bees-20260301120000-00001.warc.gz"


@pytest.fixture
def abandoned(tmp_path: Path) -> Path:
    """The open files of a writer in the middle of its work: six pages, 19 records."""
    folder = tmp_path / "abandoned"
    folder.mkdir()
    with ArchiveWriter(tmp_path / "live", "bees", started_at=AT) as writer:
        chance = random.Random(5)
        for number in range(6):
            page = exchange(f"http://bees.test/{number}", chance.randbytes(2000))
            writer.write([page], CaptureNotes(depth=number))
        for path in (tmp_path / "live").glob("*.open"):
            shutil.copy(path, folder)
    return folder


def indexed_urls(folder: Path) -> list[str]:
    lines = (folder / INDEX_NAME).read_bytes().splitlines()
    assert lines == sorted(lines)
    return [parse_line(line)[1].url for line in lines]


def responses(folder: Path) -> list[str]:
    records = read_folder(folder)
    return [record.headers["WARC-Target-URI"] for record in records if record.kind == "response"]


def test_a_whole_open_file_is_completed(abandoned: Path) -> None:
    assert repair_archive(str(abandoned)) == [Repair(NAME, 19, 0)]
    assert indexed_urls(abandoned) == [f"http://bees.test/{number}" for number in range(6)]
    names = {path.name for path in abandoned.iterdir()}
    assert names == {NAME, INDEX_NAME, "archive.lock"}


def test_the_rebuilt_index_is_the_one_that_was_lost(abandoned: Path, tmp_path: Path) -> None:
    repair_archive(abandoned)
    rebuilt = (abandoned / INDEX_NAME).read_bytes()
    assert rebuilt == (tmp_path / "live" / INDEX_NAME).read_bytes()


def test_wherever_it_was_torn_the_whole_records_stay(abandoned: Path, tmp_path: Path) -> None:
    content = (abandoned / f"{NAME}.open").read_bytes()
    chance = random.Random(3)
    for size in [0, 1, 9, *chance.sample(range(len(content)), 25), len(content) - 1]:
        folder = tmp_path / str(size)
        folder.mkdir()
        (folder / f"{NAME}.open").write_bytes(content[:size])
        (repair,) = repair_archive(folder)
        records = read_folder(folder)
        assert len(records) == repair.records
        kept = size - repair.dropped_bytes
        files = list(folder.glob("*.warc.gz"))
        assert [path.read_bytes() for path in files] == ([content[:kept]] if kept else [])
        if kept:
            assert indexed_urls(folder) == responses(folder)


def test_rubbish_behind_the_last_record_is_cut(abandoned: Path) -> None:
    path = abandoned / f"{NAME}.open"
    content = path.read_bytes()
    path.write_bytes(content + b"\0" * 5000 + b"\x1f\x8b\x08 no gzip" + os.urandom(3000))
    (repair,) = repair_archive(abandoned)
    assert repair.dropped_bytes == 8011
    assert "19 records kept, 8,011 bytes dropped" in str(repair)
    assert (abandoned / NAME).read_bytes() == content


def test_records_behind_a_hole_are_kept(abandoned: Path) -> None:
    path = abandoned / f"{NAME}.open"
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 100] = bytes(100)
    path.write_bytes(content)
    (repair,) = repair_archive(abandoned)
    assert repair.records == 18
    assert repair.dropped_bytes > 100
    assert len(read_folder(abandoned)) == 18
    assert indexed_urls(abandoned) == sorted(responses(abandoned))


def test_opening_repairs_and_tells(abandoned: Path) -> None:
    path = abandoned / f"{NAME}.open"
    path.write_bytes(path.read_bytes()[:-10])
    with ArchiveWriter(abandoned, "bees", started_at=AT) as writer:
        assert [repair.records for repair in writer.repairs] == [18]
        writer.write([exchange("http://bees.test/new")])
    assert "http://bees.test/new" in indexed_urls(abandoned)
    assert len(list(abandoned.glob("*-00002.warc.gz"))) == 1


def test_left_overs_of_completing_are_cleared(abandoned: Path) -> None:
    # Killed between giving the file its name and removing the unsorted index.
    repair_archive(abandoned)
    (abandoned / "bees-20260301120000-00001.cdxj.open").write_bytes(b"half a li")
    (abandoned / "index.cdxj.partial").write_bytes(b"half an ind")
    assert repair_archive(abandoned) == []
    assert not list(abandoned.glob("*.open"))
    assert not list(abandoned.glob("*.partial"))


def test_an_archive_in_use_is_not_repaired(tmp_path: Path) -> None:
    with ArchiveWriter(tmp_path, "bees", started_at=AT) as writer:
        writer.write([exchange()])
        with pytest.raises(StorageError, match="in use"):
            repair_archive(tmp_path)
    assert len(read_folder(tmp_path)) == 3


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system knows no kill -9")
def test_killed_at_random_moments_nothing_archived_is_lost(tmp_path: Path) -> None:
    chance = random.Random(11)
    promised: list[str] = []
    dropped = 0
    for seed in range(6):
        told = tmp_path / f"told-{seed}"
        with told.open("wb") as out:
            command = [sys.executable, str(WRITER), str(tmp_path / "archive"), str(seed)]
            process = subprocess.Popen(command, stdout=out)
            _wait_for_first_line(told, process)
            time.sleep(chance.uniform(0.0, 0.2))
            process.kill()
            process.wait(timeout=30)
        promised += told.read_text("ascii").split()
        # The next writer mends what it finds; here it is done at once to look at every case.
        dropped += sum(repair.dropped_bytes for repair in repair_archive(tmp_path / "archive"))
        assert set(promised) <= set(responses(tmp_path / "archive"))
    kept = responses(tmp_path / "archive")
    assert sorted(indexed_urls(tmp_path / "archive")) == sorted(kept)
    # At most the page in flight is there without having been reported.
    assert len(kept) <= len(promised) + 6
    assert dropped < 6 * 500_000


def _wait_for_first_line(path: Path, process: subprocess.Popen[bytes]) -> None:
    wait_until(lambda: path.stat().st_size or process.poll() is not None)
    assert process.poll() is None, "the writer ended by itself"


def test_a_full_disk_costs_nothing_that_was_archived(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    body = random.Random(1).randbytes(5000)
    writer = ArchiveWriter(tmp_path, "bees", started_at=AT)
    written: list[str] = []

    def write_on() -> None:
        for number in range(20):
            writer.write([exchange(f"http://bees.test/{number}", body)])
            written.append(f"http://bees.test/{number}")

    # Files that may not grow beyond a size behave like a full disk, half-written pieces included.
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, limits[1]))
    try:
        with pytest.raises(StorageError, match="everything up to the last finished page is safe"):
            write_on()
        with pytest.raises(StorageError):
            writer.write([exchange("http://bees.test/again", body)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert 5 <= len(written) < 10
    writer.write([exchange("http://bees.test/later", body)])
    writer.close()
    assert responses(tmp_path) == [*written, "http://bees.test/later"]
    assert indexed_urls(tmp_path) == [*written, "http://bees.test/later"]


def test_no_room_for_the_index_leaves_all_to_the_next_start(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = ArchiveWriter(tmp_path, "bees", started_at=AT)
    for number in range(40):
        writer.write([exchange(f"http://bees.test/{number}")])
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(StorageError):
            writer.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    (repair,) = repair_archive(tmp_path)
    assert (repair.records, repair.dropped_bytes) == (81, 0)
    assert len(indexed_urls(tmp_path)) == 40


def test_an_archive_that_does_not_exist_cannot_be_repaired(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        repair_archive(tmp_path / "nowhere")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_read_only_folder_is_an_error_at_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="read-only"):
            ArchiveWriter(tmp_path, "bees", started_at=AT)
    finally:
        tmp_path.chmod(0o700)
