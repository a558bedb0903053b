"""Writes what a crawl fetched into WARC 1.1 files with an index.

Every answered request leaves a ``response`` and a ``request`` record, redirects and errors
included; the last one of a fetch is followed by a ``resource`` record with what a browser made of
it, if one did, and by a ``metadata`` record with what the crawl thought of the page. All records of
a fetch are written by one call. A file that is written to is named ``….warc.gz.open``; when it is
full, or when the crawl ends, it gets its final name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from trailhound.records import Exchange, header_value
from trailhound.storage.cdxj import (
    PART_SUFFIX,
    CdxEntry,
    cdx_line,
    merge_index,
    mime_type,
    write_part,
)
from trailhound.storage.files import OPEN_SUFFIX, AppendFile, explaining, rename_file
from trailhound.storage.warc_records import (
    NOT_MODIFIED,
    RENDERED_PREFIX,
    CaptureNotes,
    RecordMaker,
    StoredResponse,
    cdx_timestamp,
)
from trailhound.storage.warc_repair import (
    WARC_SUFFIX,
    Repair,
    own_archive,
    repair_open_files,
    serial_of,
)

MAX_FILE_BYTES = 1_000_000_000
SYNC_BYTES = 64_000_000
"""At the latest after so many bytes they are put on the disk itself."""

_NOT_IN_NAMES = re.compile(r"[^\w.-]+|_+")
_MAX_PREFIX_CHARS = 60


class _OpenFile:
    """A WARC file that is written to, and the lines of its index."""

    def __init__(self, folder: Path, name: str, first_record: bytes) -> None:
        self.name = name
        with ExitStack() as failed:  # nothing is left of a file that could not even be begun
            self.warc = AppendFile(folder / (name + WARC_SUFFIX + OPEN_SUFFIX))
            failed.callback(self.warc.discard)
            self.index = AppendFile(folder / (name + PART_SUFFIX + OPEN_SUFFIX))
            failed.callback(self.index.discard)
            self.warc.append(first_record)
            failed.pop_all()

    def append(self, records: bytes, index_lines: bytes) -> None:
        """Both or neither."""
        before = self.warc.size
        self.warc.append(records)
        try:
            self.index.append(index_lines)
        except BaseException:
            self.warc.cut(before)
            raise

    def complete(self) -> None:
        """Put it on the disk under its final name, with a sorted index."""
        self.warc.sync()
        self.warc.close()
        self.index.close()
        with explaining(self.index.path):
            lines = self.index.path.read_bytes().splitlines(keepends=True)
        write_part(self.index.path.with_name(self.name + PART_SUFFIX), lines)
        rename_file(self.warc.path, self.name + WARC_SUFFIX)
        with explaining(self.index.path):
            self.index.path.unlink()


class ArchiveWriter:
    """Adds to the archive in ``folder``, which it owns until it is closed.

    * ``started_at`` (seconds since 1970) and ``prefix`` name the files:
      ``bees-20260301120000-00001.warc.gz``.
    * ``info`` says in each file what made it: ``software``, ``operator``,
      ``http-header-user-agent``.
    * Files are numbered on from those in the folder, and from those in ``goes_on_from``: a crawl
      that is put into shards gathers theirs beside its own.
    * A new file is begun when one has reached ``max_file_bytes``: files are larger than that by
      less than one fetch.

    Opening mends what a killed crawl has left; ``repairs`` tells about it. A full disk or a folder
    that cannot be written raises ``StorageError`` and leaves the archive as it was before the call.
    """

    def __init__(
        self,
        folder: Path | str,
        prefix: str,
        *,
        started_at: float,
        info: Mapping[str, str] | None = None,
        max_file_bytes: int = MAX_FILE_BYTES,
        goes_on_from: Path | None = None,
    ) -> None:
        self._folder = Path(folder)
        self._stem = f"{safe_prefix(prefix)}-{cdx_timestamp(started_at)}"
        self._started_at = started_at
        self._info = dict(info or {})
        self._max_file_bytes = max_file_bytes
        self._maker = RecordMaker()
        self._file: _OpenFile | None = None
        self._unsynced_bytes = 0
        with explaining(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._ownership = own_archive(self._folder)
        try:
            self.repairs: tuple[Repair, ...] = tuple(repair_open_files(self._folder))
            self._serial = max(map(_last_serial, (self._folder, goes_on_from or self._folder)))
        except BaseException:
            self._ownership.release()
            raise

    def write(
        self,
        exchanges: Sequence[Exchange],
        notes: CaptureNotes | None = None,
        rendered: bytes | None = None,
    ) -> int:
        """Archive the exchanges of one fetch, redirects first; the number of bytes it took."""
        if not exchanges:
            return 0
        file = self._file_with_room()
        before = file.warc.size
        records: list[bytes] = []
        lines: list[bytes] = []
        offset = before
        for exchange in exchanges:
            response = self._maker.response(exchange)
            if exchange.status != NOT_MODIFIED:
                lines.append(_index_line(exchange, response, offset, file.name + WARC_SUFFIX))
            records += [response.data, self._maker.request(exchange, response.record_id)]
            offset += len(records[-2]) + len(records[-1])
        if rendered is not None:
            made = self._maker.rendered(exchanges[-1], rendered, response.record_id)
            lines.append(_rendered_line(exchanges[-1], made, offset, file.name + WARC_SUFFIX))
            records.append(made.data)
        if notes is not None:
            records.append(self._maker.metadata(exchanges[-1], response.record_id, notes))
        file.append(b"".join(records), b"".join(lines))
        self._unsynced_bytes += file.warc.size - before
        if self._unsynced_bytes >= SYNC_BYTES:
            self.sync()
        return file.warc.size - before

    def sync(self) -> None:
        """Put everything so far on the disk itself. Call it before a page counts as finished."""
        if self._file is not None and self._unsynced_bytes:
            self._file.warc.sync()
            self._unsynced_bytes = 0

    def close(self) -> None:
        """Complete the last file and the index, and let the archive go."""
        try:
            self._complete_file()
            merge_index(self._folder)
        finally:
            self._ownership.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _file_with_room(self) -> _OpenFile:
        if self._file is not None and self._file.warc.size >= self._max_file_bytes:
            self._complete_file()
        if self._file is None:
            self._serial += 1
            name = f"{self._stem}-{self._serial:05d}"
            made_by = self._maker.warcinfo(name + WARC_SUFFIX, self._started_at, self._info)
            self._file = _OpenFile(self._folder, name, made_by)
        return self._file

    def _complete_file(self) -> None:
        file, self._file = self._file, None  # one that cannot be completed is left to the repair
        self._unsynced_bytes = 0
        if file is not None:
            file.complete()


def _index_line(exchange: Exchange, response: StoredResponse, offset: int, file_name: str) -> bytes:
    mime = mime_type(header_value(exchange.headers, "content-type"))
    said = exchange.url, mime, f"{exchange.status:03d}", response.payload_digest
    entry = CdxEntry(*said, str(len(response.data)), str(offset), file_name)
    return cdx_line(entry, cdx_timestamp(exchange.requested_at))


def _rendered_line(exchange: Exchange, made: StoredResponse, offset: int, file_name: str) -> bytes:
    said = RENDERED_PREFIX + exchange.url, "text/html", "200", made.payload_digest
    entry = CdxEntry(*said, str(len(made.data)), str(offset), file_name)
    return cdx_line(entry, cdx_timestamp(exchange.requested_at))


def _last_serial(folder: Path) -> int:
    """The highest number of a file so far, so that names sort in order of time."""
    return max(map(serial_of, folder.glob(f"*{WARC_SUFFIX}")), default=0)


def safe_prefix(name: str) -> str:
    """``name`` as the beginning of a file name, on every system."""
    plain = _NOT_IN_NAMES.sub("-", name).strip("-.")[:_MAX_PREFIX_CHARS].rstrip("-.")
    return plain or "crawl"
