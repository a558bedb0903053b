"""Outputs that a person names: links stay, and devices and pipes get what is written."""

from __future__ import annotations

import io
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from command_line import COMMAND, Command
from found_pages import Find, crawl_of
from trailhound.storage.files import named_file

HIVE = "https://a.example/hive"
FINDS = [Find(HIVE, html="<title>Hive</title><p>Words on bees.")]
KINDS = ("jsonl", "csv", "parquet", "urls", "warc", "text")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")


@pytest.fixture(autouse=True)
def crawl(workspace_folder: Path) -> None:
    crawl_of(workspace_folder, FINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_stays_and_what_it_leads_to_is_written(
    trailhound: Command, tmp_path: Path, kind: str
) -> None:
    there = tmp_path / "there"
    (there / "bees.txt").parent.mkdir()
    (there / "bees.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("there/bees.txt")
    (tmp_path / "new.txt").symlink_to("there/new.txt")
    for name, target in (("link.txt", "bees.txt"), ("new.txt", "new.txt")):
        done = trailhound("export", "bees", "-f", kind, "-o", name)
        assert done.code == 0, done.err
        assert (tmp_path / name).is_symlink()
        assert (there / target).read_bytes() not in (b"", b"old")


@pytest.mark.parametrize("kind", KINDS)
def test_a_named_pipe_gets_what_is_written(trailhound: Command, tmp_path: Path, kind: str) -> None:
    pipe, file = tmp_path / "pipe.txt", tmp_path / "file.txt"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as readers:
        read = readers.submit(pipe.read_bytes)
        done = trailhound("export", "bees", "-f", kind, "-o", pipe)
        assert done.code == 0, done.err
        assert pipe.is_fifo()
        trailhound("export", "bees", "-f", kind, "-o", file)
        assert read.result(10) == file.read_bytes()


def test_a_device_stays_one(trailhound: Command, tmp_path: Path) -> None:
    device, other = os.openpty()
    (tmp_path / "screen").symlink_to(os.ttyname(other))
    done = trailhound("export", "bees", "-f", "urls", "-o", "screen")
    assert done.code == 0, done.err
    assert os.read(device, 1000).decode().strip() == HIVE
    assert (tmp_path / "screen").is_char_device()
    os.close(device)
    os.close(other)


def test_stdout_by_its_name_keeps_what_it_has(workspace_folder: Path, tmp_path: Path) -> None:
    place = ("--workspace", workspace_folder)
    with (tmp_path / "out").open("wb", buffering=0) as out:
        out.write(b"before\n")
        for name in ("/dev/stdout", "/proc/self/fd/1"):
            arguments = [*COMMAND, "export", "bees", "-f", "urls", "-o", name, *place]
            subprocess.run(arguments, stdout=out, check=True)
        piped = subprocess.run(
            [*COMMAND, "export", "bees", "-f", "urls", "-o", "/dev/stdout", *place],
            check=True,
            capture_output=True,
        )
    assert (tmp_path / "out").read_text() == f"before\n{HIVE}\n{HIVE}\n"
    assert piped.stdout.decode() == f"{HIVE}\n"


def test_a_corpus_replaces_no_device(trailhound: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "web.thc"
    os.mkfifo(pipe)
    done = trailhound("corpus", "import", "demo", "-o", pipe)
    assert (done.code, "it is no file" in done.err) == (2, True)
    assert pipe.is_fifo()


def test_a_file_named_by_a_person_stays_as_it_was_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    with suppress(ZeroDivisionError), named_file(tmp_path / "link") as file:
        file.write(b"new" * io.DEFAULT_BUFFER_SIZE)
        raise ZeroDivisionError
    assert (tmp_path / "link").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["file", "link"]
