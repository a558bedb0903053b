"""Writes an archive without end, run by tests that kill it.

    python archive_to_be_killed.py FOLDER SEED

A line with the page's URL is written to standard output after the page was archived.
"""

from __future__ import annotations

import os
import random
import sys

from trailhound.records import Exchange
from trailhound.storage.warc import ArchiveWriter
from trailhound.storage.warc_records import CaptureNotes


def exchange(seed: int, number: int, chance: random.Random) -> Exchange:
    """A page of some size that hardly shrinks."""
    return Exchange(
        url=f"http://h{number % 7}.test/{seed}/{number}",
        requested_at=1_772_366_400.0 + number,
        request_headers=(("Host", "h.test"),),
        status=200,
        reason="OK",
        http_version="1.1",
        headers=(("Content-Type", "text/html"),),
        body=chance.randbytes(chance.choice([100, 10_000, 400_000])),
        address="192.0.2.1",
    )


def write(folder: str, seed: int) -> None:
    """Archive pages until somebody stops this."""
    chance = random.Random(seed)
    writer = ArchiveWriter(folder, "killed", started_at=1_772_366_400.0, max_file_bytes=1_500_000)
    number = 0
    while True:
        made = exchange(seed, number, chance)
        writer.write([made], CaptureNotes(depth=number))
        os.write(1, f"{made.url}\n".encode())
        number += 1


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
