"""Exchanges to archive, and what other tools read back. Shared by the tests of the archive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from warcio.archiveiterator import ArchiveIterator

from trailhound.records import Exchange

AT = 1_772_366_400.25  # 2026-03-01 12:00:00.25 UTC
HTML = (("Content-Type", "text/html; charset=utf-8"), ("Server", "test"))


def exchange(
    url: str = "http://bees.test/",
    body: bytes = b"<p>Bees.",
    *,
    status: int = 200,
    reason: str = "OK",
    headers: tuple[tuple[str, str], ...] = HTML,
    requested_at: float = AT,
    truncated: str = "",
) -> Exchange:
    return Exchange(
        url=url,
        requested_at=requested_at,
        request_headers=(("Host", "bees.test"), ("User-Agent", "bees-bot/1.0 (+mailto:a@b.test)")),
        status=status,
        reason=reason,
        http_version="1.1",
        headers=headers,
        body=body,
        address="192.0.2.7",
        truncated=truncated,
    )


class ReadRecord(NamedTuple):
    """A record as warcio understands it."""

    kind: str
    headers: dict[str, str]
    status: str
    http_headers: list[tuple[str, str]]
    body: bytes
    """For HTTP without the headers."""


def read_with_warcio(path: Path) -> Iterator[ReadRecord]:
    """All records; digests that do not match, or a file that is torn, raise."""
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            body = record.raw_stream.read()
            assert "WARC-Block-Digest" in dict(record.rec_headers.headers)
            http = record.http_headers
            yield ReadRecord(
                kind=record.rec_type,
                headers=dict(record.rec_headers.headers),
                status=http.statusline if http else "",
                http_headers=http.headers if http else [],
                body=body,
            )


def read_folder(folder: Path) -> list[ReadRecord]:
    """The records of all complete files, in order of their names."""
    return [
        record for path in sorted(folder.glob("*.warc.gz")) for record in read_with_warcio(path)
    ]
